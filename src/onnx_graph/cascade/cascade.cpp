#include "onnx_graph/cascade/cascade.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "sluice/support/checked.h"
#include "sluice/support/expression.h"

namespace sluice::onnx_graph {
namespace {

constexpr std::size_t kLongestName = 80;

const std::set<std::string>& taken_names() {
  static const std::set<std::string> names = {
      "All",   "Nothing", "Inputs", "Outputs", "Intermediates", "Shared", "Persistent", "Other",
      "input", "output",  "weight", "inf",     "None",          "True",   "False",      "ops"};
  return names;
}

std::string as_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (fits || (!name.empty() && name.back() != '_')) name += fits ? c : '_';
    if (name.size() >= kLongestName) break;
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "t" + name;
  return name;
}

}  // namespace

std::size_t Cascade::add_axis(const std::string& letter, std::int64_t size) {
  const int n = ++axis_names_[letter];
  axes.push_back({n == 1 ? letter : fmt::format("{}{}", letter, n), size});
  return axes.size() - 1;
}

std::size_t Cascade::add_tensor(const std::string& name, TensorKind kind, int bits,
                                std::vector<std::size_t> ranks) {
  const std::string base = as_name(name);
  std::string unique = base;
  while (taken_names().count(unique) > 0 || is_expression_keyword(unique) ||
         tensor_names_.count(unique) > 0)
    unique = fmt::format("{}_{}", base, ++tensor_names_[base] + 1);
  tensor_names_.emplace(unique, 0);
  CascadeTensor tensor;
  tensor.name = unique;
  tensor.kind = kind;
  tensor.bits = bits;
  tensor.ranks = std::move(ranks);
  tensors.push_back(std::move(tensor));
  return tensors.size() - 1;
}

void Cascade::add(CascadeEinsum einsum) { einsums.push_back(std::move(einsum)); }

std::vector<std::size_t> Cascade::axes_of(const CascadeEinsum& einsum) const {
  std::vector<std::size_t> found;
  std::set<std::size_t> known;
  const auto collect = [&](const CascadeAccess& access) {
    for (const Index& index : access.indices)
      for (const Index::Term& term : index.terms)
        if (known.insert(term.variable).second) found.push_back(term.variable);
  };
  collect(einsum.output);
  for (const CascadeAccess& access : einsum.inputs) collect(access);
  return found;
}

std::int64_t Cascade::points_of(const CascadeEinsum& einsum) const {
  std::int64_t points = 1;
  for (const std::size_t axis : axes_of(einsum)) points = checked_multiply(points, axes[axis].size);
  return points;
}

std::int64_t Cascade::operations_of(const CascadeEinsum& einsum) const {
  std::int64_t count = 0;
  for (const auto& [name, n] : operations(einsum.expression)) count += n;
  if (einsum.reduction == Reducing::kNone) return std::max<std::int64_t>(count, 1);
  return einsum.reduction == Reducing::kSum && is_product(einsum.expression) ? count : count + 1;
}

std::int64_t Cascade::volume(std::size_t tensor) const {
  std::int64_t values = 1;
  for (const std::size_t rank : tensors[tensor].ranks)
    values = checked_multiply(values, axes[rank].size);
  return values;
}

View view_of(const Cascade& cascade, std::size_t tensor,
             const std::vector<std::vector<std::size_t>>& dimensions) {
  View view;
  view.tensor = tensor;
  const std::vector<std::size_t>& ranks = cascade.tensors[tensor].ranks;
  view.projection.resize(ranks.size());
  for (const std::vector<std::size_t>& group : dimensions) {
    Digits& digits = view.dimensions.emplace_back();
    for (const std::size_t axis : group) {
      const auto rank = std::find(ranks.begin(), ranks.end(), axis) - ranks.begin();
      view.projection[static_cast<std::size_t>(rank)] = Index::of(view.n_slots);
      digits.push_back({view.n_slots++, cascade.axes[axis].size});
    }
  }
  return view;
}

}  // namespace sluice::onnx_graph
