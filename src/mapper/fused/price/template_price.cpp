#include "template_price.h"

#include <algorithm>
#include <map>

namespace sluice::fused {
namespace {

/// Memories without a limit of their own.
std::vector<bool> unlimited_memories(const BoundEinsum& bound) {
  std::vector<bool> result;
  for (const BoundComponent& component : bound.components)
    result.push_back(component.size_bits == kUnbounded);
  return result;
}

}  // namespace

TemplatePrice::TemplatePrice(const BoundProblem& problem, const EinsumShape& shape,
                             const Template& templ, const std::atomic<bool>* cancel)
    : classes_(make_classes(shape, templ, false)),
      program_(compile(problem, shape, templ, classes_, {},
                       unlimited_memories(problem[shape.einsum]), cancel)),
      parts_(classes_.size()),
      products_(program_.monomials.size()) {
  for (std::size_t c = 0; c < classes_.size(); ++c)
    add_factors(problem[shape.einsum], shape, templ, c);
}

void TemplatePrice::add_factors(const BoundEinsum& bound, const EinsumShape& shape,
                                const Template& templ, std::size_t cls) {
  Part& part = parts_[cls];
  part.trips.assign(classes_[cls].loops.size(), 1);
  std::map<std::vector<std::int64_t>, std::uint32_t> known;
  for (std::uint32_t m = 0; m < program_.monomials.size(); ++m) {
    const Monomial& monomial = program_.monomials[m];
    const auto [at, is_new] = known.try_emplace(factor_key(bound, templ, classes_[cls], monomial),
                                                static_cast<std::uint32_t>(known.size()));
    if (is_new) part.factors.emplace_back(bound, shape, templ, classes_[cls], monomial);
    part.uses.emplace_back(m, at->second);
  }
}

void TemplatePrice::look_at(const std::vector<std::int64_t>& trips) {
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    Part& part = parts_[c];
    for (std::size_t l = 0; l < part.trips.size(); ++l) {
      std::int64_t own = 1;
      for (const std::uint32_t place : classes_[c].loops[l].places) own *= trips[place];
      if (own != part.trips[l]) part.values.clear();
      part.trips[l] = own;
    }
    if (part.values.empty())
      for (ClassFactor& factor : part.factors) part.values.push_back(factor.of(part.trips.data()));
  }
  std::fill(products_.begin(), products_.end(), 1);
  for (const Part& part : parts_)
    for (const auto& [monomial, factor] : part.uses) products_[monomial] *= part.values[factor];
}

double TemplatePrice::value(const Row& row) const {
  double sum = row.constant;
  for (const RowTerm& term : row.terms) sum += term.coefficient * products_[term.monomial];
  return sum;
}

std::optional<TemplatePrice::Price> TemplatePrice::of(const std::vector<std::int64_t>& trips) {
  look_at(trips);
  for (const LimitRow& limit : program_.limits)
    if (value(limit.row) > limit.limit) return std::nullopt;
  Price price;
  for (const Row& row : program_.latency) price.latency_s = std::max(price.latency_s, value(row));
  price.energy_j = cut(program_.cuts, value(program_.energy)) + program_.leak_w * price.latency_s;
  return price;
}

}  // namespace sluice::fused
