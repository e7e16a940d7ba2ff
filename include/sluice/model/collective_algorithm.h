#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/model/collective_cost.h"

namespace sluice {

struct TopologyRoutes;

/// Adds up the messages of a collective, step by step. Participants are named by their ranks, which
/// count from 0 (see CollectiveGroup); the tally finds each message's route over the networks.
class CollectiveTally {
 public:
  explicit CollectiveTally(const CollectiveRequest& request);

  const CollectiveRequest& request() const { return request_; }
  std::int64_t participants() const { return static_cast<std::int64_t>(nodes_.size()); }

  /// Whether values that arrive are kept, or combined with those that are there: an operation each.
  enum class Arrival : bool { kStored, kCombined };
  /// A message of the current step; none where `values` is 0.
  void send(std::int64_t from, std::int64_t to, std::int64_t values,
            Arrival arrival = Arrival::kStored);
  /// As above, between nodes of which no participant need be one.
  using Node = std::vector<std::vector<std::int64_t>>;  ///< coordinates per network
  void send(const Node& from, const Node& to, std::int64_t values,
            Arrival arrival = Arrival::kStored);
  /// A message of so many values to each of several nodes.
  void send_each(const Node& from, const std::vector<const Node*>& to, std::int64_t values);
  /// A message that hands on what came to `from` over `links`, one number per network, which become
  /// those up to `to`.
  void relay(const Node& from, const Node& to, std::int64_t values, std::int64_t* links);
  /// All such messages of a tree, over the only network.
  struct Relays {
    std::int64_t messages = 0, over_links = 0;  ///< all; those between different nodes
    std::int64_t links = 0;                     ///< of all together
    std::int64_t longest_way = 0;               ///< links from where the values come
  };
  void relay(const Relays& relays, std::int64_t values);
  /// Links between two participants, or two nodes, over all networks.
  std::int64_t hops(std::int64_t from, std::int64_t to);
  std::int64_t hops(const Node& from, const Node& to);
  /// Links per network of the last route that was asked for or sent over.
  const std::vector<std::int64_t>& route() const { return route_; }
  /// Messages of one step travel at the same time; the next step waits for the longest route.
  void end_step();

  CollectiveCounts counts() const;

 private:
  struct Values {
    std::int64_t latency_hops = 0, values = 0, value_hops = 0;
  };

  Node node_of(std::int64_t rank) const;
  void find_route(const Node& from, const Node& to);
  void note_length(std::int64_t hops, const std::int64_t* links);

  const CollectiveRequest& request_;
  std::vector<Node> nodes_;                    ///< per rank
  Node doors_;                                 ///< node 0 of every network
  std::vector<const TopologyRoutes*> kinds_;   ///< per network
  std::vector<std::int64_t> route_, longest_;  ///< links per network
  std::vector<std::int64_t> way_;              ///< of the message at hand
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

/// Whether the type has a root that alone holds the whole before or after.
inline bool has_root(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kGather ||
         type == CollectiveType::kScatter;
}

/// A way of performing collectives: which messages it sends (docs/collectives.md; how to write one:
/// docs/extending.md). Routes, energies and times follow from the messages (CollectiveCost).
/// Implementations have no state that changes; threads share them.
class CollectiveAlgorithm {
 public:
  virtual ~CollectiveAlgorithm() = default;
  /// As mappings say it: `algorithm: ring`. `auto` is no name.
  virtual std::string name() const = 0;
  /// Whether it knows this type.
  virtual bool performs(CollectiveType type) const = 0;
  /// Whether a network in which participants differ has the shape that it needs.
  virtual bool fits(const TopologyFacts& topology) const {
    (void)topology;
    return true;
  }
  virtual std::string needs() const { return "any network"; }  ///< `fits` in words
  /// Whether `auto` tries it.
  virtual bool is_automatic() const { return true; }
  /// Sends all messages of `tally.request()`, step by step.
  virtual void count(CollectiveTally& tally) const = 0;
};

}  // namespace sluice
