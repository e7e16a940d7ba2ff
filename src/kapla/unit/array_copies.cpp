#include "array_copies.h"

#include <algorithm>

namespace sluice::kapla {
namespace {

bool names(const DirectiveStack& stack, const std::string& dim) {
  return std::find(stack.dims.begin(), stack.dims.end(), dim) != stack.dims.end();
}

void count_channels(const DirectiveStack& stack, const LayerShape& layer, Copies& copies) {
  const bool both = names(stack, "C") && names(stack, "K");
  if (names(stack, "C") && (!both || layer.is_gradient)) copies.channels_in *= stack.count;
  if (names(stack, "K") && (!both || !layer.is_gradient)) copies.channels_out *= stack.count;
}

}  // namespace

Copies copies_of(const Directives& directives, const LayerShape& layer, std::int64_t row_set) {
  Copies copies;
  for (const DirectiveStack& stack : directives.array_stacks) {
    if (names(stack, "S") || names(stack, "F")) continue;
    if (names(stack, "Yi") || names(stack, "Yo")) {
      copies.rows *= std::max<std::int64_t>(1, stack.count / row_set);
      continue;
    }
    if (names(stack, "XY")) copies.rows *= stack.count;
    if (names(stack, "N")) copies.samples *= stack.count;
    count_channels(stack, layer, copies);
  }
  return copies;
}

}  // namespace sluice::kapla
