#include "triples/kinds.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "triples/forward_kinds.h"
#include "triples/triple.h"

namespace sluice::triples {
namespace {

/// `D[X:2*p+r] = …`: a sum of variables before the equals sign.
bool has_windowed_output(const EinsumSpec& einsum) {
  const std::string output = einsum.text.substr(0, einsum.text.find('='));
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t plus = output.find('+'); plus != std::string::npos;
       plus = output.find('+', plus + 1))
    if (std::any_of(output.begin() + static_cast<long>(plus),
                    output.begin() + static_cast<long>(output.find_first_of(",]", plus)), letter))
      return true;
  return false;
}

bool loops_over_ports(const std::vector<NodeSpec>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const NodeSpec& node) {
    return node.kind == NodeSpec::Kind::kSpatial && node.dimension == "port";
  });
}

bool has_forwards(const std::vector<NodeSpec>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const NodeSpec& node) {
    return !node.forward.empty() ||
           std::any_of(node.children.begin(), node.children.end(), has_forwards);
  });
}

/// Regions of these dimensions stand around.
bool has_nested_regions(const std::vector<NodeSpec>& nodes, const std::set<std::string>& around) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const NodeSpec& node) {
    if (!node.shared_out.empty() && around.count(node.shared_out) > 0) return true;
    std::set<std::string> inside = around;
    inside.insert(node.shared_out);
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const auto& child) { return has_nested_regions(child, inside); });
  });
}

bool has_rotations(const std::vector<NodeSpec>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const NodeSpec& node) {
    return node.shared_by > 1 ||
           std::any_of(node.children.begin(), node.children.end(), has_rotations);
  });
}

/// Lower-case letters in brackets.
std::size_t count_variables(const std::string& einsum) {
  std::set<char> names;
  bool is_index = false;
  for (char c : einsum) {
    if (c == '[' || c == ']') is_index = c == '[';
    if (is_index && std::islower(static_cast<unsigned char>(c))) names.insert(c);
  }
  return names.size();
}

/// Every storage that the root holds above the first loop or split is in DRAM, and the tensors of
/// the recurrence are all there.
bool is_outer_cycle(const Triple& triple) {
  const auto steps = [](const EinsumSpec& e) {
    return e.text.substr(0, e.text.find('=')).find("i+1") != std::string::npos;
  };
  if (std::none_of(triple.einsums.begin(), triple.einsums.end(), steps)) return false;
  std::vector<std::string> outside;
  for (const NodeSpec& node : triple.nodes)
    if (node.kind == NodeSpec::Kind::kStorage && node.component == "DRAM")
      outside.insert(outside.end(), node.names.begin(), node.names.end());
  return std::all_of(triple.einsums.begin(), triple.einsums.end(), [&](const EinsumSpec& einsum) {
    return std::find(outside.begin(), outside.end(), einsum.name) != outside.end();
  });
}

}  // namespace

const std::vector<NamedKind>& named_kinds() {
  static const std::vector<NamedKind> kinds = {
      {"windowed_outputs", &Kinds::windowed_outputs},
      {"ports", &Kinds::ports},
      {"leakage", &Kinds::leakage},
      {"many_loops", &Kinds::many_loops},
      {"outer_cycles", &Kinds::outer_cycles},
      {"network_ports", &Kinds::network_ports},
      {"greedy_trees", &Kinds::greedy_trees},
      {"forwards", &Kinds::forwards},
      {"forwards_by_channels", &Kinds::forwards_by_channels},
      {"forwards_by_rows", &Kinds::forwards_by_rows},
      {"forwards_by_trees", &Kinds::forwards_by_trees},
      {"nested_regions", &Kinds::nested_regions},
      {"rotations", &Kinds::rotations},
      {"several_makers", &Kinds::several_makers},
      {"whole_actions", &Kinds::whole_actions}};
  return kinds;
}

Kinds kinds_of(const Triple& triple) {
  Kinds kinds;
  std::set<std::string> made;
  for (const EinsumSpec& einsum : triple.einsums) {
    kinds.several_makers =
        kinds.several_makers || !made.insert(einsum.text.substr(0, einsum.text.find('['))).second;
    kinds.windowed_outputs = kinds.windowed_outputs || has_windowed_output(einsum);
    kinds.many_loops = kinds.many_loops || count_variables(einsum.text) >= 5;
  }
  kinds.ports = loops_over_ports(triple.nodes);
  kinds.forwards = has_forwards(triple.nodes);
  note_forwards(triple, kinds);
  kinds.rotations = has_rotations(triple.nodes);
  kinds.nested_regions = has_nested_regions(triple.nodes, {});
  for (const ComponentSpec& component : triple.components) {
    kinds.leakage = kinds.leakage || component.leak_power > 0;
    kinds.many_loops = kinds.many_loops || component.name == "SB";
    kinds.network_ports = kinds.network_ports || !component.ports.empty();
    kinds.greedy_trees = kinds.greedy_trees || component.grows_trees;
    kinds.whole_actions = kinds.whole_actions || component.whole_actions;
  }
  kinds.outer_cycles = is_outer_cycle(triple);
  return kinds;
}

}  // namespace sluice::triples
