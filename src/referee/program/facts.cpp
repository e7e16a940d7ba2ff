#include "facts.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice::referee {
namespace {

ExpressionValue value_of(const Expression& expression, const ExpressionScope& scope) {
  auto value = expression.evaluate(scope);
  SLUICE_CHECK(value.has_value(), expression.to_string() + ": " + value.error().message);
  return *value;
}

}  // namespace

Facts::Facts(const Workload& workload, const Arch& arch)
    : workload_(workload), arch_(arch), roles_(tensor_roles(workload)) {}

ExpressionScope Facts::scope(EinsumId einsum) {
  return tensor_set_scope(workload_, roles_, einsum);
}

std::vector<TensorId> Facts::tensors_in(EinsumId einsum, const Expression& set) {
  const ExpressionValue value = value_of(set, scope(einsum));
  const NameSet* names = std::get_if<NameSet>(&value);
  SLUICE_CHECK(names, set.to_string() + " is no set of tensors");
  std::vector<TensorId> result;
  const std::vector<TensorId> all = tensors_of(workload_[einsum]);
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((names->bits >> i) & 1U) result.push_back(all[i]);
  return result;
}

double Facts::number(EinsumId einsum, const Expression& expression) {
  const ExpressionValue value = value_of(expression, scope(einsum));
  const double* number = std::get_if<double>(&value);
  SLUICE_CHECK(number, expression.to_string() + " is no number");
  return *number;
}

bool Facts::may_reuse(EinsumId einsum, ComponentId component, std::size_t dimension,
                      TensorId tensor) {
  auto [place, is_new] = reused_.try_emplace({einsum, component, dimension});
  if (is_new) place->second = tensors_in(einsum, arch_[component].spatial[dimension].may_reuse);
  return std::find(place->second.begin(), place->second.end(), tensor) != place->second.end();
}

std::vector<TensorId> Facts::must_reuse(EinsumId einsum, ComponentId component,
                                        std::size_t dimension) {
  const auto& set = arch_[component].spatial[dimension].reuse;
  return set ? tensors_in(einsum, *set) : std::vector<TensorId>{};
}

double Facts::bits_per_value(EinsumId einsum, ComponentId component, TensorId tensor) {
  auto [place, is_new] = bits_.try_emplace({einsum, component, tensor});
  if (!is_new) return place->second;
  double& bits = place->second;
  bits = find_access(workload_[einsum], tensor)->bits_per_value;
  const Component& of = arch_[component];
  const std::vector<BitsOverride>* overrides = nullptr;
  if (const Memory* memory = std::get_if<Memory>(&of.kind)) overrides = &memory->bits_per_value;
  if (const Toll* toll = std::get_if<Toll>(&of.kind)) overrides = &toll->bits_per_value;
  if (!overrides) return bits;
  for (const BitsOverride& wish : *overrides) {
    const std::vector<TensorId> tensors = tensors_in(einsum, wish.tensors);
    if (std::find(tensors.begin(), tensors.end(), tensor) != tensors.end())
      bits = number(einsum, wish.bits_per_value);
  }
  return bits;
}

double Facts::capacity_bits(EinsumId einsum, ComponentId memory) {
  return number(einsum, std::get<Memory>(arch_[memory].kind).size_bits);
}

bool Facts::accepts(EinsumId einsum, ComponentId compute) {
  const Component& component = arch_[compute];
  if (component.enabled) {
    const ExpressionValue value = value_of(*component.enabled, scope(einsum));
    const bool* enabled = std::get_if<bool>(&value);
    SLUICE_CHECK(enabled, component.enabled->to_string() + " is no truth value");
    if (!*enabled) return false;
  }
  if (component.actions.size() == 1 && component.actions[0].name == "compute") return true;
  for (const OperationCount& count : operations_per_point(workload_[einsum].expression)) {
    const bool priced = std::any_of(
        component.actions.begin(), component.actions.end(),
        [&](const Action& action) { return action.name == operation_name(count.kind); });
    if (!priced) return false;
  }
  return true;
}

}  // namespace sluice::referee
