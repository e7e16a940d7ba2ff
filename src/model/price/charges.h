#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "model/price/rate.h"
#include "model/price/used_components.h"
#include "model/traffic/traffic.h"
#include "sluice/model/binding.h"

namespace sluice {

/// A copy's two tensors are one: a memory that holds both is listed once, under the one that is
/// backed there.
bool is_second_of_copy(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                       std::uint32_t storage);

/// Counts that one action of a component stands for: values of one tensor, or iteration points.
template <class Value>
struct ActionCharge {
  ComponentId component;
  std::size_t action = 0;
  int tensor = -1;       ///< index into BoundEinsum::tensors; -1: none, a compute's
  const Value& all;      ///< over all instances
  const Value& busiest;  ///< of the busiest one
  /// Where a part of an action costs as much as a whole one: those that do equal parts of `all`,
  /// each so many whole ones. Null: parts cost their part.
  const Value* instances = nullptr;
  Rate rate;            ///< to calls of the action: bits of a value, of a call; or calls per point
  double energy_j = 0;  ///< of one call
};

/// Links that one tensor's values cross on one network.
template <class Value>
struct HopCharge {
  const BasicNetworkTraffic<Value>& traffic;
  double width = 1;     ///< bits of a value
  Rate rate;            ///< from half hops to what the energy of a hop is for
  double energy_j = 0;  ///< of one hop
};

/// What the busiest instance of a network carries. `Amount` is a number, or what stands for one.
template <class Amount>
struct NetworkLoad {
  std::vector<Amount> down, up;  ///< bits over each link at its entry
  Amount waiting{};              ///< seconds in routers and queues
};

/// Turns one nest's counts into what is charged for them: the one place that says which action a
/// count belongs to, how many bits it has, and who is used. An `Account` takes the charges:
///   uses(component)
///   action(ActionCharge), hops(HopCharge)
///   merges_for_free(count)
///   sum(count, count): their sum
///   load_of(component): the NetworkLoad of a network
///   add(amount, count, rate): adds a count at this rate to an amount of a NetworkLoad
template <class Value, class Account>
class Charges {
 public:
  Charges(const BoundProblem& problem, const FlatTree& tree, const Nest& nest, Account& account)
      : problem_(problem),
        einsum_(problem[nest.einsum]),
        tree_(tree),
        nest_(nest),
        account_(account) {}

  void charge(const BasicNestTraffic<Value>& traffic) {
    for (std::uint32_t s = nest_.storages_begin; s < nest_.storages_end; ++s)
      if (!is_second_of_copy(problem_, tree_, nest_, s))
        charge(tree_.storages[s], traffic.storages[s - nest_.storages_begin]);
    for (const BasicNetworkTraffic<Value>& network : traffic.networks) charge(network);
    const ComponentId compute = nest_.compute->component;
    account_.uses(compute);
    for (const auto& [action, calls] : nest_.compute->calls_per_point)
      account_.action(ActionCharge<Value>{compute,
                                          action,
                                          -1,
                                          traffic.operations,
                                          traffic.unit_operations,
                                          nullptr,
                                          {static_cast<double>(calls), 1},
                                          problem_.arch[compute].actions[action].energy_j});
  }

 private:
  double width(ComponentId component, int tensor) const {
    return einsum_.components[component.index()].bits_per_value[static_cast<std::size_t>(tensor)];
  }

  /// Merging reads are reads of the memory, unless it merges for free.
  void charge(const NestStorage& storage, const BasicStorageTraffic<Value>& traffic) {
    const BoundComponent& bound = einsum_.components[storage.component.index()];
    account_.uses(storage.component);
    const Component& component = problem_.arch[storage.component];
    const Memory* memory = std::get_if<Memory>(&component.kind);
    const Value* instances = component.has_whole_actions() ? &traffic.instances : nullptr;
    if (memory && memory->merging_reads == MergingReads::kCounted) {
      call(storage, bound.read_action, account_.sum(traffic.reads, traffic.merge_reads),
           account_.sum(traffic.unit_reads, traffic.unit_merge_reads), instances);
    } else {
      account_.merges_for_free(traffic.merge_reads);
      call(storage, bound.read_action, traffic.reads, traffic.unit_reads, instances);
    }
    call(storage, bound.write_action, traffic.writes, traffic.unit_writes, instances);
  }

