#pragma once

#include <cstdint>
#include <vector>

#include "mapper/common/hash_tables.h"
#include "mapper/common/key_hash.h"
#include "sluice/model/binding.h"

namespace sluice::fused {

/// How one shared tensor is exchanged — memory, level and the loops above, in any order — as a
/// hash. All Einsums that use the tensor must agree on it.
class ExchangeHash {
 public:
  void add_loop(std::int32_t rank, std::int64_t tile, std::int64_t trips, bool spatial,
                ComponentId component, std::uint32_t dimension) {
    ++level_;
    std::uint64_t hash = KeyHash::mix(static_cast<std::uint64_t>(rank) + 1);
    hash = KeyHash::mix(hash ^ static_cast<std::uint64_t>(tile));
    hash = KeyHash::mix(hash ^ static_cast<std::uint64_t>(trips));
    if (spatial) hash = KeyHash::mix(hash ^ ((component.index() + 1) << 16U ^ (dimension + 1)));
    loops_ += hash;  // a sum, so that the order does not matter
  }
  std::uint64_t at(ComponentId component, bool persistent) const {
    const std::uint64_t level = persistent ? ~std::uint64_t{0} : level_;
    return KeyHash::mix(KeyHash::mix(loops_ ^ level) ^ component.index());
  }
  /// The same, told apart by the persistent copies whose room the tensor uses (Backing::kept_by).
  std::uint64_t at(ComponentId component, bool persistent, std::uint32_t kept_by) const {
    const std::uint64_t plain = at(component, persistent);
    return kept_by == 0 ? plain : KeyHash::mix(plain ^ kept_by);
  }

 private:
  std::uint64_t loops_ = 0, level_ = 0;
};

/// The ways of exchanging each tensor that all Einsums priced so far know. Others are dead ends.
class ExchangeAgreement {
 public:
  explicit ExchangeAgreement(std::size_t n_tensors)
      : known_(n_tensors), allowed_(n_tensors), narrowed_(n_tensors, 0) {}

  bool allows(TensorId tensor, std::uint64_t exchange) const {
    return !known_[tensor.index()] || allowed_[tensor.index()].contains(exchange);
  }

  /// What one Einsum can do: `tensors` (its shared ones), and for each of its choices one exchange
  /// per tensor; replaces what was known of the Einsum.
  void add(EinsumId einsum, std::vector<TensorId> tensors, std::vector<std::uint64_t> exchanges);
  /// Forgets what no longer agrees, until nothing changes.
  void settle();

 private:
  struct User {
    EinsumId einsum;
    std::vector<TensorId> tensors;
    std::vector<std::uint64_t> exchanges;  // tensors.size() each
    std::uint64_t settled = 0;             // the last time it was looked at
  };
  bool is_settled(const User& user) const;
  void restrict_to(const User& user);
  void keep_allowed(User* user) const;

  std::vector<User> users_;
  std::vector<char> known_;  // per tensor: some user was added
  std::vector<HashSet> allowed_;
  std::vector<std::uint64_t> narrowed_;  // per tensor: the last time that less was allowed
  std::uint64_t time_ = 0;
};

}  // namespace sluice::fused
