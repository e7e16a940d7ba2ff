#include <algorithm>

#include "model/bind/keep_rule.h"
#include "sluice/arch/memory_further_out.h"
#include "sluice/model/binding.h"

namespace sluice {
namespace {

/// A rule is tabulated up to so many bits of choice.
constexpr std::size_t kMaxTableBits = 12;

Diagnostics diagnostic(const std::string& message, const std::string& hint = {}) {
  return {Diagnostic{Severity::kError, {}, message, {}, hint}};
}

std::string memory_name(const std::string& name) {
  const std::string suffix = ".tensors";
  if (name.size() > suffix.size() && name.ends_with(suffix))
    return name.substr(0, name.size() - suffix.size());
  return name;
}

std::string place(const Workload& workload, const Arch& arch, EinsumId einsum,
                  ComponentId component) {
  return arch[component].name + " for the Einsum " + workload[einsum].name;
}

/// What names mean in a component's rules for one Einsum, memories being what `held` says at the
/// time.
ExpressionScope keep_scope(const Workload& workload, const Arch& arch, const TensorRoles& roles,
                           EinsumId einsum, ComponentId component,
                           const std::vector<TensorMask>& held) {
  const auto extra = [&arch, component,
                      &held](const std::string& name) -> std::optional<ExpressionValue> {
    const auto memory = memory_further_out(arch, component, memory_name(name));
    return memory ? std::optional(ExpressionValue(NameSet{held[memory->index()]})) : std::nullopt;
  };
  return tensor_set_scope(workload, roles, einsum, extra);
}

Result<TensorMask> evaluate_set(const Expression& expression, const Workload& workload,
                                const Arch& arch, EinsumId einsum, ComponentId component,
                                const ExpressionScope& scope) {
  const auto value = expression.evaluate(scope);
  if (!value) {
    return tl::unexpected(diagnostic("`" + expression.to_string() + "` in " +
                                         place(workload, arch, einsum, component) + ": " +
                                         value.error().message,
                                     value.error().hint));
  }
  const NameSet* set = std::get_if<NameSet>(&*value);
  if (!set) {
    return tl::unexpected(diagnostic("`" + expression.to_string() + "` in " +
                                     place(workload, arch, einsum, component) +
                                     " must be a set of tensors."));
  }
  return set->bits;
}

/// Value of one rule for a choice: from the table, or evaluated.
Result<TensorMask> rule_value(const BoundProblem& problem, EinsumId einsum, ComponentId component,
                              const KeepRule& rule, const Expression& expression,
                              const std::vector<TensorMask>& held) {
  if (rule.table.empty()) {
    return evaluate_set(
        expression, problem.workload, problem.arch, einsum, component,
        keep_scope(problem.workload, problem.arch, problem.roles, einsum, component, held));
  }
  const std::size_t n_tensors = problem[einsum].tensors.size();
  std::size_t entry = 0;
  for (std::size_t i = 0; i < rule.depends_on.size(); ++i)
    entry |= static_cast<std::size_t>(held[rule.depends_on[i].index()]) << (i * n_tensors);
  return rule.table[entry];
}

}  // namespace

Result<KeepRule> make_keep_rule(const Expression& expression, const Workload& workload,
                                const Arch& arch, const TensorRoles& roles, EinsumId einsum,
                                ComponentId component) {
  KeepRule rule;
  for (const std::string& name : expression.names()) {
    const auto memory = memory_further_out(arch, component, memory_name(name));
    if (!memory) continue;
    if (std::find(rule.depends_on.begin(), rule.depends_on.end(), *memory) == rule.depends_on.end())
      rule.depends_on.push_back(*memory);
  }
  std::vector<TensorMask> held(arch.components.size(), 0);
  const ExpressionScope scope = keep_scope(workload, arch, roles, einsum, component, held);
  // One evaluation finds every mistake: unknown names and wrong types do not depend on the choice.
  auto value = evaluate_set(expression, workload, arch, einsum, component, scope);
  if (!value) return tl::unexpected(value.error());
  const std::size_t n_tensors = tensors_of(workload[einsum]).size();
  const std::size_t bits = n_tensors * rule.depends_on.size();
  if (bits > kMaxTableBits) return rule;
  rule.table.push_back(*value);
  for (std::size_t entry = 1; entry < (std::size_t{1} << bits); ++entry) {
    for (std::size_t i = 0; i < rule.depends_on.size(); ++i)
      held[rule.depends_on[i].index()] =
          (entry >> (i * n_tensors)) & ((std::size_t{1} << n_tensors) - 1);
    value = evaluate_set(expression, workload, arch, einsum, component, scope);
    if (!value) return tl::unexpected(value.error());
    rule.table.push_back(*value);
  }
  return rule;
}

TensorMask always_named(const KeepRule& rule) {
  TensorMask named = rule.table.empty() ? 0 : ~TensorMask{0};
  for (const TensorMask entry : rule.table) named &= entry;
  return named;
}

Result<KeepSets> keep_sets(const BoundProblem& problem, EinsumId einsum, ComponentId component,
                           const std::vector<TensorMask>& held) {
  const BoundEinsum& bound = problem[einsum];
  const BoundComponent& rules = bound.components[component.index()];
  const TensorPolicy* policy = problem.arch[component].tensor_policy();
  const TensorMask all = bound.inputs | bound.output;
  KeepSets sets;
  if (!policy || !rules.enabled) return sets;
  const auto value = [&](const KeepRule& rule, const std::optional<Expression>& expression) {
    return rule_value(problem, einsum, component, rule, *expression, held);
  };
  if (policy->keep) {
    const auto keep = value(rules.keep, policy->keep);
    if (!keep) return tl::unexpected(keep.error());
    sets.must |= *keep;
  }
  if (policy->back) {
    const auto back = value(rules.back, policy->back);
    if (!back) return tl::unexpected(back.error());
    sets.must |= *back;
  }
  if (policy->may_keep) {
    const auto may = value(rules.may_keep, policy->may_keep);
    if (!may) return tl::unexpected(may.error());
    sets.may = *may;
  } else if (!policy->keep && !policy->back) {
    sets.may = all;
  }
  sets.must = (sets.must | rules.asked) & all & ~rules.forbidden;
  sets.may &= all & ~sets.must & ~rules.forbidden;
  return sets;
}

}  // namespace sluice