  void call(const NestStorage& storage, int index, const Value& all, const Value& busiest,
            const Value* instances) {
    if (index < 0) return;
    const auto action = static_cast<std::size_t>(index);
    const Action& of = problem_.arch[storage.component].actions[action];
    const double bits = width(storage.component, storage.tensor);
    account_.action(ActionCharge<Value>{storage.component,
                                        action,
                                        storage.tensor,
                                        all,
                                        busiest,
                                        instances,
                                        {bits, bits_moved_by(of, bits)},
                                        of.energy_j});
  }

  /// Energy: bits × links × energy of a hop. Time: bits over each link at the entry, and what
  /// messages wait (NoCLat of COMET's collectives).
  void charge(const BasicNetworkTraffic<Value>& traffic) {
    account_.uses(traffic.network);
    const Network& network = std::get<Network>(problem_.arch[traffic.network].kind);
    const double bits = width(traffic.network, traffic.tensor);
    account_.hops(HopCharge<Value>{
        traffic, bits, {bits / 2, network.bits_per_hop_energy}, network.hop_energy_j});
    if (network.implicit_time == ImplicitTime::kNone) return;
    auto& load = account_.load_of(traffic.network);
    add_links(traffic.down_loads, bits, load.down);
    add_links(traffic.up_loads, bits, load.up);
    account_.add(load.waiting, traffic.unit_latency_hops, {network.router_latency_s, 1});
    account_.add(load.waiting, traffic.unit_rotated, {bits, network.link_bandwidth});
    account_.add(load.waiting,
                 network.implicit_time == ImplicitTime::kReceivers ? traffic.unit_deliveries
                                                                   : traffic.unit_sent,
                 {network.queue_latency_s * bits, static_cast<double>(network.channel_width_bits)});
  }

  template <class Amount>
  void add_links(const std::vector<Value>& values, double bits, std::vector<Amount>& links) {
    if (links.size() < values.size()) links.resize(values.size());
    for (std::size_t link = 0; link < values.size(); ++link)
      account_.add(links[link], values[link], {bits, 1});
  }

  const BoundProblem& problem_;
  const BoundEinsum& einsum_;
  const FlatTree& tree_;
  const Nest& nest_;
  Account& account_;
};

template <class Value, class Account>
void charge(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
            const BasicNestTraffic<Value>& traffic, Account& account) {
  Charges<Value, Account>(problem, tree, nest, account).charge(traffic);
}

/// Instances of a component that leak while an Einsum runs.
inline double leaking_instances(const BoundProblem& problem, EinsumId einsum,
                                const UsedComponents& used, std::size_t component) {
  if (!used.leaks(problem.arch.components[component], component)) return 0;
  return problem[einsum].components[component].instances;
}

/// Seconds that calls of an action take.
struct ActionTime {
  double factor = 1;
  bool divides = true;  ///< the factor is a throughput
  double of(double calls) const {
    if (!divides) return factor * calls;
    return calls == 0 ? 0 : calls / factor;
  }
  double per_call() const { return divides ? 1 / factor : factor; }
};

/// A component is busy as long as the longest of several sums over its actions: calls
/// `visit(row, action, time)` for their terms, sum by sum. Actions share its time, or have a port
/// each; or an expression says (`total_latency`). False where that is no maximum of sums.
template <class Visit>
bool visit_time_terms(const Component& component, const BoundComponent& bound, const Visit& visit) {
  if (component.total_latency) {
    if (!bound.latency_rows) return false;
    for (std::size_t row = 0; row < bound.latency_rows->size(); ++row)
      for (std::size_t a = 0; a < (*bound.latency_rows)[row].size(); ++a)
        visit(row, a, ActionTime{(*bound.latency_rows)[row][a], false});
    return true;
  }
  const Memory* memory = std::get_if<Memory>(&component.kind);
  const bool separate = memory && memory->ports == Ports::kSeparate;
  for (std::size_t a = 0; a < component.actions.size(); ++a)
    visit(separate ? a : 0, a, ActionTime{component.actions[a].throughput, true});
  return true;
}

/// A network is busy as long as its most loaded link at the entry (each direction has links of its
/// own), and what messages wait: calls `visit(bits, seconds of a bit, waiting)` for each link.
template <class Amount, class Visit>
void visit_link_times(const Network& network, const NetworkLoad<Amount>& load, const Visit& visit) {
  for (const auto* links : {&load.down, &load.up})
    for (const Amount& bits : *links)
      visit(bits, ActionTime{network.link_bandwidth, true}, load.waiting);
}

}  // namespace sluice
