#include "price.h"

#include <algorithm>
#include <cmath>

#include "kapla/common/numbers.h"
#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// Operations of all steps of all nodes.
double steps_of_all_nodes(const PriceQuestion& question) {
  std::int64_t steps = 1;
  for (const auto& level : question.scheme.blocking)
    for (const std::int64_t count : level) steps = checked_multiply(steps, count);
  return real(checked_multiply(steps, question.scheme.nodes));
}

/// The tensor that registers both read and write at each operation.
Operand written_in_registers(const PriceQuestion& question) {
  return question.run.compatibility.regf_write_on_o ? kOutput : question.layer.written;
}

PerMemory<PerOperand<double>> words_moved(const PriceQuestion& question) {
  const UnitPass& pass = question.pass;
  const double nodes = real(question.scheme.nodes);
  const double steps = steps_of_all_nodes(question);
  PerMemory<PerOperand<double>> words{};
  for (const Operand operand : kOperands) {
    const auto all = [&](Memory memory) {
      return words_of_all_steps(question.layer, question.scheme, operand,
                                pass.access[memory][operand]);
    };
    words[kDram][operand] = all(kDram) * real(question.fetches[0][operand]) * nodes /
                            real(question.groups.size(operand));
    words[kGlobalBuffer][operand] = all(kGlobalBuffer) * real(question.fetches[1][operand]) * nodes;
    words[kArrayBus][operand] = all(kArrayBus) * real(question.fetches[1][operand]) * nodes;
    const double ways = operand == written_in_registers(question) ? 2 : 1;
    words[kRegisters][operand] = pass.access[kRegisters][operand] * ways * steps;
  }
  return words;
}

/// What comes from, or goes to, other nodes does not reach DRAM.
void move_to_other_nodes(Operand operand, SchemeCost& cost) {
  cost.remote_buffer[operand] = cost.access[kDram][operand];
  cost.access[kDram][operand] = 0;
}

std::int64_t whole_cycles(double cycles) {
  constexpr double kMost = 9e18;
  if (!(cycles < kMost)) throw OverflowError("a count of cycles exceeds 64 bits");
  return static_cast<std::int64_t>(std::ceil(cycles));
}

void add_cycles(const PriceQuestion& question, SchemeCost& cost) {
  const Machine& machine = question.run.machine;
  const double steps = steps_of_all_nodes(question) / real(question.scheme.nodes);
  cost.array_cycles = checked_multiply(question.pass.cycles, whole_cycles(steps));
  const auto& buffer = cost.access[kGlobalBuffer];
  const double busiest = *std::max_element(buffer.begin(), buffer.end());
  cost.bus_cycles =
      ceil_divide(whole_cycles(busiest / real(question.scheme.nodes)), machine.bus_words_per_cycle);
  constexpr double kBytesOfAWord = 2;
  const double exact = machine.dram_bytes_per_cycle / kBytesOfAWord;
  const double words = question.run.compatibility.floor_dram_words ? std::floor(exact) : exact;
  cost.dram_cycles = whole_cycles(sum(cost.access[kDram]) / words);
}

double energy(const Machine& machine, const SchemeCost& cost) {
  double joules = machine.operation_j * cost.operations;
  for (const Memory memory : {kDram, kGlobalBuffer, kArrayBus, kRegisters})
    joules += machine.access_j[memory] * sum(cost.access[memory]);
  joules += machine.access_j[kGlobalBuffer] * sum(cost.remote_buffer);
  joules += machine.hop_j * sum(cost.hops);
  const std::int64_t cycles = std::max({cost.array_cycles, cost.bus_cycles, cost.dram_cycles});
  return joules + machine.idle_j * real(cycles);
}

}  // namespace

SchemeCost price(const PriceQuestion& question) {
  SchemeCost cost;
  cost.fetch = question.fetches;
  cost.access = words_moved(question);
  cost.operations = question.pass.operations * steps_of_all_nodes(question);
  if (!question.scheme.source_is_dram) move_to_other_nodes(kInput, cost);
  if (!question.scheme.destination_is_dram) move_to_other_nodes(kOutput, cost);
  for (const Operand operand : kOperands)
    cost.hops[operand] = question.sharing.hops[operand] +
                         real(question.memory_hops[operand]) * real(question.fetches[0][operand]);
  cost.node_hops = sum(question.sharing.hops);
  cost.size[0] = held_words(question.layer, question.scheme, question.sharing.holders);
  for (const Operand operand : kOperands)
    cost.size[1][operand] =
        real(dependent_product(question.layer, operand, question.scheme.blocking[2])) *
        question.scheme.unit_size[1][operand];
  add_cycles(question, cost);
  cost.energy_j = energy(question.run.machine, cost);
  return cost;
}

}  // namespace sluice::kapla
