#include "sluice/onnx_graph/import_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "onnx_graph/cascade/passes.h"
#include "onnx_graph/model/inlined.h"
#include "onnx_graph/model/read_model.h"
#include "onnx_graph/walk/graph_walk.h"
#include "sluice/support/checked.h"

namespace sluice {
namespace {

using namespace onnx_graph;

constexpr std::size_t kMostNamedNodes = 10;
constexpr std::int64_t kMostNumbersOfAll = 1 << 22;  ///< whoever executes a graph has a small one

/// Whether a view has the values of its tensor in their order, all of them and no others.
bool is_whole(const Cascade& cascade, const View& view) {
  std::size_t rank = 0;
  const CascadeTensor& tensor = cascade.tensors[view.tensor];
  const auto skip_single = [&] {  // a rank of size 1 that no dimension walks
    while (rank < view.projection.size() && view.projection[rank].terms.empty() &&
           view.projection[rank].constant == 0 && cascade.axes[tensor.ranks[rank]].size == 1)
      ++rank;
  };
  for (const Digits& digits : view.dimensions)
    for (const Digit& digit : digits) {
      skip_single();
      if (rank >= view.projection.size()) return false;
      const Index& index = view.projection[rank];
      if (!index.is_plain() || index.terms[0].variable != digit.slot ||
          cascade.axes[tensor.ranks[rank]].size != digit.size)
        return false;
      ++rank;
    }
  skip_single();
  return rank == view.projection.size();
}

std::set<std::size_t> asked_for(const Model& model, const Lowering& lowering) {
  std::set<std::size_t> tensors;
  for (const ValueInfo& output : model.graph.outputs)
    if (const auto& view = lowering.values.at(output.name).view) tensors.insert(view->tensor);
  return tensors;
}

std::vector<OnnxTensor> tensors_of(const Model& model, const Lowering& lowering) {
  std::vector<OnnxTensor> result;
  std::set<std::size_t> read_tensors;
  for (const CascadeEinsum& einsum : lowering.cascade.einsums)
    for (const CascadeAccess& access : einsum.inputs) read_tensors.insert(access.tensor);
  const auto add = [&](const std::string& name) {
    const auto found = lowering.values.find(name);
    if (found == lowering.values.end() || !found->second.view) return;
    OnnxTensor tensor;
    tensor.name = name;
    tensor.tensor = lowering.cascade.tensors[found->second.view->tensor].name;
    tensor.is_whole = is_whole(lowering.cascade, *found->second.view);
    tensor.shape = found->second.shape;
    result.push_back(std::move(tensor));
  };
  for (const ValueInfo& input : model.graph.inputs)
    if (model.graph.constants.count(input.name) == 0) add(input.name);
  for (const auto& [id, name] : lowering.constant_names) {
    if (read_tensors.count(id) == 0) continue;
    OnnxTensor tensor;
    tensor.name = name;
    tensor.tensor = lowering.cascade.tensors[id].name;
    tensor.is_constant = true;
    tensor.shape = lowering.constants.at(id)->shape;
    result.push_back(std::move(tensor));
  }
  for (const ValueInfo& output : model.graph.outputs) add(output.name);
  return result;
}

/// Operators that only look at values in another way, also where that takes a copy.
bool is_of_views(const std::string& type) {
  static const std::set<std::string> types = {
      "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze",    "Identity",    "Expand",
      "Slice",   "Split",     "Dropout", "Tile",    "SpaceToDepth", "DepthToSpace"};
  return types.count(type) > 0;
}

/// Values of the inputs and of what nodes make by Einsums of their own.
std::int64_t activation_values(const Model& model, const std::vector<Node>& nodes,
                               const Lowering& lowering) {
  std::int64_t sum = 0;
  std::set<std::string> counted;
  for (const ValueInfo& input : model.graph.inputs)
    if (model.graph.constants.count(input.name) == 0)
      sum = checked_add(sum, volume(lowering.values.at(input.name).shape));
  for (const Node& node : nodes)
    for (const std::string& output : node.outputs) {
      const auto found = lowering.values.find(output);
      if (found == lowering.values.end() || found->second.constant || !found->second.view) continue;
      const bool is_joined =
          node.type == "Concat" ||
          node.type == "ConcatFromSequence";  // makes a tensor, if by its makers' hands
      if (is_of_views(node.type) || (!is_joined && lowering.views.count(output) > 0)) continue;
      sum = checked_add(sum, volume(found->second.shape));
    }
  return sum;
}

std::vector<OnnxOperator> operators_of(const Lowering& lowering) {
  std::map<std::string, OnnxOperator> by_type;
  for (const NodeRecord& record : lowering.records) {
    OnnxOperator& entry = by_type[record.type];
    entry.type = record.type;
    ++entry.count;
    entry.operations = checked_add(entry.operations, record.operations);
    if (record.has_einsums)
      entry.how = std::max(entry.how, OnnxOperator::How::kExact, [](auto a, auto b) {
        return a == OnnxOperator::How::kFree && b == OnnxOperator::How::kExact;
      });
    if (record.approximations.empty()) continue;
    entry.how = OnnxOperator::How::kApproximated;
    entry.nodes.push_back(record.name);
    for (const std::string& reason : record.approximations)
      if (std::find(entry.reasons.begin(), entry.reasons.end(), reason) == entry.reasons.end())
        entry.reasons.push_back(reason);
  }
  for (const CascadeEinsum& einsum : lowering.cascade.einsums) {
    std::set<std::string> types;
    for (const std::size_t node : einsum.nodes) types.insert(lowering.records[node].type);
    for (const std::string& type : types) ++by_type[type].einsums;
  }
  std::vector<OnnxOperator> result;
  for (auto& [type, entry] : by_type) result.push_back(std::move(entry));
  return result;
}

void note_approximations(const std::string& file, OnnxImport& result) {
  for (const OnnxOperator& entry : result.operators) {
    if (entry.how != OnnxOperator::How::kApproximated) continue;
    std::vector<std::string> names(entry.nodes.begin(),
                                   entry.nodes.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                             entry.nodes.size(), kMostNamedNodes)));
    if (names.size() < entry.nodes.size())
      names.push_back(fmt::format("and {} more", entry.nodes.size() - names.size()));
    result.notes.push_back({Severity::kNote,
                            {file, 0, 0},
                            fmt::format("{} × {} approximated: {}", entry.nodes.size(), entry.type,
                                        fmt::join(entry.reasons, "; ")),
                            "",
                            fmt::format("at {}", fmt::join(names, ", "))});
  }
}

