#include "oracle/room_for_others.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "oracle/recurrence.h"

namespace sluice::oracle {
namespace {

/// Smallest and largest index of a rank.
struct Range {
  std::int64_t low = INT64_MAX, high = INT64_MIN;

  void add(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
  std::int64_t extent() const { return high - low + 1; }
};

using Tiles = std::map<RankVariableId, std::int64_t>;

/// What an access touches of a rank while its variables run over their first tiles.
Range touched(const Einsum& einsum, const AffineExpression& index, const Tiles& tiles) {
  Range range{index.constant, index.constant};
  for (const AffineTerm& term : index.terms)
    for (const VariableRange& variable : einsum.iteration_space) {
      if (variable.variable != term.variable) continue;
      const auto tile = tiles.find(term.variable);
      const std::int64_t size = tile == tiles.end() ? variable.size : tile->second;
      const std::int64_t first = term.coefficient * variable.minimum;
      const std::int64_t last = term.coefficient * (variable.minimum + size - 1);
      range.low += std::min(first, last);
      range.high += std::max(first, last);
    }
  return range;
}

/// The walk down one nest.
class RoomWalk {
 public:
  RoomWalk(const BoundProblem& problem, const BoundEinsum& bound, const Pmapping& nest)
      : problem_(problem), bound_(bound), einsum_(problem.workload[nest.einsum]) {
    room_.resize(problem.arch.components.size(), 0);
    for (const NestNode& node : nest.nodes) {
      if (const NestLoop* loop = std::get_if<NestLoop>(&node)) {
        tiles_[loop->variable] = loop->tile_shape;
        below_temporal_ = below_temporal_ || !loop->spatial;
      } else if (const NestStorage& storage = std::get<NestStorage>(node); storage.backing) {
        add(storage);
      }
    }
  }

  std::vector<double> take() { return std::move(room_); }

 private:
  void add(const NestStorage& storage) {
    if (!is_exchanged(problem_.roles, storage.tensor)) return;
    double own = 1;
    double all = 1;
    for (std::size_t r = 0; r < problem_.workload[storage.tensor].ranks.size(); ++r) {
      own *= static_cast<double>(own_range(storage.tensor, r).extent());
      all *= static_cast<double>(extent_for_all(storage.tensor, r));
    }
    if (storage.persistent) {
      own *= static_cast<double>(einsum_.n_instances * problem_.workload.n_instances);
      all *= static_cast<double>(most_instances(storage.tensor) * problem_.workload.n_instances);
    }
    const auto& component = bound_.components[storage.component.index()];
    const int local = bound_.local_tensor[storage.tensor.index()];
    const double bits = component.bits_per_value[static_cast<std::size_t>(local)];
    const auto* memory = std::get_if<Memory>(&problem_.arch[storage.component].kind);
    const bool twice =
        memory && memory->buffering == Buffering::kDouble && below_temporal_ && !storage.persistent;
    room_[storage.component.index()] += (twice ? 2 : 1) * bits * (all - own);
  }

  Range own_range(TensorId tensor, std::size_t rank) const {
    Range range;
    for (const TensorAccess& access : einsum_.accesses)
      if (access.tensor == tensor) range.add(touched(einsum_, access.projection[rank], tiles_));
    return range;
  }

  /// The Einsums share the loops above the node: they touch the same tile, at other constants.
  std::int64_t extent_for_all(TensorId tensor, std::size_t rank) const {
    const bool cut = is_cut(tensor, rank);
    Range all;
    Range constants;
    Range own_constants;
    for (const Einsum& einsum : problem_.workload.einsums)
      for (const TensorAccess& access : einsum.accesses) {
        if (access.tensor != tensor) continue;
        const AffineExpression& index = access.projection[rank];
        all.add(touched(einsum, index, {}));
        constants.add({index.constant, index.constant});
        if (&einsum == &einsum_) own_constants.add({index.constant, index.constant});
      }
    if (!cut) return all.extent();
    return own_range(tensor, rank).extent() + constants.extent() - own_constants.extent();
  }

  bool is_cut(TensorId tensor, std::size_t rank) const {
    for (const TensorAccess& access : einsum_.accesses)
      for (const auto& [variable, tile] : tiles_)
        if (access.tensor == tensor && access.projection[rank].coefficient_of(variable) != 0)
          return true;
    return false;
  }

  std::int64_t most_instances(TensorId tensor) const {
    std::int64_t most = 1;
    for (const Einsum& einsum : problem_.workload.einsums)
      if (find_access(einsum, tensor)) most = std::max(most, einsum.n_instances);
    return most;
  }

  const BoundProblem& problem_;
  const BoundEinsum& bound_;
  const Einsum& einsum_;
  Tiles tiles_;                  ///< of the variables with a loop above
  bool below_temporal_ = false;  ///< of several steps
  std::vector<double> room_;
};

}  // namespace

std::vector<double> room_for_others(const BoundProblem& problem, const BoundEinsum& bound,
                                    const Pmapping& nest) {
  return RoomWalk(problem, bound, nest).take();
}

}  // namespace sluice::oracle
