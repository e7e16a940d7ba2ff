#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "frontend/names/expression_names.h"
#include "frontend/workload/misspelt_tensors.h"
#include "frontend/workload/rank_names.h"
#include "frontend/workload/rank_sizes.h"
#include "frontend/workload/tensor_sets.h"
#include "frontend/workload/workload_limits.h"
#include "frontend/workload/workload_order.h"
#include "frontend/workload/workload_reader.h"

namespace sluice {
namespace {

// Sets of them are masks of 64 bits.
constexpr std::size_t kMostTensorsOfEinsum = 64;
constexpr std::size_t kMostVariablesOfEinsum = 64;

/// Turns names into ids, then gives every variable its range and every rank its size.
class WorkloadBuilder {
 public:
  WorkloadBuilder(ReadContext& context, const WorkloadSource& source)
      : context_(context), source_(source) {}

  std::optional<Workload> run() {
    const std::size_t before = context_.n_errors();
    workload_.name = source_.name;
    workload_.n_instances = source_.n_instances;
    declare_ranks();
    find_recurrences();
    for (const EinsumSource& einsum : source_.einsums) add_einsum(einsum);
    check_uses();
    if (context_.n_errors() != before) return std::nullopt;
    check_order(context_, source_, workload_);
    warn_of_misspelt_tensors(context_, source_, workload_);
    if (!source_.has_bad_sizes) derive_rank_sizes(context_, source_, names_of_states(), workload_);
    set_initial_values();
    apply_tensor_sets(context_, source_, workload_);
    if (context_.n_errors() == before) check_counts(context_, source_, workload_);
    if (context_.n_errors() != before) return std::nullopt;
    return std::move(workload_);
  }

 private:
  void error(const SourcePlace& place, std::string message, std::string hint = {}) {
    context_.error_inside(*place.node, place.offset, std::move(message), std::move(hint));
  }

  // --- ranks ------------------------------------------------------------------------------------

  void declare_ranks() {
    for (const RankSizeSource& declared : source_.rank_sizes) {
      rank_ids_.emplace(declared.name, workload_.ranks.size());
      workload_.ranks.push_back({declared.name, declared.size});
    }
    n_declared_ = workload_.ranks.size();
  }

  bool is_declared(const std::string& rank) const {
    const auto found = rank_ids_.find(rank);
    return found != rank_ids_.end() && found->second < n_declared_;
  }

  /// `X:` names rank X; a bare x means rank X.
  std::optional<std::string> rank_name(const AxisText& axis) const {
    std::string name = axis.rank;
    if (name.empty()) {
      const auto& terms = axis.index.terms;
      if (terms.size() != 1 || terms[0].second != 1) return std::nullopt;
      name = terms[0].first;
    }
    const std::string upper = upper_case(name);
    return is_declared(name) && (!axis.rank.empty() || !is_declared(upper)) ? name
           : axis.rank.empty() || name == lower_case(name)                  ? upper
                                                                            : name;
  }

  RankId rank_id(const std::string& name) {
    const auto [found, is_new] = rank_ids_.emplace(name, workload_.ranks.size());
    if (is_new) workload_.ranks.push_back({name, 0});
    return RankId(found->second);
  }

  // --- recurrences ------------------------------------------------------------------------------

  /// The axis of a state tensor that counts its slices: written at `i+1` (rank I), so that it has
  /// one slice more than i has steps and needs a rank of its own.
  struct StateAxis {
    std::size_t axis = 0;
    std::string step_rank;   ///< I
    std::string state_rank;  ///< I_STATE
    std::int64_t shift = 1;
  };

  void find_recurrences() {
    std::unordered_map<std::string, int> n_makers;
    for (const EinsumSource& einsum : source_.einsums) ++n_makers[einsum.accesses.back().tensor];
    for (const EinsumSource& einsum : source_.einsums) {
      const AccessSource& output = einsum.accesses.back();
      if (n_makers[output.tensor] > 1) continue;
      for (std::size_t i = 0; i < output.axes.size(); ++i) {
        const AxisText& axis = output.axes[i];
        const auto rank = rank_name(axis);
        if (!rank || axis.index.terms.size() != 1 || axis.index.constant <= 0) continue;
        const std::string& variable = axis.index.terms[0].first;
        if (axis.index.terms[0].second != 1 || *rank != upper_case(variable)) continue;
        states_[output.tensor] = {i, *rank, *rank + "_STATE", axis.index.constant};
      }
    }
  }

