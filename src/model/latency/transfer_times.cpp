#include "model/latency/transfer_times.h"

#include <algorithm>

#include "model/price/nest_pricer.h"

namespace sluice {

std::optional<std::uint32_t> TransferTimes::parent_of(std::uint32_t s) const {
  for (std::uint32_t other = s; other-- > 0;)
    if (storage(other).tensor == storage(s).tensor && component_of(other).is_memory()) return other;
  return std::nullopt;
}

bool TransferTimes::has_shared_port(std::uint32_t s) const {
  const Component& component = component_of(s);
  return std::get<Memory>(component.kind).ports == Ports::kShared && !component.total_latency;
}

const Action& TransferTimes::action(std::uint32_t s, bool read) const {
  const BoundComponent& bound = einsum_.components[storage(s).component.index()];
  return component_of(s)
      .actions[static_cast<std::size_t>(read ? bound.read_action : bound.write_action)];
}

double TransferTimes::setup_s(std::uint32_t s, bool read) const { return action(s, read).setup_s; }

double TransferTimes::action_s(std::uint32_t s, bool read, std::int64_t values) const {
  const Action& found = action(s, read);
  const BoundComponent& bound = einsum_.components[storage(s).component.index()];
  const double width = bound.bits_per_value[static_cast<std::size_t>(storage(s).tensor)];
  const double calls = static_cast<double>(values) * width / bits_moved_by(found, width);
  if (!bound.latency_rows) return calls == 0 ? 0 : calls / found.throughput;
  const auto a = static_cast<std::size_t>(read ? bound.read_action : bound.write_action);
  double longest = 0;
  for (const std::vector<double>& row : *bound.latency_rows)
    longest = std::max(longest, row[a] * calls);
  return longest;
}

double compute_setup_s(const BoundProblem& problem, const Nest& nest) {
  double setup_s = 0;
  for (const auto& [index, calls] : nest.compute->calls_per_point)
    setup_s = std::max(setup_s, problem.arch[nest.compute->component].actions[index].setup_s);
  return setup_s;
}

double repetitions(const BoundProblem& problem, const Nest& nest) {
  return static_cast<double>(problem.workload.n_instances) *
         static_cast<double>(problem.workload[nest.einsum].n_instances);
}

}  // namespace sluice
