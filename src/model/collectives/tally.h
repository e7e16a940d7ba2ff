#pragma once

#include <cstdint>
#include <vector>

#include "model/collectives/topologies.h"
#include "sluice/model/collective_cost.h"

namespace sluice {

/// Adds up the messages of a collective, step by step.
class CollectiveTally {
 public:
  explicit CollectiveTally(const CollectiveRequest& request);

  const CollectiveRequest& request() const { return request_; }
  std::int64_t participants() const { return static_cast<std::int64_t>(nodes_.size()); }

  enum class Arrival : bool { kStored, kCombined };
  /// A message of the current step; none where `values` is 0.
  void send(std::int64_t from, std::int64_t to, std::int64_t values,
            Arrival arrival = Arrival::kStored);
  using Node = std::vector<std::vector<std::int64_t>>;  ///< coordinates per network
  void send(const Node& from, const Node& to, std::int64_t values,
            Arrival arrival = Arrival::kStored);
  void end_step();

  CollectiveCounts counts() const;

 private:
  struct Values {
    std::int64_t latency_hops = 0, values = 0, value_hops = 0;
  };

  Node node_of(std::int64_t rank) const;
  void find_route(const Node& from, const Node& to);

  const CollectiveRequest& request_;
  std::vector<Node> nodes_;                       ///< per rank
  Node doors_;                                    ///< node 0 of every network
  std::vector<const CollectiveTopology*> kinds_;  ///< per network
  std::vector<std::int64_t> route_, longest_;     ///< links per network
  std::int64_t route_hops_ = 0, longest_hops_ = 0;
  Values total_;
  std::vector<Values> networks_;
  std::int64_t combined_ = 0;
};

/// Sizes of blocks: `values` dealt to `parts` parts, sizes differ by at most one, the larger first.
class BlockSizes {
 public:
  BlockSizes(std::int64_t values, std::int64_t parts)
      : whole_(values / parts), rest_(values % parts) {}

  std::int64_t of(std::int64_t part) const { return whole_ + (part < rest_ ? 1 : 0); }
  /// Of the parts first … first + count − 1.
  std::int64_t of_range(std::int64_t first, std::int64_t count) const {
    return before(first + count) - before(first);
  }

 private:
  std::int64_t before(std::int64_t part) const {
    return part * whole_ + (part < rest_ ? part : rest_);
  }
  std::int64_t whole_, rest_;
};

}  // namespace sluice
