#include "rotation_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sluice::kapla {
namespace {

/// One loop on the way to the Einsum.
struct LoopOnPath {
  std::size_t place = 0;
  RankVariableId variable;
  std::int64_t trips = 1;
  std::string dimension;  ///< empty: it is temporal
};

class LoopsOnPath {
 public:
  LoopsOnPath(const BoundProblem& problem, EinsumId einsum,
              const std::vector<const sluice::Node*>& path)
      : problem_(problem) {
    for (const VariableRange& range : problem.workload[einsum].iteration_space)
      tiles_[range.variable] = range.size;
    for (std::size_t place = 0; place < path.size(); ++place) {
      if (const auto* loop = std::get_if<TemporalNode>(&path[place]->kind))
        add(place, loop->variables, loop->tile_shape, "");
      if (const auto* loop = std::get_if<SpatialNode>(&path[place]->kind))
        add(place, loop->variables, loop->tile_shape,
            problem.arch[loop->component].spatial.at(loop->dimension).name);
    }
  }
  const std::vector<LoopOnPath>& loops() const { return loops_; }

 private:
  void add(std::size_t place, const std::vector<RankVariableId>& variables, std::int64_t tile,
           const std::string& dimension) {
    for (const RankVariableId variable : variables) {
      const auto walked = tiles_.find(variable);
      if (walked == tiles_.end() || walked->second <= tile) continue;
      loops_.push_back({place, variable, (walked->second + tile - 1) / tile, dimension});
      walked->second = tile;
    }
  }

  const BoundProblem& problem_;
  std::map<RankVariableId, std::int64_t> tiles_;
  std::vector<LoopOnPath> loops_;
};

bool walks(const Einsum& einsum, TensorId tensor, RankVariableId variable, bool alone) {
  for (const TensorAccess& access : einsum.accesses)
    if (access.tensor == tensor)
      for (const AffineExpression& index : access.projection)
        if (index.coefficient_of(variable) != 0 && (!alone || index.goes_one_by_one())) return true;
  return false;
}

}  // namespace

tl::expected<Rotation, std::string> rotation_of(const BoundProblem& problem, EinsumId einsum,
                                                const std::vector<const sluice::Node*>& path,
                                                std::size_t at, TensorId tensor,
                                                std::int64_t sharers) {
  const Einsum& of = problem.workload[einsum];
  const std::string& name = problem.workload[tensor].name;
  const LoopsOnPath on_path(problem, einsum, path);
  std::vector<std::pair<std::string, std::int64_t>> peers;  // by dimension, nearest first
  const LoopOnPath* below = nullptr;
  for (auto loop = on_path.loops().rbegin(); loop != on_path.loops().rend(); ++loop) {
    if (loop->place > at) {
      below = &*loop;
      continue;
    }
    if (loop->dimension.empty() || walks(of, tensor, loop->variable, false)) continue;
    const auto known = std::find_if(peers.begin(), peers.end(), [&](const auto& dimension) {
      return dimension.first == loop->dimension;
    });
    if (known == peers.end())
      peers.emplace_back(loop->dimension, loop->trips);
    else
      known->second *= loop->trips;
  }
  const auto over = std::find_if(peers.begin(), peers.end(), [&](const auto& dimension) {
    return dimension.second == sharers;
  });
  if (over == peers.end()) {
    std::vector<std::string> found;
    for (const auto& [dimension, count] : peers)
      found.push_back(fmt::format("{} {}", dimension, count));
    return tl::unexpected(
        fmt::format("no dimension has {} buffers with the same {}{}", sharers, name,
                    found.empty() ? "" : ": " + fmt::format("{}", fmt::join(found, ", "))));
  }
  if (below == nullptr || !below->dimension.empty() || below->trips != sharers ||
      !walks(of, tensor, below->variable, true))
    return tl::unexpected(
        fmt::format("the shares of {} go round in {} steps; the outermost loop below must be an "
                    "update of it in as many",
                    name, sharers));
  return Rotation{over->first, below->variable};
}

}  // namespace sluice::kapla
