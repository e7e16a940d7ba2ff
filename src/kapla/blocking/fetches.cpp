#include "fetches.h"

#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// Steps of a loop over the levels above `end`.
std::int64_t steps_above(const Scheme& scheme, Loop loop, std::size_t end) {
  std::int64_t steps = 1;
  for (std::size_t level = 0; level < end; ++level)
    steps = checked_multiply(steps, scheme.blocking[level][loop]);
  return steps;
}

std::int64_t written_back(const LayerShape& layer, Operand operand, std::int64_t times) {
  return operand == layer.written ? checked_multiply(times, 2) - 1 : times;
}

/// `inner` is the level's innermost loop that changes the tensor; without reuse in the registers
/// every step of the others counts.
std::int64_t times_fetched(const LayerShape& layer, const Scheme& scheme, Operand operand,
                           std::size_t level, std::size_t inner, bool reusable) {
  std::int64_t times = 1;
  for (const Loop loop : kLoops) {
    if (depends_on(layer, operand, loop)) continue;
    const auto& order = scheme.orders[level];
    const bool counts = level == 1 && !reusable ? true : order[loop] > order[inner];
    times = checked_multiply(times, steps_above(scheme, loop, level + (counts ? 1 : 0)));
  }
  return written_back(layer, operand, times);
}

}  // namespace

std::size_t innermost_dependent(const LayerShape& layer, Operand operand,
                                const PerLoop<std::int64_t>& steps,
                                const PerLoop<std::int64_t>& order) {
  std::size_t inner = kNoLoop;
  for (const Loop loop : kLoops)
    if (depends_on(layer, operand, loop) && steps[loop] > 1 &&
        (inner == kNoLoop || order[loop] < order[inner]))
      inner = loop;
  return inner;
}

std::int64_t rounds_of(const LayerShape& layer, Operand operand, std::int64_t fetches) {
  return operand == layer.written ? (fetches + 1) / 2 : fetches;
}

Fetches fetches_of(const LayerShape& layer, const Scheme& scheme,
                   const PerOperand<bool>& reusable) {
  Fetches fetches{};
  for (std::size_t level = 0; level < fetches.size(); ++level)
    for (const Operand operand : kOperands) {
      const std::size_t inner =
          innermost_dependent(layer, operand, scheme.blocking[level], scheme.orders[level]);
      const bool stays = inner == kNoLoop && (level == 0 || reusable[operand]);
      if (stays)
        fetches[level][operand] = level == 0 ? 1 : fetches[0][operand];
      else
        fetches[level][operand] =
            times_fetched(layer, scheme, operand, level, inner, reusable[operand]);
    }
  return fetches;
}

}  // namespace sluice::kapla
