#include "model/price/nest_pricer.h"

#include <algorithm>

#include "sluice/support/checked.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

double seconds(double calls, double throughput) { return calls == 0 ? 0 : calls / throughput; }

}  // namespace

bool is_second_of_copy(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                       std::uint32_t storage) {
  if (!problem.workload[nest.einsum].is_copy_operation) return false;
  const auto is_backing = [&](std::uint32_t s) {
    return tree.entries[tree.storages[s].entry].backing;
  };
  for (std::uint32_t s = nest.storages_begin; s < nest.storages_end; ++s) {
    if (s == storage || tree.storages[s].component != tree.storages[storage].component) continue;
    if (is_backing(s) == is_backing(storage) ? s < storage : is_backing(s)) return true;
  }
  return false;
}

NestPricer::NestPricer(const BoundProblem& problem, const FlatTree& tree, Cost* rows,
                       double leak_factor)
    : problem_(problem),
      tree_(tree),
      rows_(rows),
      used_(problem.arch.components.size()),
      leak_factor_(leak_factor) {
  std::size_t n_actions = 0;
  for (const Component& component : problem.arch.components) {
    first_action_.push_back(n_actions);
    n_actions += component.actions.size();
  }
  unit_calls_.resize(n_actions);
  const auto is_network = [](const Component& component) {
    return std::holds_alternative<Network>(component.kind);
  };
  if (std::any_of(problem.arch.components.begin(), problem.arch.components.end(), is_network))
    network_loads_.resize(problem.arch.components.size());
}

void NestPricer::add(const Nest& nest, const NestTraffic& traffic,
                     const std::vector<Shipment>& shipments) {
  if (rows_) first_row_ = rows_->energy.size();
  std::fill(unit_calls_.begin(), unit_calls_.end(), 0.0);
  used_.clear();
  instances_ = static_cast<double>(
      checked_multiply(problem_.workload.n_instances, problem_.workload[nest.einsum].n_instances));
  for (std::uint32_t s = nest.storages_begin; s < nest.storages_end; ++s)
    if (!is_second_of_copy(problem_, tree_, nest, s))
      add_storage(nest, tree_.storages[s], traffic.storages[s - nest.storages_begin]);
  for (NetworkLoad& load : network_loads_) load = {};
  for (const NetworkTraffic& network : traffic.networks) add_network(nest, network);
  add_compute(nest, traffic);
  padding_values_ += static_cast<double>(traffic.padding_values) * instances_;
  double latency_s = 0;
  if (!tree_.concurrent.empty()) times_.emplace_back().busy_s.resize(used_.size());
  for (std::size_t c = 0; c < used_.size(); ++c) {
    if (!used_[c]) continue;
    const double busy = busy_seconds(nest, c) * instances_;
    latency_s = std::max(latency_s, busy);
    if (!times_.empty()) times_.back().busy_s[c] = busy;
    if (rows_) rows_->latency.push_back({nest.einsum, ComponentId(c), busy});
  }
  for (const Shipment& sent : shipments)
    if (sent.maker == &nest) latency_s += add_shipment(nest, sent);
  if (!times_.empty()) times_.back().latency_s = latency_s;
  add_leakage(nest, latency_s);
  latency_s_ += latency_s;
}

void NestPricer::add_storage(const Nest& nest, const NestStorage& storage,
                             const StorageTraffic& traffic) {
  const BoundComponent& component = problem_[nest.einsum].components[storage.component.index()];
  used_.add(storage.component);
  double reads = static_cast<double>(traffic.reads);
  double unit_reads = static_cast<double>(traffic.unit_reads);
  if (traffic.merge_reads != 0) {
    const Memory& memory = std::get<Memory>(problem_.arch[storage.component].kind);
    if (memory.merging_reads == MergingReads::kCounted) {
      reads += static_cast<double>(traffic.merge_reads);
      unit_reads += static_cast<double>(traffic.unit_merge_reads);
    } else {
      merge_values_ += static_cast<double>(traffic.merge_reads) * instances_;
    }
  }
  add_memory_action(nest, storage, component.read_action, reads, unit_reads);
  add_memory_action(nest, storage, component.write_action, static_cast<double>(traffic.writes),
                    static_cast<double>(traffic.unit_writes));
}

