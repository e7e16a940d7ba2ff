#include "cost_shares.h"

#include <algorithm>
#include <map>

namespace sluice::cli {

std::vector<ComponentEnergy> energy_by_component(const Cost& cost) {
  std::map<ComponentId, std::map<std::string, double>> energies;
  for (const EnergyRow& row : cost.energy) energies[row.component][row.action] += row.energy_j;
  std::vector<ComponentEnergy> result;
  for (const auto& [component, actions] : energies) {
    ComponentEnergy entry{component, 0, {}};
    for (const auto& [action, energy] : actions) {
      entry.energy_j += energy;
      if (energy > 0) entry.by_action.emplace_back(action, energy);
    }
    std::stable_sort(entry.by_action.begin(), entry.by_action.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (entry.energy_j > 0) result.push_back(std::move(entry));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.energy_j > b.energy_j; });
  return result;
}

std::vector<EinsumShare> cost_by_einsum(const Cost& cost) {
  std::map<EinsumId, EinsumShare> shares;
  const auto share_of = [&](EinsumId einsum) -> EinsumShare& {
    return shares.try_emplace(einsum, EinsumShare{einsum, 0, 0, 0, std::nullopt}).first->second;
  };
  for (const EnergyRow& row : cost.energy) share_of(row.einsum).energy_j += row.energy_j;
  for (const LatencyRow& row : cost.latency) {
    EinsumShare& share = share_of(row.einsum);
    if (!(row.latency_s > share.latency_s)) continue;  // an unknown one is not compared
    share.latency_s = row.latency_s;
    share.bottleneck = row.component;
  }
  for (const CollectiveRow& row : cost.collectives)
    share_of(row.einsum).collectives_s += row.latency_s;
  std::vector<EinsumShare> result;
  for (const auto& [einsum, share] : shares) result.push_back(share);
  return result;
}

std::vector<Bottleneck> bottlenecks(const std::vector<EinsumShare>& shares) {
  std::map<ComponentId, Bottleneck> found;
  for (const EinsumShare& share : shares) {
    if (!share.bottleneck) continue;
    Bottleneck& entry =
        found.try_emplace(*share.bottleneck, Bottleneck{*share.bottleneck, 0, {}}).first->second;
    entry.latency_s += share.latency_s;
    entry.einsums.push_back(share.einsum);
  }
  std::vector<Bottleneck> result;
  for (auto& [component, entry] : found) result.push_back(std::move(entry));
  std::stable_sort(result.begin(), result.end(), [](const Bottleneck& a, const Bottleneck& b) {
    return a.latency_s > b.latency_s;
  });
  return result;
}

}  // namespace sluice::cli
