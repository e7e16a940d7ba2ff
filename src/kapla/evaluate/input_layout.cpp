#include "input_layout.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// Four factors of a number, in ascending order of the first, then the second, …
std::vector<std::array<std::int64_t, 4>> factors_of(std::int64_t number) {
  std::vector<std::array<std::int64_t, 4>> all;
  for (std::int64_t a = 1; a <= number; ++a)
    for (std::int64_t b = 1; b <= number / a; ++b)
      for (std::int64_t c = 1; c <= number / a / b; ++c)
        if (number % (a * b * c) == 0) all.push_back({a, b, c, number / (a * b * c)});
  return all;
}

/// Whether equal parts are padded by one, or a tenth, at most.
bool divides_nearly(std::int64_t whole, std::int64_t parts) {
  if (whole < parts) return false;
  const std::int64_t padded = ceil_divide(whole, parts) * parts;
  constexpr double kMostPadding = 0.1;
  return static_cast<double>(padded - whole) <=
         std::max(1.0, kMostPadding * static_cast<double>(padded));
}

bool is_sensible(const NetworkLayer& input, std::int64_t batch, const Extent& ports,
                 const std::array<Extent, 4>& parts) {
  if (batch % parts[kBySamples].size() != 0) return false;
  for (std::size_t by = 0; by < parts.size(); ++by)
    if (by != kByPlane && parts[by].h > 1 && parts[by].h < ports.h && parts[by].w > 1 &&
        parts[by].w < ports.w)
      return false;
  if (!divides_nearly(input.channels_out, parts[kByOutputChannels].size()) ||
      !divides_nearly(input.height, parts[kByPlane].h) ||
      !divides_nearly(input.width, parts[kByPlane].w))
    return false;
  const bool is_flat = std::all_of(parts.begin(), parts.end(),
                                   [](const Extent& part) { return part.h == 1 || part.w == 1; });
  if (parts[kByPlane].size() > 1 || !is_flat) return true;
  std::array<std::int64_t, 4> down{};
  std::array<std::int64_t, 4> across{};
  std::transform(parts.begin(), parts.end(), down.begin(), [](const Extent& e) { return e.h; });
  std::transform(parts.begin(), parts.end(), across.begin(), [](const Extent& e) { return e.w; });
  return down <= across;
}

/// Divisions into one part come first, in their own order; divisions of samples come next.
bool is_sensible_order(const Partition& partition) {
  std::size_t undivided = 0;
  for (std::size_t i = 0; i + 1 < partition.order.size(); ++i) {
    const Divided outer = partition.order[i];
    const Divided inner = partition.order[i + 1];
    const Extent& a = partition.parts[outer];
    const Extent& b = partition.parts[inner];
    if (a.size() == 1 && b.size() == 1 && outer > inner) return false;
    if (a.size() > 1 && b.size() == 1) return false;
    if (outer != kBySamples && b.h == 1 && b.w > 1 && a.h > 1 && a.w == 1) return false;
  }
  for (const Extent& parts : partition.parts) undivided += parts.size() == 1 ? 1 : 0;
  return partition.parts[kBySamples].size() == 1 || partition.order[undivided] == kBySamples;
}

}  // namespace

std::vector<Partition> input_partitions(const NetworkLayer& input, std::int64_t batch,
                                        const Extent& ports) {
  const std::array<Divided, 4> first = {kByOutputChannels, kByPlane, kBySamples, kByInputChannels};
  std::vector<Partition> partitions;
  for (const auto& down : factors_of(ports.h))
    for (const auto& across : factors_of(ports.w)) {
      Partition partition{first, {}};
      for (std::size_t by = 0; by < down.size(); ++by) partition.parts[by] = {down[by], across[by]};
      if (!is_sensible(input, batch, ports, partition.parts)) continue;
      do
        if (is_sensible_order(partition)) partitions.push_back(partition);
      while (std::next_permutation(partition.order.begin(), partition.order.end()));
    }
  if (!partitions.empty()) return partitions;
  Partition plane{first, {}};
  plane.parts[kByPlane] = ports;
  return {plane};
}

}  // namespace sluice::kapla
