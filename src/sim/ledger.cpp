#include "ledger.h"

#include <algorithm>

namespace sluice::sim {

void Complaints::add(ComplaintKind kind, std::string message) {
  constexpr std::size_t kMostOfAKind = 8;
  std::size_t of_kind = 0;
  for (const Complaint& other : list_) {
    if (other.kind != kind) continue;
    if (other.message == message || ++of_kind == kMostOfAKind) return;
  }
  list_.push_back({kind, std::move(message)});
}

bool Complaints::has(ComplaintKind kind) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const Complaint& complaint) { return complaint.kind == kind; });
}

double ReservationTable::Instance::now() const {
  double bits = 0;
  for (const auto& [owner, sizes] : live)
    if (!sizes.empty()) bits += *sizes.rbegin();
  return bits;
}

void ReservationTable::reserve(ComponentId memory, const InstancePlace& place, std::size_t owner,
                               double bits) {
  Instance& instance = memories_[memory][place];
  instance.live[owner].insert(bits);
  instance.peak = std::max(instance.peak, instance.now());
}

void ReservationTable::release(ComponentId memory, const InstancePlace& place, std::size_t owner,
                               double bits) {
  std::multiset<double>& sizes = memories_[memory][place].live[owner];
  sizes.erase(sizes.find(bits));
}

void ReservationTable::reserve_forever(ComponentId memory, const InstancePlace& place,
                                       std::size_t storage, double bits) {
  double& reserved = memories_[memory][place].forever[storage];
  reserved = std::max(reserved, bits);
}

double ReservationTable::peak_bits(ComponentId memory) const {
  double peak = 0;
  const auto instances = memories_.find(memory);
  if (instances == memories_.end()) return peak;
  for (const auto& [place, instance] : instances->second) {
    double bits = instance.peak;
    for (const auto& [storage, forever] : instance.forever) bits += forever;
    peak = std::max(peak, bits);
  }
  return peak;
}

}  // namespace sluice::sim
