#include <fmt/format.h>

#include <algorithm>

#include "machine.h"
#include "referee/collectives/performers.h"

namespace sluice::referee {
namespace {

double bandwidth_of(const Arch& arch, ComponentId memory, const char* name, double bits_per_value) {
  for (const Action& action : arch[memory].actions)
    if (action.name == name) return action.throughput * bits_moved_by(action, bits_per_value);
  return kUnbounded;
}

}  // namespace

/// Which of several copies of a tensor an instance has: its turns in the loops whose instances a
/// collective brings together.
std::vector<std::int64_t> Machine::copy_of(TensorId tensor, EinsumId user, const Lane& lane) const {
  std::vector<std::int64_t> copy;
  const std::vector<const LoopItem*>& loops = program_.paths.at(user).spatial;
  for (std::size_t d = 0; d < lane.turns.size(); ++d)
    if (is_collected(program_, arch_, tensor, *loops[d])) copy.push_back(lane.turns[d]);
  return copy;
}

void Machine::collect(const CollectiveStep& item, const Lanes& all_lanes) {
  const CollectiveNode& node = program_.collectives[item.id];
  const std::string name = collective_name(node.type) + " of " + workload_[node.tensor].name;
  const auto complain = [&](const std::string& why) {
    complaints_.add(ComplaintKind::kStructure, fmt::format("The {}: {}.", name, why));
  };
  const std::optional<EinsumId> maker = facts_.roles().sole_maker(node.tensor);
  Lanes lanes;
  if (maker)
    std::copy_if(all_lanes.begin(), all_lanes.end(), std::back_inserter(lanes),
                 [&](const Lane& lane) { return lane.boxes.count(*maker) > 0; });
  if (lanes.empty()) {
    complain("no Einsum of its split makes the tensor");
    return;
  }
  const Path& path = program_.paths.at(*maker);
  const Link& backing = path.links.at(node.tensor).front();
  if (backing.storage->component != node.src ||
      lanes.front().turns.size() < backing.spatial_depth) {
    complain("the tensor is backed elsewhere");
    return;
  }
  if (node.op && workload_[*maker].expression.reduction != *node.op) {
    complain("the Einsum that makes the tensor reduces otherwise");
    return;
  }
  if (node.type != CollectiveType::kAllReduce || node.src != node.dst) {
    complain("what stands above its split is shared out or moved");
    return;
  }
  if (!node.root.empty()) {
    complain("it has no root");
    return;
  }
  std::vector<ComponentId> way = path_to(arch_, path.compute);
  way.erase(std::find(way.begin(), way.end(), node.src) + 1, way.end());
  for (CollectiveTeam& team : teams_of(node, arch_, way, first_dimension_, lanes)) {
    if (team.trouble.empty())
      collect_team(node, *maker, backing, team);
    else
      complain(team.trouble);
  }
}

void Machine::collect_team(const CollectiveNode& node, EinsumId maker, const Link& backing,
                           const CollectiveTeam& team) {
  const auto complain = [&](ComplaintKind kind, const std::string& why) {
    complaints_.add(kind, fmt::format("The {} of {}: {}.", collective_name(node.type),
                                      workload_[node.tensor].name, why));
  };
  const auto tile = [&](const Lane& lane) {
    return points_.touched(workload_[maker], node.tensor, true, lane.boxes.at(maker));
  };
  const Points points = tile(*team.lanes.front());
  std::vector<std::vector<double>> data;
  for (const Lane* lane : team.lanes) {
    if (tile(*lane) != points) {
      complain(ComplaintKind::kStructure, "the instances hold different tiles");
      return;
    }
    std::vector<double>& part = data.emplace_back();
    Buffer& buffer = buffers_.at(*backing.storage, maker, lane->ids[backing.spatial_depth]);
    for (Element element : points) {
      const Cell* cell = buffer.find(element);
      if (!cell || !cell->is_made)
        complain(ComplaintKind::kAbsentValue,
                 points_.name(node.tensor, element) + " is not there when it begins");
      if (!cell) return;  // its storage is closed: nothing to write to either
      part.push_back(cell->is_made ? cell->value : 0);
    }
  }
  CollectiveRequest request{node.type, team.group, static_cast<std::int64_t>(points.size()), 0, 0};
  request.bits_per_value = facts_.bits_per_value(maker, team.networks.front(), node.tensor);
  const std::string algorithm = algorithm_of(node, maker, team, request);
  if (!can_perform(request, algorithm)) {
    complain(ComplaintKind::kStructure, "the algorithm " + algorithm + " cannot be performed here");
    return;
  }
  const CollectiveRun run = run_collective(request, algorithm, *node.op, data);
  for (std::size_t rank = 0; rank < team.lanes.size(); ++rank) {
    Buffer& buffer =
        buffers_.at(*backing.storage, maker, team.lanes[rank]->ids[backing.spatial_depth]);
    for (const auto& [item, value] : run.results[rank])
      *buffer.find(points[static_cast<std::size_t>(item.second)]) = {value, true, false};
  }
  // Everyone has everything now: it no longer matters who made it.
  for (Element element : points) makers_[node.tensor.index()].forget(element);
  collective_uses_.add(maker, node, team, run);
  count_collective(node, maker, request, run);
  record_collective(node, maker, team, points, run.total.volume_bits / request.bits_per_value);
}

/// All teams use the algorithm that is best for the one whose others stand at node 0 (of their
/// region).
std::string Machine::algorithm_of(const CollectiveNode& node, EinsumId maker,
                                  const CollectiveTeam& team, CollectiveRequest request) {
  if (node.algorithm != "auto") return node.algorithm;
  request.group.standing_at = team.origin;
  const auto bandwidth = [&](ComponentId memory, const char* action) {
    return bandwidth_of(arch_, memory, action, facts_.bits_per_value(maker, memory, node.tensor));
  };
  return fastest_algorithm(request, node.op.value_or(Reduction::kNone),
                           std::min(bandwidth(node.src, "read"), bandwidth(node.dst, "write")));
}

/// One read at the sender and one write at the receiver of every value, one operation for every
/// two that are combined, on the maker's compute if it can, else on the first one that can.
void Machine::count_collective(const CollectiveNode& node, EinsumId maker,
                               const CollectiveRequest& request, const CollectiveRun& run) {
  const auto values =
      static_cast<std::int64_t>(run.total.volume_bits / request.bits_per_value + 0.5);
  const auto add = [&](ComponentId memory, const char* action) {
    transfers_.counts.add(maker, memory, node.tensor, action, values,
                          facts_.bits_per_value(maker, memory, node.tensor));
  };
  add(node.src, "read");
  add(node.dst, "write");
  if (run.combined_values == 0) return;
  std::vector<ComponentId> computes = {program_.paths.at(maker).compute};
  for (ComponentId compute : computes_of(arch_)) {
    const std::vector<ComponentId> way = path_to(arch_, compute);
    if (std::find(way.begin(), way.end(), node.dst) != way.end()) computes.push_back(compute);
  }
  const std::string_view combining = operation_name(combining_operation(*node.op));
  for (ComponentId compute : computes) {
    const std::vector<Action>& actions = arch_[compute].actions;
    for (const Action& action : actions) {
      if (action.name != combining && !(actions.size() == 1 && action.name == "compute")) continue;
      transfers_.counts.add(maker, compute, std::nullopt, action.name, run.combined_values, 0);
      return;
    }
  }
  complaints_.add(ComplaintKind::kStructure, fmt::format("No compute can combine the parts of {}.",
                                                         workload_[node.tensor].name));
}

void Machine::record_collective(const CollectiveNode& node, EinsumId maker,
                                const CollectiveTeam& team, const Points& points, double values) {
  if (!records()) return;
  ExecutionStep step;
  step.kind = ExecutionStep::Kind::kCollective;
  step.einsum = maker;
  step.tensor = node.tensor;
  step.from = node.src;
  step.to = node.dst;
  step.read = static_cast<std::int64_t>(values + 0.5);
  step.written = step.read;
  step.instances = static_cast<std::int64_t>(team.lanes.size());
  step.points = points_.name(node.tensor, points);
  record(std::move(step));
}

}  // namespace sluice::referee
