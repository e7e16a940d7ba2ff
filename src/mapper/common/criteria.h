#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "dominance.h"
#include "sluice/mapper/mapper.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/binding.h"

namespace sluice {

/// What a memory has room for, whichever Einsum runs (bits); infinite: it has no limit, and what it
/// holds at most is no criterion.
inline double smallest_size_bits(const BoundProblem& problem, ComponentId memory) {
  double size = std::numeric_limits<double>::infinity();
  for (const BoundEinsum& einsum : problem.einsums)
    size = std::min(size, einsum.components[memory.index()].size_bits);
  return size;
}

/// The objectives and, where they are asked for, the peaks of memories of limited size (bits): what
/// a front is of.
inline std::vector<double> criteria_of(const BoundProblem& problem, const MapperOptions& options,
                                       const Cost& cost) {
  std::vector<double> values;
  for (const Objective objective : options.objectives)
    values.push_back(objective_value(objective, cost));
  if (options.resource_usage)
    for (const OccupancyRow& row : cost.occupancy)
      if (std::isfinite(smallest_size_bits(problem, row.component)))
        values.push_back(row.peak_bits);
  return values;
}

/// Those that no other one is as good as, by the model's prices.
inline std::vector<MappedResult> front_of(const BoundProblem& problem, const MapperOptions& options,
                                          std::vector<MappedResult> mappings) {
  struct Point {
    std::vector<double> criteria;
    std::size_t mapping;
  };
  std::vector<Point> points;
  for (std::size_t m = 0; m < mappings.size(); ++m)
    add_to_front(&points, Point{criteria_of(problem, options, mappings[m].cost), m},
                 [](const Point& own) -> const std::vector<double>& { return own.criteria; });
  std::vector<MappedResult> front;
  for (const Point& point : points) front.push_back(std::move(mappings[point.mapping]));
  return front;
}

/// The same of what several searches found, by the first criterion, then by the next ones.
inline std::vector<MappedResult> joint_front_of(const BoundProblem& problem,
                                                const MapperOptions& options,
                                                std::vector<MappedResult> mappings) {
  std::vector<MappedResult> front = front_of(problem, options, std::move(mappings));
  std::stable_sort(front.begin(), front.end(), [&](const MappedResult& a, const MappedResult& b) {
    return criteria_of(problem, options, a.cost) < criteria_of(problem, options, b.cost);
  });
  return front;
}

}  // namespace sluice
