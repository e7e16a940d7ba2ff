#pragma once

#include <span>

#include "model/collectives/tally.h"

namespace sluice {

/// A way of performing collectives. One file each, one line in the table of algorithms.cpp.
class CollectiveAlgorithm {
 public:
  virtual ~CollectiveAlgorithm() = default;
  virtual const char* name() const = 0;
  /// Whether it knows this type.
  virtual bool performs(CollectiveType type) const = 0;
  /// Whether the networks have the shape that it needs.
  virtual bool fits(const CollectiveTopology& topology) const = 0;
  virtual const char* needs() const = 0;  ///< `fits` in words
  /// All messages of the request.
  virtual void count(CollectiveTally& tally) const = 0;
};

/// All algorithms, in the order in which `auto` prefers equals.
std::span<const CollectiveAlgorithm* const> collective_algorithm_table();

const CollectiveAlgorithm& recursive_doubling();
const CollectiveAlgorithm& recursive_halving_doubling();
const CollectiveAlgorithm& ring();
const CollectiveAlgorithm& binomial_tree();
const CollectiveAlgorithm& direct();
const CollectiveAlgorithm& per_dimension();

inline bool has_root(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kGather ||
         type == CollectiveType::kScatter;
}

}  // namespace sluice
