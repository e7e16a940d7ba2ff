#include "model/batch/symbols.h"

#include <algorithm>
#include <cstdlib>

namespace sluice {

using Kind = SymbolStep::Kind;

Symbols::Value Symbols::step(const SymbolStep& wanted) {
  const auto [place, is_new] = known_.try_emplace(wanted, static_cast<Value>(steps_.size()));
  if (is_new) steps_.push_back(wanted);
  return place->second;
}

Symbols::Value Symbols::multiply(Value a, Value b) {
  if (a > b) std::swap(a, b);
  const std::int64_t* left = constant_of(a);
  const std::int64_t* right = constant_of(b);
  if (left && right) return constant(*left * *right);
  if ((left && *left == 0) || (right && *right == 1)) return a;
  if ((right && *right == 0) || (left && *left == 1)) return b;
  return step({Kind::kMultiply, a, b});
}

Symbols::Value Symbols::divide(Value a, Value b) {
  if (a == b) return constant(1);
  return step({Kind::kDivide, a, b});
}

Symbols::Value Symbols::add(Value a, Value b) {
  if (a > b) std::swap(a, b);
  const std::int64_t* left = constant_of(a);
  const std::int64_t* right = constant_of(b);
  if (left && right) return constant(*left + *right);
  if (left && *left == 0) return b;
  if (right && *right == 0) return a;
  return step({Kind::kAdd, a, b});
}

Symbols::Value Symbols::subtract(Value a, Value b) {
  const std::int64_t* left = constant_of(a);
  const std::int64_t* right = constant_of(b);
  if (a == b) return constant(0);
  if (left && right) return constant(*left - *right);
  if (right && *right == 0) return a;
  return step({Kind::kSubtract, a, b});
}

Symbols::Value Symbols::volume(const FlatTree&, const NestStorage& storage,
                               const BoundAccess& access) {
  Value volume = constant(1);
  for (const BoundIndex& index : access.index) {
    std::int64_t fixed = 1 + index.slack;
    Value moving = constant(0);
    for (const BoundTerm& term : index.terms) {
      const std::int64_t coefficient = std::abs(term.coefficient);
      const Value tile = tile_sizes[storage.tiles + static_cast<std::uint32_t>(term.variable)];
      moving = add(moving, multiply(constant(coefficient), tile));
      fixed -= coefficient;
    }
    volume = multiply(volume, add(moving, constant(fixed)));
  }
  return volume;
}

}  // namespace sluice
