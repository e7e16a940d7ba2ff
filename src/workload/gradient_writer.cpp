#include "workload/gradient_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include "sluice/workload/backward.h"

namespace sluice {
namespace {

VariableRange range_in(const Einsum& einsum, RankVariableId variable) {
  return *std::find_if(einsum.iteration_space.begin(), einsum.iteration_space.end(),
                       [&](const VariableRange& range) { return range.variable == variable; });
}

/// The same values under another name: every index a variable alone.
bool is_alias(const Einsum& einsum) {
  return einsum.expression.nodes.size() == 1 && einsum.expression.reduction == Reduction::kNone &&
         einsum.accesses.size() == 2 &&
         std::all_of(einsum.accesses.begin(), einsum.accesses.end(), [](const TensorAccess& a) {
           return std::all_of(a.projection.begin(), a.projection.end(),
                              [](const AffineExpression& i) { return i.is_plain_variable(); });
         });
}

}  // namespace

GradientWriter::GradientWriter(const Workload& forward)
    : forward_(forward),
      roles_(tensor_roles(forward)),
      cycles_(recurrence_cycles(forward, roles_)),
      result_(forward),
      recomputed_(forward.tensors.size(), 0),
      active_(forward.tensors.size(), 0),
      contributions_(forward.tensors.size()),
      gradients_(forward.tensors.size()),
      again_(forward.tensors.size()),
      n_active_readers_(forward.tensors.size(), 0),
      bits_(forward.tensors.size(), 0) {
  for (const Tensor& tensor : forward.tensors) names_.insert(tensor.name);
  for (const Einsum& einsum : forward.einsums) {
    names_.insert(einsum.name);
    for (const TensorAccess& access : einsum.accesses)
      bits_[access.tensor.index()] = access.bits_per_value;
  }
  for (std::size_t v = 0; v < forward.rank_variables.size(); ++v)
    variables_.emplace(forward.rank_variables[v].name, v);
}

Workload GradientWriter::take() {
  std::vector<std::size_t> place(result_.tensors.size(), result_.tensors.size());
  std::vector<Tensor> tensors = forward_.tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t) place[t] = t;
  for (const Einsum& einsum : result_.einsums)
    for (const TensorAccess& access : einsum.accesses) {
      std::size_t& at = place[access.tensor.index()];
      if (at < result_.tensors.size()) continue;
      at = tensors.size();
      tensors.push_back(result_[access.tensor]);
    }
  for (Einsum& einsum : result_.einsums) {
    for (TensorAccess& access : einsum.accesses)
      access.tensor = TensorId(place[access.tensor.index()]);
    for (Rename& rename : einsum.renames) {
      for (TensorId& tensor : rename.tensors) tensor = TensorId(place[tensor.index()]);
      std::sort(rename.tensors.begin(), rename.tensors.end());
    }
  }
  result_.tensors = std::move(tensors);
  return std::move(result_);
}

void GradientWriter::set_active(std::vector<char> active) {
  active_ = std::move(active);
  for (const Einsum& einsum : forward_.einsums)
    for (const TensorAccess& access : einsum.accesses)
      if (!access.is_output && is_active(einsum.output().tensor))
        ++n_active_readers_[access.tensor.index()];
}

std::string GradientWriter::free_name(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; !names_.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
  return name;
}

TensorId GradientWriter::add_tensor_like(TensorId of, const std::string& name) {
  Tensor tensor;
  tensor.name = free_name(name);
  tensor.ranks = forward_[of].ranks;
  result_.tensors.push_back(std::move(tensor));
  return TensorId(result_.tensors.size() - 1);
}

ScalarTree GradientWriter::same_element(TensorId tensor, TensorAccess access) {
  access.tensor = tensor;
  return operand_of(std::move(access));
}

void GradientWriter::add_einsum(std::string name, TensorAccess output, ScalarTree tree,
                                const Einsum& like, std::optional<TensorId> gradient_of) {
  for_each_operand(&tree, [&](TensorAccess* access) { access->tensor = at_hand(access->tensor); });
  Einsum einsum = einsum_of(name, std::move(output), tree);
  collect_variables(&einsum);
  for (VariableRange& range : einsum.iteration_space) range = range_in(like, range.variable);
  double repeated = 1;  // points that differ in no index
  for (const VariableRange& range : like.iteration_space)
    if (!uses_variable(einsum, range.variable)) repeated *= static_cast<double>(range.size);
  if (repeated != 1)
    einsum.expression =
        einsum_of(name, einsum.output(), product_of(std::move(tree), constant_of(repeated)))
            .expression;
  einsum.expression.reduction = tells_points_apart(einsum) ? Reduction::kNone : Reduction::kSum;
  einsum.n_instances = like.n_instances;
  einsum.is_copy_operation = is_alias(einsum);
  add_renames(like, gradient_of, &einsum);
  result_.einsums.push_back(std::move(einsum));
}

