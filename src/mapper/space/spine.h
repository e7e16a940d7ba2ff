#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pmapping.h"

namespace sluice::fused {

/// A loop shared by several Einsums, as the tensors that are still needed see it.
struct SpineLoop {
  bool spatial = false;
  ComponentId component{};
  std::uint32_t dimension = 0;
  std::int64_t trips = 1;
  std::int64_t tile = 1;
  bool steps = false;  ///< over the steps of a recurrence, one at a time
  /// rank of each live tensor that the loop walks, ascending by tensor; -1: it does not index it,
  /// or the Einsum keeps a copy of the tensor above it
  std::vector<std::pair<TensorId, std::int32_t>> ranks;
  /// Whether the Einsum that writes the tensor (as in `ranks`) stands under the loop: who reads it
  /// there must walk the same rank, or it would read a tensor that is not complete.
  std::vector<bool> written_below;
  /// Einsums under one loop must hang together over tensors exchanged below it. Per live tensor (as
  /// in `ranks`) the number of its connected part, or -1 where it is backed above the loop.
  std::vector<std::int32_t> parts;
  /// Of a loop over steps: the part that the recurrence holds together, if it goes on, else -1.
  std::int32_t recurrence_part = -1;
};

/// A tensor that a later Einsum still needs.
struct LiveTensor {
  TensorId id;
  ComponentId component{};
  std::uint32_t level = 0;
  double bits = 0;
  bool persistent = false;
  /// The tensor that it is a copy of, or a copy of a copy, within its memory: all of one origin are
  /// one reservation. Itself where no copy makes it.
  TensorId origin;
  std::uint32_t copies = 0;      ///< from the origin to it
  std::uint32_t kept_by = 0;     ///< as in Backing
  std::int32_t carried_by = -1;  ///< as in Backing; index of the spine's loop
  /// What ran under the loops above it is known without its reservation, too: a copy of it may come
  /// that stands further out, in whose place it lies then.
  bool told_apart = false;
};

/// The loops above live tensors after some Einsums were joined.
struct Spine {
  std::vector<SpineLoop> loops;
  std::vector<bool> stop_before;  ///< per loop: may not be permuted with the one above it
  /// Those that a later Einsum needs, then those that stay for their room alone (stays_after); each
  /// ascending by tensor.
  std::vector<LiveTensor> live;
  /// Of a next Einsum: it stands under the loop over the steps of the Einsums before.
  bool continues_recurrence = false;
  /// Of a next Einsum: so does the one after it.
  bool recurrence_goes_on = false;
};

/// The spine of one Einsum by itself: its fused loops; `live` = its shared tensors.
Spine spine_of(const EinsumShape& shape, const Compatibility& compatibility);

/// How the loops of a prefix and of the next Einsum coincide.
struct Match {
  /// loops of the joined path, outermost first: index in the prefix (or -1), in the next Einsum (or
  /// -1)
  std::vector<std::pair<std::int32_t, std::int32_t>> loops;
  std::vector<bool> stop_before;
};

/// Whether the next Einsum can stand under all open loops of the prefix (docs/mappers.md). Of loops
/// that might be one, as no tensor under both tells them apart, those over ranks that other Einsums
/// walk together are (`roles`).
std::optional<Match> match_spines(const Spine& prefix, const Spine& next, const TensorRoles& roles);

/// The number of joined loops above the reservation of a tensor that is alive while the next Einsum
/// runs: those above its node, or above the loop that carries it from step to step. That one stands
/// first of those it may be permuted with.
std::uint32_t reserved_level(const LiveTensor& tensor, const Spine& prefix, const Spine& next,
                             const Match& match);

/// The rank of a tensor that a loop walks, or -1.
std::int32_t rank_of(const SpineLoop& loop, TensorId tensor);

/// The live tensor of a spine, or null.
const LiveTensor* find_live(const Spine& spine, TensorId id);

/// Tensors that are alive while the next Einsum runs: the prefix's and its own, ascending.
std::vector<LiveTensor> alive_during(const Spine& prefix, const Spine& next);

/// Tensors of one memory that are copies of each other have one reservation, the largest, where the
/// one stands that is furthest out (of equal ones the source). Whether a tensor lies in that of
/// another, as far as that is as large; one with a persistent copy has that taken off already
/// (Backing::kept_by).
bool shares_reservation(const LiveTensor& holder, const LiveTensor& tensor);

/// Whether a tensor that is alive while an Einsum runs stays in the spine.
enum class Stay : std::uint8_t {
  kNo,
  kNeeded,  ///< a later Einsum uses it
  /// One that is needed lies in its reservation, below further loops: these stay open, and so does
  /// its node above them.
  kForRoom,
};

/// Per tensor of those alive while Einsum number `einsum` runs; `last_use` per tensor.
std::vector<Stay> stays_after(const std::vector<LiveTensor>& alive,
                              const std::vector<std::size_t>& last_use, std::size_t einsum);

struct JoinedSpine {
  /// False: Einsums under one loop would never exchange anything below it, so that they have no
  /// common loop to share.
  bool connected = true;
  Spine spine;                    ///< loops that stay open, tensors that stay alive
  std::vector<std::size_t> from;  ///< per open loop: index into Match::loops
};

/// The spine after joining Einsum number `einsum`: loops below every tensor that a later Einsum
/// needs
/// (`last_use` per tensor) are closed; within a block, loops stand in an order of their own.
JoinedSpine join_spines(const Spine& prefix, const Spine& next, const Match& match,
                        const std::vector<std::size_t>& last_use, std::size_t einsum);

/// A loop as numbers that do not depend on where it came from; without its extent (trip count,
/// tile, fanned-out dimension), with which they begin.
std::vector<std::int64_t> sort_key(const SpineLoop& loop);
void append_structure(const SpineLoop& loop, std::vector<std::int64_t>* key);

}  // namespace sluice::fused
