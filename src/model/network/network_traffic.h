#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/network/network_routes.h"
#include "model/tree/nest.h"
#include "model/visits/refetches.h"
#include "model/visits/visit_sum.h"

namespace sluice {

/// What one tensor's transfers between parent and child put on one network, over one run of the
/// Einsum. `unit_*` are those of the busiest instance of the network.
struct NetworkTraffic {
  ComponentId network;
  int tensor = 0;               ///< index into BoundEinsum::tensors
  std::int64_t deliveries = 0;  ///< values, counted at every node that receives (or sends) them
  std::int64_t half_hops = 0;   ///< twice values × links crossed
  std::int64_t unit_deliveries = 0;
  std::int64_t unit_sent = 0;  ///< as unit_deliveries, what several nodes receive counted once
  std::int64_t unit_latency_hops = 0;              ///< Σ over steps of the longest route
  std::vector<std::int64_t> down_loads, up_loads;  ///< values over each link at the entry
};

/// One end of a transfer.
struct TransferEnd {
  int depth = 0;    ///< place of its component on the path of the compute
  int n_loops = 0;  ///< loops above it
  int slides_over = -1;
  int steps_begin = 0, steps_end = 0;  ///< loops in whose steps nothing moves again
};

/// A transfer of one access's tiles, `volume` values each where all tiles are whole.
struct Transfer {
  const BoundAccess* access = nullptr;
  TransferEnd parent, child;
  std::int64_t volume = 1;
  bool down = true, up = false;
  bool skip_first_down = false;        ///< the first visit of a tile brings nothing (partial sums)
  std::optional<Refetches> refetched;  ///< where the child fetches only what is new to it
};

/// Books transfers on the networks that they cross.
class NetworkCounter {
 public:
  /// `result` is appended to: one record a network and tensor.
  NetworkCounter(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
                 std::vector<NetworkTraffic>& result)
      : problem_(problem),
        einsum_(problem[nest.einsum]),
        tree_(tree),
        nest_(nest),
        loops_(tree.loops.data() + nest.loops_begin),
        result_(result) {}

  void add(const Transfer& transfer);

 private:
  struct Crossing;
  void cross(const PathNetwork& network, const Transfer& transfer);
  std::optional<Transfer> held_behind(const PathNetwork& network, const Transfer& transfer);
  std::int64_t moved(const Crossing& crossing, const Transfer& transfer, bool first_visits,
                     bool busiest) const;
  void book(const Crossing& crossing, bool first_visits, std::int64_t sign,
            std::vector<std::int64_t>& loads, NetworkTraffic& record) const;
  void book_whole(const Crossing& crossing, bool first_visits, std::int64_t sign,
                  std::vector<std::int64_t>& loads, NetworkTraffic& record) const;
  void book_groups(const Crossing& crossing, bool first_visits, std::int64_t sign,
                   std::vector<std::int64_t>& loads, NetworkTraffic& record) const;
  std::vector<LoopEffect> effects(const Crossing& crossing, const Transfer& transfer,
                                  bool first_visits, bool busiest) const;
  LoopEffect effect(const Crossing& crossing, const Transfer& transfer, bool first_visits,
                    bool busiest, int l) const;
  std::int64_t steps(const Crossing& crossing, bool first_visits) const;
  bool is_windowed(const Transfer& transfer) const;
  NetworkTraffic& record_of(ComponentId network, int tensor);

  const BoundProblem& problem_;
  const BoundEinsum& einsum_;
  const FlatTree& tree_;
  const Nest& nest_;
  const NestLoop* loops_;
  std::vector<NetworkTraffic>& result_;
  std::vector<std::int64_t> tiles_;  ///< of held_behind
};

}  // namespace sluice
