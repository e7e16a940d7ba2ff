#include "sluice/model/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "model/bind/bound_access.h"
#include "model/bind/keep_rule.h"
#include "model/bind/problem_traits.h"
#include "sluice/model/cost_bounds.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

/// Evaluates the expressions of one architecture, component by component, for one Einsum.
class EinsumBinder {
 public:
  EinsumBinder(const BoundProblem& problem, EinsumId einsum, Diagnostics* diagnostics)
      : workload_(problem.workload),
        arch_(problem.arch),
        roles_(problem.roles),
        einsum_(einsum),
        scope_(tensor_set_scope(problem.workload, problem.roles, einsum)),
        diagnostics_(*diagnostics) {}

  BoundEinsum bind() {
    BoundEinsum bound;
    bind_accesses(workload_, einsum_, &bound);
    for (std::size_t c = 0; c < arch_.components.size(); ++c)
      bound.components.push_back(bind_component(ComponentId(c), bound));
    bind_computes(bound);
    forbid_further_out(&bound);
    return bound;
  }

 private:
  void report(const std::string& message, const std::string& hint = {},
              DiagnosticCause cause = DiagnosticCause::kContent) {
    const Diagnostic found{Severity::kError, {}, message, {}, hint, cause};
    if (std::find(diagnostics_.begin(), diagnostics_.end(), found) == diagnostics_.end())
      diagnostics_.push_back(found);
  }

  std::string where(const Component& component, const std::string& field) const {
    return "`" + field + "` of " + component.name + ", for the Einsum " + workload_[einsum_].name;
  }

