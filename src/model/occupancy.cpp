#include "model/occupancy.h"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

struct Excess {
  double bits = 0;
  std::size_t nest = 0;
};

/// A tensor with backing nodes in several branches: one reservation that lives between them too.
struct Spread {
  std::vector<std::uint32_t> entries;
  int first_user = 0, last_user = 0;
};

class OccupancyAnalysis {
 public:
  OccupancyAnalysis(const BoundProblem& problem, const FlatTree& tree)
      : problem_(problem), tree_(tree), counted_(tree.entries.size(), 0) {
    find_persistent();
    find_spreads();
    find_aliases();
  }

  /// Reservations alive while a nest runs, each once.
  const std::vector<std::uint32_t>& live_at(std::size_t nest_index) {
    const Nest& nest = tree_.nests[nest_index];
    ++stamp_;
    live_.clear();
    for (std::uint32_t i = nest.live_begin; i < nest.live_end; ++i) add(tree_.live[i]);
    for (std::uint32_t entry : persistent_) add(entry);
    for (const Spread& spread : spreads_) {
      const int place = static_cast<int>(nest_index);
      if (place <= spread.first_user || place >= spread.last_user) continue;
      const bool here = std::any_of(spread.entries.begin(), spread.entries.end(),
                                    [&](std::uint32_t e) { return counted_[e] == stamp_; });
      if (!here) add(largest(spread));  // between the branches that use it
    }
    return live_;
  }

  double bits(std::uint32_t index) const {
    const TreeEntry& entry = tree_.entries[index];
    const double bits = entry.doubled ? 2 * entry.bits : entry.bits;
    return is_persistent(entry) ? bits * persistent_instances(entry.tensor) : bits;
  }

 private:
  bool is_persistent(const TreeEntry& entry) const {
    return std::get<StorageNode>(entry.node->kind).persistent ||
           (entry.backing && problem_.workload[entry.tensor].persistent);
  }

  /// Instances of the Einsums keep a persistent tensor each.
  double persistent_instances(TensorId tensor) const {
    std::int64_t instances = 1;
    const auto widen = [&](EinsumId einsum) {
      instances = std::max(instances, problem_.workload[einsum].n_instances);
    };
    if (problem_.roles.producer[tensor.index()]) widen(*problem_.roles.producer[tensor.index()]);
    for (EinsumId consumer : problem_.roles.consumers[tensor.index()]) widen(consumer);
    return static_cast<double>(instances) * static_cast<double>(problem_.workload.n_instances);
  }

  void add(std::uint32_t index) {
    if (counted_[index] == stamp_) return;
    counted_[index] = stamp_;
    for (const auto& [entry, partner] : alias_pairs_)
      if (entry == index && counted_[partner] == stamp_) return;
    live_.push_back(index);
  }

  void find_persistent() {
    for (std::uint32_t e = 0; e < tree_.entries.size(); ++e)
      if (is_persistent(tree_.entries[e])) persistent_.push_back(e);
  }

  void find_spreads() {
    std::vector<int> first_entry(problem_.workload.tensors.size(), -1);
    std::vector<int> spread_of(problem_.workload.tensors.size(), -1);
    for (std::uint32_t e = 0; e < tree_.entries.size(); ++e) {
      const TreeEntry& entry = tree_.entries[e];
      if (!entry.backing) continue;
      const std::size_t t = entry.tensor.index();
      if (first_entry[t] < 0) {
        first_entry[t] = static_cast<int>(e);
        continue;
      }
      if (spread_of[t] < 0) {
        spread_of[t] = static_cast<int>(spreads_.size());
        const auto first = static_cast<std::uint32_t>(first_entry[t]);
        spreads_.push_back(
            {{first}, tree_.entries[first].first_user, tree_.entries[first].last_user});
      }
      Spread& spread = spreads_[static_cast<std::size_t>(spread_of[t])];
      spread.entries.push_back(e);
      spread.first_user = std::min(spread.first_user, entry.first_user);
      spread.last_user = std::max(spread.last_user, entry.last_user);
    }
  }

