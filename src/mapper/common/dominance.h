#pragma once

#include <utility>
#include <vector>

namespace sluice {

/// Whether no criterion of `a` is larger than that of `b` (equal ones dominate each other).
inline bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] > b[i]) return false;
  return true;
}

/// Adds to a front, unless an entry of it dominates the new one; drops what the new one dominates.
template <class Entry, class Criteria>
void add_to_front(std::vector<Entry>* front, Entry entry, const Criteria& criteria) {
  for (const Entry& other : *front)
    if (dominates(criteria(other), criteria(entry))) return;
  std::erase_if(*front,
                [&](const Entry& other) { return dominates(criteria(entry), criteria(other)); });
  front->push_back(std::move(entry));
}

}  // namespace sluice
