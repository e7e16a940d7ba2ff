#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "group.h"
#include "mapper/common/key_hash.h"
#include "model/evaluate/part_totals.h"
#include "sluice/mapping/mapping.h"

namespace sluice::compound {

/// What a mapping of a group takes under `overlap`, and so at least under `staged`: each Einsum's
/// own latency below what it sees of the mapping, added up under sequential splits; side by side
/// the slowest child counts, or the component that all of them keep busy longest. What an Einsum
/// sees is priced once. For likely searches alone: where a tensor that it does not use keeps a node
/// from sinking below a loop, its own latency is another one than in the group.
class OverlapBound {
 public:
  /// `alone`: per Einsum of the whole problem its slice(); `root`: of the outermost memory.
  OverlapBound(const BoundProblem& problem, const Group& group,
               const std::vector<BoundProblem>& alone, const StorageNode& root);

  /// Seconds, of a mapping of the group's first Einsums as GroupMapping has it; may be less where
  /// they exceed `enough_s`.
  double latency_s(const NodeList& nodes, std::size_t n_einsums, double enough_s);

  /// Parts that were priced.
  double priced() const { return priced_; }

 private:
  using Key = std::vector<std::int64_t>;  ///< number of the Einsum, then what it sees
  using Known = std::unordered_map<Key, std::optional<PartTime>, fused::KeyHash>;

  double below(const NodeList& nodes, std::vector<double>* busy_s) const;
  PartTime price(std::size_t e, const NodeList& nodes);
  void look(std::size_t e, const NodeList& nodes, Key* key) const;
  NodeList seen_by(std::size_t e, const NodeList& nodes) const;
  bool uses(std::size_t e, TensorId tensor) const;

  const BoundProblem& problem_;
  const Group& group_;
  const std::vector<BoundProblem>& alone_;
  std::vector<StorageNode> roots_;  ///< per Einsum: of what it uses
  Known known_;
  std::vector<const PartTime*> now_;  ///< per Einsum: in the mapping looked at; null: not known
  std::vector<double> last_s_;        ///< per Einsum: when it was priced last
  double priced_ = 0;
};

}  // namespace sluice::compound