void collect_numbers(const Lowering& lowering, OnnxImport& result) {
  std::int64_t total = 0;
  for (const auto& [tensor, constant] : lowering.constants) {
    const std::string& name = lowering.cascade.tensors[tensor].name;
    const auto n = volume(constant->shape);
    if (n > kMostNumbersOfAll - total) continue;
    total += n;
    if (constant->integers)
      result.numbers[name].assign(constant->integers->begin(), constant->integers->end());
    else if (constant->reals)
      result.numbers[name] = *constant->reals;
    else if (constant->uniform && n <= kMostNumbersOfATensor)
      result.numbers[name].assign(static_cast<std::size_t>(n), *constant->uniform);
  }
}

/// Inputs that no Einsum reads are no tensors of the workload.
void leave_out_unread(const Lowering& lowering, OnnxImport& result) {
  std::set<std::string> used;
  for (const CascadeEinsum& einsum : lowering.cascade.einsums) {
    used.insert(lowering.cascade.tensors[einsum.output.tensor].name);
    for (const CascadeAccess& access : einsum.inputs)
      used.insert(lowering.cascade.tensors[access.tensor].name);
  }
  std::erase_if(result.tensors,
                [&](const OnnxTensor& tensor) { return used.count(tensor.tensor) == 0; });
}

void put_sizes(const Lowering& lowering, OnnxImport& result) {
  std::map<std::string, std::size_t> ids;
  for (std::size_t t = 0; t < lowering.cascade.tensors.size(); ++t)
    ids[lowering.cascade.tensors[t].name] = t;
  for (OnnxTensor& tensor : result.tensors)
    for (const std::size_t rank : lowering.cascade.tensors[ids.at(tensor.tensor)].ranks)
      tensor.sizes.push_back(lowering.cascade.axes[rank].size);
}

Result<OnnxImport> import_model(const std::string& path, const OnnxOptions& options) {
  const auto mistake = [&](const std::string& message, const std::string& hint) {
    return tl::unexpected(Diagnostics{{Severity::kError, {path, 0, 0}, message, "", hint}});
  };
  const Result<Model> model = read_model(path);
  if (!model) return tl::unexpected(model.error());
  const Result<std::vector<Node>> nodes = inlined_nodes(*model, path);
  if (!nodes) return tl::unexpected(nodes.error());
  Lowering lowering;
  SymbolicSizes sizes{options.sizes, {}};
  const Result<bool> walked = walk_graph(*model, *nodes, path, sizes, lowering);
  if (!walked) return tl::unexpected(walked.error());
  if (lowering.cascade.einsums.empty())
    return mistake("no node of the graph moves or computes anything", "");
  OnnxImport result;
  result.tensors = tensors_of(*model, lowering);
  result.activation_values = activation_values(*model, *nodes, lowering);
  for (const std::string& source : lowering.used_constants)
    if (const auto found = lowering.sources.find(source); found != lowering.sources.end())
      result.parameters = checked_add(result.parameters, found->second);
  for (const CascadeEinsum& einsum : lowering.cascade.einsums)
    if (einsum.is_mac) result.macs = checked_add(result.macs, lowering.cascade.points_of(einsum));
  split_ranks(lowering.cascade);
  merge_elementwise(lowering.cascade, asked_for(*model, lowering));
  adopt_names(lowering.cascade);
  result.einsums = static_cast<std::int64_t>(lowering.cascade.einsums.size());
  result.operators = operators_of(lowering);
  result.notes = std::move(lowering.notes);
  note_approximations(path, result);
  leave_out_unread(lowering, result);
  collect_numbers(lowering, result);
  put_sizes(lowering, result);
  std::string variables;
  for (const auto& [name, size] : sizes.used) {
    result.symbolic.push_back(name);
    variables += fmt::format("  {}: {}\n", name, size);
  }
  result.workload = workload_text(lowering.cascade, variables);
  return result;
}

}  // namespace

const char* to_string(OnnxOperator::How how) {
  switch (how) {
    case OnnxOperator::How::kExact:
      return "exact";
    case OnnxOperator::How::kApproximated:
      return "approximated";
    case OnnxOperator::How::kFree:
      break;
  }
  return "free";
}

bool is_onnx_file(const std::string& path) {
  return std::filesystem::path(path).extension() == ".onnx";
}

Result<OnnxImport> import_onnx(const std::string& path, const OnnxOptions& options) {
  try {
    return import_model(path, options);
  } catch (const OverflowError&) {
    return tl::unexpected(Diagnostics{{Severity::kError,
                                       {path, 0, 0},
                                       "the graph has more values than can be counted",
                                       "",
                                       "is one of its dimensions much too large?"}});
  }
}

}  // namespace sluice