/// Weights of the forward Einsum stay weights. Where the gradient of one of them is made, what
/// takes its place among the operands takes its role, too: the gradient that comes in.
std::vector<TensorId> GradientWriter::weights_of(const Einsum& einsum, const Einsum& like,
                                                 std::optional<TensorId> gradient_of) const {
  std::vector<TensorId> weights;
  for (const Rename& rename : like.renames)
    if (rename.name == "weight") weights = rename.tensors;
  if (!gradient_of || std::find(weights.begin(), weights.end(), *gradient_of) == weights.end())
    return weights;
  const auto is_gradient = [&](TensorId tensor) {
    return tensor.index() >= forward_.tensors.size() &&
           std::find(again_.begin(), again_.end(), tensor) == again_.end();
  };
  for (const TensorId tensor : tensors_of(einsum))
    if (tensor != einsum.output().tensor && is_gradient(tensor)) weights.push_back(tensor);
  return weights;
}

/// Roles as in the forward Einsum; all that is read and no weight is an input.
void GradientWriter::add_renames(const Einsum& like, std::optional<TensorId> gradient_of,
                                 Einsum* einsum) const {
  const std::vector<TensorId> weights = weights_of(*einsum, like, gradient_of);
  const auto is_weight = [&](TensorId tensor) {
    return std::find(weights.begin(), weights.end(), tensor) != weights.end();
  };
  for (const Rename& of : like.renames) {
    Rename rename{of.name, {}};
    for (const TensorId tensor : tensors_of(*einsum)) {
      const bool is_output = tensor == einsum->output().tensor;
      const bool has_role = of.name == "output"   ? is_output
                            : of.name == "input"  ? !is_output && !is_weight(tensor)
                            : of.name == "weight" ? !is_output && is_weight(tensor)
                                                  : std::find(of.tensors.begin(), of.tensors.end(),
                                                              tensor) != of.tensors.end();
      if (has_role) rename.tensors.push_back(tensor);
    }
    std::sort(rename.tensors.begin(), rename.tensors.end());
    einsum->renames.push_back(std::move(rename));
  }
}

/// The tensor that holds a forward value: itself, or what makes it again. All of a recurrence is
/// made again together.
TensorId GradientWriter::at_hand(TensorId tensor) {
  if (tensor.index() >= recomputed_.size() || recomputed_[tensor.index()] == 0) return tensor;
  if (again_[tensor.index()]) return *again_[tensor.index()];
  std::vector<std::size_t> makers;
  for (const EinsumId maker : roles_.makers[tensor.index()]) makers.push_back(maker.index());
  if (const RecurrenceCycle* cycle = cycle_of(cycles_, makers.back())) {
    makers.clear();
    for (std::size_t e = cycle->first; e <= cycle->last; ++e)
      if (recomputed_[forward_.einsums[e].output().tensor.index()] != 0) makers.push_back(e);
  }
  for (const std::size_t maker : makers) {
    const TensorId made = forward_.einsums[maker].output().tensor;
    if (again_[made.index()]) continue;
    const TensorId again = add_tensor_like(made, name_of(made) + "_again");
    again_[made.index()] = again;
    result_.tensors[again.index()].persistent = forward_[made].persistent;
    result_.tensors[again.index()].initial = forward_[made].initial;
  }
  for (const std::size_t maker : makers)
    for (const TensorAccess& access : forward_.einsums[maker].accesses) at_hand(access.tensor);
  for (const std::size_t maker : makers) make_again(forward_.einsums[maker]);
  return *again_[tensor.index()];
}

/// The same Einsum, for what holds its result again.
void GradientWriter::make_again(Einsum einsum) {
  const TensorId tensor = einsum.output().tensor, made = *again_[tensor.index()];
  const bool is_first = roles_.sole_maker(tensor) || einsum.name == name_of(tensor);
  einsum.name = is_first ? name_of(made) : free_name(einsum.name + "_again");
  std::map<TensorId, TensorId> renamed;
  for (TensorAccess& access : einsum.accesses) {
    const TensorId now = at_hand(access.tensor);
    renamed[access.tensor] = now;
    access.tensor = now;
  }
  for (Rename& rename : einsum.renames) {
    for (TensorId& of : rename.tensors) of = renamed.at(of);
    std::sort(rename.tensors.begin(), rename.tensors.end());
  }
  result_.einsums.push_back(std::move(einsum));
}

std::vector<std::optional<ScalarTree>> GradientWriter::derivatives_of(const Einsum& einsum,
                                                                      ScalarTree upstream) {
  const ScalarTree made = operand_of(einsum.output()), term = tree_of(einsum);
  std::optional<ScalarTree> result;
  switch (einsum.expression.reduction) {
    case Reduction::kNone:
      result = made;
      break;
    case Reduction::kSum:
      break;
    case Reduction::kMax:
      upstream = product_of(upstream, applied(OperationKind::kStep, difference_of(term, made)));
      break;
    case Reduction::kMin:
      upstream = product_of(upstream, applied(OperationKind::kStep, difference_of(made, term)));
      break;
    case Reduction::kProduct:
      upstream = quotient_of(product_of(upstream, made), term);
      break;
  }
  return derivatives(einsum, upstream, result);
}

