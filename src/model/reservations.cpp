#include "model/reservations.h"

namespace sluice {

Reservations::Reservations(const BoundProblem& problem, const FlatTree& tree)
    : problem_(problem), tree_(tree), counted_(tree.entries.size(), 0) {
  find_persistent();
  find_spreads();
  find_aliases();
}

const std::vector<std::uint32_t>& Reservations::live_at(std::size_t nest_index) {
  const Nest& nest = tree_.nests[nest_index];
  ++stamp_;
  live_.clear();
  for (std::uint32_t i = nest.live_begin; i < nest.live_end; ++i) add(tree_.live[i]);
  for (std::uint32_t entry : persistent_) add(entry);
  for (std::size_t s = 0; s < spreads_.size(); ++s) {
    const Spread& spread = spreads_[s];
    const int place = static_cast<int>(nest_index);
    if (place <= spread.first_user || place >= spread.last_user) continue;
    const bool here = std::any_of(spread.entries.begin(), spread.entries.end(),
                                  [&](std::uint32_t e) { return counted_[e] == stamp_; });
    if (here || any_alias_of(spread)) continue;
    for (std::uint32_t entry : spread.entries) counted_[entry] = stamp_;
    live_.push_back(static_cast<std::uint32_t>(tree_.entries.size() + s));
  }
  return live_;
}

std::vector<std::uint32_t> Reservations::entries_of(std::uint32_t reservation) const {
  if (reservation < tree_.entries.size()) return {reservation};
  return spreads_[reservation - tree_.entries.size()].entries;
}

const TreeEntry& Reservations::entry_of(std::uint32_t reservation) const {
  const std::size_t n_entries = tree_.entries.size();
  return tree_.entries[reservation < n_entries ? reservation
                                               : spreads_[reservation - n_entries].entries[0]];
}

double Reservations::bits(std::uint32_t reservation) const {
  const auto of = [&](std::uint32_t index) {
    const TreeEntry& entry = tree_.entries[index];
    return entry.bits * multiple(entry);
  };
  if (reservation < tree_.entries.size()) return of(reservation);
  double largest = 0;
  for (std::uint32_t index : spreads_[reservation - tree_.entries.size()].entries)
    largest = std::max(largest, of(index));
  return largest;
}

double Reservations::multiple(const TreeEntry& entry) const {
  const double buffers = entry.doubled ? 2 : 1;
  return is_persistent(entry) ? buffers * persistent_instances(entry.tensor) : buffers;
}

bool Reservations::is_persistent(const TreeEntry& entry) const {
  return std::get<StorageNode>(entry.node->kind).persistent ||
         (entry.backing && problem_.workload[entry.tensor].persistent);
}

/// Instances of the Einsums keep a persistent tensor each.
double Reservations::persistent_instances(TensorId tensor) const {
  std::int64_t instances = 1;
  const auto widen = [&](EinsumId einsum) {
    instances = std::max(instances, problem_.workload[einsum].n_instances);
  };
  if (problem_.roles.producer[tensor.index()]) widen(*problem_.roles.producer[tensor.index()]);
  for (EinsumId consumer : problem_.roles.consumers[tensor.index()]) widen(consumer);
  return static_cast<double>(instances) * static_cast<double>(problem_.workload.n_instances);
}

void Reservations::add(std::uint32_t index) {
  if (counted_[index] == stamp_) return;
  counted_[index] = stamp_;
  for (const auto& [entry, partner] : alias_pairs_) {
    if (entry != index || counted_[partner] != stamp_) continue;
    // Of the two, the persistent one is what stays (once an instance of the workload).
    if (is_persistent(tree_.entries[index]))
      std::replace(live_.begin(), live_.end(), partner, index);
    return;
  }
  live_.push_back(index);
}

bool Reservations::any_alias_of(const Spread& spread) const {
  for (const auto& [entry, partner] : alias_pairs_)
    if (counted_[partner] == stamp_ &&
        std::find(spread.entries.begin(), spread.entries.end(), entry) != spread.entries.end()) {
      return true;
    }
  return false;
}

void Reservations::find_persistent() {
  for (std::uint32_t e = 0; e < tree_.entries.size(); ++e)
    if (is_persistent(tree_.entries[e])) persistent_.push_back(e);
}

void Reservations::find_spreads() {
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

/// A copy whose two tensors are backed by one memory has one reservation for both.
void Reservations::find_aliases() {
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

}  // namespace sluice
