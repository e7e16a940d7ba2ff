#include "exchange.h"

#include <algorithm>

namespace sluice::fused {

/// Whether nothing changed since it was looked at.
bool ExchangeAgreement::is_settled(const User& user) const {
  return user.settled > 0 && std::all_of(user.tensors.begin(), user.tensors.end(), [&](TensorId t) {
           return narrowed_[t.index()] <= user.settled;
         });
}

/// Narrows what is allowed to what the user knows, all of which is allowed.
void ExchangeAgreement::restrict_to(const User& user) {
  const std::size_t n = user.tensors.size();
  for (std::size_t t = 0; t < n; ++t) {
    const std::size_t tensor = user.tensors[t].index();
    HashSet mine;
    for (std::size_t at = t; at < user.exchanges.size(); at += n) mine.insert(user.exchanges[at]);
    if (!known_[tensor] || mine.size() < allowed_[tensor].size()) narrowed_[tensor] = time_;
    known_[tensor] = 1;
    allowed_[tensor] = std::move(mine);
  }
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
      if (is_settled(user)) continue;
      changed = true;
      user.settled = ++time_;
      keep_allowed(&user);
      restrict_to(user);
    }
  }
}

}  // namespace sluice::fused