/// Whether an access reaches every index of a rank, holes aside.
bool GradientWriter::covers(const Einsum& einsum, const TensorAccess& access,
                            std::size_t rank) const {
  std::int64_t first = access.projection[rank].constant, last = first;
  for (const AffineTerm& term : access.projection[rank].terms) {
    const VariableRange range = range_in(einsum, term.variable);
    const std::int64_t a = term.coefficient * range.minimum;
    const std::int64_t b = term.coefficient * (range.minimum + range.size - 1);
    first += std::min(a, b);
    last += std::max(a, b);
  }
  return first <= 0 && last + 1 >= forward_[forward_[access.tensor].ranks[rank]].size;
}

/// Whether every element is reached: strides that no window fills leave some out, and so does a
/// variable that stands in several indices (a diagonal).
bool GradientWriter::covers(const Einsum& einsum, const TensorAccess& access) const {
  std::set<RankVariableId> walked;
  for (const AffineExpression& index : access.projection)
    for (const AffineTerm& term : index.terms)
      if (!walked.insert(term.variable).second && range_in(einsum, term.variable).size > 1)
        return false;
  for (std::size_t r = 0; r < access.projection.size(); ++r) {
    std::int64_t filled = 1;  // indices in a row
    std::vector<AffineTerm> terms = access.projection[r].terms;
    std::sort(terms.begin(), terms.end(), [](const AffineTerm& a, const AffineTerm& b) {
      return std::abs(a.coefficient) < std::abs(b.coefficient);
    });
    for (const AffineTerm& term : terms) {
      if (std::abs(term.coefficient) > filled) return false;
      filled += std::abs(term.coefficient) * (range_in(einsum, term.variable).size - 1);
    }
    if (!covers(einsum, access, r)) return false;
  }
  return true;
}

void GradientWriter::contribute(const Einsum& einsum, const TensorAccess& access,
                                const ScalarTree& tree) {
  const TensorId to = access.tensor;
  std::string name = gradient_name(name_of(to));
  const bool is_alone = n_active_readers_[to.index()] == 1 && contributions_[to.index()].empty();
  if (!is_alone) name += "_from_" + einsum.name;
  const TensorId part = add_tensor_like(to, name);
  if (!covers(einsum, access)) result_.tensors[part.index()].initial = 0;
  TensorAccess output = access;
  output.tensor = part;
  add_einsum(name_of(part), std::move(output), tree, einsum, to);
  contributions_[to.index()].push_back(part);
}

void GradientWriter::finish(TensorId tensor, const std::string& name) {
  const std::vector<TensorId>& parts = contributions_[tensor.index()];
  if (parts.empty()) return;
  if (parts.size() == 1) {
    gradients_[tensor.index()] = parts.front();
    return;
  }
  const TensorAccess element = elements_of(tensor).second;
  ScalarTree sum = same_element(parts.front(), element);
  for (std::size_t p = 1; p < parts.size(); ++p)
    sum = sum_of(std::move(sum), same_element(parts[p], element));
  gradients_[tensor.index()] = add_elementwise(tensor, name, std::move(sum));
}

TensorId GradientWriter::add_elementwise(TensorId like, const std::string& name, ScalarTree value) {
  const auto [points, element] = elements_of(like);
  TensorAccess output = element;
  output.tensor = add_tensor_like(like, name);
  const TensorId made = output.tensor;
  add_einsum(name_of(made), std::move(output), std::move(value), points);
  return made;
}

std::pair<Einsum, TensorAccess> GradientWriter::elements_of(TensorId tensor) {
  Einsum points;
  TensorAccess element;
  element.tensor = tensor;
  element.bits_per_value = bits_[tensor.index()];
  for (const RankId rank : forward_[tensor].ranks) {
    std::string name = forward_[rank].name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    RankVariableId variable = variable_named(name);
    for (int n = 2; uses_variable(points, variable); ++n)
      variable = variable_named(fmt::format("{}_{}", name, n));
    points.iteration_space.push_back({variable, 0, forward_[rank].size});
    element.projection.push_back({{{variable, 1}}, 0});
  }
  points.renames = renames_without_tensors();
  return {std::move(points), std::move(element)};
}

std::vector<Rename> GradientWriter::renames_without_tensors() const {
  std::vector<Rename> renames = forward_.einsums.front().renames;
  for (Rename& rename : renames) rename.tensors.clear();
  return renames;
}

RankVariableId GradientWriter::variable_named(const std::string& name) {
  const auto [at, is_new] = variables_.emplace(name, result_.rank_variables.size());
  if (is_new) result_.rank_variables.push_back({name});
  return RankVariableId(at->second);
}

}  // namespace sluice
