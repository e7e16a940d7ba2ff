#include "quick_prices.h"

#include "mapper/request/refusal.h"

namespace sluice::sampling {

QuickPrices::QuickPrices(const MapSpace& space)
    : space_(space), knows_all_(!not_compiled(space.problem(), space.options())) {}

fused::TemplatePrice* QuickPrices::of(std::size_t e, std::uint32_t templ) {
  constexpr std::size_t kMost = 256;  // of some 100 KB each
  if (!knows_all_ || space_.shape(e).is_copy) return nullptr;
  if (known_.size() >= kMost) known_.clear();
  std::unique_ptr<fused::TemplatePrice>& known = known_[{space_.list_of(e), templ}];
  if (!known)
    known = std::make_unique<fused::TemplatePrice>(space_.problem(), space_.shape(e),
                                                   space_.templates(e)[templ]);
  return known.get();
}

}  // namespace sluice::sampling
