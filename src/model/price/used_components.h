#pragma once

#include <vector>

#include "sluice/arch/arch.h"

namespace sluice {

/// What one Einsum uses: the components of its nodes (a toll also where it charges nothing for a
/// tensor that passes it), its compute, the networks that something crosses. The others, if they
/// are power-gated, do not leak while it runs.
class UsedComponents {
 public:
  explicit UsedComponents(std::size_t n_components) : used_(n_components) {}

  void clear() { used_.assign(used_.size(), 0); }
  void add(ComponentId component) { used_[component.index()] = 1; }
  std::size_t size() const { return used_.size(); }
  bool operator[](std::size_t component) const { return used_[component] != 0; }
  bool leaks(const Component& component, std::size_t index) const {
    return !component.power_gated || (*this)[index];
  }

 private:
  std::vector<char> used_;  ///< by ComponentId
};

}  // namespace sluice
