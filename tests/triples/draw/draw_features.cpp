#include "triples/draw/draw.h"

namespace sluice::triples {
namespace {

void draw_incremental(Dice& dice, std::vector<NodeSpec>& nodes, int percent) {
  for (NodeSpec& node : nodes) {
    if (node.kind == NodeSpec::Kind::kStorage && node.component != "DRAM" && !node.sliding)
      node.incremental = dice.chance(percent);
    for (std::vector<NodeSpec>& child : node.children) draw_incremental(dice, child, percent);
  }
}

void draw_concurrent(Dice& dice, std::vector<NodeSpec>& nodes) {
  for (NodeSpec& node : nodes) {
    if (node.kind == NodeSpec::Kind::kSequential)
      node.split = dice.text_of({"Pipeline", "Pipeline", "Pipeline", "Parallel", "Sequential"});
    for (std::vector<NodeSpec>& child : node.children) draw_concurrent(dice, child);
  }
}

}  // namespace

void clear_incremental(std::vector<NodeSpec>& nodes) {
  for (NodeSpec& node : nodes) {
    node.incremental = false;
    for (std::vector<NodeSpec>& child : node.children) clear_incremental(child);
  }
}

void draw_incremental(Dice& dice, Triple& triple) {
  if (dice.chance(triple.einsums.size() > 1 ? 20 : 35))
    draw_incremental(dice, triple.nodes, dice.chance(50) ? 100 : 50);
}

void make_concurrent(Triple& triple, std::uint64_t seed) {
  Dice dice(seed ^ 0xC0C0C0C0C0C0ULL);
  clear_incremental(triple.nodes);
  draw_concurrent(dice, triple.nodes);
}

}  // namespace sluice::triples
