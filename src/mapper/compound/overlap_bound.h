#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "group.h"
#include "sluice/mapping/mapping.h"

namespace sluice::compound {

/// What a mapping of a group takes at least under `overlap`, and so under `staged`, too: each
/// Einsum's own latency below what it sees of the mapping, added up under sequential splits; side by
/// side the slowest child counts. What an Einsum sees is priced once.
class OverlapBound {
 public:
  /// `alone`: per Einsum of the whole problem its slice(); `root`: of the outermost memory.
  OverlapBound(const BoundProblem& problem, const Group& group,
               const std::vector<BoundProblem>& alone, const StorageNode& root);

  /// Seconds, of a mapping as GroupMapping has it; may stop adding up where they exceed `enough_s`.
  double latency_s(const NodeList& nodes, double enough_s);

  /// Parts that were priced.
  double priced() const { return static_cast<double>(known_.size()); }

 private:
  using Key = std::vector<std::int64_t>;

  double below(const NodeList& nodes, double enough_s, bool price);
  double of_einsum(std::size_t e, bool price);
  void look(std::size_t e, const NodeList& nodes, Key* key) const;
  NodeList seen_by(std::size_t e, const NodeList& nodes) const;
  bool uses(std::size_t e, TensorId tensor) const;

  const BoundProblem& problem_;
  const Group& group_;
  const std::vector<BoundProblem>& alone_;
  std::vector<StorageNode> roots_;  ///< per Einsum: of what it uses
  const NodeList* whole_ = nullptr;
  std::map<Key, double> known_;
};

}  // namespace sluice::compound
