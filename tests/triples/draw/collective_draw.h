#pragma once

#include "triples/draw/tree_draw.h"

namespace sluice::triples {

/// Mappings with collectives: splits in which each collective has its place.
class CollectiveDraw : protected TreeDraw {
 protected:
  using TreeDraw::TreeDraw;
  ~CollectiveDraw() = default;

  struct Drawn {
    NodeSpec node;
    std::size_t maker = 0;
    std::vector<std::size_t> readers;
    bool in_place = false;
  };

  static constexpr const char* kDimensions[] = {"g", "x", "y"};
  /// GB for g, the elements for x and y.
  static const char* component_of(const std::string& dimension) {
    return dimension == "g" ? "GB" : "PE";
  }
  bool has_dimension(const std::string& dimension) const;
  std::vector<std::size_t> readers_of(TensorId tensor) const;
  std::size_t maker_of(TensorId tensor) const;
  static bool walks(const Einsum& einsum, RankVariableId variable);
  static bool touches(const TensorAccess& access, RankVariableId variable);
  /// Whether no access of the Einsum to the tensor depends on the variable.
  static bool is_irrelevant(const Einsum& einsum, TensorId tensor, RankVariableId variable);

  /// One variable of each Einsum, empty where there are none: each reader of an intermediate walks
  /// the rank that its maker walks, or all of it where the maker sums over its variable.
  using Walk = std::vector<RankVariableId>;
  Walk walk_from(std::size_t e, RankVariableId variable, bool may_sum);
  bool sums_in(const Walk& walk, std::size_t e) const {
    return !touches(w_.einsums[e].output(), walk[e]);
  }
  /// The variables of a loop that makes each Einsum walk its own; empty where there are none.
  std::vector<RankVariableId> variables_of(const Walk& walk);
  /// A temporal loop, most often one that no sum is spread by.
  void steps_above(std::vector<NodeSpec>& list);

  /// A collective without participants.
  NodeSpec collective(const std::string& type, TensorId tensor, const std::string& source,
                      const std::string& destination);

  /// The split above all Einsums, sometimes with another one inside; each collective behind its
  /// maker, sometimes one of them spoilt.
  NodeSpec split();

  /// What stands in the child of one Einsum.
  virtual std::vector<NodeSpec> branch(std::size_t e) = 0;

  std::vector<Drawn> collectives_;

 private:
  /// Whether an Einsum reads rows or values at another place along its variable.
  bool is_shifted(const Walk& walk) const;
  bool follow(std::vector<std::optional<RankVariableId>>& walk, bool may_sum);
  bool follow_tensor(TensorId tensor, std::vector<std::optional<RankVariableId>>& walk,
                     bool may_sum, bool& changed);
  using Group = std::vector<std::size_t>;  ///< the Einsums of one child
  NodeSpec split_of(const std::vector<Group>& groups);
  /// In the innermost split that has its maker and readers; one in place may stand further in.
  bool belongs_inside(const Drawn& collective, const Group& inside);
  void put_collectives(NodeSpec& split, std::vector<Drawn>& waiting, const Group& next);
  NodeSpec inner_split(const Group& group);
  void spoil_collective();
};

}  // namespace sluice::triples