void NestPricer::add_memory_action(const Nest& nest, const NestStorage& storage, int action_index,
                                   double values, double unit_values) {
  if (action_index < 0) return;
  const std::size_t c = storage.component.index();
  const BoundEinsum& einsum = problem_[nest.einsum];
  const Action& action =
      problem_.arch[storage.component].actions[static_cast<std::size_t>(action_index)];
  const double bits_per_value =
      einsum.components[c].bits_per_value[static_cast<std::size_t>(storage.tensor)];
  unit_calls_[first_action_[c] + static_cast<std::size_t>(action_index)] +=
      unit_values * bits_per_value / bits_moved_by(action, bits_per_value);
  const double count = values * instances_;
  const double bits = count * bits_per_value;
  const double actions = bits / bits_moved_by(action, bits_per_value);
  const double energy_j = actions * action.energy_j;
  energy_j_ += energy_j;
  if (!rows_) return;
  // A copy's two tensors are one; the account shows it under the name of the input.
  const bool is_copy = problem_.workload[nest.einsum].is_copy_operation;
  const auto tensor =
      static_cast<std::size_t>(is_copy ? einsum.accesses.front().tensor : storage.tensor);
  rows_->energy.push_back({storage.component, nest.einsum, einsum.tensors[tensor], action.name,
                           count, bits, actions, energy_j});
}

void NestPricer::add_network_time(const NetworkTraffic& traffic, const Network& network,
                                  double width) {
  NetworkLoad& load = network_loads_[traffic.network.index()];
  const auto add_loads = [&](const std::vector<std::int64_t>& values, std::vector<double>& bits) {
    bits.resize(std::max(bits.size(), values.size()));
    for (std::size_t link = 0; link < values.size(); ++link)
      bits[link] += static_cast<double>(values[link]) * width;
  };
  add_loads(traffic.down_loads, load.down_bits);
  add_loads(traffic.up_loads, load.up_bits);
  const std::int64_t queued = network.implicit_time == ImplicitTime::kReceivers
                                  ? traffic.unit_deliveries
                                  : traffic.unit_sent;
  load.waiting_s += network.router_latency_s * static_cast<double>(traffic.unit_latency_hops) +
                    network.queue_latency_s * static_cast<double>(queued) * width /
                        static_cast<double>(network.channel_width_bits);
}

/// Energy: bits × links × energy of a hop. Time: see network_seconds.
void NestPricer::add_network(const Nest& nest, const NetworkTraffic& traffic) {
  const std::size_t c = traffic.network.index();
  used_.add(traffic.network);
  const BoundEinsum& einsum = problem_[nest.einsum];
  const Network& network = std::get<Network>(problem_.arch[traffic.network].kind);
  const auto t = static_cast<std::size_t>(traffic.tensor);
  const double width = einsum.components[c].bits_per_value[t];
  const double latency_hops = static_cast<double>(traffic.unit_latency_hops);
  if (network.implicit_time != ImplicitTime::kNone) add_network_time(traffic, network, width);
  const double count = static_cast<double>(traffic.deliveries) * instances_;
  const double bit_hops = static_cast<double>(traffic.half_hops) / 2 * instances_ * width;
  const double actions = bit_hops / network.bits_per_hop_energy;
  const double energy_j = actions * network.hop_energy_j;
  energy_j_ += energy_j;
  if (!rows_) return;
  rows_->energy.push_back({traffic.network, nest.einsum, einsum.tensors[t], "implicit", count,
                           count * width, actions, energy_j});
  rows_->networks.push_back({traffic.network, nest.einsum, einsum.tensors[t], true, count * width,
                             bit_hops, latency_hops * instances_});
}

/// Reads and writes at both ends, links in between, one operation for every two values combined.
double NestPricer::add_shipment(const Nest& nest, const Shipment& sent) {
  const BoundEinsum& einsum = problem_[nest.einsum];
  const CollectiveCharge& charge = sent.charge;
  const auto t = static_cast<std::size_t>(sent.tensor);
  const TensorId tensor = einsum.tensors[t];
  const auto access = [&](ComponentId memory, int index) {
    if (index < 0) return;
    const Action& action = problem_.arch[memory].actions[static_cast<std::size_t>(index)];
    const double width = einsum.components[memory.index()].bits_per_value[t];
    const double values = charge.values * instances_;
    const double actions = values * width / bits_moved_by(action, width);
    add_actions({memory, nest.einsum, tensor, action.name, values, values * width, actions,
                 actions * action.energy_j});
  };
  access(sent.src, einsum.components[sent.src.index()].read_action);
  access(sent.dst, einsum.components[sent.dst.index()].write_action);
  if (sent.combiner) {
    const auto& [compute, index] = *sent.combiner;
    const Action& action = problem_.arch[compute].actions[index];
    const double calls = charge.combined * instances_;
    used_.add(compute);
    add_actions({compute, nest.einsum, std::nullopt, action.name, calls, std::nullopt, calls,
                 calls * action.energy_j});
  }
  for (const CollectiveCharge::Crossed& crossed : charge.networks) {
    if (crossed.volume_bits == 0) continue;
    const Network& network = std::get<Network>(problem_.arch[crossed.network].kind);
    const double bits = crossed.volume_bits * instances_;
    const double actions = crossed.bit_hops * instances_ / network.bits_per_hop_energy;
    used_.add(crossed.network);
    add_actions({crossed.network, nest.einsum, tensor, sent.type, bits / sent.bits_per_value, bits,
                 actions, actions * network.hop_energy_j});
    if (rows_)
      rows_->networks.push_back({crossed.network, nest.einsum, tensor, false, bits,
                                 crossed.bit_hops * instances_, crossed.latency_hops * instances_});
  }
  const double latency_s = charge.latency_s * instances_;
  if (rows_)
    rows_->collectives.push_back({nest.einsum, tensor, sent.type, sent.src, sent.over,
                                  charge.algorithm, charge.combined * instances_, latency_s});
  return latency_s;
}

