#include "sluice/workload/backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "workload/optimizer_steps.h"
#include "workload/scalar_tree.h"

namespace sluice {
namespace {

/// The recurrence of a state: its rank of slices, the variable of the steps, how many.
struct StateRank {
  std::size_t rank = 0;
  std::size_t access = 0;  ///< that reads the slice before
  VariableRange steps;
};

/// The same index at the step that is as far from the last one.
AffineExpression reversed(AffineExpression index, const VariableRange& steps) {
  for (AffineTerm& term : index.terms) {
    if (term.variable != steps.variable) continue;
    index.constant += term.coefficient * (steps.size - 1);
    term.coefficient = -term.coefficient;
  }
  return index;
}

void for_each_operand(ScalarTree* tree, const std::function<void(TensorAccess*)>& change) {
  if (tree->kind == ScalarNode::Kind::kAccess) change(&tree->operand);
  for (ScalarTree& argument : tree->arguments) for_each_operand(&argument, change);
}

class Backward {
 public:
  Backward(const Workload& forward, const BackwardOptions& options)
      : forward_(forward),
        options_(options),
        roles_(tensor_roles(forward)),
        result_(forward),
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

  Result<Workload> run() {
    find_wanted();
    find_recomputed();
    find_active();
    if (mistakes_.empty()) give_gradients_of_results();
    for (std::size_t e = forward_.einsums.size(); e-- > 0 && mistakes_.empty();)
      go_back_through(forward_.einsums[e]);
    for (const TensorId tensor : wanted_) {
      if (!mistakes_.empty()) break;
      finish(tensor);
      if (gradients_[tensor.index()])
        update(tensor);
      else if (!options_.gradients_of.empty())
        fail(fmt::format("no result depends on {}: it has no gradient", name_of(tensor)));
    }
    if (mistakes_.empty() && wanted_.empty()) fail("the workload has no input: nothing to train");
    if (!mistakes_.empty()) return tl::make_unexpected(std::move(mistakes_));
    return std::move(result_);
  }

 private:
  // --- what is asked for ------------------------------------------------------------------------

  void fail(std::string message, std::string hint = {}) {
    Diagnostic mistake;
    mistake.message = std::move(message);
    mistake.hint = std::move(hint);
    mistakes_.push_back(std::move(mistake));
  }

  const std::string& name_of(TensorId tensor) const { return result_[tensor].name; }
  bool is_input(TensorId tensor) const { return !roles_.is_made(tensor); }

  std::optional<TensorId> named(const std::string& name, const char* option) {
    if (const auto tensor = find_tensor(forward_, name)) return tensor;
    std::vector<std::string> names;
    for (const Tensor& tensor : forward_.tensors) names.push_back(tensor.name);
    const std::string near = nearest_name(name, names);
    fail(fmt::format("{}: there is no tensor {}", option, name),
         near.empty() ? "" : fmt::format("did you mean {}?", near));
    return std::nullopt;
  }

  void find_wanted() {
    for (const std::string& name : options_.gradients_of) {
      const auto tensor = named(name, "gradients of");
      if (!tensor) continue;
      if (is_input(*tensor))
        wanted_.push_back(*tensor);
      else
        fail(fmt::format("gradients of: {} is made by the workload, not one of its inputs", name));
    }
    if (!options_.gradients_of.empty()) return;
    std::optional<RankId> sample;  // of the input that is read first
    std::vector<TensorId> inputs = inputs_in_order();
    if (!inputs.empty() && !forward_[inputs.front()].ranks.empty())
      sample = forward_[inputs.front()].ranks.front();
    const auto differs = [&](TensorId tensor) {
      const std::vector<RankId>& ranks = forward_[tensor].ranks;
      return sample && std::find(ranks.begin(), ranks.end(), *sample) != ranks.end();
    };
    std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(wanted_),
                 [&](TensorId tensor) { return !differs(tensor); });
    if (wanted_.empty()) wanted_ = std::move(inputs);
  }

