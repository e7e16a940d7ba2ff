#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "onnx_graph/cascade/passes.h"

namespace sluice::onnx_graph {
namespace {

constexpr const char* kRenames = R"(renames:
  einsums:
  - name: default
    tensor_accesses:
    - {name: input, source: Inputs}
    - {name: output, source: Outputs}
    - {name: weight, source: Nothing}
)";

class WorkloadText {
 public:
  explicit WorkloadText(const Cascade& cascade) : cascade_(cascade) {
    used_.resize(cascade.tensors.size());
    for (const CascadeEinsum& einsum : cascade.einsums) {
      used_[einsum.output.tensor] = true;
      for (const CascadeAccess& access : einsum.inputs) used_[access.tensor] = true;
    }
    for (std::size_t t = 0; t < used_.size(); ++t)
      if (used_[t])
        for (const std::size_t rank : cascade.tensors[t].ranks) ranks_.insert(rank);
  }

  std::string write(const std::string& variables) {
    std::string text;
    if (!variables.empty()) text += "variables:\n" + variables;
    text += "workload:\n";
    text += "  rank_sizes: {" + sizes() + "}\n";
    if (const std::string bounds = windows(); !bounds.empty())
      text += "  iteration_space_shape: {" + bounds + "}\n";
    text += bits();
    text += "  persistent_tensors: weight - Intermediates\n";
    if (const std::string values = initial(); !values.empty())
      text += "  initial: {" + values + "}\n";
    text += "  einsums:\n";
    for (const CascadeEinsum& einsum : cascade_.einsums) text += einsum_text(einsum);
    return text + kRenames;
  }

 private:
  static std::string small(std::string name) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
  }

  std::string sizes() const {
    std::vector<std::string> texts;
    for (const std::size_t rank : ranks_)
      texts.push_back(fmt::format("{}: {}", cascade_.axes[rank].name, cascade_.axes[rank].size));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// Variables that are not called as a rank have limits of their own.
  std::string windows() const {
    std::set<std::size_t> axes;
    for (const CascadeEinsum& einsum : cascade_.einsums)
      for (const std::size_t axis : cascade_.axes_of(einsum))
        if (ranks_.count(axis) == 0) axes.insert(axis);
    std::vector<std::string> texts;
    for (const std::size_t axis : axes) {
      const std::string name = small(cascade_.axes[axis].name);
      texts.push_back(fmt::format("{0}: 0 <= {0} < {1}", name, cascade_.axes[axis].size));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// The width of most tensors is `Other`.
  std::string bits() const {
    std::map<int, std::vector<std::string>> names;
    for (std::size_t t = 0; t < used_.size(); ++t)
      if (used_[t]) names[cascade_.tensors[t].bits].push_back(cascade_.tensors[t].name);
    std::size_t most = 0;
    int usual = 32;
    for (const auto& [width, tensors] : names)
      if (tensors.size() > most) {
        most = tensors.size();
        usual = width;
      }
    if (names.size() <= 1) return fmt::format("  bits_per_value: {{All: {}}}\n", usual);
    std::string text = "  bits_per_value:\n";
    for (const auto& [width, tensors] : names)
      if (width != usual) text += keys_of(tensors, width);
    return text + fmt::format("    Other: {}\n", usual);
  }

  /// Sets of tensors as keys, none longer than YAML allows (1,024 characters).
  static std::string keys_of(const std::vector<std::string>& tensors, int width) {
    constexpr std::size_t kLongestKey = 900;
    std::string text, key;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      key += (key.empty() ? "" : " | ") + tensors[i];
      if (i + 1 < tensors.size() && key.size() + tensors[i + 1].size() < kLongestKey) continue;
      text += fmt::format("    \"{}\": {}\n", key, width);
      key.clear();
    }
    return text;
  }

  std::string initial() const {
    std::vector<std::string> texts;
    for (std::size_t t = 0; t < used_.size(); ++t)
      if (used_[t] && cascade_.tensors[t].initial)
        texts.push_back(
            fmt::format("{}: {}", cascade_.tensors[t].name, *cascade_.tensors[t].initial));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string index_text(const Index& index) const {
    std::string text;
    for (const Index::Term& term : index.terms) {
      const std::int64_t size = std::abs(term.coefficient);
      if (!text.empty() || term.coefficient < 0) text += term.coefficient < 0 ? "-" : "+";
      if (size != 1) text += fmt::format("{}*", size);
      text += small(cascade_.axes[term.variable].name);
    }
    if (index.constant != 0 || text.empty())
      text += fmt::format("{}{}", index.constant >= 0 && !text.empty() ? "+" : "", index.constant);
    return text;
  }

  std::string access_text(const CascadeAccess& access) const {
    const CascadeTensor& tensor = cascade_.tensors[access.tensor];
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < access.indices.size(); ++r) {
      const Index& index = access.indices[r];
      const bool is_own = index.is_plain() && index.terms[0].variable == tensor.ranks[r];
      texts.push_back((is_own ? "" : cascade_.axes[tensor.ranks[r]].name + ":") +
                      index_text(index));
    }
    return fmt::format("{}[{}]", tensor.name, fmt::join(texts, ","));
  }

  std::string einsum_text(const CascadeEinsum& einsum) const {
    std::vector<std::string> accesses;
    for (const CascadeAccess& access : einsum.inputs) accesses.push_back(access_text(access));
    std::string right = to_text(einsum.expression, accesses);
    const bool is_named = einsum.reduction != Reducing::kNone &&
                          !(einsum.reduction == Reducing::kSum && is_product(einsum.expression));
    if (is_named) right = fmt::format("{}({})", name_of(einsum.reduction), right);
    const std::string text = fmt::format("{} = {}", access_text(einsum.output), right);
    if (!einsum.weight) return fmt::format("  - \"{}\"\n", text);
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < einsum.inputs.size(); ++i)
      if (i != *einsum.weight) inputs.push_back(cascade_.tensors[einsum.inputs[i].tensor].name);
    return fmt::format("  - einsum: \"{}\"\n    renames: {{input: {}, weight: {}}}\n", text,
                       fmt::join(inputs, " | "),
                       cascade_.tensors[einsum.inputs[*einsum.weight].tensor].name);
  }

  static const char* name_of(Reducing reduction) {
    switch (reduction) {
      case Reducing::kProduct:
        return "prod";
      case Reducing::kMin:
        return "min";
      case Reducing::kMax:
        return "max";
      default:
        return "sum";
    }
  }

  const Cascade& cascade_;
  std::vector<bool> used_;
  std::set<std::size_t> ranks_;
};

}  // namespace

std::string workload_text(const Cascade& cascade, const std::string& variables) {
  return WorkloadText(cascade).write(variables);
}

}  // namespace sluice::onnx_graph
