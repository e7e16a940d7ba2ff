#include "product_sums.h"

#include <algorithm>
#include <utility>

#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// Which loops of `united` effect a tile's first sights join, and which repeat.
Monomial counted(Monomial monomial, const Visits& visits,
                 const std::vector<std::uint32_t>& numbers) {
  for (std::size_t l = 0; l < visits.effects.size(); ++l) {
    if (visits.effects[l] == LoopEffect::kEvery) monomial.loops.add(numbers[l]);
    if (visits.effects[l] == LoopEffect::kUnited) monomial.united.add(numbers[l]);
  }
  return monomial;
}

bool has_tile(const Monomial& monomial) { return monomial.slot >= 0 || !monomial.united.empty(); }

}  // namespace

TemplateNest::TemplateNest(const BoundProblem& problem, const EinsumShape& shape,
                           const Template& templ, const std::vector<VariableClass>& classes) {
  std::vector<const ClassLoop*> loops;
  for (const VariableClass& cls : classes)
    for (const ClassLoop& loop : cls.loops) loops.push_back(&loop);
  std::sort(loops.begin(), loops.end(), [](const ClassLoop* a, const ClassLoop* b) {
    return a->places.front() < b->places.front();
  });
  for (const ClassLoop* of : loops) {
    NestLoop& loop = tree.loops.emplace_back();
    loop.variable = static_cast<int>(of->variable);
    loop.spatial = of->spatial;
    loop.component = of->component;
    loop.dimension = of->dimension;
    loop.trips = 2;  // several
    number_of_loop.push_back(of->number);
  }
  for (const Slot& slot : templ.slots) {
    NestStorage& storage = tree.storages.emplace_back();
    storage.tensor = static_cast<int>(slot.tensor);
    storage.component = slot.component;
    storage.loops_above = static_cast<int>(std::count_if(
        loops.begin(), loops.end(), [&](const ClassLoop* loop) { return loop->gap < slot.gap; }));
    storage.entry = static_cast<std::uint32_t>(tree.entries.size());
    TreeEntry& entry = tree.entries.emplace_back();
    entry.tensor = shape.tensors[slot.tensor].id;
    entry.component = slot.component;
    entry.backing = slot.backing;
  }
  Nest& nest = tree.nests.emplace_back();
  nest.einsum = shape.einsum;
  nest.compute = &problem[shape.einsum].computes[templ.compute];
  nest.loops_end = static_cast<std::uint32_t>(tree.loops.size());
  nest.storages_end = static_cast<std::uint32_t>(tree.storages.size());
}

double extent_without_loops(const EinsumShape& shape, const BoundAccess& access, bool whole) {
  double extent = 1;
  for (const BoundIndex& index : access.index) {
    const bool moves =
        std::any_of(index.terms.begin(), index.terms.end(), [&](const BoundTerm& term) {
          return shape.sizes[static_cast<std::size_t>(term.variable)] > 1;
        });
    if (!moves) extent *= static_cast<double>(whole ? index.whole : 1 + index.slack);
  }
  return extent;
}

/// The tile at a node, or at the compute: there it has more than one value where two slices of a
/// state are read.
ProductSum ProductSums::tile(const NestStorage* storage, const BoundAccess& access) const {
  ProductTerm term;
  const BoundAccess* own = &access;
  if (storage == nullptr) {
    for (const BoundIndex& index : access.index)
      term.coefficient *= 1 + static_cast<double>(index.slack);
  } else {
    // A copy is counted by its input.
    if (access.tensor != storage->tensor)
      own =
          &*std::find_if(bound_.accesses.begin(), bound_.accesses.end(),
                         [&](const BoundAccess& other) { return other.tensor == storage->tensor; });
    term.monomial.slot = static_cast<std::int32_t>(storage - nest_.tree.storages.data());
    term.coefficient = extent_without_loops(shape_, *own, false);
  }
  term.monomial.access = static_cast<std::uint32_t>(own - bound_.accesses.data());
  return {term};
}

ProductSum ProductSums::volume(const FlatTree&, const NestStorage& storage,
                               const BoundAccess& access) const {
  return tile(&storage, access);
}

ProductSum ProductSums::multiply(Value a, const Value& b) const {
  Value product;
  product.reserve(a.size() * b.size());
  for (ProductTerm& left : a) {
    for (const ProductTerm& right : b) {
      const bool tile_is_left = has_tile(left.monomial);
      SLUICE_CHECK(!tile_is_left || !has_tile(right.monomial), "a count is of two tiles");
      ProductTerm& term = product.emplace_back(tile_is_left ? left : right);
      const ProductTerm& other = tile_is_left ? right : left;
      term.coefficient *= other.coefficient;
      term.monomial.loops = term.monomial.loops | other.monomial.loops;
      term.monomial.fixed.insert(term.monomial.fixed.end(), other.monomial.fixed.begin(),
                                 other.monomial.fixed.end());
    }
  }
  return product;
}

ProductSum ProductSums::sum(Value a, const Value& b, double sign) {
  for (const ProductTerm& term : b) {
    a.push_back(term);
    a.back().coefficient *= sign;
  }
  return a;
}

ProductSum ProductSums::where_spread(const Nest& nest, ComponentId component,
                                     const Value& value) const {
  Monomial not_spread;
  for (std::uint32_t l = nest.loops_begin; l < nest.loops_end; ++l)
    if (nest_.tree.loops[l].spatial && nest_.tree.loops[l].component == component)
      not_spread.fixed.push_back({nest_.number_of_loop[l], 1});
  return subtract(value, multiply(value, Value{{1, std::move(not_spread)}}));
}

ProductSum ProductSums::first_sights(const Visits& visits) const { return visit_sum(visits); }

ProductSum ProductSums::visit_sum(const Visits& visits) const {
  Value value = tile(visits.storage, visits.access);
  value.front().monomial = counted(std::move(value.front().monomial), visits, nest_.number_of_loop);
  return value;
}

ProductSum ProductSums::visits_of_new_tiles(const Visits&) const { return refuse(); }

ProductSum ProductSums::refuse() const { SLUICE_CHECK(false, "a count is no sum of products"); }

}  // namespace sluice::fused
