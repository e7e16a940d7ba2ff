#include <algorithm>

#include "machine.h"

// Backing storages whose values go from one step of a loop to the next (docs/model.md, "Capacity").

namespace sluice::referee {

/// It is there as long as its loop runs: what it takes is reserved once that is known.
void Machine::keep_lasting(const StorageItem& storage, const Lanes& lanes, bool is_double) {
  Lasting& kept = lasting_bits_[lasting_.at(storage.id)][storage.id];
  kept.storage = &storage;
  for (const Lane& lane : lanes) {
    double& bits = kept.bits[instance_of(storage.component, lane.place)];
    bits = std::max(bits, reserved_bits(storage, lane, is_double));
  }
  kept.instances = std::max(kept.instances, static_cast<std::int64_t>(lanes.size()));
  const double first = reserved_bits(storage, lanes.front(), is_double);
  if (first <= kept.recorded) return;
  record_reservation(ExecutionStep::Kind::kReserve, storage, kept.instances, first - kept.recorded);
  kept.recorded = first;
}

/// The loop ends that began at this moment: what it has handed on was there from its first step on.
void Machine::release_lasting(const LoopItem& loop, std::size_t begin) {
  const auto lasting = lasting_bits_.find(loop.id);
  if (lasting == lasting_bits_.end()) return;
  for (const auto& [id, kept] : lasting->second) {
    for (const auto& [place, bits] : kept.bits)
      if (bits > 0)
        reserved_->reserve_since(begin, kept.storage->component, place, owner_[id], bits);
    if (kept.recorded > 0)
      record_reservation(ExecutionStep::Kind::kRelease, *kept.storage, kept.instances,
                         kept.recorded);
  }
  lasting_bits_.erase(lasting);
}

}  // namespace sluice::referee
