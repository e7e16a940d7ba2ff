#include "model/occupancy/reservations.h"

#include "model/visits/overlaps.h"

namespace sluice {

Reservations::Reservations(const BoundProblem& problem, const FlatTree& tree)
    : problem_(problem), tree_(tree), spread_of_(tree.entries.size(), kNone) {
  find_spreads();
  counted_.assign(tree.entries.size() + spreads_.size(), 0);
  find_aliases();
  of_whole_run_.assign(counted_.size(), 0);
  for (std::uint32_t r = 0; r < counted_.size(); ++r) {
    if (!is_persistent(r) || (r < tree.entries.size() && spread_of_[r] != kNone)) continue;
    persistent_.push_back(r);
    of_whole_run_[r] = 1;
  }
  find_lifetimes();
}

void Reservations::find_lifetimes() {
  std::vector<PlaceRange> stays, spreads;
  for (std::uint32_t e = 0; e < tree_.entries.size(); ++e) {
    const TreeEntry& entry = tree_.entries[e];
    if (entry.kept_during) kept_.emplace_back(*entry.kept_during, e);
    if (entry.stays_until <= entry.stays_from) continue;
    staying_.push_back(e);
    stays.push_back({entry.stays_from, entry.stays_until});
  }
  keep_carried();
  std::sort(kept_.begin(), kept_.end());
  for (const Spread& spread : spreads_)
    spreads.push_back({spread.first_user + 1, spread.last_user + 1});
  const std::size_t n_places = tree_.nests.size() + 1;
  if (!stays.empty()) staying_at_ = IntervalLists(n_places, stays);
  if (!spreads.empty()) spreads_at_ = IntervalLists(n_places, spreads);
}

/// What one step of a loop hands to the next (a state, a window's rows) is there in all Einsums
/// below the loop; children of pipelined and parallel splits see to their own.
void Reservations::keep_carried() {
  for (const Nest& nest : tree_.nests)
    for (auto s = nest.storages_begin; s < nest.storages_end; ++s) {
      const NestStorage& storage = tree_.storages[s];
      const TreeEntry& entry = tree_.entries[storage.entry];
      const NestLoop* const loop = carrying_loop(problem_, tree_, nest, storage);
      if (loop && !is_persistent(entry) &&
          !is_above_concurrent(*loop, tree_.place(nest), entry.concurrency))
        kept_.emplace_back(loop->tree_loop, storage.entry);
    }
}

/// Whether a loop stands above one of the concurrent splits (`depth` of them) that are above a
/// storage.
bool Reservations::is_above_concurrent(const NestLoop& loop, int place, int depth) const {
  return depth > 0 &&
         std::any_of(
             tree_.concurrent.begin(), tree_.concurrent.end(), [&](const ConcurrentSplit& split) {
               return split.has(place) && split.depth < depth &&
                      std::find(split.loops_above.begin(), split.loops_above.end(), loop.node) !=
                          split.loops_above.end();
             });
}

const std::vector<std::uint32_t>& Reservations::live_at(std::size_t nest_index) {
  add_whole_run();
  add_of_nest(nest_index);
  return live_;
}

const std::vector<std::uint32_t>& Reservations::live_besides_whole_run(std::size_t nest_index) {
  start();
  add_of_nest(nest_index);
  std::erase_if(live_, [&](std::uint32_t reservation) { return of_whole_run_[reservation] != 0; });
  return live_;
}

std::vector<std::uint32_t> Reservations::entries_at(std::size_t nest_index,
                                                    bool besides_whole_run) {
  besides_whole_run ? live_besides_whole_run(nest_index) : live_at(nest_index);
  return considered_entries();
}

std::vector<std::uint32_t> Reservations::entries_at(const FlatCollective& collective) {
  live_at(collective);
  return considered_entries();
}

std::vector<std::uint32_t> Reservations::considered_entries() const {
  std::vector<std::uint32_t> entries;
  for (std::uint32_t reservation : considered_)
    for (std::uint32_t entry : entries_of(reservation)) entries.push_back(entry);
  return entries;
}

void Reservations::add_of_nest(std::size_t nest_index) {
  const Nest& nest = tree_.nests[nest_index];
  const int place = static_cast<int>(nest_index);
  live(nest.live_begin, nest.live_end, place, place);
  if (!kept_.empty()) {
    std::vector<std::uint32_t> loops;
    for (auto l = nest.loops_begin; l < nest.loops_end; ++l)
      loops.push_back(tree_.loops[l].tree_loop);
    add_kept(loops);
  }
  for (std::uint32_t i : staying_at_[nest_index]) add(staying_[i]);
}

const std::vector<std::uint32_t>& Reservations::live_at(const FlatCollective& collective) {
  add_whole_run();
  live(collective.live_begin, collective.live_end, collective.place, collective.place - 1);
  if (kept_.empty()) return live_;
  std::vector<std::uint32_t> loops;
  for (const auto& [loop, entry] : kept_)
    if (std::find(collective.loops_above.begin(), collective.loops_above.end(),
                  tree_.tree_loops[loop].node) != collective.loops_above.end())
      loops.push_back(loop);
  add_kept(loops);
  return live_;
}

void Reservations::add_kept(const std::vector<std::uint32_t>& loops) {
  std::vector<std::uint32_t> entries;
  for (std::uint32_t loop : loops)
    for (auto kept = std::lower_bound(kept_.begin(), kept_.end(), std::pair(loop, 0U));
         kept != kept_.end() && kept->first == loop; ++kept)
      entries.push_back(kept->second);
  std::sort(entries.begin(), entries.end());
  for (std::uint32_t entry : entries) add(reservation_of(entry));
}

void Reservations::start() {
  ++stamp_;
  live_.clear();
  considered_.clear();
}

void Reservations::add_whole_run() {
  start();
  for (std::uint32_t reservation : persistent_) add(reservation);  // they stand above everything
}

/// Entries `begin` to `end`, and the spreads with users before `after` and behind `before`.
void Reservations::live(std::uint32_t begin, std::uint32_t end, int after, int before) {
  for (std::uint32_t i = begin; i < end; ++i) add(reservation_of(tree_.live[i]));
  for (std::uint32_t s : spreads_at_[static_cast<std::size_t>(after)])
    if (before < spreads_[s].last_user) add(static_cast<std::uint32_t>(tree_.entries.size() + s));
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
  for (EinsumId user : problem_.roles.users(tensor))
    instances = std::max(instances, problem_.workload[user].n_instances);
  return static_cast<double>(instances) * static_cast<double>(problem_.workload.n_instances);
}

void Reservations::add(std::uint32_t reservation) {
  if (counted_[reservation] == stamp_) return;
  counted_[reservation] = stamp_;
  considered_.push_back(reservation);
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
  std::vector<std::vector<std::uint32_t>> backing_of;  // per tensor
  for (const Einsum& einsum : problem_.workload.einsums) {
    if (!einsum.is_copy_operation) continue;
    if (backing_of.empty()) {
      backing_of.resize(problem_.workload.tensors.size());
      for (std::uint32_t e = 0; e < tree_.entries.size(); ++e)
        if (tree_.entries[e].backing) backing_of[tree_.entries[e].tensor.index()].push_back(e);
    }
    for (std::uint32_t a : backing_of[einsum.accesses.front().tensor.index()])
      for (std::uint32_t b : backing_of[einsum.output().tensor.index()])
        if (tree_.entries[a].component == tree_.entries[b].component)
          join_groups(reservation_of(a), reservation_of(b));
  }
  for (std::uint32_t r = 0; r < group_of_.size(); ++r) group_of_[r] = group_of(r);
  grouped_.assign(group_of_.size(), 0);
  holder_.assign(group_of_.size(), 0);
}

std::uint32_t Reservations::group_of(std::uint32_t reservation) {
  while (group_of_[reservation] != reservation)
    reservation = group_of_[reservation] = group_of_[group_of_[reservation]];
  return reservation;
}

void Reservations::join_groups(std::uint32_t a, std::uint32_t b) {
  if (group_of_.empty())
    for (std::uint32_t r = 0; r < counted_.size(); ++r) group_of_.push_back(r);
  group_of_[group_of(a)] = group_of(b);
}

}  // namespace sluice
