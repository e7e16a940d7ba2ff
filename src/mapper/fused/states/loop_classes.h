#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "mapper/space/loop_choices.h"
#include "mapper/space/template.h"

namespace sluice::fused {

/// Loops of one class that are chosen together. A joint loop stands for one loop over each variable
/// of its class in the same gap: only the product of their trip counts matters.
struct ClassLoop {
  std::vector<std::uint32_t> places;  ///< indices into Template::loops; joint: several
  std::uint32_t variable = 0;         ///< local variable (the first one of a joint loop)
  std::uint32_t gap = 0;
  bool spatial = false;
  bool fused = false;
  bool steps = false;
  LoopRules rules;
  ComponentId component{};
  std::uint32_t dimension = 0;
  std::uint32_t number = 0;  ///< in loop sets, unique in the template
};

/// Variables whose tile shapes are chosen together: one variable, several that index the same
/// tensors in the same way (plain), or those that one affine index couples.
struct VariableClass {
  std::vector<std::uint32_t> variables;  ///< local indices
  bool plain = true;                     ///< counts depend on products over the class alone
  std::vector<ClassLoop> loops;  ///< outermost first; of one variable: that variable's order
};

/// Splits a template's variables into classes.
/// `merge_equal` = false keeps every plain variable a class of its own (constraints on its tiles,
/// uneven tiles).
std::vector<VariableClass> make_classes(const EinsumShape& shape, const Template& templ,
                                        bool merge_equal);

/// All tile-shape choices of one class: how often each loop runs in each state (trip_choices.h),
/// the states of a loop side by side, as there may be millions.
class ClassStates {
 public:
  explicit ClassStates(std::size_t n_loops = 0) : narrow_(n_loops) {}

  /// A class without loops has one state.
  std::size_t size() const { return narrow_.empty() ? 1 : n_; }
  std::int64_t trips(std::size_t state, std::size_t loop) const {
    return wide_.empty() ? narrow_[loop][state] : wide_[loop][state];
  }
  /// Those of all loops, of one state.
  void copy(std::size_t state, std::vector<std::int64_t>* trips) const;
  std::vector<std::int64_t> state(std::size_t s) const {
    std::vector<std::int64_t> trips;
    copy(s, &trips);
    return trips;
  }
  /// Whether all tiles are even, and no loop takes billions of trips.
  bool is_narrow() const { return wide_.empty(); }
  /// Of a narrow list: the trips of one loop in all states.
  const std::int32_t* loop(std::size_t l) const { return narrow_[l].data(); }

  void add(const std::vector<std::int64_t>& trips);
  void reserve(std::size_t n);
  void resize(std::size_t n);

 private:
  std::size_t n_ = 0;
  std::vector<std::vector<std::int32_t>> narrow_;  ///< per loop
  std::vector<std::vector<std::int64_t>> wide_;    ///< instead
};

struct ClassLimits {
  int max_fused_loops = 0;
  int max_fused_loops_per_rank = 0;
  std::vector<std::int64_t> fanout;  ///< per class loop: fanout of a spatial one, else 0
  /// The tile of a variable inside some of its loops.
  struct Tile {
    std::uint32_t variable = 0;
    std::vector<bool> above;  ///< per class loop: the tile is inside it
    std::int64_t minimum = 1, maximum = 0;
  };
  std::vector<Tile> tiles;  ///< only where no joint loops are made (make_classes)
  ImperfectFactors imperfect = ImperfectFactors::kNone;  ///< as well
  const std::atomic<bool>* cancel = nullptr;             ///< once it is set, states are left out
};

/// Every factorisation of the class's variables over its loops within the limits, perfect ones or,
/// if wanted, with an imperfect outermost loop (trip_choices.h).
ClassStates enumerate_states(const EinsumShape& shape, const VariableClass& cls,
                             const ClassLimits& limits);

}  // namespace sluice::fused
