#pragma once

#include <set>

#include "facts.h"
#include "lane.h"
#include "wires.h"

namespace sluice::sim {

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

  /// Values of a copy, over the networks between two memories, in one visit of the inner one.
  void copy_over_networks(const Journey& journey, const std::vector<Party>& parties,
                          std::int64_t visit) {
    wires_.carry(journey, parties, false, -visit);
  }
  std::vector<NetworkCount> network_counts() { return wires_.totals(facts_); }

  CountTable counts;
  std::int64_t merge_values = 0;
  std::int64_t padding_values = 0;

 private:
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
  Cell* parent_cell(const Crossing& crossing, const Lane& lane, Element element);
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
  std::int64_t transfers_ = 0;  ///< so far
  std::map<std::tuple<EinsumId, TensorId, bool, std::size_t>, Crossing> crossings_;
  using Sights = std::set<std::tuple<const Crossing*, std::size_t, Element>>;
  Sights seen_;     ///< points of outputs that an instance has had
  Sights drained_;  ///< points of outputs that an instance has been given from below
};

}  // namespace sluice::sim
