#include "model/occupancy/reservations.h"

#include "model/tree/lookups.h"

namespace sluice {

Reservations::Reservations(const BoundProblem& problem, const FlatTree& tree)
    : problem_(problem), tree_(tree), spread_of_(tree.entries.size(), kNone) {
  find_spreads();
  counted_.assign(tree.entries.size() + spreads_.size(), 0);
  find_aliases();
  for (std::uint32_t r = 0; r < counted_.size(); ++r)
    if (is_persistent(r) && (r >= tree.entries.size() || spread_of_[r] == kNone))
      persistent_.push_back(r);
  for (std::uint32_t e = 0; e < tree.entries.size(); ++e)
    if (tree.entries[e].kept_during) kept_.push_back(e);
  for (std::uint32_t e = 0; e < tree.entries.size(); ++e)
    if (tree.entries[e].stays_until > tree.entries[e].stays_from) staying_.push_back(e);
}

const std::vector<std::uint32_t>& Reservations::live_at(std::size_t nest_index) {
  const Nest& nest = tree_.nests[nest_index];
  const int place = static_cast<int>(nest_index);
  live(nest.live_begin, nest.live_end, place, place);
  for (std::uint32_t entry : kept_)
    if (loop_at_node(tree_, nest, tree_.entries[entry].kept_during)) add(entry);
  for (std::uint32_t entry : staying_)
    if (tree_.entries[entry].stays_from <= place && place < tree_.entries[entry].stays_until)
      add(entry);
  return live_;
}

const std::vector<std::uint32_t>& Reservations::live_at(const FlatCollective& collective) {
  live(collective.live_begin, collective.live_end, collective.place, collective.place - 1);
  const auto& loops = collective.loops_above;
  for (std::uint32_t entry : kept_)
    if (std::find(loops.begin(), loops.end(), tree_.entries[entry].kept_during) != loops.end())
      add(entry);
  return live_;
}

/// Entries `begin` to `end`, and the spreads with users before `after` and behind `before`.
void Reservations::live(std::uint32_t begin, std::uint32_t end, int after, int before) {
  ++stamp_;
  live_.clear();
  for (std::uint32_t reservation : persistent_) add(reservation);  // they stand above everything
  for (std::uint32_t i = begin; i < end; ++i) add(reservation_of(tree_.live[i]));
  for (std::size_t s = 0; s < spreads_.size(); ++s)
    if (after > spreads_[s].first_user && before < spreads_[s].last_user)
      add(static_cast<std::uint32_t>(tree_.entries.size() + s));
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
  if (reservation < tree_.entries.size())
    return tree_.entries[reservation].bits * multiple(reservation);
  double largest = 0;
  for (std::uint32_t entry : spreads_[reservation - tree_.entries.size()].entries)
    largest = std::max(largest, tree_.entries[entry].bits);
  return largest * multiple(reservation);
}

double Reservations::multiple(std::uint32_t reservation) const {
  const auto of = [&](const TreeEntry& entry) {
    if (is_persistent(entry)) return persistent_instances(entry.tensor);
    return static_cast<double>(std::max(entry.doubled ? 2 : 1, entry.copies));
  };
  if (reservation < tree_.entries.size()) return of(tree_.entries[reservation]);
  double most = 1;
  for (std::uint32_t entry : spreads_[reservation - tree_.entries.size()].entries)
    most = std::max(most, of(tree_.entries[entry]));
  return most;
}

std::string Reservations::multiple_name(std::uint32_t reservation) const {
  if (is_persistent(reservation)) return "instances";
  const std::vector<std::uint32_t> entries = entries_of(reservation);
  const bool is_copied = std::any_of(entries.begin(), entries.end(), [&](std::uint32_t entry) {
    return tree_.entries[entry].copies > 1 && tree_.entries[entry].copies == multiple(reservation);
  });
  return is_copied ? "steps at a time" : "buffers";
}

int Reservations::concurrency(std::uint32_t reservation) const {
  return is_persistent(reservation) ? 0 : entry_of(reservation).concurrency;
}

bool Reservations::is_persistent(const TreeEntry& entry) const {
  return std::get<StorageNode>(entry.node->kind).persistent ||
         (entry.backing && problem_.workload[entry.tensor].persistent);
}

bool Reservations::is_persistent(std::uint32_t reservation) const {
  if (reservation < tree_.entries.size()) return is_persistent(tree_.entries[reservation]);
  const auto& entries = spreads_[reservation - tree_.entries.size()].entries;
  return std::any_of(entries.begin(), entries.end(),
                     [&](std::uint32_t entry) { return is_persistent(tree_.entries[entry]); });
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

void Reservations::add(std::uint32_t reservation) {
  if (counted_[reservation] == stamp_) return;
  counted_[reservation] = stamp_;
  if (!group_of_.empty()) {
    const std::uint32_t group = group_of_[reservation];
    if (grouped_[group] == stamp_) {
      if (bits(reservation) > bits(holder_[group])) {
        std::replace(live_.begin(), live_.end(), holder_[group], reservation);
        holder_[group] = reservation;
      }
      return;
    }
    grouped_[group] = stamp_;
    holder_[group] = reservation;
  }
  live_.push_back(reservation);
}

void Reservations::find_spreads() {
  std::vector<std::uint32_t> first_entry(problem_.workload.tensors.size(), kNone);
  for (std::uint32_t e = 0; e < tree_.entries.size(); ++e) {
    const TreeEntry& entry = tree_.entries[e];
    if (!entry.backing || entry.forwarded) continue;
    if (entry.sent_at >= 0) {
      make_spread(e);
      spreads_.back().last_user = entry.sent_at;
      continue;
    }
    std::uint32_t& first = first_entry[entry.tensor.index()];
    if (first == kNone) {
      first = e;
      if (entry.received_at >= 0) {
        make_spread(e);
        spreads_.back().first_user = entry.received_at - 1;
      }
      continue;
    }
    if (spread_of_[first] == kNone) make_spread(first);
    spread_of_[e] = spread_of_[first];
    Spread& spread = spreads_[spread_of_[e]];
    spread.entries.push_back(e);
    spread.first_user = std::min(spread.first_user, entry.first_user);
    spread.last_user = std::max(spread.last_user, entry.last_user);
  }
}

void Reservations::make_spread(std::uint32_t entry) {
  spread_of_[entry] = static_cast<std::uint32_t>(spreads_.size());
  spreads_.push_back({{entry}, tree_.entries[entry].first_user, tree_.entries[entry].last_user});
}

/// A copy whose two tensors are backed by one memory has one reservation for both, the larger; so
/// do copies of copies, and several copies of one tensor.
void Reservations::find_aliases() {
  for (const Einsum& einsum : problem_.workload.einsums) {
    if (!einsum.is_copy_operation) continue;
    const TensorId input = einsum.accesses.front().tensor, output = einsum.output().tensor;
    for (std::uint32_t a = 0; a < tree_.entries.size(); ++a) {
      const TreeEntry& from = tree_.entries[a];
      if (!from.backing || from.tensor != input) continue;
      for (std::uint32_t b = 0; b < tree_.entries.size(); ++b) {
        const TreeEntry& to = tree_.entries[b];
        if (to.backing && to.tensor == output && from.component == to.component)
          join_groups(reservation_of(a), reservation_of(b));
      }
    }
  }
  grouped_.assign(group_of_.size(), 0);
  holder_.assign(group_of_.size(), 0);
}

void Reservations::join_groups(std::uint32_t a, std::uint32_t b) {
  if (group_of_.empty())
    for (std::uint32_t r = 0; r < counted_.size(); ++r) group_of_.push_back(r);
  const std::uint32_t from = group_of_[a], to = group_of_[b];
  std::replace(group_of_.begin(), group_of_.end(), from, to);
}

}  // namespace sluice