  /// A name such as `weight.bits_per_value` is unknown exactly where `weight` is several tensors.
  std::string explain(const Expression& expression, const std::string& message) const {
    for (const std::string& name : expression.names()) {
      const std::size_t dot = name.find('.');
      if (dot == std::string::npos || scope_.lookup(name)) continue;
      const auto owner = scope_.lookup(name.substr(0, dot));
      const NameSet* set = owner ? std::get_if<NameSet>(&*owner) : nullptr;
      if (!set || set->bits == 0) continue;
      std::string text = "`" + name.substr(0, dot) + "` must be one tensor and is ";
      text += std::to_string(__builtin_popcountll(set->bits)) + " (";
      const std::vector<TensorId> tensors = tensors_of(workload_[einsum_]);
      std::string separator;
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (!((set->bits >> i) & 1)) continue;
        text += separator + workload_[tensors[i]].name;
        separator = ", ";
      }
      return text + ")";
    }
    return message;
  }

  template <class T>
  std::optional<T> value(const Expression& expression, const Component& component,
                         const std::string& field, const char* type_name) {
    const auto result = expression.evaluate(scope_);
    if (!result) {
      report(where(component, field) + ": " + explain(expression, result.error().message) + ".",
             result.error().hint);
      return std::nullopt;
    }
    if (const T* typed = std::get_if<T>(&*result)) return *typed;
    report(where(component, field) + ": `" + expression.to_string() + "` must be " + type_name +
           ".");
    return std::nullopt;
  }

  double number(const Expression& expression, const Component& component, const std::string& field,
                double minimum) {
    const auto result = value<double>(expression, component, field, "a number");
    if (!result) return minimum;
    if (std::isnan(*result) || *result < minimum) {
      report(where(component, field) + ": " + expression.to_string() + " must not be less than " +
             (minimum == 0 ? "0" : std::to_string(minimum)) + ".");
      return minimum;
    }
    return *result;
  }

  TensorMask set(const Expression& expression, const Component& component,
                 const std::string& field) {
    const auto result = value<NameSet>(expression, component, field, "a set of tensors");
    return result ? result->bits : 0;
  }

  bool enabled(const Component& component) {
    if (!component.enabled) return true;
    const auto result = value<bool>(*component.enabled, component, "enabled", "true or false");
    return result.value_or(false);
  }

  BoundComponent bind_component(ComponentId id, const BoundEinsum& einsum) {
    const Component& component = arch_[id];
    BoundComponent bound;
    bound.enabled = enabled(component);
    bound.instances = static_cast<double>(instances_of(arch_, id));
    for (std::size_t a = 0; a < component.actions.size(); ++a) {
      if (component.actions[a].name == "read") bound.read_action = static_cast<int>(a);
      if (component.actions[a].name == "write") bound.write_action = static_cast<int>(a);
    }
    check_actions(component, bound);
    bind_bits(component, einsum, bound);
    if (const Memory* memory = std::get_if<Memory>(&component.kind))
      bound.size_bits = number(memory->size_bits, component, "size", 0);
    for (const SpatialDimension& dimension : component.spatial)
      bound.spatial.push_back(bind_spatial(dimension, component));
    bind_keeps(id, bound);
    bind_latency(component, bound);
    return bound;
  }

  /// What holds tensors is read and written: an action that is missing would cost nothing.
  void check_actions(const Component& component, const BoundComponent& bound) {
    const auto require = [&](int action, const char* name) {
      if (action >= 0) return;
      report(component.name + " has no action `" + name + "`; what it does would cost nothing.",
             "give it one, with an energy and a throughput (0 and inf where it is free)");
    };
    if (component.holds_tensors()) require(bound.read_action, "read");
    if (component.is_memory()) require(bound.write_action, "write");
  }

  void bind_bits(const Component& component, const BoundEinsum& einsum, BoundComponent& bound) {
    for (TensorId tensor : einsum.tensors)
      bound.bits_per_value.push_back(find_access(workload_[einsum_], tensor)->bits_per_value);
    const std::vector<BitsOverride>* overrides = nullptr;
    if (const Memory* memory = std::get_if<Memory>(&component.kind))
      overrides = &memory->bits_per_value;
    if (const Toll* toll = std::get_if<Toll>(&component.kind)) overrides = &toll->bits_per_value;
    if (!overrides) return;
    for (const BitsOverride& entry : *overrides) {
      const TensorMask tensors = set(entry.tensors, component, "bits_per_value");
      if (tensors == 0) continue;
      const double bits = number(entry.bits_per_value, component, "bits_per_value", 0);
      for (std::size_t i = 0; i < bound.bits_per_value.size(); ++i)
        if ((tensors >> i) & 1) bound.bits_per_value[i] = bits;
    }
  }

  BoundSpatial bind_spatial(const SpatialDimension& dimension, const Component& component) {
    BoundSpatial bound;
    bound.fanout = dimension.fanout;
    const std::string name = "spatial " + dimension.name;
    bound.may_reuse = set(dimension.may_reuse, component, name + ".may_reuse");
    if (dimension.reuse) bound.reuse = set(*dimension.reuse, component, name + ".reuse");
    if (dimension.min_usage)
      bound.min_usage = number(*dimension.min_usage, component, name + ".min_usage", 0);
    return bound;
  }

  void bind_keeps(ComponentId id, BoundComponent& bound) {
    const Component& component = arch_[id];
    const TensorPolicy* policy = component.tensor_policy();
    if (!policy) return;
    const auto rule = [&](const std::optional<Expression>& expression, KeepRule& into) {
      if (!expression) return;
      auto made = make_keep_rule(*expression, workload_, arch_, roles_, einsum_, id);
      if (made) {
        into = std::move(*made);
      } else {
        for (const Diagnostic& mistake : made.error()) report(mistake.message, mistake.hint);
      }
    };
    rule(policy->keep, bound.keep);
    rule(policy->may_keep, bound.may_keep);
    rule(policy->back, bound.back);
  }

  void bind_latency(const Component& component, BoundComponent& bound) {
    if (!component.total_latency) return;
    ExpressionScope scope = action_scope(component, scope_, [](std::size_t) { return 1.0; });
    const auto result = component.total_latency->evaluate(scope);
    if (!result) {
      report(where(component, "total_latency") + ": " + result.error().message + ".",
             result.error().hint);
    } else if (!std::holds_alternative<double>(*result)) {
      report(where(component, "total_latency") + ": `" + component.total_latency->to_string() +
             "` must be a number.");
    } else {
      bound.latency_rows = component.total_latency->as_max_of_linear(scope);
    }
  }

  void bind_computes(BoundEinsum& bound) {
    for (ComponentId id : computes_of(arch_)) {
      if (!bound.components[id.index()].enabled) continue;
      auto calls = calls_per_point(arch_[id]);
      if (!calls) continue;
      BoundCompute compute{id, path_to(arch_, id), {}, {}, std::move(*calls)};
      compute.depth.assign(arch_.components.size(), -1);
      for (std::size_t d = 0; d < compute.path.size(); ++d)
        compute.depth[compute.path[d].index()] = static_cast<int>(d);
      compute.networks = networks_on(compute.path);
      bound.computes.push_back(std::move(compute));
    }
    if (bound.computes.empty()) report_no_compute(bound);
  }

  /// What a memory backs (`back`) is in none further out, unless that one's `keep` names it, too.
  static void forbid_further_out(BoundEinsum* bound) {
    for (const BoundCompute& compute : bound->computes) {
      TensorMask further_in = 0;
      for (std::size_t p = compute.path.size(); p-- > 0;) {
        BoundComponent& own = bound->components[compute.path[p].index()];
        if (!own.enabled) continue;
        own.forbidden |= further_in & ~always_named(own.keep) & ~always_named(own.back);
        further_in |= always_named(own.back);
      }
    }
  }

  /// A network links the instances of the next component with a fanout.
  std::vector<PathNetwork> networks_on(const std::vector<ComponentId>& path) const {
    std::vector<PathNetwork> networks;
    for (std::size_t d = 0; d < path.size(); ++d) {
      if (!std::holds_alternative<Network>(arch_[path[d]].kind)) continue;
      PathNetwork& network = networks.emplace_back();
      network.network = path[d];
      network.depth = static_cast<int>(d);
      for (std::size_t below = d + 1; below < path.size() && !network.fanned; ++below)
        if (!arch_[path[below]].spatial.empty()) network.fanned = path[below];
    }
    return networks;
  }

  /// What cannot choose multiplies by 0 and 1: select(c, a, b) is c a + (1 - c) b.
  static void write_out_choices(std::vector<OperationCount>* counts) {
    const auto count_of = [&](OperationKind kind) {
      return std::find_if(counts->begin(), counts->end(),
                          [&](const OperationCount& count) { return count.kind == kind; });
    };
    const auto choices = count_of(OperationKind::kSelect);
    if (choices == counts->end()) return;
    const std::int64_t n = choices->per_point;
    counts->erase(choices);
    constexpr std::pair<OperationKind, std::int64_t> kInstead[] = {
        {OperationKind::kAdd, 1}, {OperationKind::kSub, 1}, {OperationKind::kMul, 2}};
    for (const auto& [kind, times] : kInstead) {
      const auto same = count_of(kind);
      if (same == counts->end())
        counts->push_back({kind, times * n});
      else
        same->per_point += times * n;
    }
  }

  static std::optional<std::size_t> action_called(const Component& compute, std::string_view name) {
    for (std::size_t a = 0; a < compute.actions.size(); ++a)
      if (compute.actions[a].name == name) return a;
    return std::nullopt;
  }

  /// The operations of an iteration point, as a compute does them.
  std::vector<OperationCount> operations_on(const Component& compute) const {
    std::vector<OperationCount> counts = operations_per_point(workload_[einsum_].expression);
    if (!action_called(compute, operation_name(OperationKind::kSelect))) write_out_choices(&counts);
    return counts;
  }

  /// Which actions of a compute one iteration point calls; nullopt if it lacks a kind.
  std::optional<std::vector<std::pair<std::size_t, std::int64_t>>> calls_per_point(
      const Component& compute) const {
    std::vector<std::pair<std::size_t, std::int64_t>> calls;
    if (const auto any = action_called(compute, "compute")) {
      calls.emplace_back(*any, 1);
      return calls;
    }
    if (workload_[einsum_].is_copy_operation) return calls;
    for (const OperationCount& count : operations_on(compute)) {
      const auto kind = action_called(compute, operation_name(count.kind));
      if (!kind) return std::nullopt;
      calls.emplace_back(*kind, count.per_point);
    }
    return calls;
  }

  void report_no_compute(const BoundEinsum& bound) {
    std::vector<std::string> reasons;
    for (const ComponentId id : computes_of(arch_)) {
      std::vector<std::string> missing;
      for (const OperationCount& count : operations_on(arch_[id]))
        if (!action_called(arch_[id], operation_name(count.kind)))
          missing.emplace_back(operation_name(count.kind));
      reasons.push_back(bound.components[id.index()].enabled
                            ? fmt::format("{} has no {}", arch_[id].name, fmt::join(missing, ", "))
                            : fmt::format("{} is not enabled for it", arch_[id].name));
    }
    if (reasons.empty()) reasons.emplace_back("there is none");
    report(fmt::format("no compute accepts the Einsum {}: {}", workload_[einsum_].name,
                       fmt::join(reasons, "; ")),
           "give one of them the actions that it lacks, or the action `compute`, and an `enabled` "
           "that holds for the Einsum",
           DiagnosticCause::kInfeasible);
  }

  const Workload& workload_;
  const Arch& arch_;
  const TensorRoles& roles_;
  EinsumId einsum_;
  ExpressionScope scope_;
  Diagnostics& diagnostics_;
};

