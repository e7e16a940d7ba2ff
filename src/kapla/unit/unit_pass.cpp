#include "unit_pass.h"

#include <algorithm>
#include <utility>

#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

void fold_side(std::int64_t logical, std::int64_t physical, std::int64_t& fold,
               std::int64_t& repeat) {
  if (logical > physical)
    fold = ceil_divide(logical, physical);
  else
    repeat = physical / logical;
}

}  // namespace

Folds folds_of(const Extent& logical, const Extent& physical) {
  Folds folds;
  fold_side(logical.h, physical.h, folds.fold.h, folds.repeat.h);
  fold_side(logical.w, physical.w, folds.fold.w, folds.repeat.w);
  return folds;
}

Folds folded_into_room(const Folds& folds) {
  const std::int64_t below = std::min(folds.repeat.h, folds.fold.w);
  const std::int64_t beside = std::min(folds.repeat.w, folds.fold.h);
  return {{ceil_divide(folds.fold.h, beside), ceil_divide(folds.fold.w, below)},
          {folds.repeat.h / below, folds.repeat.w / beside}};
}

void exchange_input_and_output(UnitPass& pass) {
  for (PerOperand<double>& words : pass.access) std::swap(words[kInput], words[kOutput]);
}

}  // namespace sluice::kapla
