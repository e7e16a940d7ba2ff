#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/bind/divisors.h"
#include "sluice/mapper/mapper.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice::compound {

/// How much of a space is looked at: all of it, or what is likely to be good (docs/mappers.md).
enum class Effort : std::uint8_t { kAll, kLikely };

/// What the loops above leave to one Einsum.
struct NestRequest {
  EinsumId einsum;
  EinsumId written_as;              ///< id of the Einsum in the nodes that are made
  std::uint32_t compute = 0;        ///< index into BoundEinsum::computes
  ComponentId home;                 ///< the innermost memory that the loops above have passed
  std::vector<std::int64_t> tiles;  ///< per variable of the Einsum
  std::vector<std::int64_t> units;  ///< per variable: what the next tile divides
  std::uint64_t uneven = 0;         ///< variables whose outermost loop may be imperfect
  std::vector<TensorMask> held;     ///< per ComponentId: what memories down to `home` hold
  TensorMask first = 0;             ///< held in `home` by a node that is the nest's first
  bool has_steps = false;           ///< a temporal loop stands above
  bool halves = false;              ///< likely nests that fill half of their memories, too
  const Constraints* constraints;   ///< ids as in the problem
  DivisorMemo* divisors = nullptr;  ///< of all nests
};

/// Variables of an Einsum whose outermost loop may be imperfect, as the other mappers say.
std::uint64_t may_be_uneven(const BoundProblem& problem, EinsumId einsum, ImperfectFactors wish);

/// Calls `visit(nodes)` for every nest, compute included, until it returns false, or `go_on`, which
/// is asked often, as there may be few nests among very many. Returns false if one did.
bool for_each_nest(const BoundProblem& problem, const NestRequest& request, Effort effort,
                   const std::function<bool()>& go_on,
                   const std::function<bool(const NodeList&)>& visit);

/// Values of a tile that an access touches: the box around them.
std::int64_t box_of(const BoundAccess& access, const std::vector<std::int64_t>& tiles);

/// Bits that a memory reserves for tiles of these tensors of one Einsum; below temporal loops a
/// double-buffered memory takes twice as much.
double held_bits(const BoundProblem& problem, EinsumId einsum, ComponentId memory,
                 TensorMask tensors, const std::vector<std::int64_t>& tiles, bool below_steps);

/// One Storage node of these tensors of an Einsum (nothing for none).
void append_storage(const BoundEinsum& einsum, TensorMask tensors, ComponentId memory,
                    NodeList* nodes);

}  // namespace sluice::compound