  std::uint32_t largest(const Spread& spread) const {
    return *std::max_element(spread.entries.begin(), spread.entries.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return bits(a) < bits(b); });
  }

  /// A copy whose two tensors are backed by one memory has one reservation for both.
  void find_aliases() {
    for (std::size_t e = 0; e < problem_.workload.einsums.size(); ++e) {
      const Einsum& einsum = problem_.workload.einsums[e];
      if (!einsum.is_copy_operation) continue;
      const TensorId input = einsum.accesses.front().tensor, output = einsum.output().tensor;
      for (std::uint32_t a = 0; a < tree_.entries.size(); ++a) {
        const TreeEntry& from = tree_.entries[a];
        if (!from.backing || from.tensor != input) continue;
        for (std::uint32_t b = 0; b < tree_.entries.size(); ++b) {
          const TreeEntry& to = tree_.entries[b];
          if (!to.backing || to.tensor != output || from.component != to.component) continue;
          alias_pairs_.emplace_back(a, b);
          alias_pairs_.emplace_back(b, a);
        }
      }
    }
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  std::vector<std::uint32_t> persistent_;
  std::vector<Spread> spreads_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> alias_pairs_;
  std::vector<std::uint32_t> live_;
  std::vector<int> counted_;
  int stamp_ = 0;
};

void report_excess(const BoundProblem& problem, const FlatTree& tree, OccupancyAnalysis& analysis,
                   std::size_t component, const Excess& excess, ViolationReport& report) {
  const Nest& nest = tree.nests[excess.nest];
  const double capacity = problem[nest.einsum].components[component].size_bits;
  std::vector<std::pair<double, TensorId>> tensors;
  for (std::uint32_t index : analysis.live_at(excess.nest))
    if (tree.entries[index].component.index() == component)
      tensors.emplace_back(analysis.bits(index), tree.entries[index].tensor);
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string parts;
  for (const auto& [bits, tensor] : tensors)
    parts += (parts.empty() ? "" : ", ") + report.name(tensor) + " " + with_thousands(bits);
  Violation& violation =
      report.add(ViolationKind::kCapacity, nest.node,
                 report.name(ComponentId(component)) + " holds " + with_thousands(capacity) +
                     " bits; the Einsum " + report.name(nest.einsum) + " needs " +
                     with_thousands(capacity + excess.bits) + " (" + parts + "), " +
                     with_thousands(excess.bits) + " too many.",
                 nest.einsum);
  violation.component = ComponentId(component);
  violation.excess_bits = excess.bits;
  for (const auto& [bits, tensor] : tensors) violation.tensors.push_back(tensor);
}

}  // namespace

Occupancy check_capacities(const BoundProblem& problem, const FlatTree& tree,
                           ViolationReport& report) {
  const std::size_t n_components = problem.arch.components.size();
  Occupancy occupancy{std::vector<double>(n_components, 0), std::vector<double>(n_components, 0)};
  std::vector<Excess> excess(n_components);
  std::vector<double> live_bits(n_components);
  OccupancyAnalysis analysis(problem, tree);
  for (std::size_t n = 0; n < tree.nests.size(); ++n) {
    std::fill(live_bits.begin(), live_bits.end(), 0.0);
    for (std::uint32_t index : analysis.live_at(n))
      live_bits[tree.entries[index].component.index()] += analysis.bits(index);
    const BoundEinsum& einsum = problem[tree.nests[n].einsum];
    for (std::size_t c = 0; c < n_components; ++c) {
      if (!problem.arch.components[c].is_memory()) continue;
      const double capacity = einsum.components[c].size_bits;
      if (live_bits[c] > occupancy.peak_bits[c]) {
        occupancy.peak_bits[c] = live_bits[c];
        occupancy.capacity_bits[c] = capacity;
      } else if (occupancy.peak_bits[c] == 0) {
        occupancy.capacity_bits[c] = std::max(occupancy.capacity_bits[c], capacity);
      }
      if (live_bits[c] - capacity > excess[c].bits) excess[c] = {live_bits[c] - capacity, n};
    }
  }
  for (std::size_t c = 0; c < n_components; ++c)
    if (excess[c].bits > 0) report_excess(problem, tree, analysis, c, excess[c], report);
  return occupancy;
}

}  // namespace sluice
