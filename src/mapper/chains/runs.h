#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/sampling/space/map_space.h"

namespace sluice::chains {

/// Variables of a run's Einsums, one of each, that walk the same rank of all its tensors.
struct CommonLoop {
  std::vector<std::size_t> variables;  ///< per Einsum of the run
  std::int64_t size = 1;
  bool may_spread = true;  ///< not over the steps of a recurrence
};

/// Neighbouring Einsums [first, last] that hang together by tensors which they alone use.
struct Run {
  std::size_t first = 0, last = 0;
  std::vector<TensorId> tensors;
  std::vector<CommonLoop> loops;
  std::vector<ComponentId> memories;  ///< that may hold all of these tensors

  std::size_t size() const { return last - first + 1; }
  bool has(std::size_t einsum) const { return first <= einsum && einsum <= last; }
  bool exchanges(TensorId tensor) const;
};

/// All runs of a workload that an inner memory has room for, below all steps of their common loops.
class Runs {
 public:
  static constexpr std::size_t kLongest = 8;  ///< Einsums: as many as walks change at once

  /// `space` must outlive it.
  explicit Runs(const sampling::MapSpace& space);

  const sampling::MapSpace& space() const { return space_; }
  std::optional<ComponentId> outermost() const { return outermost_; }  ///< memory
  const std::vector<Run>& all() const { return runs_; }
  /// The one of these Einsums; null where there is none.
  const Run* find(std::size_t first, std::size_t last) const;

  /// Of the tensor among the Einsum's; none where it does not use it.
  std::optional<std::size_t> local_number(std::size_t einsum, TensorId tensor) const;
  /// Bits of a tensor that one Einsum makes, all of it in a memory.
  double bits_of(TensorId tensor, ComponentId memory) const;
  /// Of all that the run exchanges.
  double bits_of(const Run& run, ComponentId memory) const;
  /// Of the memory.
  double room(const Run& run, ComponentId memory) const;

 private:
  std::optional<Run> run_of(std::size_t first, std::size_t last) const;
  std::vector<CommonLoop> common_loops(const Run& run) const;
  bool may_hold(const Run& run, ComponentId memory) const;
  bool has_room(const Run& run, ComponentId memory) const;

  const sampling::MapSpace& space_;
  std::optional<ComponentId> outermost_;
  std::vector<Run> runs_;
};

}  // namespace sluice::chains
