#include "sharing_groups.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kapla/common/numbers.h"
#include "sluice/support/error.h"

namespace sluice::kapla {
namespace {

using Steps = std::array<std::int64_t, 2>;

/// Links of a number of steps down and across; a direction without neighbours has no steps.
double links(const Steps& steps, const NeighbourDistance& distance) {
  const auto part = [](std::int64_t count, const std::optional<double>& each) {
    return count == 0 ? 0.0 : real(count) * each.value();
  };
  return part(steps[0], distance.h) + part(steps[1], distance.w);
}

/// Where the last of the holders stands, seen from the first.
Steps last_place(const Steps& dim, std::size_t along, std::int64_t holders) {
  const std::int64_t turns = (holders - 1) / dim[along];
  const std::int64_t step = (holders - 1) % dim[along];
  Steps place{};
  place[along] = turns % 2 == 0 ? step : dim[along] - 1 - step;
  place[1 - along] = turns;
  return place;
}

bool is_nearer(const std::optional<double>& a, const std::optional<double>& b) {
  return a ? !b || *a <= *b : !b;
}

std::optional<double> nearer(const std::optional<double>& a, const std::optional<double>& b) {
  return is_nearer(a, b) ? a : b;
}

std::size_t place_of(const Partition& partition, Divided by) {
  return static_cast<std::size_t>(std::find(partition.order.begin(), partition.order.end(), by) -
                                  partition.order.begin());
}

}  // namespace

/// Nodes that differ in samples or rows share weights: both kinds where they are next to each other
/// in the partition, else the inner one.
SharingGroups::Group SharingGroups::samples_group(const Region& region,
                                                  const Partition& partition) {
  const Group rows{partition.parts[kByPlane], neighbour_distance(partition, region, kByPlane)};
  const Group samples{partition.parts[kBySamples],
                      neighbour_distance(partition, region, kBySamples)};
  if (rows.dim.size() == 1) return samples;
  if (samples.dim.size() == 1) return rows;
  const std::size_t rows_at = place_of(partition, kByPlane);
  const std::size_t samples_at = place_of(partition, kBySamples);
  if (std::max(rows_at, samples_at) - std::min(rows_at, samples_at) > 1)
    return rows_at > samples_at ? rows : samples;
  return {
      {samples.dim.h * rows.dim.h, samples.dim.w * rows.dim.w},
      {nearer(rows.distance.h, samples.distance.h), nearer(rows.distance.w, samples.distance.w)}};
}

SharingGroups::SharingGroups(const LayerShape& layer, const Region& region,
                             const Partition& partition) {
  const auto group = [&](Divided by) {
    return Group{partition.parts[by], neighbour_distance(partition, region, by)};
  };
  for (const Operand operand : kOperands) {
    if (!depends_on(layer, operand, kInputChannels))
      groups_[operand] = group(kByInputChannels);
    else if (!depends_on(layer, operand, kOutputChannels))
      groups_[operand] = group(kByOutputChannels);
    else
      groups_[operand] = samples_group(region, partition);
  }
}

/// As much as possible of the direction with nearer neighbours.
SharingGroups::Chain SharingGroups::chain_of(const Group& group, std::int64_t holders) const {
  std::int64_t members = holders;
  while (group.dim.size() % members != 0) ++members;
  Chain chain;
  chain.along = is_nearer(group.distance.h, group.distance.w) ? 0 : 1;
  const std::int64_t length = chain.along == 0 ? group.dim.h : group.dim.w;
  for (std::int64_t part = 1; part <= length; ++part)
    if (length % part == 0 && members % part == 0) chain.dim[chain.along] = part;
  chain.dim[1 - chain.along] = members / chain.dim[chain.along];
  return chain;
}

double SharingGroups::round_links(Operand operand, std::int64_t holders, std::int64_t units) const {
  const Group& group = groups_[operand];
  const Chain chain = chain_of(group, holders);
  Steps to_next{};
  to_next[chain.along] = (chain.dim[chain.along] - 1) * chain.dim[1 - chain.along];
  to_next[1 - chain.along] = chain.dim[1 - chain.along] - 1;
  const double forward = links(to_next, group.distance);
  const double back = links(last_place(chain.dim, chain.along, holders), group.distance);
  const double skipped = std::max(1.0, real(holders) / real(units));
  return (forward + back) * (real(holders) - skipped) * (1.0 / real(holders)) *
         real(group.dim.size() / holders);
}

double SharingGroups::wide_fetch_links(Operand operand, std::int64_t holders, double width) const {
  if (width <= 1) return 0;
  const double step = round_links(operand, holders, holders) / real(holders - 1);
  constexpr double kRounding = 1e-6;
  const double nodes = std::ceil(width - kRounding);
  const double steps = (nodes - 1) * nodes / 2 - (nodes - 1) * (nodes - width);
  return step * steps / width;
}

}  // namespace sluice::kapla