std::optional<double> total_area(const Arch& arch) {
  std::optional<double> area;
  for (std::size_t c = 0; c < arch.components.size(); ++c) {
    if (!arch.components[c].area_m2) continue;
    area = area.value_or(0) +
           *arch.components[c].area_m2 * static_cast<double>(instances_of(arch, ComponentId(c)));
  }
  return area;
}

}  // namespace

ExpressionScope action_scope(const Component& component, ExpressionScope scope,
                             std::function<double(std::size_t)> calls) {
  scope.n_actions = component.actions.size();
  scope.action_field = [&component, calls = std::move(calls)](
                           std::size_t a, const std::string& field) -> std::optional<double> {
    const Action& action = component.actions[a];
    if (field == "n_calls") return calls(a);
    if (field == "throughput") return action.throughput;
    if (field == "energy") return action.energy_j;
    if (field == "bits_per_action") return action.bits_per_action;
    return std::nullopt;
  };
  return scope;
}

Result<BoundProblem> bind(const Workload& workload, const Arch& arch,
                          const CollectiveAlgorithms& algorithms) {
  BoundProblem problem{workload, arch, tensor_roles(workload), {}, {}, {}, {}, algorithms, {}};
  Diagnostics diagnostics;
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    problem.einsums.push_back(EinsumBinder(problem, EinsumId(e), &diagnostics).bind());
  if (!diagnostics.empty()) return tl::unexpected(std::move(diagnostics));
  widen_backings(problem.workload, &problem.einsums);
  problem.shares_rows = shares_rows(problem);
  problem.holds_unlike_boxes = holds_unlike_boxes(problem);
  problem.bounds = cost_bounds(problem);
  problem.area_m2 = total_area(problem.arch);
  return problem;
}

}  // namespace sluice
