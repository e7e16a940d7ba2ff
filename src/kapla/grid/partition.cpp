#include "partition.h"

#include <algorithm>

namespace sluice::kapla {
namespace {

constexpr std::array<std::int64_t Extent::*, 2> kDirections = {&Extent::h, &Extent::w};

constexpr std::array<Divided, 4> kDivisions = {kByOutputChannels, kByPlane, kBySamples,
                                               kByInputChannels};

void project_direction(std::int64_t Extent::*direction, std::int64_t available,
                       Partition& partition) {
  const std::int64_t taken = nodes_taken(partition).*direction;
  if (available > taken) {
    partition.parts[kBySamples].*direction *= available / taken;
    return;
  }
  std::int64_t left = available;
  for (auto by = partition.order.rbegin(); by != partition.order.rend(); ++by) {
    std::int64_t& parts = partition.parts[*by].*direction;
    if (left >= parts) {
      left /= parts;
    } else {
      parts = left;
      left = 1;
    }
  }
}

std::optional<double> mean_step(const Partition& partition, const Region& region, Divided by,
                                std::int64_t Extent::*direction) {
  std::int64_t links = 0;
  std::int64_t steps = 0;
  if (partition.parts[by].*direction > 1)
    for (const PartIndex& index : part_indices(partition)) {
      if (index[by].*direction == 0) continue;
      PartIndex before = index;
      --(before[by].*direction);
      links += distance(node_of(partition, region, index), node_of(partition, region, before));
      ++steps;
    }
  if (steps == 0) return std::nullopt;
  return static_cast<double>(links) / static_cast<double>(steps);
}

}  // namespace

Extent nodes_taken(const Partition& partition) {
  Extent taken;
  for (const Extent& parts : partition.parts) {
    taken.h *= parts.h;
    taken.w *= parts.w;
  }
  return taken;
}

std::vector<PartIndex> part_indices(const Partition& partition) {
  std::vector<PartIndex> indices(1, PartIndex{});
  for (const Divided by : kDivisions) {
    std::vector<PartIndex> longer;
    for (PartIndex index : indices)
      for (std::int64_t h = 0; h < partition.parts[by].h; ++h)
        for (std::int64_t w = 0; w < partition.parts[by].w; ++w) {
          index[by] = {h, w};
          longer.push_back(index);
        }
    indices = std::move(longer);
  }
  return indices;
}

std::int64_t number_of(const Partition& partition, Divided by, const PartIndex& index) {
  return index[by].h * partition.parts[by].w + index[by].w;
}

Node node_of(const Partition& partition, const Region& region, const PartIndex& index) {
  Node inside{0, 0};
  for (const Divided by : partition.order) {
    inside.h = inside.h * partition.parts[by].h + index[by].h;
    inside.w = inside.w * partition.parts[by].w + index[by].w;
  }
  return region.at(inside);
}

Box part_of(const Partition& partition, const Box& whole, const PartIndex& index) {
  const auto numbered = [&](BoxSide side, Divided by) {
    return part_of(whole.sides[side], number_of(partition, by, index), partition.parts[by].size());
  };
  return {{numbered(kSampleSide, kBySamples), numbered(kChannelSide, kByOutputChannels),
           part_of(whole.sides[kRowSide], index[kByPlane].h, partition.parts[kByPlane].h),
           part_of(whole.sides[kColumnSide], index[kByPlane].w, partition.parts[kByPlane].w)}};
}

Partition project(const Partition& partition, const Region& region) {
  Partition projected = partition;
  projected.parts[kByInputChannels] = {1, 1};
  for (const auto direction : kDirections)
    project_direction(direction, region.dim.*direction, projected);
  return projected;
}

NeighbourDistance neighbour_distance(const Partition& partition, const Region& region, Divided by) {
  return {mean_step(partition, region, by, &Extent::h),
          mean_step(partition, region, by, &Extent::w)};
}

}  // namespace sluice::kapla
