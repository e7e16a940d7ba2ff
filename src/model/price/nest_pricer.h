#pragma once

#include <vector>

#include "model/price/charges.h"
#include "model/price/overlap.h"
#include "model/shipment/shipment.h"
#include "model/traffic/traffic.h"
#include "sluice/model/cost.h"

namespace sluice {

/// Turns counts into energy and time, Einsum by Einsum, by what charges.h charges. Times are those
/// of the busiest instance.
class NestPricer {
 public:
  /// `rows` may be null: then only the totals are kept. Components leak for `leak_factor` times the
  /// Einsum's latency under `overlap`: another policy's excess is shared out in proportion.
  NestPricer(const BoundProblem& problem, const FlatTree& tree, Cost* rows, double leak_factor = 1);

  /// Adds one Einsum's energy, latency and leakage to the totals (and its rows to the Cost).
  /// `shipments`: of the tensor that it makes; their time comes after everything else.
  void add(const Nest& nest, const NestTraffic& traffic,
           const std::vector<Shipment>& shipments = {});

  double energy_j() const { return energy_j_; }
  /// Under `overlap`, with the tree's pipelined and parallel splits.
  double latency_s() const {
    return tree_.concurrent.empty() ? latency_s_ : concurrent_latency(problem_.arch, tree_, times_);
  }
  /// As if the Einsums followed each other.
  double sequential_latency_s() const { return latency_s_; }
  /// Of the Einsum added last: what each component is busy (s).
  const std::vector<double>& busy_s() const { return busy_s_; }
  /// Per Einsum added; only of a tree with pipelined or parallel splits.
  const std::vector<NestTime>& times() const { return times_; }
  double leak_energy_j() const { return leak_energy_j_; }
  double merge_values() const { return merge_values_; }
  double padding_values() const { return padding_values_; }

 private:
  friend class Charges<std::int64_t, NestPricer>;
  void uses(ComponentId component) { used_.add(component); }
  void action(const ActionCharge<std::int64_t>& charge);
  void hops(const HopCharge<std::int64_t>& charge);
  void merges_for_free(std::int64_t values) {
    merge_values_ += static_cast<double>(values) * instances_;
  }
  static std::int64_t sum(std::int64_t a, std::int64_t b);
  NetworkLoad<double>& load_of(ComponentId network) { return network_loads_[network.index()]; }
  static void add(double& amount, std::int64_t count, const Rate& rate) {
    amount += rate.of(static_cast<double>(count));
  }

  /// Adds energy and rows; returns the time.
  double add_shipment(const Nest& nest, const Shipment& sent);
  /// Adds actions to the Einsum's row of this component, tensor and action, or makes it.
  void add_actions(const EnergyRow& row);
  double network_seconds(std::size_t component) const;
  double busy_seconds(const Nest& nest, std::size_t component) const;
  double evaluated_seconds(const Nest& nest, const Component& component, const double* calls) const;
  void add_leakage(const Nest& nest, double latency_s);

  const BoundProblem& problem_;
  const FlatTree& tree_;
  Cost* rows_;
  std::vector<std::size_t> first_action_;  ///< per component: its first action in unit_calls_
  std::vector<double> unit_calls_;         ///< per action of every component, busiest instance
  std::vector<NetworkLoad<double>> network_loads_;  ///< per component; empty without networks
  const Nest* nest_ = nullptr;                      ///< the current one
  std::size_t first_row_ = 0;                       ///< of it in rows_->energy
  std::vector<NestTime> times_;
  std::vector<double> busy_s_;  ///< per component
  UsedComponents used_;         ///< in the current Einsum
  double leak_factor_ = 1;
  double instances_ = 1;  ///< repetitions of the current Einsum
  double energy_j_ = 0, latency_s_ = 0, leak_energy_j_ = 0;
  double merge_values_ = 0, padding_values_ = 0;
};

}  // namespace sluice
