#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "mapper/fused/price/state_tables.h"
#include "sluice/arch/arch.h"

namespace sluice::fused {

/// A dimension of a spatial fanout.
struct FanoutDimension {
  ComponentId component{};
  std::uint32_t dimension = 0;
  std::int64_t instances = 1;
};

/// The spatial loops of a class, the first ones of a trie.
struct SpatialLoops {
  const ClassStates* states = nullptr;
  const StateTrie* trie = nullptr;
  struct Loop {
    std::uint32_t index = 0;  ///< among the class's loops
    std::size_t fanout = 0;   ///< a number among the fanouts asked about; their number: none of them
    auto operator<=>(const Loop&) const = default;
  };
  std::vector<Loop> loops;  ///< in the trie's order
};

/// The choices of trip counts for the spatial loops of all classes that use of no fanout more than
/// there is.
struct SpatialChoices {
  std::vector<std::uint32_t> nodes;             ///< per choice a trie's node of each class
  std::vector<std::uint32_t> use;               ///< per choice: a number among `uses`
  std::vector<std::vector<std::int64_t>> uses;  ///< of each fanout
};

/// Spatial choices, found once for all templates with the same state tables. Safe to share between
/// threads.
class SpatialMemo {
 public:
  /// None where there are very many.
  std::shared_ptr<const SpatialChoices> choices(const std::vector<SpatialLoops>& classes,
                                                const std::vector<FanoutDimension>& fanouts);

 private:
  std::mutex mutex_;
  std::map<std::vector<std::uintptr_t>, std::shared_ptr<const SpatialChoices>> known_;
};

}  // namespace sluice::fused