  std::string axis_rank(const std::string& tensor, std::size_t axis,
                        const std::string& rank) const {
    const auto state = states_.find(tensor);
    const bool counts =
        state != states_.end() && state->second.axis == axis && state->second.step_rank == rank;
    return counts ? state->second.state_rank : rank;
  }

  /// The ranks of slices, with the ranks of their steps.
  std::vector<StateRank> names_of_states() const {
    std::vector<StateRank> result;
    for (const auto& [tensor, state] : states_) {
      const auto step = rank_ids_.find(state.step_rank);
      const auto slices = rank_ids_.find(state.state_rank);
      if (step != rank_ids_.end() && slices != rank_ids_.end())
        result.push_back({RankId(step->second), RankId(slices->second), state.shift});
    }
    return result;
  }

  // --- Einsums ----------------------------------------------------------------------------------

  void add_einsum(const EinsumSource& source) {
    Einsum einsum;
    einsum.name = source.name;
    einsum.expression = source.expression;
    einsum.is_copy_operation = source.is_copy_operation;
    einsum.n_instances = source.n_instances;
    const SourcePlace place{source.place, 0};
    if (!einsum_names_.emplace(source.name, 0).second)
      error(place, fmt::format("two Einsums are called '{}'", source.name));
    for (const AccessSource& access : source.accesses)
      if (auto built = tensor_access(access)) einsum.accesses.push_back(std::move(*built));
    if (einsum.accesses.size() == source.accesses.size()) {
      collect_variables(&einsum);
      set_reduction(einsum);
      if (tensors_of(einsum).size() > kMostTensorsOfEinsum)
        error(place, fmt::format("the Einsum {} uses more than {} tensors", source.name,
                                 kMostTensorsOfEinsum));
      if (einsum.iteration_space.size() > kMostVariablesOfEinsum)
        error(place,
              fmt::format("the Einsum {} has {} variables, more than the limit of {}", source.name,
                          einsum.iteration_space.size(), kMostVariablesOfEinsum));
    }
    workload_.einsums.push_back(std::move(einsum));
  }

  std::optional<TensorAccess> tensor_access(const AccessSource& source) {
    TensorAccess access;
    access.is_output = source.is_output;
    std::vector<RankId> ranks;
    for (std::size_t i = 0; i < source.axes.size(); ++i) {
      const AxisText& axis = source.axes[i];
      const auto rank = rank_name(axis);
      if (!rank) {
        error({source.place.node, axis.index.offset},
              fmt::format("an index of {} that is not one plain variable must name its rank",
                          source.tensor),
              "for example 'H:2*p+r'");
        return std::nullopt;
      }
      ranks.push_back(rank_id(axis_rank(source.tensor, i, *rank)));
      access.projection.push_back(affine(axis.index));
    }
    const auto [found, is_new] = tensor_ids_.emplace(source.tensor, workload_.tensors.size());
    access.tensor = TensorId(found->second);
    if (is_new)
      workload_.tensors.push_back(
          {.name = source.tensor, .ranks = ranks, .persistent = false, .initial = {}});
    else if (!match_ranks(source, access, ranks))
      return std::nullopt;
    return access;
  }

  /// Brings the projection into the order of the tensor's ranks.
  bool match_ranks(const AccessSource& source, TensorAccess& access,
                   const std::vector<RankId>& ranks) {
    const std::vector<RankId>& wanted = workload_[access.tensor].ranks;
    if (wanted == ranks) return true;
    std::vector<AffineExpression> ordered;
    std::vector<bool> taken(ranks.size());
    for (const RankId rank : wanted) {
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (taken[i] || ranks[i] != rank) continue;
        taken[i] = true;
        ordered.push_back(access.projection[i]);
        break;
      }
    }
    if (ordered.size() == wanted.size() && wanted.size() == ranks.size()) {
      access.projection = std::move(ordered);
      return true;
    }
    error(source.place,
          fmt::format("the tensor {} has the ranks {} here, but {} elsewhere", source.tensor,
                      rank_list(ranks), rank_list(wanted)),
          "a bare index x means rank X; another rank is named as in 'M:p'");
    return false;
  }

