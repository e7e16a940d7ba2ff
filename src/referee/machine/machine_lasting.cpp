#include <algorithm>

#include "machine.h"

// Storages that are reserved for longer than they are open (docs/model.md, "Capacity"): those whose
// values go from one step of a loop to the next, and those of one tensor in several branches.

namespace sluice::referee {

void Machine::begin_step() { running_.back().begin = reserved_->tick(); }

void Machine::end_step() {
  RunningLoop& loop = running_.back();
  const std::size_t end = reserved_->tick();
  for (auto& [where, held] : loop.held)
    if (held.begin == loop.begin) held.end = end;
}

/// A storage that lasts holds its tile in this step of the loops above it.
void Machine::keep_lasting(const StorageItem& storage, const Lanes& lanes, bool is_double) {
  for (const Lane& lane : lanes) {
    const double bits = reserved_bits(storage, lane, is_double);
    if (bits > 0)
      hold_in_step(running_.back(), {&storage, instance_of(storage.component, lane.place)}, bits,
                   {});
  }
  if (!records()) return;
  auto& [bits, instances] = recorded_[&storage];
  const double first = reserved_bits(storage, lanes.front(), is_double);
  if (first == bits) return;
  if (bits > 0) record_reservation(ExecutionStep::Kind::kRelease, storage, instances, bits);
  bits = first;
  instances = static_cast<std::int64_t>(lanes.size());
  record_reservation(ExecutionStep::Kind::kReserve, storage, instances, bits);
}

/// All through a step of a loop, but for the `further` time in which a loop inside says what it is.
/// Between two steps with a tile the first one's is still there.
void Machine::hold_in_step(RunningLoop& loop, const HeldWhere& where, double bits,
                           const Moments& further) {
  auto [place, is_new] = loop.held.try_emplace(where);
  HeldInSteps& held = place->second;
  if (!is_new && held.begin == loop.begin) {
    held.bits = std::max(held.bits, bits);
  } else {
    held.end = loop.begin;
    if (!is_new) reserve_held(where, held);
    held.bits = bits;
    held.begin = loop.begin;
    held.further = further;
  }
  if (is_new) held.first_begin = loop.begin;
  if (held.first_begin == loop.begin) held.first_bits = held.bits;
}

void Machine::reserve_held(const HeldWhere& where, const HeldInSteps& held) {
  const auto& [storage, place] = where;
  const auto [from, to] = held.further.value_or(std::pair(held.end, held.end));
  for (const auto& [begin, end] : {std::pair(held.begin, from), std::pair(to, held.end)})
    reserved_->reserve_between(begin, end, storage->component, place, owner_[storage->id],
                               held.bits);
}

/// A loop ends. What lasts longer has its tile of the first step in the rest of the step outside.
void Machine::end_lasting() {
  const RunningLoop loop = std::move(running_.back());
  running_.pop_back();
  for (const auto& [where, held] : loop.held) {
    reserve_held(where, held);
    const StorageItem& storage = *where.first;
    if (lasting_.at(storage.id) != loop.id)
      hold_in_step(running_.back(), where, held.first_bits, std::pair(held.first_begin, held.end));
    else if (const auto recorded = recorded_.find(&storage); recorded != recorded_.end()) {
      const auto& [bits, instances] = recorded->second;
      record_reservation(ExecutionStep::Kind::kRelease, storage, instances, bits);
      recorded_.erase(recorded);
    }
  }
}

/// Whether all backing storages of its tensor in its memory are one reservation.
bool Machine::is_of_branches(const StorageItem& storage) {
  return storage.is_backing && storage.exchange == StorageItem::Exchange::kNone;
}

/// Such a storage has just been reserved, or is about to be released.
void Machine::note_branch(const StorageItem& storage, const InstancePlace& place, double bits) {
  if (!is_of_branches(storage)) return;
  for (RunningSplit& split : splits_) {
    if (split.table != reserved_) continue;
    const std::size_t now = reserved_->tick();
    auto [held, is_new] = split.held.try_emplace({storage.tensor, {storage.component, place}});
    HeldInBranches& branches = held->second;
    if (is_new) {
      branches.owner = owner_[storage.id];
      branches.begin = now;
      branches.first_child = split.child;
    }
    branches.bits = std::max(branches.bits, bits);
    branches.end = now;
    branches.last_child = split.child;
  }
}

/// From the first to the last child that has a storage of the tensor it is as large as the largest.
void Machine::end_branches() {
  for (const auto& [what, held] : splits_.back().held) {
    const auto& [memory, place] = what.second;
    if (held.first_child < held.last_child)
      reserved_->reserve_between(held.begin, held.end, memory, place, held.owner, held.bits);
  }
  splits_.pop_back();
}

}  // namespace sluice::referee
