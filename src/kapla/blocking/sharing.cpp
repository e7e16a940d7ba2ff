#include "sharing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kapla/common/numbers.h"
#include "rotation.h"
#include "set_order.h"
#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// ⌈words / holders⌉ as Python divides floating numbers: from the exact remainder.
double share_of(double words, std::int64_t holders) {
  const auto divisor = static_cast<double>(holders);
  const double dividend = words + divisor - 1;
  const double quotient = (dividend - std::fmod(dividend, divisor)) / divisor;
  return std::round(quotient);
}

/// The fewest holders so that all fits, tensor by tensor: `held` is what each node holds as the
/// group shares it.
Triple fewest_holders(const std::array<Operand, 3>& order, const PerOperand<double>& held,
                      const Triple& groups, const PerOperand<std::int64_t>& group_sizes,
                      double buffer_words) {
  Triple holders = groups;
  double free = buffer_words - sum(held);
  for (const Operand operand : order) {
    if (holders[operand] <= 1) continue;
    const double all = held[operand] * static_cast<double>(groups[operand]);
    for (std::int64_t fewer = groups[operand]; fewer > 0; --fewer) {
      if (group_sizes[operand] % fewer != 0) continue;
      if (share_of(all, fewer) > free + held[operand]) break;
      holders[operand] = fewer;
    }
    free -= share_of(all, holders[operand]) - held[operand];
  }
  return holders;
}

/// Numbers of holders to try: whole groups, and as few as fit, whichever tensor comes first.
std::vector<Triple> choices_of_holders(const SharingQuestion& question, const Triple& groups,
                                       const PerOperand<std::int64_t>& group_sizes) {
  const PerOperand<double> held = held_words(question.layer, question.scheme, groups);
  std::vector<Triple> fewer;
  std::array<Operand, 3> order = kOperands;
  do fewer.push_back(fewest_holders(order, held, groups, group_sizes, question.buffer_words));
  while (std::next_permutation(order.begin(), order.end()));
  std::vector<Triple> choices = {groups};
  for (const Triple& triple : in_set_order(fewer)) choices.push_back(triple);
  return choices;
}

}  // namespace

PerOperand<double> held_words(const LayerShape& layer, const Scheme& scheme,
                              const PerOperand<std::int64_t>& holders) {
  PerOperand<double> words{};
  for (const Operand operand : kOperands) {
    const auto passes = static_cast<double>(
        checked_multiply(dependent_product(layer, operand, scheme.blocking[1]),
                         dependent_product(layer, operand, scheme.blocking[2])));
    words[operand] = share_of(passes * scheme.unit_size[0][operand], holders[operand]);
  }
  return words;
}

double words_of_all_steps(const LayerShape& layer, const Scheme& scheme, Operand operand,
                          double words_of_a_pass) {
  std::int64_t steps = 1;
  for (const auto& level : scheme.blocking)
    steps = checked_multiply(steps, dependent_product(layer, operand, level));
  return words_of_a_pass * static_cast<double>(steps);
}

Sharing best_sharing(const SharingQuestion& question) {
  PerOperand<std::int64_t> sizes{};
  for (const Operand operand : kOperands) sizes[operand] = question.groups.size(operand);
  const PerOperand<double> held = held_words(question.layer, question.scheme, sizes);
  Triple groups = sizes;
  for (const Operand operand : kOperands)
    if (held[operand] == 0) groups[operand] = 1;
  Sharing best{groups, {}};
  if (groups == Triple{1, 1, 1}) return best;
  const Rotation rotation(question);
  const std::vector<CutLoops> cuts = cuts_of(question.layer, question.scheme);
  double fewest = std::numeric_limits<double>::infinity();
  for (const Triple& holders : choices_of_holders(question, groups, sizes))
    for (const CutLoops& loops : cuts) {
      const Rotation::Hops hops = rotation.hops(holders, loops);
      if (hops.all() >= fewest) continue;
      fewest = hops.all();
      best = {holders, hops.of_each()};
    }
  return best;
}

}  // namespace sluice::kapla
