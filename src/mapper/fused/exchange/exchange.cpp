#include "exchange.h"

#include <algorithm>

namespace sluice::fused {

/// Narrows what is allowed to what the user knows. True if anything was dropped.
bool ExchangeAgreement::restrict_to(const User& user) {
  bool changed = false;
  const std::size_t n = user.tensors.size();
  for (std::size_t t = 0; t < n; ++t) {
    const std::size_t tensor = user.tensors[t].index();
    HashSet mine;
    for (std::size_t at = t; at < user.exchanges.size(); at += n)
      if (!known_[tensor] || allowed_[tensor].contains(user.exchanges[at]))
        mine.insert(user.exchanges[at]);
    changed = changed || !known_[tensor] || mine.size() < allowed_[tensor].size();
    known_[tensor] = 1;
    allowed_[tensor] = std::move(mine);
  }
  return changed;
}

void ExchangeAgreement::keep_allowed(User* user) const {
  const std::size_t n = user->tensors.size();
  std::size_t kept = 0;
  for (std::size_t at = 0; at < user->exchanges.size(); at += n) {
    bool agrees = true;
    for (std::size_t t = 0; t < n && agrees; ++t)
      agrees = allows(user->tensors[t], user->exchanges[at + t]);
    if (!agrees) continue;
    std::copy_n(user->exchanges.begin() + static_cast<std::ptrdiff_t>(at), n,
                user->exchanges.begin() + static_cast<std::ptrdiff_t>(kept));
    kept += n;
  }
  user->exchanges.resize(kept);
}

void ExchangeAgreement::add(EinsumId einsum, std::vector<TensorId> tensors,
                            std::vector<std::uint64_t> exchanges) {
  if (tensors.empty()) return;
  std::erase_if(users_, [&](const User& user) { return user.einsum == einsum; });
  users_.push_back({einsum, std::move(tensors), std::move(exchanges)});
}

void ExchangeAgreement::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    for (User& user : users_) {
      keep_allowed(&user);
      changed = restrict_to(user) || changed;
    }
  }
}

}  // namespace sluice::fused
