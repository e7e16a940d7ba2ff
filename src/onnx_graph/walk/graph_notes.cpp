#include "onnx_graph/walk/graph_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "onnx_graph/model/schema_attributes.h"

namespace sluice::onnx_graph {
namespace {

constexpr std::size_t kMostNamed = 10;
constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 26;

std::string listed(const std::vector<std::string>& texts, const char* separator) {
  const std::size_t n = std::min(texts.size(), kMostNamed);
  std::string text = fmt::format(
      "{}", fmt::join(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(n), separator));
  if (n < texts.size()) text += fmt::format("{}and {} more", separator, texts.size() - n);
  return text;
}

void note(Lowering& lowering, const std::string& file, const std::string& message,
          const std::string& hint) {
  lowering.notes.push_back({Severity::kNote, {file, 0, 0}, message, "", hint});
}

bool contradicts(const std::vector<Dimension>& declared, const Shape& made,
                 const SizeLookup& symbol) {
  if (declared.size() != made.size()) return true;
  for (std::size_t d = 0; d < made.size(); ++d) {
    const auto size = declared[d].size ? declared[d].size : symbol(declared[d].symbol);
    if (size && *size != made[d]) return true;
  }
  return false;
}

std::string text_of(const std::vector<Dimension>& declared) {
  std::vector<std::string> texts;
  for (const Dimension& dimension : declared)
    texts.push_back(dimension.size ? std::to_string(*dimension.size)
                                   : (dimension.symbol.empty() ? "?" : dimension.symbol));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// Nodes by type and attribute.
void collect_unknown(
    const Node& node,
    std::map<std::pair<std::string, std::string>, std::vector<std::string>>& unknown) {
  const bool is_onnx = node.domain.empty() || node.domain == "ai.onnx";
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph)
      for (const Node& inner : attribute.graph->nodes) collect_unknown(inner, unknown);
    if (!is_onnx || schema_attributes(node.type).empty() ||
        schema_attributes(node.type).count(attribute.name) > 0)
      continue;
    unknown[{node.type, attribute.name}].push_back(
        node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name);
  }
}

}  // namespace

void note_contradictions(const Model& model, const std::string& file, const SizeLookup& symbol,
                         Lowering& lowering) {
  std::map<std::string, const ValueInfo*> declared;
  for (const auto& [name, info] : model.graph.values) declared[name] = &info;
  for (const ValueInfo& info : model.graph.outputs) declared[info.name] = &info;
  std::vector<std::string> texts;
  for (const auto& [name, info] : declared) {
    const auto value = lowering.values.find(name);
    if (!info->shape || value == lowering.values.end() || value->second.elements) continue;
    if (!contradicts(*info->shape, value->second.shape, symbol)) continue;
    texts.push_back(fmt::format("'{}' is {} in the file, [{}] by its operators", name,
                                text_of(*info->shape), fmt::join(value->second.shape, ", ")));
  }
  if (texts.empty()) return;
  note(lowering, file,
       fmt::format("{} tensor{} not the shape that the file says: what the operators make counts",
                   texts.size(), texts.size() == 1 ? " has" : "s have"),
       listed(texts, "; "));
}

void note_dead_nodes(const std::vector<Node>& nodes, const std::vector<bool>& is_live,
                     const std::string& file, Lowering& lowering) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (is_live[n] || node.type == "Constant") continue;
    const std::string& name =
        node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
    names.push_back(fmt::format("{} ({})", name, node.type));
  }
  if (names.empty()) return;
  note(lowering, file,
       fmt::format("{} node{} left out: nothing that the graph puts out needs what {}",
                   names.size(), names.size() == 1 ? " is" : "s are",
                   names.size() == 1 ? "it makes" : "they make"),
       fmt::format("at {}", listed(names, ", ")));
}

void note_unknown_attributes(const std::vector<Node>& nodes, const std::vector<bool>& is_live,
                             const std::string& file, Lowering& lowering) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> unknown;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (is_live[n]) collect_unknown(nodes[n], unknown);
  for (const auto& [attribute, names] : unknown) {
    const auto& [type, name] = attribute;
    const std::set<std::string>& known = schema_attributes(type);
    const std::string nearest = nearest_name(name, {known.begin(), known.end()});
    lowering.notes.push_back(
        {Severity::kWarning,
         {file, 0, 0},
         fmt::format(
             "{} × {} with the attribute '{}', which ONNX's {} does not have: it is ignored",
             names.size(), type, name, type),
         "",
         fmt::format("{}at {}", nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest),
                     listed(names, ", "))});
  }
}

void note_opset(const Model& model, const std::string& file, Lowering& lowering) {
  for (const auto& [domain, version] : model.opsets) {
    const bool is_onnx = domain.empty() || domain == "ai.onnx";
    if (!is_onnx || (version >= kOldestOpset && version <= kNewestOpset)) continue;
    note(lowering, file,
         fmt::format("opset {} is not one of {} to {}: operators are read as in the nearest one",
                     version, kOldestOpset, kNewestOpset),
         "onnx.version_converter can convert the model");
  }
}

}  // namespace sluice::onnx_graph
