#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "mapper/sampling/space/fanout_use.h"
#include "mapper/sampling/space/map_space.h"
#include "mapper/sampling/space/random_source.h"
#include "mapper/shape/trip_choices.h"

namespace sluice::sampling {

/// Draws mappings of a space at random: an Einsum's memories for shared tensors, then a template,
/// then trip counts — those above tensors that earlier Einsums exchange as they have them. What is
/// drawn can be joined and fits Einsum by Einsum; the model may still refuse the whole. Not safe to
/// share between threads: one for each.
class Drawer {
 public:
  /// `cancel`: once it is set, nothing more is drawn; may be null.
  Drawer(const MapSpace& space, FanoutUse* use, RandomSource random,
         const std::atomic<bool>* cancel)
      : space_(space), use_(*use), random_(random), cancel_(cancel) {}

  RandomSource& random() { return random_; }

  /// A choice for an Einsum that joins the prefix, and the spine after it; null after some tries.
  /// `only`: the templates to draw from, if not all that fit the prefix.
  ChoicePtr draw(const fused::Spine& prefix, std::size_t einsum, fused::Spine* joined,
                 const BackingGroup* only = nullptr);
  /// A whole mapping; nothing after many dead ends.
  std::optional<Genome> draw_mapping();
  /// One that fuses nothing and keeps what Einsums exchange as far out as it may be: in networks of
  /// dozens of Einsums, random places of all tensors never fit together.
  std::optional<Genome> draw_plain_mapping();
  /// Goes on with a genome from one Einsum on: later choices stay where they still join, others are
  /// drawn again.
  bool mend(Genome* genome, std::size_t first);
  /// The same template and fused loops with other trip counts below; null after some tries.
  ChoicePtr redraw_unfused(std::size_t einsum, const EinsumChoice& choice);
  /// Another template that exchanges all tensors in the same way; null after some tries.
  ChoicePtr redraw_alike(std::size_t einsum, const EinsumChoice& choice);
  /// Another template that has one shared tensor (a place in MapSpace::shared_tensors), below as
  /// many loops as before, in another memory, and exchanges all others in the same way; null after
  /// some tries.
  ChoicePtr redraw_moved(std::size_t einsum, const EinsumChoice& choice, std::size_t shared,
                         BackingGroup::Place place);

 private:
  struct Draft;
  std::optional<std::uint32_t> pick_template(const fused::Spine& prefix, std::size_t einsum,
                                             const BackingGroup* only);
  void keep_furthest_out(std::vector<const BackingGroup*>* groups) const;
  bool place_fused_loops(const EinsumChoice& choice, Draft* draft);
  void place_own_loops(const EinsumChoice& choice, Draft* draft);
  std::uint32_t pick_similar(const fused::Template& to, std::size_t einsum,
                             const std::vector<std::uint32_t>& templates);
  bool place_same_loops(const EinsumChoice& choice, std::uint32_t other, Draft* draft);
  template <class IsWanted>
  ChoicePtr redraw_in(std::size_t einsum, const EinsumChoice& choice,
                      const std::vector<std::uint32_t>& templates, const IsWanted& is_wanted);
  bool place_open_loops(const fused::Spine& prefix, std::size_t loop, Draft* draft);
  void draw_steps(Draft* draft);
  bool draw_leaders(Draft* draft);
  bool draw_loop(Draft* draft, std::size_t place);
  void draw_fanouts(Draft* draft);
  void draw_fused(Draft* draft);
  bool draw_rest(Draft* draft);
  void raise_loops(Draft* draft);
  bool raise_one(ComponentId memory, Draft* draft);
  ChoicePtr finish(Draft* draft, bool patient);
  std::span<const std::int64_t> trip_choices(const Draft& draft, std::size_t place);
  std::int64_t draw_trips(const Draft& draft, std::size_t place);
  std::int64_t most_trips(const Draft& draft, std::size_t place) const;

  const MapSpace& space_;
  FanoutUse& use_;
  RandomSource random_;
  const std::atomic<bool>* cancel_;
  fused::TripChoices choices_;
  bool is_plain_ = false;  // nothing is fused
};

}  // namespace sluice::sampling
