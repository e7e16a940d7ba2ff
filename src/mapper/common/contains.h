#pragma once

#include <algorithm>
#include <vector>

namespace sluice {

template <class Item>
bool contains(const std::vector<Item>& items, const Item& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace sluice
