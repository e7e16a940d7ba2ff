#include "model/price/nest_pricer.h"

#include <algorithm>
#include <cmath>

#include "model/price/whole_actions.h"
#include "sluice/support/checked.h"
#include "sluice/support/error.h"

namespace sluice {
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
  nest_ = &nest;
  if (rows_) first_row_ = rows_->energy.size();
  std::fill(unit_calls_.begin(), unit_calls_.end(), 0.0);
  used_.clear();
  instances_ = static_cast<double>(
      checked_multiply(problem_.workload.n_instances, problem_.workload[nest.einsum].n_instances));
  for (NetworkLoad<double>& load : network_loads_) load = {};
  charge(problem_, tree_, nest, traffic, *this);
  padding_values_ += static_cast<double>(traffic.padding_values) * instances_;
  double latency_s = 0;
  busy_s_.assign(used_.size(), 0);
  for (std::size_t c = 0; c < used_.size(); ++c) {
    if (!used_[c]) continue;
    const double busy = busy_seconds(nest, c) * instances_;
    latency_s = std::max(latency_s, busy);
    busy_s_[c] = busy;
    if (rows_) rows_->latency.push_back({nest.einsum, ComponentId(c), busy});
  }
  for (const Shipment& sent : shipments)
    if (sent.maker == &nest) latency_s += add_shipment(nest, sent);
  if (!tree_.concurrent.empty()) times_.push_back({latency_s, busy_s_});
  add_leakage(nest, latency_s);
  latency_s_ += latency_s;
}

std::int64_t NestPricer::sum(std::int64_t a, std::int64_t b) { return checked_add(a, b); }

void NestPricer::action(const ActionCharge<std::int64_t>& charge) {
  unit_calls_[first_action_[charge.component.index()] + charge.action] +=
      charge.rate.of(static_cast<double>(charge.busiest));
  const double count = static_cast<double>(charge.all) * instances_;
  const double bits = count * charge.rate.times;
  const double actions =
      charge.instances ? whole_actions(charge.all, *charge.instances, charge.rate) * instances_
                       : bits / charge.rate.per;
  const double energy_j = actions * charge.energy_j;
  energy_j_ += energy_j;
  if (!rows_) return;
  const std::string& name = problem_.arch[charge.component].actions[charge.action].name;
  if (charge.tensor < 0) {
    rows_->energy.push_back({charge.component, nest_->einsum, std::nullopt, name, actions,
                             std::nullopt, actions, energy_j});
    return;
  }
  // A copy's two tensors are one; the account shows it under the name of the input.
  const BoundEinsum& einsum = problem_[nest_->einsum];
  const bool is_copy = problem_.workload[nest_->einsum].is_copy_operation;
  const auto tensor =
      static_cast<std::size_t>(is_copy ? einsum.accesses.front().tensor : charge.tensor);
  rows_->energy.push_back({charge.component, nest_->einsum, einsum.tensors[tensor], name, count,
                           bits, actions, energy_j});
}

void NestPricer::hops(const HopCharge<std::int64_t>& charge) {
  const NetworkTraffic& traffic = charge.traffic;
  const double bit_hops = static_cast<double>(traffic.half_hops) * instances_ * charge.rate.times;
  const double actions = bit_hops / charge.rate.per;
  const double energy_j = actions * charge.energy_j;
  energy_j_ += energy_j;
  if (!rows_) return;
  const TensorId tensor = problem_[nest_->einsum].tensors[static_cast<std::size_t>(traffic.tensor)];
  const double count = static_cast<double>(traffic.deliveries) * instances_;
  const double bits = count * charge.width;
  rows_->energy.push_back(
      {traffic.network, nest_->einsum, tensor, "implicit", count, bits, actions, energy_j});
  rows_->networks.push_back({traffic.network, nest_->einsum, tensor, true, bits, bit_hops,
                             static_cast<double>(traffic.unit_latency_hops) * instances_});
}