  std::vector<TensorId> inputs_in_order() const {
    std::vector<TensorId> inputs;
    for (const Einsum& einsum : forward_.einsums)
      for (const TensorAccess& access : einsum.accesses)
        if (!access.is_output && is_input(access.tensor) &&
            std::find(inputs.begin(), inputs.end(), access.tensor) == inputs.end())
          inputs.push_back(access.tensor);
    return inputs;
  }

  void find_recomputed() {
    recomputed_.assign(forward_.tensors.size(), 0);
    for (const std::string& name : options_.recompute) {
      if (name == "all") {
        for (std::size_t t = 0; t < recomputed_.size(); ++t)
          if (!is_input(TensorId(t))) recomputed_[t] = 1;
      } else if (const auto tensor = named(name, "recompute")) {
        if (is_input(*tensor))
          fail(fmt::format("recompute: {} is an input: nothing makes it", name));
        recomputed_[tensor->index()] = 1;
      }
    }
  }

  /// Tensors on a way from what is wanted to a result.
  void find_active() {
    std::vector<char> depends(forward_.tensors.size(), 0), leads(forward_.tensors.size(), 0);
    for (const TensorId tensor : wanted_) depends[tensor.index()] = 1;
    for (std::size_t t = 0; t < leads.size(); ++t) leads[t] = is_result(TensorId(t)) ? 1 : 0;
    // Once each, where nothing is read before it is made.
    const auto set = [](char from, char* to) { return from > *to ? (*to = from) != 0 : false; };
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t i = 0; i < forward_.einsums.size(); ++i) {
        for (const TensorAccess& read : forward_.einsums[i].accesses)
          changes |= set(depends[read.tensor.index()], &depends[made_by(i).index()]);
        const std::size_t last = forward_.einsums.size() - 1 - i;
        for (const TensorAccess& read : forward_.einsums[last].accesses)
          changes |= set(leads[made_by(last).index()], &leads[read.tensor.index()]);
      }
    }
    active_.assign(depends.size(), 0);
    for (std::size_t t = 0; t < depends.size(); ++t) active_[t] = depends[t] & leads[t];
    for (const Einsum& einsum : forward_.einsums)
      for (const TensorAccess& access : einsum.accesses)
        if (!access.is_output && active_[einsum.output().tensor.index()] != 0)
          ++n_active_readers_[access.tensor.index()];
  }

  TensorId made_by(std::size_t einsum) const { return forward_.einsums[einsum].output().tensor; }

  /// Made, and read by no one after it: at most by its own recurrence.
  bool is_result(TensorId tensor) const {
    const auto& makers = roles_.makers[tensor.index()];
    const auto& consumers = roles_.consumers[tensor.index()];
    return !makers.empty() && std::all_of(consumers.begin(), consumers.end(),
                                          [&](EinsumId reader) { return reader <= makers.back(); });
  }

  // --- names and new tensors --------------------------------------------------------------------

  std::string free_name(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 2; !names_.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
    return name;
  }

  /// A tensor with the ranks of a forward one.
  TensorId add_tensor_like(TensorId of, const std::string& name) {
    Tensor tensor;
    tensor.name = free_name(name);
    tensor.ranks = forward_[of].ranks;
    result_.tensors.push_back(std::move(tensor));
    return TensorId(result_.tensors.size() - 1);
  }

  void give_gradients_of_results() {
    for (std::size_t t = 0; t < forward_.tensors.size(); ++t)
      if (active_[t] != 0 && is_result(TensorId(t))) {
        const std::string name = gradient_name(forward_.tensors[t].name);
        const bool is_state = roles_.consumers[t].size() > 0;
        contributions_[t].push_back(
            add_tensor_like(TensorId(t), is_state ? name + "_given" : name));
      }
  }

  // --- Einsums ----------------------------------------------------------------------------------

  /// The same element of another tensor, as an operand.
  static ScalarTree same_element(TensorId tensor, TensorAccess access) {
    access.tensor = tensor;
    return operand_of(std::move(access));
  }

  /// Adds an Einsum over (part of) the points of a forward one.
  void add_einsum(const std::string& name, TensorAccess output, ScalarTree tree,
                  const Einsum& like) {
    for_each_operand(&tree,
                     [&](TensorAccess* access) { access->tensor = at_hand(access->tensor); });
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
    add_renames(like, &einsum);
    result_.einsums.push_back(std::move(einsum));
  }

  static VariableRange range_in(const Einsum& einsum, RankVariableId variable) {
    return *std::find_if(einsum.iteration_space.begin(), einsum.iteration_space.end(),
                         [&](const VariableRange& range) { return range.variable == variable; });
  }

  /// The same values under another name: every index a variable alone.
  static bool is_alias(const Einsum& einsum) {
    return einsum.expression.nodes.size() == 1 && einsum.expression.reduction == Reduction::kNone &&
           einsum.accesses.size() == 2 &&
           std::all_of(einsum.accesses.begin(), einsum.accesses.end(), [](const TensorAccess& a) {
             return std::all_of(a.projection.begin(), a.projection.end(),
                                [](const AffineExpression& i) { return i.is_plain_variable(); });
           });
  }

  /// Roles as in the forward Einsum: its weights stay weights, all else that is read is an input.
  static void add_renames(const Einsum& like, Einsum* einsum) {
    std::vector<TensorId> weights;
    for (const Rename& rename : like.renames)
      if (rename.name == "weight") weights = rename.tensors;
    const auto is_weight = [&](TensorId tensor) {
      return std::find(weights.begin(), weights.end(), tensor) != weights.end();
    };
    for (const Rename& of : like.renames) {
      Rename rename{of.name, {}};
      for (const TensorId tensor : tensors_of(*einsum)) {
        const bool is_output = tensor == einsum->output().tensor;
        const bool has_role =
            of.name == "output"  ? is_output
            : of.name == "input" ? !is_output && !is_weight(tensor)
            : of.name == "weight"
                ? !is_output && is_weight(tensor)
                : std::find(of.tensors.begin(), of.tensors.end(), tensor) != of.tensors.end();
        if (has_role) rename.tensors.push_back(tensor);
      }
      std::sort(rename.tensors.begin(), rename.tensors.end());
      einsum->renames.push_back(std::move(rename));
    }
  }

  /// The tensor that holds a forward value: itself, or what makes it again.
  TensorId at_hand(TensorId tensor) {
    if (tensor.index() >= recomputed_.size() || recomputed_[tensor.index()] == 0) return tensor;
    std::optional<TensorId>& again = again_[tensor.index()];
    if (again) return *again;
    const TensorId made = add_tensor_like(tensor, name_of(tensor) + "_again");
    again = made;
    result_.tensors[made.index()].persistent = forward_[tensor].persistent;
    result_.tensors[made.index()].initial = forward_[tensor].initial;
    for (const EinsumId maker : roles_.makers[tensor.index()]) make_again(forward_[maker], made);
    return made;
  }

  /// The same Einsum, for what holds its result again.
  void make_again(Einsum einsum, TensorId made) {
    const TensorId tensor = einsum.output().tensor;
    einsum.name = roles_.sole_maker(tensor) ? name_of(made) : free_name(einsum.name + "_again");
    std::map<TensorId, TensorId> renamed;
    for (TensorAccess& access : einsum.accesses) {
      const TensorId now = access.tensor == tensor ? made : at_hand(access.tensor);
      renamed[access.tensor] = now;
      access.tensor = now;
    }
    for (Rename& rename : einsum.renames) {
      for (TensorId& of : rename.tensors) of = renamed.at(of);
      std::sort(rename.tensors.begin(), rename.tensors.end());
    }
    result_.einsums.push_back(std::move(einsum));
  }

  // --- going back -------------------------------------------------------------------------------

  void go_back_through(const Einsum& einsum) {
    const TensorAccess& output = einsum.output();
    const TensorId made = output.tensor;
    if (active_[made.index()] == 0) return;
    const auto state = state_rank(einsum);
    if (!mistakes_.empty()) return;
    if (state)
      walk_back(einsum, *state);
    else if (!gradients_[made.index()])  // of several makers the last one has
      finish(made);
    const std::optional<TensorId> gradient = gradients_[made.index()];
    if (!gradient) return;
    const auto by_access = derivatives_of(einsum, same_element(*gradient, output));
    for (std::size_t a = 0; a + 1 < einsum.accesses.size(); ++a) {
      const TensorAccess& access = einsum.accesses[a];
      if (by_access[a] && active_[access.tensor.index()] != 0 && access.tensor != made)
        contribute(einsum, access, *by_access[a]);
    }
  }

  std::vector<std::optional<ScalarTree>> derivatives_of(const Einsum& einsum,
                                                        ScalarTree upstream) const {
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
  bool covers(const Einsum& einsum, const TensorAccess& access, std::size_t rank) const {
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

  /// Whether every element is reached: strides that no window fills leave some out.
  bool covers(const Einsum& einsum, const TensorAccess& access) const {
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

  /// What an Einsum passes back to one of its operands: an Einsum of its own. Elements that it does
  /// not reach get 0.
  void contribute(const Einsum& einsum, const TensorAccess& access, const ScalarTree& tree) {
    const TensorId to = access.tensor;
    std::string name = gradient_name(name_of(to));
    const bool is_alone = n_active_readers_[to.index()] == 1 && contributions_[to.index()].empty();
    if (!is_alone) name += "_from_" + einsum.name;
    const TensorId part = add_tensor_like(to, name);
    if (!covers(einsum, access)) result_.tensors[part.index()].initial = 0;
    TensorAccess output = access;
    output.tensor = part;
    add_einsum(name_of(part), std::move(output), tree, einsum);
    contributions_[to.index()].push_back(part);
  }

  /// Adds up what came from all readers.
  void finish(TensorId tensor) { finish(tensor, gradient_name(name_of(tensor))); }
  void finish(TensorId tensor, const std::string& name) {
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

  /// A tensor like another one, element by element.
  TensorId add_elementwise(TensorId like, const std::string& name, ScalarTree value) {
    const auto [points, element] = elements_of(like);
    TensorAccess output = element;
    output.tensor = add_tensor_like(like, name);
    const TensorId made = output.tensor;
    add_einsum(name_of(made), std::move(output), std::move(value), points);
    return made;
  }

  /// One point for every element of a tensor, and how it is reached.
  std::pair<Einsum, TensorAccess> elements_of(TensorId tensor) {
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

  std::vector<Rename> renames_without_tensors() const {
    std::vector<Rename> renames = forward_.einsums.front().renames;
    for (Rename& rename : renames) rename.tensors.clear();
    return renames;
  }

  RankVariableId variable_named(const std::string& name) {
    const auto [at, is_new] = variables_.emplace(name, result_.rank_variables.size());
    if (is_new) result_.rank_variables.push_back({name});
    return RankVariableId(at->second);
  }

  // --- recurrences ------------------------------------------------------------------------------

  std::optional<StateRank> state_rank(const Einsum& einsum) {
    const TensorAccess& output = einsum.output();
    const std::size_t made = output.tensor.index();
    if (roles_.has_several_makers(output.tensor)) return std::nullopt;  // read after all of them
    const EinsumId own = *roles_.sole_maker(output.tensor);
    for (const EinsumId consumer : roles_.consumers[made])
      if (consumer < own) {
        fail(
            fmt::format("{} is read by {} before {} makes it: recurrences through several Einsums "
                        "have no backward pass yet",
                        name_of(output.tensor), forward_[consumer].name, einsum.name));
        return std::nullopt;
      }
    for (std::size_t a = 0; a + 1 < einsum.accesses.size(); ++a) {
      if (einsum.accesses[a].tensor != output.tensor) continue;
      for (std::size_t r = 0; r < output.projection.size(); ++r) {
        const AffineExpression &to = output.projection[r], &from = einsum.accesses[a].projection[r];
        if (to.goes_one_by_one() && from.terms == to.terms && from.constant == 0 &&
            to.constant == 1 && range_in(einsum, to.terms.front().variable).minimum == 0)
          return StateRank{r, a, range_in(einsum, to.terms.front().variable)};
      }
      fail(fmt::format("{} does not read {}[i] to make {}[i+1]: no backward pass yet", einsum.name,
                       name_of(output.tensor), name_of(output.tensor)));
    }
    return std::nullopt;
  }

  /// The gradients of a state's slices, from the last one. Slot j of `grad_T_passed` is what the
  /// steps after slice n − j pass back to it; added to what else reads that slice, it is the
  /// slice's gradient, and what the step before starts from.
  void walk_back(const Einsum& einsum, const StateRank& state) {
    const TensorId tensor = einsum.output().tensor;
    const std::string name = gradient_name(name_of(tensor));
    finish(tensor, name + "_given");  // what reads it besides
    const std::optional<TensorId> given = std::exchange(gradients_[tensor.index()], std::nullopt);
    if (!given) return;
    const TensorId passed = add_tensor_like(tensor, name + "_passed");
    result_.tensors[passed.index()].initial = 0;
    const auto slot_of = [&](TensorAccess access) {
      access.tensor = passed;
      AffineExpression& slice = access.projection[state.rank];
      for (AffineTerm& term : slice.terms) term.coefficient = -term.coefficient;
      slice.constant = state.steps.size - slice.constant;
      return access;
    };
    const auto gradient_of = [&](const TensorAccess& access) {
      return sum_of(operand_of(slot_of(access)), same_element(*given, access));
    };
    auto by_access = derivatives_of(einsum, gradient_of(einsum.output()));
    if (!by_access[state.access]) {
      gradients_[tensor.index()] = given;
      return;
    }
    ScalarTree tree = std::move(*by_access[state.access]);
    TensorAccess slot = slot_of(einsum.accesses[state.access]);
    const auto reverse = [&](TensorAccess* access) {
      for (AffineExpression& index : access->projection) index = reversed(index, state.steps);
    };
    for_each_operand(&tree, reverse);
    reverse(&slot);
    add_einsum(name_of(passed), std::move(slot), std::move(tree), einsum);
    gradients_[tensor.index()] =
        add_elementwise(tensor, name, gradient_of(elements_of(tensor).second));
  }

  // --- the optimizer ----------------------------------------------------------------------------

  void update(TensorId tensor) {
    if (options_.optimizer == Optimizer::kNone) return;
    const auto [points, element] = elements_of(tensor);
    const ScalarTree gradient = same_element(*gradients_[tensor.index()], element);
    const auto tensor_like = [&, element = element](const std::string& suffix) {
      TensorAccess access = element;
      access.tensor = add_tensor_like(tensor, name_of(tensor) + suffix);
      return access;
    };
    for (OptimizerStep& step :
         optimizer_steps(options_.optimizer, operand_of(element), gradient, tensor_like)) {
      const std::string name = name_of(step.output.tensor);
      add_einsum(name, std::move(step.output), std::move(step.value), points);
    }
  }

  const Workload& forward_;
  const BackwardOptions& options_;
  const TensorRoles roles_;
  Workload result_;
  Diagnostics mistakes_;
  std::vector<TensorId> wanted_;
  std::vector<char> recomputed_, active_;             // per forward tensor
  std::vector<std::vector<TensorId>> contributions_;  // the same
  std::vector<std::optional<TensorId>> gradients_;    // the same
  std::vector<std::optional<TensorId>> again_;        // the same: what makes it again
  std::vector<std::size_t> n_active_readers_;  // the same: how often its gradient is added to
  std::vector<double> bits_;                   // the same, per value
  std::unordered_set<std::string> names_;      // of tensors and Einsums
  std::unordered_map<std::string, std::size_t> variables_;
};

}  // namespace

std::string gradient_name(const std::string& tensor) { return "grad_" + tensor; }

Result<Workload> derive_backward(const Workload& forward, const BackwardOptions& options) {
  return Backward(forward, options).run();
}

}  // namespace sluice
