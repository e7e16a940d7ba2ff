#include "onnx_graph/model/inlined.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace sluice::onnx_graph {
namespace {

constexpr int kDeepestCalls = 32;

struct BadGraph {
  std::string message, hint;
};

class Inliner {
 public:
  explicit Inliner(const Model& model) : model_(model) {
    for (const Function& function : model.functions)
      functions_.emplace(std::make_pair(function.domain, function.name), &function);
  }

  std::vector<Node> run() {
    for (const Node& node : model_.graph.nodes) add(node, 0);
    return std::move(nodes_);
  }

 private:
  void add(const Node& node, int depth) {
    const auto found = functions_.find({node.domain, node.type});
    if (found == functions_.end()) {
      if (nodes_.size() >= kMostNodes)
        throw BadGraph{fmt::format("the graph has more than {} nodes", kMostNodes), ""};
      nodes_.push_back(node);
      return;
    }
    if (depth >= kDeepestCalls)
      throw BadGraph{fmt::format("the function '{}' calls itself", node.type), ""};
    expand(node, *found->second, depth);
  }

  /// Names inside get the number of the call; inputs and outputs are the caller's.
  void expand(const Node& call, const Function& function, int depth) {
    const std::size_t number = ++n_calls_;
    if (number > kMostNodes)
      throw BadGraph{fmt::format("functions are called more than {} times", kMostNodes), ""};
    std::map<std::string, std::string> names = {{"", ""}};
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      names[function.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
    for (std::size_t i = 0; i < function.outputs.size(); ++i)
      if (i < call.outputs.size() && !call.outputs[i].empty())
        names[function.outputs[i]] = call.outputs[i];
    const auto renamed = [&](const std::string& name) {
      const auto known = names.find(name);
      return known != names.end() ? known->second
                                  : fmt::format("{}/{}/{}", call.type, number, name);
    };
    for (const Node& inner : function.nodes) {
      Node node = inner;
      for (std::string& name : node.inputs) name = renamed(name);
      for (std::string& name : node.outputs) name = renamed(name);
      const std::string outer = call.name.empty() ? call.type : call.name;
      node.name = fmt::format("{}/{}", outer, node.name.empty() ? node.type : node.name);
      node.call = call.call > 0 ? call.call : number;
      node.call_type = call.call > 0         ? call.call_type
                       : call.domain.empty() ? call.type
                                             : call.domain + "::" + call.type;
      bind_attributes(node, call, function);
      add(node, depth + 1);
    }
  }

  static void bind_attributes(Node& node, const Node& call, const Function& function) {
    std::vector<Attribute> bound;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.refers_to.empty()) {
        bound.push_back(attribute);
        continue;
      }
      const Attribute* value = call.find(attribute.refers_to);
      for (const Attribute& usual : function.defaults)
        if (value == nullptr && usual.name == attribute.refers_to) value = &usual;
      if (value == nullptr) continue;
      bound.push_back(*value);
      bound.back().name = attribute.name;
    }
    node.attributes = std::move(bound);
  }

  const Model& model_;
  std::map<std::pair<std::string, std::string>, const Function*> functions_;
  std::vector<Node> nodes_;
  std::size_t n_calls_ = 0;
};

/// Nodes whose inputs are there go first, in the order of the file.
std::vector<Node> in_order(std::vector<Node> nodes) {
  std::map<std::string, std::size_t> maker;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (const std::string& output : nodes[n].outputs)
      if (!output.empty() && !maker.emplace(output, n).second)
        throw BadGraph{fmt::format("two nodes make '{}'", output), ""};
  std::vector<std::size_t> open(nodes.size());
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (const std::string& input : nodes[n].inputs)
      if (const auto found = maker.find(input); found != maker.end()) {
        readers[found->second].push_back(n);
        ++open[n];
      }
  std::set<std::size_t> ready;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (open[n] == 0) ready.insert(n);
  std::vector<Node> result;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    for (const std::size_t reader : readers[next])
      if (--open[reader] == 0) ready.insert(reader);
    result.push_back(std::move(nodes[next]));
  }
  if (result.size() == nodes.size()) return result;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (open[n] > 0)
      throw BadGraph{
          fmt::format("the node '{}' ({}) needs a value that follows from its own result",
                      nodes[n].name, nodes[n].type),
          "the nodes of an ONNX graph must not go round in a circle"};
  return result;
}

}  // namespace

Result<std::vector<Node>> inlined_nodes(const Model& model, const std::string& file) {
  try {
    return in_order(Inliner(model).run());
  } catch (const BadGraph& bad) {
    return tl::unexpected(Diagnostics{{Severity::kError, {file, 0, 0}, bad.message, "", bad.hint}});
  }
}

}  // namespace sluice::onnx_graph
