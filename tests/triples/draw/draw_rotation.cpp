#include <algorithm>

#include "triples/draw/tree_draw.h"

// Tiles that peers share and hand round.

namespace sluice::triples {

bool TreeDraw::rotation(std::vector<NodeSpec>& list, std::size_t e) {
  const Einsum& einsum = w_.einsums[e];
  const TensorAccess& access = dice_.any(einsum.accesses);
  if (access.is_output && !dice_.chance(2)) return false;
  const RankVariableId over = any_variable(e), along = any_variable(e);
  const bool is_spread = relevance(access, over) == Relevance::kIrrelevant || dice_.chance(3);
  const bool is_cut = relevance(access, along) == Relevance::kRelevant || dice_.chance(3);
  if (over == along || !is_spread || !is_cut) return false;
  const std::string dimension = dice_.text_of({"x", "y"});
  const std::int64_t k = 2 + dice_.below(3);
  std::int64_t &spread = tiles_[e][over], &cut = tiles_[e][along];
  const bool divides = spread % k == 0 && cut % k == 0;
  if (k > fanout_of("PE", dimension) || k > spread || k > cut || (!divides && !dice_.chance(4)))
    return false;
  if (dice_.chance(40)) spatial_loop(list, e, "PE", dimension == "x" ? "y" : "x");
  if (perfect_ && dice_.chance(15)) spatial_loop(list, e, "PE", dimension);
  NodeSpec peers = loop_over({over}, std::max<std::int64_t>(1, spread / k));
  peers.kind = NodeSpec::Kind::kSpatial;
  peers.component = "PE";
  peers.dimension = dimension;
  spread = peers.tile;
  list.push_back(peers);
  if (dice_.chance(20)) spatial_loop(list, e, "PE", dimension == "x" ? "y" : "x");
  const std::string& name = w_[access.tensor].name;
  NodeSpec shared = storage("RF", {name});
  shared.shared_by = dice_.chance(97) ? k : k + 1;
  shared.over_peers = dimension;
  shared.along = w_[along].name;
  held_[e].insert("RF/" + name);
  std::vector<NodeSpec> nodes = {shared};
  insert_storages(nodes, e, "RF", 20);
  list.insert(list.end(), nodes.begin(), nodes.end());
  cut = std::max<std::int64_t>(1, cut / k);
  list.push_back(loop_over({along}, cut));
  return true;
}

}  // namespace sluice::triples
