#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice {

/// What one variant of a template costs; zeros where it is illegal.
struct VariantCost {
  double energy_j = 0;
  double latency_s = 0;
  bool legal = false;
  friend bool operator==(const VariantCost&, const VariantCost&) = default;
};

/// Prices mappings that differ in the tile shapes of their loops alone, policy `overlap`: the same
/// bits as evaluate(), two orders of magnitude faster. The structure is bound once; variants in
/// which the same loops have one trip (such a loop does nothing, so storage nodes sink past it)
/// share a program over flat arrays. What no program covers (tiles that do not divide, sliding
/// windows, recurrences, networks) is priced like any other mapping.
///
/// Keeps its programs: not safe to share between threads without a lock; copy one for each.
class TemplateEvaluator {
 public:
  /// Copies both. The tile shapes of `structure` do not matter.
  TemplateEvaluator(const BoundProblem& problem, Mapping structure);
  TemplateEvaluator(TemplateEvaluator&&) noexcept;
  TemplateEvaluator& operator=(TemplateEvaluator&&) noexcept;
  ~TemplateEvaluator();

  /// Temporal and spatial loops of the tree, in the order of its text.
  std::size_t n_loops() const;
  /// The mapping with these tile shapes, one a loop.
  Mapping variant(const std::int64_t* tile_shapes) const;

  /// Prices `n` variants: `tile_shapes` has n rows of n_loops() tile shapes.
  void price(const std::int64_t* tile_shapes, std::size_t n, VariantCost* results);
  std::vector<VariantCost> price(const std::vector<std::int64_t>& tile_shapes);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sluice
