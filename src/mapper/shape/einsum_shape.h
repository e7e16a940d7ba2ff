#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recurrence.h"
#include "row_loops.h"
#include "sluice/model/binding.h"
#include "sluice/support/error.h"

namespace sluice::fused {

/// How another Einsum holds a shared tensor in its backing memory, where that may be more.
struct OtherHolder {
  std::vector<std::int64_t> whole;  ///< per rank: extent where no loop above cuts it
  std::vector<double> bits;         ///< per component: bits of a value
  bool operator==(const OtherHolder&) const = default;
};

/// A persistent tensor that copies lead from or to: what it holds for the whole run is room for the
/// other one too, where they and all tensors between them are in one memory.
struct KeptCopy {
  std::vector<double> bits;  ///< per component: its reservation there
  /// local index of the next tensor on the way to it (itself where that is one copy), or -1
  std::int32_t via = -1;
  std::int32_t of_via = -1;  ///< its place in the `kept_copies` of `via`; -1: it is `via`
  bool operator==(const KeptCopy&) const = default;
};

/// A tensor as one Einsum sees it.
struct LocalTensor {
  TensorId id;
  std::vector<Relevance> relevance;  ///< per local variable, the strongest over its accesses
  /// per local variable: as a tile held for several steps sees it (held_relevance)
  std::vector<Relevance> held;
  /// per local variable: the rank that a fully relevant variable walks, or -1 (also where it reads
  /// ahead of the tensor's producer, so that it can share no loop over it). A diagonal, which walks
  /// several at once, has a number of its own: none of them, and no less than there are ranks
  std::vector<std::int32_t> rank_of;
  /// per local variable: some Einsum reads other slices in a step than the step writes; the steps
  /// cannot be spread over instances
  std::vector<bool> stepped;
  /// per local variable: it walks a rank along which several makers make different parts; no loop
  /// over it stands above the backing node
  std::vector<bool> parted;
  /// per local variable: rows are handed on step by step where a loop over it stands above the
  /// backing node (row_loops.h); empty where nothing is fused so
  std::vector<bool> rows;
  bool is_input = false, is_output = false;
  bool shared = false;        ///< used by two Einsums or more
  bool intermediate = false;  ///< written by some and read by another
  bool persistent = false;
  /// local index of the tensor that a copy Einsum (this or another) makes it from, or -1: in one
  /// memory both are one reservation
  std::int32_t copy_of = -1;
  /// other local tensors (by bit) that copies lead from or to: in one memory they may be one
  std::uint64_t relatives = 0;
  std::vector<KeptCopy> kept_copies;       ///< of a shared tensor that is not persistent itself
  std::vector<OtherHolder> other_holders;  ///< of a shared tensor
  double instances =
      1;  ///< n_instances of the workload, times the largest of an Einsum that uses it
};

/// An Einsum in local indices: everything that templates and tile shapes depend on, names aside.
struct EinsumShape {
  EinsumId einsum;
  std::vector<RankVariableId> variables;
  std::vector<std::int64_t> sizes;  ///< per local variable
  std::vector<bool> coupled;        ///< per local variable: some index extent is not its tile alone
  std::vector<std::uint32_t> group;  ///< per local variable: same number = coupled with each other
  std::vector<LocalTensor> tensors;  ///< order of BoundEinsum::tensors
  std::vector<bool> carried;  ///< per local variable: this Einsum reads what its last step wrote
  RecurrenceRole recurrence;
  std::vector<RowLoop> row_loops;
  /// Least common multiple of the odd parts of the machine's fanouts, as far as it is at most 2^20.
  std::int64_t odd_fanouts = 1;
  bool is_copy = false;
  double multiplicity = 1;  ///< n_instances of the workload and of the Einsum

  bool relevant(std::size_t tensor, std::size_t variable) const {
    return tensors[tensor].relevance[variable] == Relevance::kRelevant;
  }
  bool irrelevant(std::size_t tensor, std::size_t variable) const {
    return tensors[tensor].relevance[variable] == Relevance::kIrrelevant;
  }
  /// Whether the tiles of a variable are what each tensor holds of it, and no step depends on
  /// another.
  bool tiles_freely(std::size_t variable) const {
    return !coupled[variable] && !carried[variable] &&
           std::none_of(tensors.begin(), tensors.end(),
                        [&](const LocalTensor& t) { return t.stepped[variable]; });
  }
  /// Whether a non-backing node sinks through a loop: neighbouring tiles are disjoint.
  bool sinks(std::size_t tensor, std::size_t variable) const {
    return tensors[tensor].held[variable] == Relevance::kRelevant;
  }
  /// The rank that a loop over the variable walks, or -1 where no other Einsum can share it.
  std::int32_t shared_rank(std::size_t tensor, std::size_t variable, bool spatial) const {
    const LocalTensor& t = tensors[tensor];
    return spatial && t.is_input && t.stepped[variable] ? -1 : t.rank_of[variable];
  }
};

/// An Einsum's loop in a frame.
inline const RowLoop& row_loop(const EinsumShape& shape, std::int64_t frame) {
  for (const RowLoop& loop : shape.row_loops)
    if (loop.frame == frame) return loop;
  fail_internal_check("row_loops", __FILE__, __LINE__, "an Einsum has no loop in this frame");
}

/// Whether some loop over a variable in which rows of a tensor (local index) are handed on has some
/// in common in two steps, which must stay.
inline bool carries_rows(const EinsumShape& shape, std::size_t tensor, std::size_t variable) {
  return std::any_of(shape.row_loops.begin(), shape.row_loops.end(), [&](const RowLoop& loop) {
    return loop.variable == variable && loop.carries[tensor];
  });
}

/// Whether copies lead from one of two local tensors to the other, however many.
inline bool are_relatives(const EinsumShape& shape, std::uint32_t a, std::uint32_t b) {
  return (shape.tensors[a].relatives >> b & 1U) != 0;
}

/// Whether a tensor may lie in the room of a local tensor of lower index.
inline bool may_lie_in_another(const EinsumShape& shape, std::uint32_t tensor) {
  return (shape.tensors[tensor].relatives & ((std::uint64_t{1} << tensor) - 1)) != 0;
}

std::int64_t odd_fanouts(const Arch& arch);
EinsumShape make_einsum_shape(const BoundProblem& problem, EinsumId einsum);

}  // namespace sluice::fused
