#pragma once

#include <cstddef>
#include <vector>

#include "mapper/fused/graph/spine_table.h"
#include "mapper/space/pmapping.h"

namespace sluice::fused {

/// A shared tensor without which peaks are known, too (LiveTensor::told_apart).
struct TensorApart {
  std::size_t memory = 0;
  std::uint32_t level = 0;  ///< of its reservation
  double bits = 0;          ///< of it, while the next Einsum runs; 0: it lies in a copy's place
  /// Where its peak stands among those of the prefix, and after the join; -1: nowhere.
  std::int32_t before = -1, after = -1;
};

/// What joining an Einsum to a spine asks of the memories, whatever pmappings are joined.
struct JoinPlan {
  std::size_t left_depth = 0;  ///< open loops of the prefix
  std::size_t next_depth = 0;  ///< fused loops of the next Einsum
  std::size_t depth = 0;       ///< open loops after the join
  std::size_t levels() const { return next_depth + 1; }
  // In bits; per memory, levels() numbers each:
  std::vector<double> during;  ///< shared tensors alive while the next Einsum runs
  std::vector<double> after;   ///< of these, the ones that stay alive
  std::vector<double> alone;   ///< of those, the ones in a reservation that no copy will share
  // Per memory:
  std::vector<double> persistent;  ///< newly held for the whole run
  std::vector<TensorApart> apart;
  std::size_t n_apart = 0;  ///< after the join
};

/// Plans joins of spines that match, for one thread.
class JoinPlanner {
 public:
  /// All must outlive it.
  JoinPlanner(SpineTable* table, const std::vector<TrackedMemory>& tracked, const TensorUses& uses)
      : joiner_(table, &uses), tracked_(tracked), uses_(uses) {}

  /// Joins Einsum number `einsum`; the plan of the call before is gone.
  const JoinPlan& plan(const SpineView& prefix, const SpineView& next, std::size_t einsum);

  /// The spine after such a join, closed loops dropped.
  CompactSpine joined(const SpineView& prefix, const SpineView& next, std::size_t einsum);

 private:
  SpineJoiner::Case* match(const SpineView& prefix, const SpineView& next, std::size_t einsum);

  SpineJoiner joiner_;
  const std::vector<TrackedMemory>& tracked_;
  const TensorUses& uses_;
  JoinPlan plan_;
};

}  // namespace sluice::fused
