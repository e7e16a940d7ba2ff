#include "onnx_graph/walk/live_nodes.h"

#include <map>
#include <set>
#include <string>

namespace sluice::onnx_graph {
namespace {

/// Names that a node reads, also in its bodies.
void collect_reads(const Node& node, std::vector<std::string>& names) {
  names.insert(names.end(), node.inputs.begin(), node.inputs.end());
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.graph) continue;
    for (const Node& inner : attribute.graph->nodes) collect_reads(inner, names);
    for (const ValueInfo& output : attribute.graph->outputs) names.push_back(output.name);
  }
}

}  // namespace

std::vector<bool> live_nodes(const Graph& graph, const std::vector<Node>& nodes) {
  std::vector<bool> is_live(nodes.size(), graph.outputs.empty());
  if (graph.outputs.empty()) return is_live;
  std::map<std::string, std::vector<std::size_t>> makers;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (const std::string& output : nodes[n].outputs)
      if (!output.empty()) makers[output].push_back(n);
  std::vector<std::string> open;
  std::set<std::string> seen;
  for (const ValueInfo& output : graph.outputs) open.push_back(output.name);
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const auto found = makers.find(name);
    if (found == makers.end() || !seen.insert(name).second) continue;
    for (const std::size_t n : found->second) {
      if (is_live[n]) continue;
      is_live[n] = true;
      collect_reads(nodes[n], open);
    }
  }
  return is_live;
}

}  // namespace sluice::onnx_graph
