#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "mapper/space/constraint_rules.h"
#include "mapper/space/pmapping.h"
#include "mapper/space/spine.h"
#include "mapper/space/template_lists.h"
#include "sluice/model/evaluate.h"

namespace sluice::sampling {

using Trips = std::vector<std::int64_t>;  ///< per loop place of a template

/// A pmapping of one Einsum: a template and its trip counts. Never changed once made.
struct EinsumChoice {
  std::uint32_t templ = 0;  ///< index into MapSpace::templates
  Trips trips;
  fused::Compatibility compatibility;
  fused::Spine spine;  ///< of this Einsum alone
};
using ChoicePtr = std::shared_ptr<const EinsumChoice>;

/// A whole mapping: one choice per Einsum, in their order.
using Genome = std::vector<ChoicePtr>;

/// Templates of an Einsum that back its shared tensors in the same memories.
struct BackingGroup {
  struct Place {
    ComponentId component{};
    bool persistent = false;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places;  ///< per shared tensor of the Einsum, in local order
  std::vector<std::uint32_t> templates;
};

/// A fanout dimension that a template must use as well as it can (`min_usage`).
struct DemandingFanout {
  ComponentId component{};
  std::uint32_t dimension = 0;
  std::int64_t fanout = 1;
  double wanted = 0;  ///< instances
};

/// The space that the fused mapper searches (docs/mappers.md), to walk about in: the templates of
/// each Einsum, and which pmappings can be joined. Safe to share between threads.
class MapSpace {
 public:
  MapSpace(const BoundProblem& problem, const MapperOptions& options,
           const fused::TemplateLimits& limits = {});

  const BoundProblem& problem() const { return problem_; }
  const MapperOptions& options() const { return options_; }
  /// Set once the search is cancelled; may be null.
  const std::atomic<bool>* cancel() const { return cancel_; }
  std::size_t n_einsums() const { return shapes_.size(); }
  const std::vector<fused::TileRule>& tile_rules(std::size_t einsum) const {
    return tile_rules_[einsum];
  }
  const fused::EinsumShape& shape(std::size_t einsum) const { return shapes_[einsum]; }
  const std::vector<fused::Template>& templates(std::size_t einsum) const {
    return templates_[einsum];
  }
  const std::vector<BackingGroup>& backings(std::size_t einsum) const {
    return backings_[templates_.list_of(einsum)];
  }
  /// Of a template; null where it is new to the space.
  const BackingGroup* backing_of(std::size_t einsum, std::uint32_t templ) const;
  /// The same with one shared tensor (a place in `shared_tensors`) in another memory; null where no
  /// template has that.
  const BackingGroup* moved_backing(std::size_t einsum, std::uint32_t templ, std::size_t shared,
                                    BackingGroup::Place place) const;
  /// Einsums of one list have the same choices.
  std::uint32_t list_of(std::size_t einsum) const { return templates_.list_of(einsum); }
  /// Local indices of an Einsum's shared tensors, ascending.
  const std::vector<std::uint32_t>& shared_tensors(std::size_t einsum) const {
    return shared_[templates_.list_of(einsum)];
  }
  std::vector<DemandingFanout> demanding_fanouts(std::size_t einsum,
                                                 const fused::Template& templ) const;

  /// Whether trip counts that factorise the Einsum's variables keep to fanouts, limits of fused
  /// loops and tile constraints: a tile shape of the Einsum alone, which `min_usage` counts.
  bool keeps_limits(std::size_t einsum, std::uint32_t templ, const Trips& trips) const;
  /// Whether one that does stands below the loop over the steps of its recurrence, as in all
  /// mappings of the space.
  bool steps_together(std::size_t einsum, std::uint32_t templ, const Trips& trips) const;
  /// What the next tile inside an imperfect loop over so many values may be; imperfect factors must
  /// be asked for, and the values not too many.
  const std::vector<std::int64_t>& tiles_inside_imperfect(std::int64_t size) const {
    return imperfect_.at(size).inside;
  }
  /// Whether uneven loops of a choice are among those of the space (`imperfect_factors`).
  bool may_be_uneven_so(std::size_t einsum, std::uint32_t templ, const Trips& trips) const;
  /// All of these: whether it is one of the Einsum's choices.
  bool is_choice(std::size_t einsum, std::uint32_t templ, const Trips& trips) const {
    return keeps_limits(einsum, templ, trips) && may_be_uneven_so(einsum, templ, trips) &&
           steps_together(einsum, templ, trips);
  }
  /// The number of a template of an Einsum, which is one of this space from now on; what is shared
  /// between Einsums is put right. Not safe while others use the space.
  std::uint32_t add(std::size_t einsum, fused::Template templ);
  /// A choice of another space, with its template; safe as `add()` is.
  ChoicePtr take(std::size_t einsum, const EinsumChoice& choice, const MapSpace& from) {
    const std::uint32_t t = add(einsum, from.templates(einsum)[choice.templ]);
    return make_choice(einsum, t, choice.trips);
  }
  ChoicePtr make_choice(std::size_t einsum, std::uint32_t templ, Trips trips) const;
  /// A memory that the tiles of one Einsum alone exceed for sure, if there is one. Cheap; the model
  /// may still refuse what passes.
  std::optional<ComponentId> overfull(std::size_t einsum, std::uint32_t templ,
                                      const Trips& trips) const;
  /// Price of the Einsum's nest as a mapping of that Einsum alone; nothing where it is illegal, or
  /// once the search is cancelled: some policies take a second.
  std::optional<CostTotals> price_alone(std::size_t einsum, const EinsumChoice& choice) const;

  /// The spine after an Einsum is joined to those before it; none where they do not match.
  std::optional<fused::Spine> join(const fused::Spine& prefix, std::size_t einsum,
                                   const EinsumChoice& choice) const;
  bool joins(const Genome& genome) const;
  Mapping build(const Genome& genome) const;
  /// Price by the model; nothing where it is illegal, or once the search is cancelled.
  std::optional<CostTotals> price(const Genome& genome) const;

 private:
  void group_by_backing(std::size_t list, std::uint32_t templ);
  double tile_bits(std::size_t einsum, const fused::Template& templ, const fused::Slot& slot,
                   const Trips& trips) const;

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const std::atomic<bool>* cancel_;
  std::vector<fused::EinsumShape> shapes_;
  fused::TemplateLists templates_;
  std::vector<std::vector<fused::TileRule>> tile_rules_;  ///< per Einsum
  // Per list of templates:
  std::vector<std::vector<std::uint32_t>> shared_;
  std::vector<std::vector<BackingGroup>> backings_;
  std::vector<BoundProblem> alone_;  ///< the problem of its first Einsum alone
  std::vector<std::size_t> last_use_;
  struct ImperfectTiles {
    std::vector<std::int64_t> outer;   ///< imperfect_tiles, descending
    std::vector<std::int64_t> inside;  ///< tiles_inside_imperfect
  };
  std::map<std::int64_t, ImperfectTiles> imperfect_;  ///< per size, where they are asked for
};

}  // namespace sluice::sampling
