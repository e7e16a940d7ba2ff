#include "systolic.h"

namespace sluice::kapla {

SystolicWords systolic_words(const LayerShape& layer, const SystolicUnit& unit) {
  const auto stride = static_cast<double>(layer.stride);
  const double larger = ((unit.rows - 1) * stride + static_cast<double>(layer.window.h)) *
                        ((unit.columns - 1) * stride + static_cast<double>(layer.window.w));
  const bool all_to_all = layer.rule == ChannelRule::kAllToAll;
  SystolicWords words;
  words.output = unit.channels_out * (unit.rows * unit.columns);
  words.input = all_to_all ? larger : unit.channels_out * larger;
  if (layer.rule != ChannelRule::kLocal)
    words.weights = unit.channels_out * static_cast<double>(layer.window.size());
  words.operations = words.output * static_cast<double>(layer.operations_each());
  return words;
}

std::int64_t divisor_up_to(std::int64_t value, double limit) {
  auto divisor = static_cast<std::int64_t>(limit);
  if (divisor < 1) return 1;
  while (value % divisor != 0) --divisor;
  return divisor;
}

}  // namespace sluice::kapla
