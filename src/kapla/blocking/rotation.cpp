#include "rotation.h"

#include <algorithm>
#include <numeric>

#include "kapla/common/numbers.h"
#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

using Loops = std::vector<Loop>;

std::vector<Loops> orders_of(Loops loops) {
  std::vector<Loops> orders;
  do orders.push_back(loops);
  while (std::next_permutation(loops.begin(), loops.end()));
  return orders;
}

/// Loops with more than one step: those inside all that change some tensor stay fixed, from outside
/// in.
struct FlexibleLoops {
  Loops flexible;  ///< ascending
  Loops fixed;
};

FlexibleLoops flexible_loops(const LayerShape& layer, const Scheme& scheme) {
  const auto& steps = scheme.blocking[1];
  const auto& order = scheme.orders[1];
  std::int64_t outermost = -1;
  for (const Operand operand : kOperands)
    if (const std::size_t inner = innermost_dependent(layer, operand, steps, order);
        inner != kNoLoop)
      outermost = std::max(outermost, order[inner]);
  FlexibleLoops loops;
  for (const Loop loop : kLoops)
    if (steps[loop] > 1) (order[loop] < outermost ? loops.fixed : loops.flexible).push_back(loop);
  std::sort(loops.fixed.begin(), loops.fixed.end(),
            [&](Loop a, Loop b) { return order[a] > order[b]; });
  return loops;
}

/// What is outside of a loop's cut, for each way to cut it.
std::vector<std::int64_t> outer_steps(std::int64_t steps) {
  std::vector<std::int64_t> outer;
  for (std::int64_t part = 1; part * part <= steps; ++part) {
    if (steps % part != 0) continue;
    outer.push_back(part);
    if (part * part != steps) outer.push_back(steps / part);
  }
  std::sort(outer.begin(), outer.end());
  return outer;
}

CutLoops cut(const Scheme& scheme, const FlexibleLoops& loops, const PerLoop<std::int64_t>& outer,
             const Loops& outside, const Loops& inside) {
  const auto& steps = scheme.blocking[1];
  CutLoops result;
  for (const Loop loop : outside) result.steps.emplace_back(loop, outer[loop]);
  for (const Loop loop : inside)
    if (steps[loop] > outer[loop]) result.steps.emplace_back(loop, steps[loop] / outer[loop]);
  for (const Loop loop : loops.fixed) result.steps.emplace_back(loop, steps[loop]);
  return result;
}

void append_orders(const Scheme& scheme, const FlexibleLoops& loops,
                   const PerLoop<std::int64_t>& outer, std::vector<CutLoops>& cuts) {
  Loops outside;
  for (const Loop loop : loops.flexible)
    if (outer[loop] > 1) outside.push_back(loop);
  for (const Loops& above : orders_of(outside))
    for (const Loops& below : orders_of(loops.flexible))
      cuts.push_back(cut(scheme, loops, outer, above, below));
}

}  // namespace

std::vector<CutLoops> cuts_of(const LayerShape& layer, const Scheme& scheme) {
  const FlexibleLoops loops = flexible_loops(layer, scheme);
  std::array<std::vector<std::int64_t>, 3> choices;
  choices.fill({1});
  for (const Loop loop : loops.flexible) choices[loop] = outer_steps(scheme.blocking[1][loop]);
  constexpr std::size_t kMostCuts = 100'000;  // of the published schemes none has more than 108
  if (choices[0].size() * choices[1].size() * choices[2].size() > kMostCuts)
    throw OverflowError("its loops can be cut in more than 100,000 ways");
  std::vector<CutLoops> cuts;
  for (const std::int64_t inputs : choices[kInputChannels])
    for (const std::int64_t outputs : choices[kOutputChannels])
      for (const std::int64_t samples : choices[kSamples])
        append_orders(scheme, loops, {inputs, outputs, samples}, cuts);
  return cuts;
}

double Rotation::Hops::all() const {
  return (round[0] + round[1] + round[2]) + (wide[0] + wide[1] + wide[2]);
}

PerOperand<double> Rotation::Hops::of_each() const {
  return {round[0] + wide[0], round[1] + wide[1], round[2] + wide[2]};
}

Rotation::Rotation(const SharingQuestion& question) : question_(question) {
  const Scheme& scheme = question.scheme;
  for (const Operand operand : kOperands) {
    words_[operand] = words_of_all_steps(question.layer, scheme, operand,
                                         question.pass.access[kGlobalBuffer][operand]);
    independent_above_[operand] = independent_product(question.layer, operand, scheme.blocking[0]);
  }
}

/// Rounds of a tensor's parts: one for each step outside its outermost loop. A tensor that goes
/// round just once for each time it comes from memory is streamed instead: every part goes to all
/// nodes as it comes.
std::int64_t Rotation::rounds(Operand operand, std::int64_t holders, const CutLoops& loops,
                              std::size_t outermost) const {
  std::int64_t rounds = 0;
  if (outermost < loops.steps.size() && holders > 1) {
    rounds = independent_above_[operand];
    for (std::size_t i = 0; i < outermost; ++i)
      rounds = checked_multiply(rounds, loops.steps[i].second);
  }
  const std::int64_t from_memory =
      rounds_of(question_.layer, operand, question_.fetches[0][operand]);
  return rounds == from_memory ? 0 : rounds;
}

/// Fills of the registers that fetch from several nodes: all but those that come with a step of the
/// round.
double Rotation::wide_times(Operand operand, std::int64_t rounds, std::int64_t units) const {
  const std::int64_t fills = question_.fetches[1][operand];
  std::int64_t with_rounds = rounds;
  if (operand == question_.layer.written)
    with_rounds = fills > 2 * rounds - 1 ? 2 * rounds : 2 * rounds - 1;
  return real(fills) - real(with_rounds) * (real(units - 1) / real(units));
}

Rotation::Hops Rotation::hops(const PerOperand<std::int64_t>& holders,
                              const CutLoops& loops) const {
  Hops hops;
  for (const Operand operand : kOperands) {
    const auto depends = [&](const auto& step) {
      return depends_on(question_.layer, operand, step.first);
    };
    const auto first = std::find_if(loops.steps.begin(), loops.steps.end(), depends);
    const auto last = std::find_if_not(first, loops.steps.end(), depends);
    const std::int64_t units = std::accumulate(
        first, last, std::int64_t{1},
        [](std::int64_t product, const auto& step) { return product * step.second; });
    const std::int64_t turns = rounds(operand, holders[operand], loops,
                                      static_cast<std::size_t>(first - loops.steps.begin()));
    const auto n_groups = real(question_.scheme.nodes / question_.groups.size(operand));
    const double wide = question_.groups.wide_fetch_links(operand, holders[operand],
                                                          real(holders[operand]) / real(units));
    hops.round[operand] =
        words_[operand] *
        (question_.groups.round_links(operand, holders[operand], units) * real(turns)) * n_groups;
    hops.wide[operand] = words_[operand] * (wide * wide_times(operand, turns, units)) * n_groups;
  }
  return hops;
}

}  // namespace sluice::kapla
