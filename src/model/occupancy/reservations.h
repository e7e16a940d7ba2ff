#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/tree/interval_lists.h"
#include "model/tree/nest.h"

namespace sluice {

/// What is alive in the memories of a flattened mapping while each nest runs (model.md,
/// "Capacity"). A reservation is one entry of the tree; or all backing nodes of one tensor in
/// several branches, as large as the largest of them and there from the first branch to the last.
/// Copies in one memory share the reservation of the outermost of them that is alive.
class Reservations {
 public:
  Reservations(const BoundProblem& problem, const FlatTree& tree);

  /// Reservations alive while a nest runs, each once; those of the whole run come first.
  const std::vector<std::uint32_t>& live_at(std::size_t nest_index);
  /// The same without those of the whole run, where these are independent of the nest.
  const std::vector<std::uint32_t>& live_besides_whole_run(std::size_t nest_index);
  /// Reservations of the whole run; nothing where copies may take their places.
  const std::vector<std::uint32_t>* whole_run() const {
    return group_of_.empty() ? &persistent_ : nullptr;
  }
  /// The entries on whose bits live_at, or live_besides_whole_run, depends.
  std::vector<std::uint32_t> entries_at(std::size_t nest_index, bool besides_whole_run);
  std::vector<std::uint32_t> entries_at(const FlatCollective& collective);
  /// While a collective brings a tensor elsewhere.
  const std::vector<std::uint32_t>& live_at(const FlatCollective& collective);

  /// The entries of which a reservation is the largest.
  std::vector<std::uint32_t> entries_of(std::uint32_t reservation) const;
  const TreeEntry& entry_of(std::uint32_t reservation) const;
  double bits(std::uint32_t reservation) const;
  /// Bits that a reservation holds, per bit of its tile: buffering and instances.
  double multiple(std::uint32_t reservation) const;
  /// What `multiple` counts, for messages.
  std::string multiple_name(std::uint32_t reservation) const;
  /// Pipelined and parallel splits above it; none above what stays during the whole run.
  int concurrency(std::uint32_t reservation) const;

 private:
  /// A tensor with backing nodes in several branches, or one that collectives bring there or take
  /// away; between the first and the last user it is alive where these do not stand, too.
  struct Spread {
    std::vector<std::uint32_t> entries;
    int first_user = 0, last_user = 0;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bool is_persistent(const TreeEntry& entry) const;
  bool is_persistent(std::uint32_t reservation) const;
  double persistent_instances(TensorId tensor) const;
  std::uint32_t reservation_of(std::uint32_t entry) const {
    return spread_of_[entry] == kNone
               ? entry
               : static_cast<std::uint32_t>(tree_.entries.size()) + spread_of_[entry];
  }
  void live(std::uint32_t begin, std::uint32_t end, int after, int before);
  void add_whole_run();
  void add_kept(const std::vector<std::uint32_t>& loops);
  void add_of_nest(std::size_t nest_index);
  std::vector<std::uint32_t> considered_entries() const;
  void find_lifetimes();
  void keep_carried();
  bool is_above_concurrent(const NestLoop& loop, int place, int depth) const;
  void start();
  void add(std::uint32_t reservation);
  void make_spread(std::uint32_t entry);
  void find_spreads();
  void find_aliases();
  std::uint32_t group_of(std::uint32_t reservation);
  void join_groups(std::uint32_t a, std::uint32_t b);

  const BoundProblem& problem_;
  const FlatTree& tree_;
  std::vector<std::uint32_t> persistent_;  ///< reservations
  /// Incremental ones live between visits, too, and what a loop carries between its steps: tree
  /// loops in which they do, and entries.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kept_;
  std::vector<std::uint32_t> staying_;  ///< as long as a child of a pipelined split runs
  IntervalLists staying_at_;            ///< per place: indices into staying_
  IntervalLists spreads_at_;            ///< per place: spreads with users before it and not before
  std::vector<Spread> spreads_;
  std::vector<std::uint32_t> spread_of_;  ///< per entry: index into `spreads_`, or kNone
  /// per reservation: one that stands for all copies of the same values in the same memory; empty
  /// without copies
  std::vector<std::uint32_t> group_of_;
  std::vector<std::uint32_t> live_;
  std::vector<std::uint32_t> considered_;  ///< what add() was called with since the last start
  std::vector<char> of_whole_run_;         ///< per reservation
  std::vector<int> counted_;               ///< per reservation
  std::vector<std::uint32_t> holder_;  ///< per group: who holds it, where `grouped_` is the stamp
  std::vector<int> grouped_;
  int stamp_ = 0;
};

}  // namespace sluice
