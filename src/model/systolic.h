#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/nest.h"

namespace sluice {

/// The container with a systolic array on the way to a compute.
std::optional<ComponentId> systolic_array_of(const Arch& arch, const BoundCompute& compute);

/// Steps of a compute behind a container marked `array: {kind: systolic, …}`, or nothing where the
/// nest does not spread over one. SCALE-Sim's analytical runtime (Samajdar et al., ISPASS 2020, eq.
/// 4): a fold of R × C processing elements over T time steps takes 2·R + C + T − 2 cycles; R, C are
/// the used extents, T the trips of the temporal loops inside, and each trip of those outside is a
/// fold. The same for output, weight and input stationary arrays: which loops are R, C and T is the
/// mapping's choice. (Filling the stationary tile and draining the array are in the 2·R + C − 2.)
template <class Arithmetic>
std::optional<typename Arithmetic::Value> systolic_cycles(Arithmetic& arithmetic,
                                                          const BoundProblem& problem,
                                                          const FlatTree& tree, const Nest& nest) {
  using Value = typename Arithmetic::Value;
  const auto id = systolic_array_of(problem.arch, *nest.compute);
  if (!id) return std::nullopt;
  const Component& component = problem.arch[*id];
  const SystolicArray& array = *std::get<Container>(component.kind).array;
  const Value one = arithmetic.constant(1);
  Value rows = one, columns = one, inside = one, outside = one;
  bool entered = false;
  const auto times = [&](Value& product, std::uint32_t l) {
    product = arithmetic.multiply(
        product, arithmetic.trips(tree, nest.loops_begin, static_cast<int>(l - nest.loops_begin)));
  };
  for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
    const NestLoop& loop = tree.loops[l];
    if (loop.spatial && loop.component == *id) {
      entered = true;
      const std::string& name = component.spatial[loop.dimension].name;
      if (name == array.rows) times(rows, l);
      if (name == array.cols) times(columns, l);
    } else if (!loop.spatial) {
      times(entered ? inside : outside, l);
    }
  }
  if (!entered) return std::nullopt;
  const Value fold = arithmetic.subtract(
      arithmetic.add(arithmetic.add(arithmetic.add(rows, rows), columns), inside),
      arithmetic.constant(2));
  return arithmetic.multiply(outside, fold);
}

}  // namespace sluice