  std::string rank_list(const std::vector<RankId>& ranks) const {
    std::vector<std::string> names;
    names.reserve(ranks.size());
    for (const RankId rank : ranks) names.push_back(workload_[rank].name);
    return fmt::format("[{}]", fmt::join(names, ", "));
  }

  AffineExpression affine(const IndexText& text) {
    AffineExpression result;
    result.constant = text.constant;
    for (const auto& [name, coefficient] : text.terms)
      result.terms.push_back({variable_id(name), coefficient});
    std::sort(result.terms.begin(), result.terms.end(),
              [](const AffineTerm& a, const AffineTerm& b) { return a.variable < b.variable; });
    return result;
  }

  RankVariableId variable_id(const std::string& name) {
    const auto [found, is_new] = variable_ids_.emplace(name, workload_.rank_variables.size());
    if (is_new) workload_.rank_variables.push_back({name});
    return RankVariableId(found->second);
  }

  /// Sum unless another reduction is named; none where every point writes a value of its own.
  static void set_reduction(Einsum& einsum) {
    if (tells_points_apart(einsum))
      einsum.expression.reduction = Reduction::kNone;
    else if (einsum.expression.reduction == Reduction::kNone)
      einsum.expression.reduction = Reduction::kSum;
  }

  // --- consistency ------------------------------------------------------------------------------

  /// A tensor's name is a word of set expressions. Timeloop's usual names are let through where
  /// there is one Einsum: there the word means the set in expressions, and the tensor elsewhere.
  void check_tensor_names() {
    const bool is_alone = source_.einsums.size() == 1;
    const auto taken = [is_alone](const std::string& name) {
      if (is_alone && (name == "Inputs" || name == "Outputs")) return false;
      return is_set_word(name);
    };
    for (const EinsumSource& einsum : source_.einsums)
      for (const AccessSource& access : einsum.accesses)
        if (taken(access.tensor))
          error(access.place,
                fmt::format("no tensor may be called '{}': it is a word of set expressions",
                            access.tensor));
  }

  void check_uses() {
    check_tensor_names();
    std::vector<std::string> tensors;
    for (const Tensor& tensor : workload_.tensors) tensors.push_back(tensor.name);
    for (const InitialSource& initial : source_.initial)
      if (tensor_ids_.count(initial.tensor) == 0)
        error({initial.place, 0}, fmt::format("unknown tensor '{}'", initial.tensor),
              did_you_mean(initial.tensor, tensors));
    std::vector<std::string> variables;
    for (const RankVariable& variable : workload_.rank_variables)
      variables.push_back(variable.name);
    const auto check_bounds = [&](const std::vector<BoundSource>& bounds) {
      for (const BoundSource& bound : bounds)
        for (const auto& [name, coefficient] : bound.bound.expression.terms)
          if (variable_ids_.count(name) == 0)
            error({bound.place, 0}, fmt::format("no Einsum uses the variable '{}'", name),
                  did_you_mean(name, variables));
    };
    check_bounds(source_.bounds);
    for (const EinsumSource& einsum : source_.einsums) check_bounds(einsum.bounds);
  }

  void set_initial_values() {
    for (const InitialSource& initial : source_.initial)
      workload_.tensors[tensor_ids_.at(initial.tensor)].initial = initial.value;
  }

  ReadContext& context_;
  const WorkloadSource& source_;
  Workload workload_;
  std::size_t n_declared_ = 0;
  std::unordered_map<std::string, std::size_t> rank_ids_, tensor_ids_, variable_ids_, einsum_names_;
  std::map<std::string, StateAxis> states_;
};

}  // namespace

std::optional<Workload> build_workload(ReadContext& context, const WorkloadSource& source) {
  if (source.einsums.empty() || source.has_bad_einsums) return std::nullopt;
  return WorkloadBuilder(context, source).run();
}

}  // namespace sluice
