#include "memory_hops.h"

#include <algorithm>
#include <map>
#include <utility>

#include "node_share.h"
#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// Which nodes need the same values.
struct Needs {
  std::map<std::pair<Interval, Interval>, std::vector<Node>> weights;
  std::map<Box, std::vector<Node>> input;
  std::map<Box, std::vector<Node>> output;
};

Needs needs_of(const LayerShape& layer, std::int64_t batch, const LayerPlace& place) {
  Needs needs;
  for (const PartIndex& index : part_indices(place.partition)) {
    const NodeShare share = node_share(layer, batch, place.partition, index);
    if (share.input.size() == 0 || share.output.size() == 0) continue;
    const Node node = node_of(place.partition, place.region, index);
    needs.input[share.input].push_back(node);
    needs.output[share.output].push_back(node);
    if (share.weight_inputs.size() > 0 && share.weight_outputs.size() > 0)
      needs.weights[{share.weight_inputs, share.weight_outputs}].push_back(node);
  }
  return needs;
}

std::int64_t weight_hops(const LayerShape& layer, const Needs& needs,
                         const std::vector<Node>& ports) {
  std::int64_t hops = 0;
  for (const auto& [channels, nodes] : needs.weights)
    hops += channels.first.size() * channels.second.size() * layer.window.size() *
            tree_links(ports, nodes);
  return hops;
}

/// One node reads what is there of the sums, all send theirs along the tree; both share the way to
/// memory.
std::int64_t output_hops(const Needs& needs, const Layout& layout) {
  std::int64_t hops = 0;
  for (const auto& [box, nodes] : needs.output) {
    const std::vector<std::int64_t> alone = layout.words_times_links(box, nodes);
    hops += ceil_divide(
        *std::min_element(alone.begin(), alone.end()) + layout.along_a_tree(box, nodes), 2);
  }
  return hops;
}

bool stays(const LayerPlace& place) {
  return place.output.size() == 1 && place.output.front().region == place.region &&
         place.output.front().partition == place.partition;
}

}  // namespace

PerOperand<std::int64_t> memory_hops(const LayerShape& layer, std::int64_t batch,
                                     const LayerPlace& place) {
  const Needs needs = needs_of(layer, batch, place);
  PerOperand<std::int64_t> hops{weight_hops(layer, needs, place.ports), 0, 0};
  const Layout input(place.input);
  for (const auto& [box, nodes] : needs.input) hops[kInput] += input.along_a_tree(box, nodes);
  if (!stays(place)) hops[kOutput] = output_hops(needs, Layout(place.output));
  return hops;
}

}  // namespace sluice::kapla
