#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "held_bounds.h"
#include "join.h"
#include "join_plan.h"
#include "mapper/fused/tiles/front.h"

namespace sluice::fused {

/// One step back through the joins: the pmapping taken last and the entry it was joined to.
struct JoinStep {
  std::uint32_t previous = 0;  ///< index into the history of the Einsum before
  ChosenPmapping chosen;
};

/// Joined partial mappings with one compatibility. Per entry `stride` numbers: energy, latency,
/// then per tracked memory m with D = number of open loops: closed peaks at level 0 … D (the most
/// that finished branches directly below that level needed, live tensors of that level included),
/// private reservations of the open branch at level 0 … D−1; then, per memory, what is held for the
/// whole run (FFM §5.2: the consolidated reservation tree); last, for each live tensor that is told
/// apart, the closed peak of its level without it.
struct PrefixGroup {
  CompactSpine spine;
  std::size_t stride = 0;
  std::vector<double> values;
  std::vector<std::uint32_t> history;  ///< per entry: index into the newest history

  std::uint32_t node = 0;  ///< its spine's number in the ExchangeGraph's layer

  /// `spine`: that of nothing.
  static PrefixGroup empty(CompactSpine spine, std::size_t n_tracked);
  std::size_t depth() const { return spine.extents.size(); }
  std::size_t size() const { return history.size(); }
  const double* value(std::size_t i) const { return values.data() + i * stride; }
  const double* closed(std::size_t i, std::size_t m) const {
    return value(i) + 2 + m * (2 * depth() + 1);
  }
  const double* open(std::size_t i, std::size_t m) const { return closed(i, m) + depth() + 1; }
  double persistent(std::size_t i, std::size_t m, std::size_t n_tracked) const {
    return value(i)[2 + n_tracked * (2 * depth() + 1) + m];
  }
  /// Numbers of an entry before those of tensors that are told apart.
  static std::size_t apart_at(std::size_t depth, std::size_t n_tracked) {
    return 2 + n_tracked * (2 * depth + 2);
  }
  double apart(std::size_t i, std::size_t n_tracked, std::int32_t tensor) const {
    return value(i)[apart_at(depth(), n_tracked) + static_cast<std::size_t>(tensor)];
  }
  /// Peak of a complete mapping (no open loop).
  double peak(std::size_t i, std::size_t m) const {
    const std::size_t n_tracked = (stride - 2) / 2;
    return closed(i, m)[0] + persistent(i, m, n_tracked);
  }
};

/// What all joins of one Einsum to its prefixes have in common.
struct JoinStage {
  const std::vector<TrackedMemory>& tracked;
  std::size_t einsum = 0;
  FrontOptions front;
  const std::vector<char>& persistent_later;  ///< per memory: later Einsums hold something for ever
  const HeldBounds* held = nullptr;           ///< none: bounds do not know what is held
  const std::atomic<bool>* cancel = nullptr;  ///< ends a join; what it made is of no use then
};

/// Collects everything that joining one Einsum makes of one spine of the ExchangeGraph's layer.
class PrefixBuilder {
 public:
  /// `bound`: what the Einsums after this one cost at least from the spine on.
  PrefixBuilder(const JoinStage& stage, std::uint32_t node, SearchBound bound,
                JoinPlanner* planner);

  /// Adds what a prefix and a pmapping group become together.
  void join(const PrefixGroup& prefix, const NextGroup& next, std::uint32_t next_index);

  /// The partial mappings, pruned; their history are indices into `steps`.
  PrefixGroup take(std::vector<JoinStep>* steps);

  bool empty() const { return group_.history.empty(); }
  double pairs() const { return pairs_; }
  std::optional<ComponentId> closest_memory() const { return closest_memory_; }
  double closest_excess() const { return closest_excess_; }

 private:
  static void raise_to_later(const JoinPlan& plan, std::size_t memory, double* closed,
                             const double* open);
  bool reserve(const JoinPlan& plan, const PrefixGroup& prefix, std::size_t i,
               const double* pmapping, double* value);
  void prune();
  std::vector<char> ignored_numbers() const;

  const JoinStage& stage_;
  const SearchBound bound_;
  JoinPlanner* planner_;
  PrefixGroup group_;
  std::vector<JoinStep> steps_;
  std::size_t pruned_size_ = 0;
  double pairs_ = 0;
  std::optional<ComponentId> closest_memory_;
  double closest_excess_ = 0;
};

}  // namespace sluice::fused
