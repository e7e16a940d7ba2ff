#pragma once

#include <map>
#include <memory>
#include <utility>

#include "mapper/fused/price/template_price.h"
#include "mapper/sampling/space/map_space.h"

namespace sluice::sampling {

/// Compiled prices of the templates that a search looks at again and again. Not safe to share
/// between threads.
class QuickPrices {
 public:
  explicit QuickPrices(const MapSpace& space);
  ~QuickPrices();

  /// Whether compiled prices know everything that the model does, and are quickly compiled.
  bool knows_all() const { return knows_all_; }
  /// Whether they are what the model says: not where they leave out whole actions
  /// (`partial_actions`).
  bool are_exact() const { return are_exact_; }
  /// Of an Einsum's template; null where knows_all() does not hold, and of copies. As long as no
  /// other is asked for.
  fused::TemplatePrice* of(std::size_t einsum, std::uint32_t templ);

 private:
  /// With the template that it prices: the space may get others meanwhile.
  struct Known;

  const MapSpace& space_;
  bool knows_all_, are_exact_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<Known>>
      known_;  // per list and template
};

}  // namespace sluice::sampling