/// Reads and writes at both ends, links in between, one operation for every two values combined.
double NestPricer::add_shipment(const Nest& nest, const Shipment& sent) {
  const BoundEinsum& einsum = problem_[nest.einsum];
  const CollectiveCharge& charge = sent.charge;
  const auto t = static_cast<std::size_t>(sent.tensor);
  const TensorId tensor = einsum.tensors[t];
  const auto access = [&](ComponentId id, int index, std::int64_t instances) {
    if (index < 0) return;
    const Action& action = problem_.arch[id].actions[static_cast<std::size_t>(index)];
    const double width = einsum.components[id.index()].bits_per_value[t];
    const Rate rate{width, bits_moved_by(action, width)};
    const double values = charge.values * instances_;
    const double actions =
        problem_.arch[id].has_whole_actions()
            ? whole_actions(std::llround(charge.values), instances, rate) * instances_
            : rate.of(values);
    add_actions({id, nest.einsum, tensor, action.name, values, values * width, actions,
                 actions * action.energy_j});
  };
  access(sent.src, einsum.components[sent.src.index()].read_action, charge.senders);
  access(sent.dst, einsum.components[sent.dst.index()].write_action, charge.receivers);
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

double NestPricer::network_seconds(std::size_t c) const {
  double longest = network_loads_[c].waiting;
  visit_link_times(std::get<Network>(problem_.arch.components[c].kind), network_loads_[c],
                   [&](double bits, const ActionTime& time, double waiting) {
                     longest = std::max(longest, time.of(bits) + waiting);
                   });
  return longest;
}

double NestPricer::busy_seconds(const Nest& nest, std::size_t c) const {
  const Component& component = problem_.arch.components[c];
  if (std::holds_alternative<Network>(component.kind)) return network_seconds(c);
  const double* calls = unit_calls_.data() + first_action_[c];
  double longest = 0, sum = 0;
  std::size_t current = 0;
  const bool is_sum = visit_time_terms(component, problem_[nest.einsum].components[c],
                                       [&](std::size_t row, std::size_t a, const ActionTime& time) {
                                         if (row != current) {
                                           longest = std::max(longest, sum);
                                           sum = 0;
                                         }
                                         current = row;
                                         sum += time.of(calls[a]);
                                       });
  return is_sum ? std::max(longest, sum) : evaluated_seconds(nest, component, calls);
}

double NestPricer::evaluated_seconds(const Nest& nest, const Component& component,
                                     const double* calls) const {
  const ExpressionScope scope =
      action_scope(component, tensor_set_scope(problem_.workload, problem_.roles, nest.einsum),
                   [calls](std::size_t a) { return calls[a]; });
  const auto value = component.total_latency->evaluate(scope);
  SLUICE_CHECK(value && std::holds_alternative<double>(*value),
               "bind() accepted the total_latency of " + component.name);
  return std::get<double>(*value);
}

void NestPricer::add_leakage(const Nest& nest, double latency_s) {
  for (std::size_t c = 0; c < used_.size(); ++c) {
    const Component& component = problem_.arch.components[c];
    const bool listed = component.holds_tensors() || component.is_compute();
    if (!listed && component.leak_power_w == 0) continue;
    // A gated component leaks while its Einsum runs, however many run beside it.
    double seconds_on = latency_s * leak_factor_;
    if (component.power_gated) seconds_on = latency_s * std::max(1.0, leak_factor_);
    const double instance_seconds = leaking_instances(problem_, nest.einsum, used_, c) * seconds_on;
    const double energy_j = instance_seconds * component.leak_power_w;
    energy_j_ += energy_j;
    leak_energy_j_ += energy_j;
    if (rows_)
      rows_->energy.push_back({ComponentId(c), nest.einsum, std::nullopt, "leak", std::nullopt,
                               std::nullopt, instance_seconds, energy_j});
  }
}

}  // namespace sluice
