#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "referee/program/lane.h"

namespace sluice::referee {

/// What stands right behind a network's instances: as if it kept its tile of a tensor until the
/// loops above it move on, and took (or gave) only what is new in the next one.
struct Holder {
  EinsumId einsum;
  ComponentId network;
  TensorId tensor;
  bool is_output = false;   ///< what the Einsum writes; else what it reads
  bool returns = false;     ///< outputs: partial sums that come back down
  std::size_t n_loops = 0;  ///< loops of the Einsum's path above it
  friend auto operator<=>(const Holder&, const Holder&) = default;
};

/// Follows the tiles of all holders.
class HeldValues {
 public:
  HeldValues(const Workload& workload, const Program& program, const PointMap& points)
      : workload_(workload), program_(program), points_(points) {}

  /// What is new to one instance of a holder, where a party is the first to take or give something
  /// through it since its tile has moved on.
  Points take_new(const Holder& holder, const std::vector<std::int64_t>& instance,
                  const Party& party);

 private:
  struct Tile {
    Box box;                       ///< of the iteration space
    std::vector<IndexBox> ranges;  ///< of the tensor
    std::vector<IndexBox> before;  ///< of the tile before this one
    Points points;
    std::map<Element, Box> given;  ///< results, with the box that gave them first
  };
  using Instance = std::pair<Holder, std::vector<std::int64_t>>;
  Box box_above(const Holder& holder, const Box& inside) const;
  Points move(const Instance& instance, Tile& tile, const Box& box);

  const Workload& workload_;
  const Program& program_;
  const PointMap& points_;
  std::map<Instance, Tile> tiles_;
};

}  // namespace sluice::referee
