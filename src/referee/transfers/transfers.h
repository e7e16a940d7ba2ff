#pragma once

#include "referee/points/element_set.h"
#include "referee/program/facts.h"
#include "referee/program/lane.h"
#include "wires.h"

namespace sluice::referee {

/// Where values of one tensor go for one Einsum: from the memory above to a storage or the compute.
struct Crossing {
  EinsumId einsum;
  TensorId tensor;
  bool is_output = false;              ///< partial sums; else operands
  const StorageItem* child = nullptr;  ///< null: the compute
  std::size_t child_depth = 0;
  Link parent;
  std::vector<Link> tolls;   ///< in between
  std::vector<bool> shared;  ///< per spatial loop above the child: one message serves all its turns
  /// Incremental children: per spatial loop, whether turns with equal tiles share a message.
  std::vector<bool> shares_equal_tiles;
  Journey journey;  ///< over networks
};

/// How parties in given instances share the messages of a crossing, as long as those that share one
/// have the same points.
struct MessagePattern {
  struct Messages {
    std::vector<std::size_t> first;   ///< per message, in the order of their keys: its first party
    std::vector<std::size_t> sorted;  ///< parties by key and place
    std::vector<std::size_t> ends;    ///< per message: where its parties end in `sorted`
  };
  Messages at_parent;
  std::vector<Messages> at_tolls;
  Wires::Pattern on_networks;
  /// A party and another one with which it shares some message.
  std::vector<std::pair<std::size_t, std::size_t>> together;
  bool shares_messages = false;  ///< at the parent or at a toll
};

/// The network adds up what it carries together.
void add_up(Reduction reduction, const Cell& part, Cell& sum);
/// A message meets what is there. `is_first`: nothing has been written there before. True where
/// what is there must be read to be added to.
bool merge(Reduction reduction, const Cell& message, bool is_first, Cell& sum);

/// Moves values between buffers and counts them.
class Transfers {
 public:
  Transfers(const Workload& workload, const Arch& arch, const Program& program,
            const PointMap& points, Facts& facts, BufferTable& buffers, Complaints& complaints);

  /// The crossing into links[child] of the tensor's path; child = the number of links: into the
  /// compute.
  const Crossing& crossing(EinsumId einsum, TensorId tensor, bool is_output, std::size_t child);

  /// Operands, or partial sums that the parties have seen before, come down. Every party's cells
  /// are set. The values that were read at the parent: the result.
  std::int64_t fill(const Crossing& crossing, std::vector<Party>& parties);
  /// Results go up, and meet others there. The values that were written at the parent: the result.
  std::int64_t drain(const Crossing& crossing, const std::vector<Party>& parties);
  /// Leaves only those points of an output that each party has seen before: of the others there is
  /// nothing to read yet.
  void drop_first_sights(const Crossing& crossing, std::vector<Party>& parties);
  /// The points of an output that an instance of the lower end has seen.
  SparseElementSet& seen(const Crossing& crossing, std::size_t instance) {
    return seen_[{&crossing, instance}];
  }

  /// Values of a copy, over the networks between two memories, in one visit of the inner one.
  void copy_over_networks(const Journey& journey, const std::vector<Party>& parties,
                          std::int64_t visit) {
    wires_.carry(journey, parties, false, visit);
  }
  /// The way in which these parties share messages. Stays where it is.
  const MessagePattern& pattern_of(const Crossing& crossing, const std::vector<Party>& parties,
                                   bool returns);
  /// The points of an output that an instance of the upper end has been given.
  SparseElementSet& drained(const Crossing& crossing, const Lane& lane) {
    return drained_[{&crossing, lane.ids[crossing.parent.spatial_depth]}];
  }
  /// Counts a transfer in which every party has `values` values, as often as it happens. Padding
  /// and merging aside.
  void count_regular(const Crossing& crossing, const MessagePattern& pattern, bool is_down,
                     std::int64_t values, std::int64_t times);
  /// Partial sums that come down, each in a message of its own, over no network.
  void count_singly(const Crossing& crossing, std::int64_t values);
  void count_padding(const Crossing& crossing, std::int64_t values) {
    padding_values += repetitions(crossing.einsum) * values;
  }
  /// Values that peers hand on to each other, all at once.
  void hand_on(const Crossing& crossing, const std::vector<std::pair<Party, Party>>& moves);
  /// Sums that were added to others at the parent without having been read.
  void count_merged(const Crossing& crossing, std::int64_t merged);

  std::vector<NetworkCount> network_counts() { return wires_.totals(facts_); }

  CountTable counts;
  std::int64_t merge_values = 0;
  std::int64_t padding_values = 0;

 private:
  MessagePattern::Messages messages_of(const Crossing& crossing, std::size_t depth,
                                       const std::vector<Party>& parties,
                                       MessagePattern& pattern) const;
  bool charges(const Link& toll, bool is_down) const;
  /// The parent's values that are read (written), or nothing where parties share messages and
  /// differ.
  std::optional<std::int64_t> count_by_pattern(const Crossing& crossing,
                                               const MessagePattern& pattern,
                                               const std::vector<Party>& parties, bool is_down);
  void drain_message(const Crossing& crossing, const std::vector<Party>& parties,
                     const std::size_t* begin, const std::size_t* end, std::int64_t& merged);
  std::int64_t drain_one_by_one(const Crossing& crossing, const std::vector<Party>& parties);
  std::int64_t count(const Crossing& crossing, const std::vector<Party>& parties, bool is_down,
                     const MessagePattern** pattern);
  std::int64_t count_messages(const Crossing& crossing, const Link& at,
                              const std::vector<Party>& parties, const char* action);
  void count_child(const Crossing& crossing, const std::vector<Party>& parties, const char* action);
  std::vector<std::int64_t> tile_shifts(const Crossing& crossing, std::size_t depth,
                                        const Lane& lane) const;
  bool counts_drains(const Crossing& crossing) const;
  void count_tolls(const Crossing& crossing, const std::vector<Party>& parties, bool is_down);
  std::vector<std::int64_t> message_key(const Crossing& crossing, std::size_t depth,
                                        const Lane& lane) const;
  Buffer& parent_buffer(const Crossing& crossing, const Lane& lane);
  void complain_absent(const Crossing& crossing, Element element);
  /// What lies outside its tensor ends in the backing storage, which keeps zeros there.
  bool is_dropped(const Crossing& crossing, Element element) const;
  /// Whether it takes a read to add the message.
  bool merge_into(const Crossing& crossing, Element element, const Cell& message, bool is_first,
                  Cell& cell) const;
  /// How often an Einsum is run; one run is walked.
  std::int64_t repetitions(EinsumId einsum) const;
  void add(EinsumId einsum, ComponentId component, TensorId tensor, const char* action,
           std::int64_t count);

  const Workload& workload_;
  const Arch& arch_;
  const Program& program_;
  const PointMap& points_;
  Facts& facts_;
  BufferTable& buffers_;
  Complaints& complaints_;
  Wires wires_;
  std::map<std::tuple<EinsumId, TensorId, bool, std::size_t>, Crossing> crossings_;
  /// By crossing, direction, and the instances of the parties.
  std::map<std::pair<const Crossing*, bool>, std::map<std::vector<std::size_t>, MessagePattern>>
      patterns_;
  using Sights = std::map<std::pair<const Crossing*, std::size_t>, SparseElementSet>;
  Sights seen_;     ///< points of outputs that an instance has had
  Sights drained_;  ///< points of outputs that an instance has been given from below
};

}  // namespace sluice::referee
