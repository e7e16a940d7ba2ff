#include "template_lists.h"

#include <algorithm>

#include "mapper/shape/isomorphic.h"

namespace sluice::fused {
namespace {

/// `rule`: as the architecture has it. One without a table is evaluated with names, which differ.
bool same_rule(const std::optional<Expression>& rule, const KeepRule& a, const KeepRule& b) {
  return !rule || (!a.table.empty() && a.table == b.table && a.depends_on == b.depends_on);
}

bool same_rules(const Arch& arch, const BoundEinsum& a, const BoundEinsum& b) {
  for (std::size_t c = 0; c < a.components.size(); ++c) {
    const TensorPolicy* policy = arch.components[c].tensor_policy();
    const BoundComponent &x = a.components[c], &y = b.components[c];
    if (policy == nullptr || !x.enabled) continue;
    if (!same_rule(policy->keep, x.keep, y.keep) || !same_rule(policy->back, x.back, y.back) ||
        !same_rule(policy->may_keep, x.may_keep, y.may_keep) || x.asked != y.asked ||
        x.forbidden != y.forbidden)
      return false;
  }
  return true;
}

bool has_ordered_tensors(const Component& component) {
  const TensorPolicy* policy = component.tensor_policy();
  return policy != nullptr && !policy->tensor_order_options.empty();
}

bool orders_tensors(const Arch& arch) {
  return std::any_of(arch.components.begin(), arch.components.end(), has_ordered_tensors);
}

/// Whether nothing that templates depend on goes by names.
bool names_nothing(const BoundProblem& problem, const MapperOptions& options) {
  return options.constraints == Constraints{} && !options.row_fusion &&
         options.pruning.isomorphic_einsums && !orders_tensors(problem.arch);
}

/// Apart from loop places, and from loops that windows slide over.
bool same_placement(const Template& a, const Template& b) {
  const auto same = [](const Slot& x, const Slot& y) {
    return x.component == y.component && x.tensor == y.tensor && x.gap == y.gap &&
           x.persistent == y.persistent;
  };
  return a.compute == b.compute && a.ports == b.ports &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(), same);
}

}  // namespace

bool same_templates(const BoundProblem& problem, EinsumId a, EinsumId b) {
  return !orders_tensors(problem.arch) && same_rules(problem.arch, problem[a], problem[b]);
}

TemplateLists::TemplateLists(const BoundProblem& problem, const std::vector<EinsumShape>& shapes,
                             const MapperOptions& options, const TemplateLimits& limits) {
  const bool may_share = names_nothing(problem, options);
  TemplateLimits left = limits;
  for (std::size_t e = 0; e < shapes.size(); ++e) {
    const EinsumShape& shape = shapes[e];
    const auto alike = [&](std::size_t other) {
      return !shape.recurrence.step && same_problem(problem, shapes[other], shape) &&
             same_rules(problem.arch, problem[shapes[other].einsum], problem[shape.einsum]);
    };
    const auto known = may_share ? std::find_if(first_.begin(), first_.end(), alike) : first_.end();
    list_of_.push_back(static_cast<std::uint32_t>(known - first_.begin()));
    if (known != first_.end()) continue;
    first_.push_back(e);
    left.cap = std::min(limits.cap, left.cap_of_all);
    lists_.push_back(enumerate_templates(problem, shape, options, options.constraints, left));
    if (lists_.back().size() >= left.cap) return;
    left.cap_of_all -= lists_.back().size();
  }
}

std::uint32_t TemplateLists::add(std::size_t einsum, Template templ) {
  std::vector<Template>& list = lists_[list_of_[einsum]];
  const auto placed = std::find_if(list.begin(), list.end(), [&](const Template& other) {
    return same_placement(other, templ);
  });
  templ.placement =
      placed == list.end() ? static_cast<std::uint32_t>(list.size()) : placed->placement;
  const auto known = std::find(list.begin(), list.end(), templ);
  if (known == list.end()) {
    list.push_back(std::move(templ));
    return static_cast<std::uint32_t>(list.size() - 1);
  }
  return static_cast<std::uint32_t>(known - list.begin());
}

}  // namespace sluice::fused
