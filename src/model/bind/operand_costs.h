#pragma once

#include <optional>
#include <vector>

#include "fanout_use.h"
#include "sluice/model/binding.h"

namespace sluice {

/// Whether the memory must (may) hold a tensor for an Einsum, whatever inner memories hold.
struct Hold {
  bool must = false, may = true;
};
Hold hold_of(const BoundProblem& problem, EinsumId einsum, ComponentId memory, TensorId tensor);
/// Whether a memory on the way to the compute must hold a tensor that none further out does, as
/// rules like `keep: ~MainMemory` ask.
bool must_hold_first(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
                     ComponentId memory, TensorId tensor);

/// Memories on the way to a compute that may hold a tensor, from the inside out, up to the first
/// one that must: what is next further in gets it from one of them.
struct Holders {
  std::vector<std::size_t> places;  ///< on the way
  bool has_must = false;            ///< the last one must
};
/// Of the places before `end`.
Holders holders_before(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
                       TensorId tensor, std::size_t end);

/// Whether the Einsum touches the access' tensor in this way alone.
bool is_only_access(const BoundProblem& problem, EinsumId einsum, const BoundAccess& access);

/// The same, and within its ranks.
bool is_touched_once(const BoundProblem& problem, EinsumId einsum, const BoundAccess& access);

/// Whether some variable moves its tile by less than the tile's size.
bool has_windows(const BoundAccess& access);

/// Values of the tensor that the Einsum touches, all its instances together.
double values_of(const BoundProblem& problem, EinsumId einsum, const BoundAccess& access);

/// Whether an access to the tensor is part of what outer_traffic_bounds() counts: it comes from no
/// other Einsum, and goes to none.
bool is_compulsory(const TensorRoles& roles, TensorId tensor, bool is_output);

/// Of one value that an instance of a memory reads or writes; 0 where it has no such action.
struct ValueCost {
  double energy_j = 0;
  double seconds = 0;  ///< at least; 0 where it is not known
  /// Values of an action of which a part costs as much as all of it; 0 where it costs its part.
  double whole = 0;
};
/// `tensor`: index into BoundEinsum::tensors.
ValueCost read_cost(const BoundProblem& problem, EinsumId einsum, ComponentId memory, int tensor);
ValueCost write_cost(const BoundProblem& problem, EinsumId einsum, ComponentId memory, int tensor);

/// Whose energy is asked for.
struct OperandQuestion {
  Factors factors = Factors::kAny;
  ComponentId outermost;
  /// None: of all operands, where of those from the outermost memory the first reading (or writing)
  /// of each value is left out, its compulsory traffic. Else of these alone, from memories further
  /// in.
  const TensorMask* inside = nullptr;
  /// Where `inside` or `direct` is given: the last memory that is not further in.
  ComponentId cut{};
  /// This tensor of the Einsum comes from (goes to) the cut or a memory further out.
  std::optional<int> direct = std::nullopt;
  /// Per tensor of the Einsum: the place, on the way to the compute, of the memory that it comes
  /// from (goes to); nothing: of any.
  std::vector<std::optional<std::size_t>> places = {};

  /// The first place on the way to a compute whose memory is further in than the cut; of all
  /// operands, any.
  std::size_t first_inside(const BoundCompute& compute) const {
    return inside == nullptr ? 0 : place_of_cut(compute) + 1;
  }
  std::size_t place_of_cut(const BoundCompute& compute) const {
    return static_cast<std::size_t>(compute.depth[cut.index()]);
  }
};

/// Per tensor of the Einsum: the places of the memories that the compute may take it from (hand it
/// to), from the inside out; none where the tensor is not asked for, or not known.
std::vector<std::vector<std::size_t>> operand_places(const BoundProblem& problem, EinsumId einsum,
                                                     const BoundCompute& compute,
                                                     const OperandQuestion& question);

/// Of an Einsum, at least (J, s).
struct OperandCosts {
  double energy_j = 0;
  double seconds = 0;  ///< policy `overlap`: of the computes, and of the memories beside them
};

/// What the compute takes from, or hands to, the innermost memories of an Einsum's tensors, at
/// least: a value for each point, or for all points that run at the same time, touch the same
/// value, and lie below one instance of the memory; of an output also the partial sums that come
/// back. Of memories that may be the innermost one the cheapest (quickest). With perfect factors
/// all operands see the same spatial loops. Only tensors that the Einsum touches in one way, within
/// their ranks. Infinite where one has no memory that it may come from.
OperandCosts operand_costs(const BoundProblem& problem, EinsumId einsum,
                           const BoundCompute& compute, const OperandQuestion& question);

}  // namespace sluice
