#pragma once

#include <optional>

#include "sluice/workload/workload.h"
#include "triples/draw/dice.h"
#include "triples/triple.h"

namespace sluice::triples {

/// The parts of a random triple, in the order in which they are drawn.

/// One of some thirty small workloads. For collectives: sizes that divide, and minima; for regions:
/// also rows of several batches.
enum class Purpose { kAny, kCollectives, kRegions };
void draw_workload(Dice& dice, Triple& triple, const Kinds& kinds, Purpose purpose = Purpose::kAny);

/// What is copied has one width.
bool has_copies(const Triple& triple);

/// The workload of a triple that may still lack architecture and mapping. Nothing if the reader
/// refuses it.
std::optional<Workload> workload_of(const Triple& triple);

/// DRAM, GB, elements PE with RF, and computes; for collectives most often several GBs.
void draw_arch(Dice& dice, Triple& triple, Purpose purpose = Purpose::kAny);

/// Whether some variable indexes all tensors of every Einsum, so that a loop over it may stand
/// above the outermost memory.
bool has_common_variable(const Workload& workload);

/// What `kinds` add to the components: instances of the outermost memory, a memory in between,
/// leakage.
void draw_components(Dice& dice, Triple& triple, const Workload& workload, const Kinds& kinds);

/// `multicast: greedy_tree` on all networks that know it.
void grow_trees(Triple& triple);

/// A network in front of some of the fanouts; for collectives of almost all, with times.
void draw_networks(Dice& dice, Triple& triple, const Kinds& kinds, Purpose purpose = Purpose::kAny);

/// Storage nodes anywhere, loops of each Einsum and shared ones, sequential splits.
void draw_mapping(Dice& dice, Triple& triple, const Workload& workload, const Kinds& kinds);

/// All_reduces of sums that are spread above the split. False where the workload has no room for
/// them; the triple is then of no use.
bool draw_in_place_collectives(Dice& dice, Triple& triple, const Workload& workload);

/// Collectives that bring a tensor from one layout to another; false as above.
bool draw_exchanges(Dice& dice, Triple& triple, const Workload& workload);

/// A pipelined or parallel split whose children have regions of the elements, forward tensors or
/// keep resident nodes. False where the workload has one Einsum. `Forwards::kMost`: almost always
/// pipelined with forwards between instances.
enum class Forwards { kSome, kMost };
bool draw_regions(Dice& dice, Triple& triple, const Workload& workload,
                  Forwards forwards = Forwards::kSome);

/// All of a triple in one child of such a split, beside an Einsum of its own.
void put_in_region(Dice& dice, Triple& triple);

/// Regions for the children of the outermost split that is pipelined or parallel, collectives among
/// them included.
void share_out(Dice& dice, Triple& triple);

/// Nodes that keep their tile from visit to visit.
void draw_incremental(Dice& dice, Triple& triple);
/// None does any more.
void clear_incremental(std::vector<NodeSpec>& nodes);

/// Children of splits that run at the same time; with dice of its own, and without incremental
/// nodes.
void make_concurrent(Triple& triple, std::uint64_t seed);

}  // namespace sluice::triples