void NestPricer::add_actions(const EnergyRow& added) {
  energy_j_ += added.energy_j;
  if (!rows_) return;
  for (std::size_t r = first_row_; r < rows_->energy.size(); ++r) {
    EnergyRow& row = rows_->energy[r];
    if (row.component != added.component || row.tensor != added.tensor ||
        row.action != added.action)
      continue;
    row.count = row.count.value_or(0) + added.count.value_or(0);
    if (row.bits) *row.bits += added.bits.value_or(0);
    row.actions += added.actions;
    row.energy_j += added.energy_j;
    return;
  }
  rows_->energy.push_back(added);
}

/// Bits over the most loaded link (each direction has links of its own) at the bandwidth of one,
/// and what messages wait: NoCLat of COMET's collectives.
double NestPricer::network_seconds(std::size_t c) const {
  const Network& network = std::get<Network>(problem_.arch.components[c].kind);
  double most = 0;
  for (double bits : network_loads_[c].down_bits) most = std::max(most, bits);
  for (double bits : network_loads_[c].up_bits) most = std::max(most, bits);
  return seconds(most, network.link_bandwidth) + network_loads_[c].waiting_s;
}

void NestPricer::add_compute(const Nest& nest, const NestTraffic& traffic) {
  const ComponentId id = nest.compute->component;
  used_.add(id);
  for (const auto& [index, calls] : nest.compute->calls_per_point) {
    const Action& action = problem_.arch[id].actions[index];
    const double per_point = static_cast<double>(calls);
    unit_calls_[first_action_[id.index()] + index] +=
        static_cast<double>(traffic.unit_operations) * per_point;
    const double count = static_cast<double>(traffic.operations) * per_point * instances_;
    const double energy_j = count * action.energy_j;
    energy_j_ += energy_j;
    if (rows_)
      rows_->energy.push_back(
          {id, nest.einsum, std::nullopt, action.name, count, std::nullopt, count, energy_j});
  }
}

double NestPricer::busy_seconds(const Nest& nest, std::size_t c) const {
  const Component& component = problem_.arch.components[c];
  if (std::holds_alternative<Network>(component.kind)) return network_seconds(c);
  const double* calls = unit_calls_.data() + first_action_[c];
  if (component.total_latency) {
    const auto& rows = problem_[nest.einsum].components[c].latency_rows;
    if (rows) {
      double longest = 0;
      for (const std::vector<double>& row : *rows) {
        double sum = 0;
        for (std::size_t a = 0; a < row.size(); ++a) sum += row[a] * calls[a];
        longest = std::max(longest, sum);
      }
      return longest;
    }
    const ExpressionScope scope =
        action_scope(component, tensor_set_scope(problem_.workload, problem_.roles, nest.einsum),
                     [calls](std::size_t a) { return calls[a]; });
    const auto value = component.total_latency->evaluate(scope);
    SLUICE_CHECK(value && std::holds_alternative<double>(*value),
                 "bind() accepted the total_latency of " + component.name);
    return std::get<double>(*value);
  }
  const Memory* memory = std::get_if<Memory>(&component.kind);
  const bool separate = memory && memory->ports == Ports::kSeparate;
  double busy = 0;
  for (std::size_t a = 0; a < component.actions.size(); ++a) {
    const double time = seconds(calls[a], component.actions[a].throughput);
    busy = separate ? std::max(busy, time) : busy + time;
  }
  return busy;
}

void NestPricer::add_leakage(const Nest& nest, double latency_s) {
  const BoundEinsum& einsum = problem_[nest.einsum];
  for (std::size_t c = 0; c < used_.size(); ++c) {
    const Component& component = problem_.arch.components[c];
    const bool listed = component.holds_tensors() || component.is_compute();
    if (!listed && component.leak_power_w == 0) continue;
    // A gated component leaks while its Einsum runs, however many run beside it.
    double seconds_on = latency_s * leak_factor_;
    if (component.power_gated)
      seconds_on = used_.leaks(component, c) ? latency_s * std::max(1.0, leak_factor_) : 0;
    const double instance_seconds = einsum.components[c].instances * seconds_on;
    const double energy_j = instance_seconds * component.leak_power_w;
    energy_j_ += energy_j;
    leak_energy_j_ += energy_j;
    if (rows_)
      rows_->energy.push_back({ComponentId(c), nest.einsum, std::nullopt, "leak", std::nullopt,
                               std::nullopt, instance_seconds, energy_j});
  }
}

}  // namespace sluice
