#include "ledger.h"

#include <algorithm>

namespace sluice::referee {

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

/// Adds up what is reserved after each event. Of one owner's sizes the largest counts. At one
/// moment some go before others come.
ReservationTable::Usage ReservationTable::Instance::usage() const {
  double always = 0;
  for (const auto& [owner, bits] : forever) always += bits;
  std::map<std::size_t, std::multiset<double>> live;
  double now = always;
  Usage usage{always, true};
  std::vector<Event> in_order = events;
  std::stable_sort(in_order.begin(), in_order.end(), [](const Event& a, const Event& b) {
    return std::pair(a.moment, a.bits > 0) < std::pair(b.moment, b.bits > 0);
  });
  for (const Event& event : in_order) {
    std::multiset<double>& sizes = live[event.owner];
    const auto always_owned = forever.find(event.owner);
    const double floor = always_owned == forever.end() ? 0 : always_owned->second;
    const auto reserved = [&] { return sizes.empty() ? floor : std::max(floor, *sizes.rbegin()); };
    now -= reserved();
    if (event.bits > 0)
      sizes.insert(event.bits);
    else if (const auto size = sizes.find(-event.bits); size != sizes.end())
      sizes.erase(size);
    else
      usage.is_balanced = false;
    now += reserved();
    usage.peak_bits = std::max(usage.peak_bits, now);
  }
  return usage;
}

void ReservationTable::reserve(ComponentId memory, const InstancePlace& place, std::size_t owner,
                               double bits) {
  memories_[memory][place].events.push_back({now_++, owner, bits});
}

void ReservationTable::release(ComponentId memory, const InstancePlace& place, std::size_t owner,
                               double bits) {
  memories_[memory][place].events.push_back({now_++, owner, -bits});
}

void ReservationTable::reserve_between(std::size_t begin, std::size_t end, ComponentId memory,
                                       const InstancePlace& place, std::size_t owner, double bits) {
  if (begin >= end || bits == 0) return;
  std::vector<Event>& events = memories_[memory][place].events;
  events.push_back({begin, owner, bits});
  events.push_back({end, owner, -bits});
}

void ReservationTable::reserve_forever(ComponentId memory, const InstancePlace& place,
                                       std::size_t owner, double bits) {
  double& reserved = memories_[memory][place].forever[owner];
  reserved = std::max(reserved, bits);
}

std::map<MemoryInstance, double> ReservationTable::peaks() const {
  std::map<MemoryInstance, double> peaks;
  for (const auto& [memory, instances] : memories_)
    for (const auto& [place, instance] : instances)
      peaks[{memory, place}] = instance.usage().peak_bits;
  return peaks;
}

ReservationTable::Usage ReservationTable::usage(ComponentId memory) const {
  Usage all;
  const auto instances = memories_.find(memory);
  if (instances == memories_.end()) return all;
  for (const auto& [place, instance] : instances->second) {
    const Usage own = instance.usage();
    all.peak_bits = std::max(all.peak_bits, own.peak_bits);
    all.is_balanced = all.is_balanced && own.is_balanced;
  }
  return all;
}

}  // namespace sluice::referee
