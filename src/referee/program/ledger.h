#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sluice/referee/execution.h"

namespace sluice::referee {

/// Complaints, each said once, and not more than a screenful.
class Complaints {
 public:
  void add(ComplaintKind kind, std::string message);
  bool has(ComplaintKind kind) const;
  bool empty() const { return list_.empty(); }
  const std::vector<Complaint>& list() const { return list_; }

 private:
  std::vector<Complaint> list_;
};

/// Values and operations by Einsum, component, tensor and action.
class CountTable {
 public:
  struct Count {
    std::int64_t count = 0;
    double bits = 0;
  };
  void add(EinsumId einsum, ComponentId component, std::optional<TensorId> tensor,
           const std::string& action, std::int64_t count, double bits_per_value) {
    Count& row = counts_[{einsum, component, tensor, action}];
    row.count += count;
    row.bits += static_cast<double>(count) * bits_per_value;
  }
  const auto& rows() const { return counts_; }

 private:
  std::map<std::tuple<EinsumId, ComponentId, std::optional<TensorId>, std::string>, Count> counts_;
};

/// Coordinates of one instance of a memory: one for each spatial dimension of the machine.
using InstancePlace = std::vector<std::int64_t>;
using MemoryInstance = std::pair<ComponentId, InstancePlace>;

/// What is reserved in every instance of every memory, now and at most. Tensors that are the same
/// bits under two names share one reservation: they have one `owner`.
class ReservationTable {
 public:
  void reserve(ComponentId memory, const InstancePlace& place, std::size_t owner, double bits);
  void release(ComponentId memory, const InstancePlace& place, std::size_t owner, double bits);
  /// For the whole run, from its first moment; of several sizes the largest counts.
  void reserve_forever(ComponentId memory, const InstancePlace& place, std::size_t owner,
                       double bits);
  /// A moment after all that has happened so far, and before all that will.
  std::size_t tick() { return now_++; }
  /// From one such moment to another one.
  void reserve_between(std::size_t begin, std::size_t end, ComponentId memory,
                       const InstancePlace& place, std::size_t owner, double bits);
  struct Usage {
    double peak_bits = 0;
    /// All that was released had been reserved. A run goes on after a complaint, and may then
    /// release what it did not come to reserve, which counts as nothing.
    bool is_balanced = true;
  };
  /// Of the instance that holds most.
  Usage usage(ComponentId memory) const;
  /// The largest sum over time in every instance of every memory.
  std::map<MemoryInstance, double> peaks() const;

 private:
  struct Event {
    std::size_t moment = 0;
    std::size_t owner = 0;
    double bits = 0;  ///< negative: released
  };
  struct Instance {
    std::vector<Event> events;              ///< in any order
    std::map<std::size_t, double> forever;  ///< bits by owner
    Usage usage() const;
  };
  std::map<ComponentId, std::map<InstancePlace, Instance>> memories_;
  std::size_t now_ = 0;
};

}  // namespace sluice::referee
