#include <fmt/format.h>

#include <algorithm>

#include "machine.h"
#include "referee/collectives/performers.h"

namespace sluice::referee {
namespace {

bool is_equal_on_all(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kReduceScatter;
}

bool comes_from_root(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kScatter;
}

/// Blocks of equal size, one after the other; nothing where sizes differ.
std::optional<Points> joined(const std::vector<Points>& blocks) {
  Points all;
  for (const Points& block : blocks) {
    if (block.size() != blocks.front().size()) return std::nullopt;
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

bool is_same(Points points, const Points& ascending) {
  std::sort(points.begin(), points.end());
  return points == ascending;
}

bool is_disjoint(Points points) {
  std::sort(points.begin(), points.end());
  return std::adjacent_find(points.begin(), points.end()) == points.end();
}

}  // namespace

bool Machine::is_exchanged(TensorId tensor) const {
  const auto maker = facts_.roles().sole_maker(tensor);
  if (!maker) return false;
  const auto path = program_.paths.find(*maker);
  return path != program_.paths.end() &&
         path->second.links.at(tensor).front().storage->exchange == StorageItem::Exchange::kGives;
}

/// The lanes that reach a storage from the head of a list; none behind a temporal loop of several
/// steps.
void Machine::find_lanes(const Body& body, std::size_t index, const Lanes& lanes,
                         const StorageItem& storage, Lanes& found) {
  if (lanes.empty() || index == body.items.size()) return;
  const Item& item = body.items[index];
  if (std::get_if<StorageItem>(&item) == &storage) {
    found.insert(found.end(), lanes.begin(), lanes.end());
  } else if (const auto* loop = std::get_if<LoopItem>(&item)) {
    const Schedules schedules = schedules_of(*loop, lanes);
    if (loop->is_spatial) {
      find_lanes(body, index + 1, lanes_of_instances(*loop, lanes, schedules), storage, found);
    } else if (step_count(schedules) <= 1) {
      find_lanes(body, index + 1, lanes_in_step(lanes, schedules, 0), storage, found);
    }
  } else if (const auto* split = std::get_if<SplitItem>(&item)) {
    const std::vector<Branch> branches = branches_of(*split);
    if (split->kind == SplitKind::kSequential || storage.is_forwarded())
      for (std::size_t b = 0; b < branches.size(); ++b)
        find_lanes(*branches[b].child, 0, lanes_in_region(*split, branches[b], b, lanes), storage,
                   found);
  } else {
    find_lanes(body, index + 1, lanes, storage, found);
  }
}

/// A storage of an exchanged tensor in one of a split's children.
Machine::Held Machine::held_below(const SplitItem& split, const StorageItem& storage,
                                  const Lanes& lanes) {
  Held held{&storage, {}};
  for (const Body& child : split.children)
    find_lanes(child, 0, lanes_of(child, lanes), storage, held.lanes);
  return held;
}

/// The readers' storages of an exchanged tensor, in the order of the program.
std::vector<const StorageItem*> Machine::takers_of(TensorId tensor) const {
  std::vector<const StorageItem*> takers;
  for (EinsumId reader : facts_.roles().consumers[tensor.index()]) {
    const auto path = program_.paths.find(reader);
    if (path == program_.paths.end() || path->second.links.count(tensor) == 0) continue;
    const StorageItem* storage = path->second.links.at(tensor).front().storage;
    if (storage->exchange == StorageItem::Exchange::kTakes &&
        std::find(takers.begin(), takers.end(), storage) == takers.end())
      takers.push_back(storage);
  }
  std::sort(takers.begin(), takers.end(),
            [](const StorageItem* a, const StorageItem* b) { return a->id < b->id; });
  return takers;
}

/// A collective "from one layout to another" (docs/collectives.md): what the maker's instances hold
/// goes to where the readers' storages will be.
void Machine::exchange(const CollectiveStep& item, const SplitItem& split, const Lanes& lanes,
                       bool is_below_loop) {
  const CollectiveNode& node = program_.collectives[item.id];
  const auto complain = [&](const std::string& why) {
    complaints_.add(ComplaintKind::kStructure,
                    fmt::format("The {} of {}: {}.", collective_name(node.type),
                                workload_[node.tensor].name, why));
  };
  const EinsumId maker = *facts_.roles().sole_maker(node.tensor);
  const Link& link = program_.paths.at(maker).links.at(node.tensor).front();
  Exchange exchange{&node, maker, held_below(split, *link.storage, lanes), {}};
  const std::vector<const StorageItem*> takers = takers_of(node.tensor);
  for (const StorageItem* taker : takers)
    exchange.takers.push_back(held_below(split, *taker, lanes));
  if (exchange.giver.lanes.empty() || link.storage->component != node.src)
    return complain("no node of the tensor stands at its source, directly below its split");
  if (takers.empty()) return complain("nobody reads what it brings");
  for (const Held& taker : exchange.takers)
    if (taker.lanes.empty() || taker.storage->component != node.dst)
      return complain(
          "a reader's node does not stand at its destination, directly below its "
          "split");
  for (const StorageItem* taker : takers) {
    const EinsumId reader = *taker->served.begin();
    if (spreads_beside(node, maker, reader) || spreads_beside(node, reader, maker))
      return complain("a spatial loop that 'over' does not name stands at one of its ends alone");
  }
  if (is_equal_on_all(node.type) && workload_[maker].expression.reduction != *node.op)
    return complain("the Einsum that makes the tensor reduces otherwise");
  if (!is_equal_on_all(node.type) && is_made_in_parts(exchange))
    return complain("several instances hold a part of the same sum, and it adds up nothing");
  if (!is_rooted(node.type) && !node.root.empty()) return complain("it has no root");
  for (const auto& [dimension, coordinate] : node.root)
    if (coordinate != 0) return complain("its root is not instance 0");
  for (const Held& taker : exchange.takers) reserve(*taker.storage, taker.lanes, is_below_loop);
  taken_[node.tensor] = {exchange.takers, is_below_loop};
  brought_[node.tensor].clear();
  std::set<InstancePlace> reached;
  for (CollectiveTeam& team : teams_of_exchange(exchange)) {
    if (!team.trouble.empty()) return complain(team.trouble);
    std::set<InstancePlace> ends;
    for (const Lane* lane : team.lanes) ends.insert(instance_of(node.dst, lane->place));
    for (const InstancePlace& end : ends)
      if (!reached.insert(end).second)
        return complain("several groups of instances end in one memory");
    exchange_in_team(exchange, team);
  }
  check_brought(exchange);
  if (given_.erase(node.tensor) > 0) release(*link.storage, exchange.giver.lanes, is_below_loop);
}

/// Whether a spatial loop above the exchanged tensor's node of one Einsum, but not of the other one
/// (so not above their split), is over a dimension that takes no part.
bool Machine::spreads_beside(const CollectiveNode& node, EinsumId einsum, EinsumId other) const {
  const Path& path = program_.paths.at(einsum);
  const std::vector<const LoopItem*>& elsewhere = program_.paths.at(other).spatial;
  for (std::size_t d = 0; d < path.links.at(node.tensor).front().spatial_depth; ++d) {
    const LoopItem& loop = *path.spatial[d];
    const std::string& name = arch_[loop.component].spatial[loop.dimension].name;
    const bool is_shared = std::find(elsewhere.begin(), elsewhere.end(), &loop) != elsewhere.end();
    if (!loop.has_one_step && !is_shared &&
        std::find(node.over.begin(), node.over.end(), name) == node.over.end())
      return true;
  }
  return false;
}

/// Whether several instances of the maker work on the same value.
bool Machine::is_made_in_parts(const Exchange& exchange) const {
  std::set<Element> made;
  for (const Lane& lane : exchange.giver.lanes)
    for (Element element : points_.touched(workload_[exchange.maker], exchange.node->tensor, true,
                                           lane.boxes.at(exchange.maker)))
      if (!made.insert(element).second) return true;
  return false;
}

std::vector<CollectiveTeam> Machine::teams_of_exchange(const Exchange& exchange) {
  const CollectiveNode& node = *exchange.node;
  const bool from_root = comes_from_root(node.type);
  const ComponentId memory = from_root ? node.dst : node.src;
  EinsumId user = exchange.maker;
  Lanes lanes = exchange.giver.lanes;
  if (from_root) {
    user = *exchange.takers.front().storage->served.begin();
    lanes.clear();
    std::set<InstancePlace> places;
    for (const Held& taker : exchange.takers)
      for (const Lane& lane : taker.lanes)
        if (places.insert(instance_of(memory, lane.place)).second) lanes.push_back(lane);
  }
  std::vector<ComponentId> way = path_to(arch_, program_.paths.at(user).compute);
  way.erase(std::find(way.begin(), way.end(), memory) + 1, way.end());
  participants_ = std::move(lanes);
  return teams_of(node, arch_, way, first_dimension_, participants_);
}

/// What an instance of a memory holds or wants of an exchanged tensor.
const Lane* Machine::lane_at(const Held& held, const InstancePlace& place) const {
  const ComponentId memory = held.storage->component;
  for (const Lane& lane : held.lanes)
    if (instance_of(memory, lane.place) == instance_of(memory, place)) return &lane;
  return nullptr;
}

Points Machine::wanted_at(const Exchange& exchange, const InstancePlace& place) const {
  for (const Held& taker : exchange.takers)
    if (const Lane* lane = lane_at(taker, place)) return tile_of(*taker.storage, *lane);
  return {};
}

/// The order of the values: per participant whose vector it is (all_to_all; else one for all).
std::optional<std::vector<Points>> Machine::order_of(const Exchange& exchange,
                                                     const CollectiveTeam& team,
                                                     const std::vector<Points>& given) const {
  std::vector<Points> wanted;
  for (const Lane* lane : team.lanes) wanted.push_back(wanted_at(exchange, lane->place));
  std::vector<Points> order(team.lanes.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    std::optional<Points> all;
    switch (exchange.node->type) {
      case CollectiveType::kAllReduce:
      case CollectiveType::kBroadcast:
        all = given.front();
        break;
      case CollectiveType::kGather:
      case CollectiveType::kAllGather:
        all = joined(given);
        break;
      case CollectiveType::kReduceScatter:
      case CollectiveType::kScatter:
        all = joined(wanted);
        break;
      case CollectiveType::kAllToAll: {
        std::vector<Points> parts;
        for (const Points& tile : wanted) parts.push_back(common(given[rank], tile));
        all = joined(parts);
        break;
      }
    }
    if (!all || !is_disjoint(*all)) return std::nullopt;
    if (exchange.node->type != CollectiveType::kGather &&
        exchange.node->type != CollectiveType::kAllGather &&
        !is_same(*all, given[comes_from_root(exchange.node->type) ? 0 : rank]))
      return std::nullopt;
    order[rank] = std::move(*all);
  }
  return order;
}

void Machine::exchange_in_team(const Exchange& exchange, const CollectiveTeam& team) {
  const CollectiveNode& node = *exchange.node;
  const auto complain = [&](ComplaintKind kind, const std::string& why) {
    complaints_.add(kind, fmt::format("The {} of {}: {}.", collective_name(node.type),
                                      workload_[node.tensor].name, why));
  };
  // The vectors of those that have something; rank 0 has all of what comes from the root.
  std::vector<const Lane*> givers;
  std::vector<Points> given;
  for (std::size_t rank = 0; rank < (comes_from_root(node.type) ? 1 : team.lanes.size()); ++rank) {
    const Lane* lane = lane_at(exchange.giver, team.lanes[rank]->place);
    if (!lane) return complain(ComplaintKind::kStructure, "an instance has nothing to give");
    givers.push_back(lane);
    given.push_back(points_.touched(workload_[exchange.maker], node.tensor, true,
                                    lane->boxes.at(exchange.maker)));
  }
  std::set<InstancePlace> ends;
  for (const Lane* lane : team.lanes) ends.insert(instance_of(node.dst, lane->place));
  if (node.type != CollectiveType::kGather && ends.size() < team.lanes.size())
    return complain(ComplaintKind::kStructure, "several instances end in the same memory");
  const auto order = order_of(exchange, team, given);
  if (!order)
    return complain(ComplaintKind::kStructure, "the instances do not hold or want equal parts");
  if (is_equal_on_all(node.type))
    for (const Points& tile : given)
      if (tile != given.front())
        return complain(ComplaintKind::kStructure, "the instances hold different tiles");
  std::vector<std::vector<double>> data(team.lanes.size());
  for (std::size_t rank = 0; rank < givers.size(); ++rank)
    data[rank] = vector_of(exchange, *givers[rank], given[rank], (*order)[rank]);
  for (std::vector<double>& vector : data) vector.resize(order->front().size(), 0);

  CollectiveRequest request{node.type, team.group, static_cast<std::int64_t>(order->front().size()),
                            0, 0};
  request.bits_per_value =
      facts_.bits_per_value(exchange.maker, team.networks.front(), node.tensor);
  const std::string algorithm = algorithm_of(node, exchange.maker, team, request);
  if (!can_perform(request, algorithm))
    return complain(ComplaintKind::kStructure,
                    "the algorithm " + algorithm + " cannot be performed here");
  const CollectiveRun run =
      run_collective(request, algorithm, node.op.value_or(Reduction::kNone), data);
  for (std::size_t rank = 0; rank < team.lanes.size(); ++rank)
    for (const auto& [what, value] : run.results[rank])
      bring(exchange, team.lanes[rank]->place,
            (*order)[static_cast<std::size_t>(what.first)][static_cast<std::size_t>(what.second)],
            value);
  collective_uses_.add(exchange.maker, node, team, run);
  count_collective(node, exchange.maker, request, run);
  record_collective(node, exchange.maker, team, given.front(),
                    run.total.volume_bits / request.bits_per_value);
}

/// The numbers of one participant in the order of the collective; 0 where it has none.
std::vector<double> Machine::vector_of(const Exchange& exchange, const Lane& lane,
                                       const Points& tile, const Points& order) {
  const TensorId tensor = exchange.node->tensor;
  const Link& link = program_.paths.at(exchange.maker).links.at(tensor).front();
  Buffer& buffer = buffers_.at(*link.storage, exchange.maker, lane.ids[link.spatial_depth]);
  std::vector<double> values;
  for (Element element : order) {
    values.push_back(0);
    if (!std::binary_search(tile.begin(), tile.end(), element)) continue;
    const Cell* cell = buffer.find(element);
    if (!cell || !cell->is_made)
      complaints_.add(ComplaintKind::kAbsentValue,
                      fmt::format("The {} of {}: {} is not there when it begins.",
                                  collective_name(exchange.node->type), workload_[tensor].name,
                                  points_.name(tensor, element)));
    if (cell && cell->is_made) values.back() = cell->value;
  }
  return values;
}

void Machine::bring(const Exchange& exchange, const InstancePlace& place, Element element,
                    double value) {
  const TensorId tensor = exchange.node->tensor;
  brought_[tensor][instance_of(exchange.node->dst, place)][element] = value;
  makers_[tensor.index()].forget(element);
  Cell& result = results_[tensor.index()][element];
  if (result.is_made && result.value != value)
    complaints_.add(ComplaintKind::kWrongNumber,
                    fmt::format("Two instances are brought different values of {}: {} and {}.",
                                points_.name(tensor, element), result.value, value));
  result = {value, true};
}

/// Everyone is brought what it wants, and nothing else.
void Machine::check_brought(const Exchange& exchange) {
  const TensorId tensor = exchange.node->tensor;
  for (const Held& taker : exchange.takers)
    for (const Lane& lane : taker.lanes) {
      const auto& brought = brought_[tensor][instance_of(exchange.node->dst, lane.place)];
      Points points;
      for (const auto& [element, value] : brought) points.push_back(element);
      if (points == tile_of(*taker.storage, lane)) continue;
      complaints_.add(ComplaintKind::kStructure,
                      fmt::format("The {} of {} brings an instance {}, and it holds {}.",
                                  collective_name(exchange.node->type), workload_[tensor].name,
                                  points_.name(tensor, points),
                                  points_.name(tensor, tile_of(*taker.storage, lane))));
    }
}

/// A reader's storage holds what was brought there.
void Machine::open_taking(const StorageItem& storage, const Lanes& lanes) {
  for (const Lane& lane : lanes) {
    Buffer& buffer = buffers_.at(storage, {}, lane.ids.back());
    buffer = Buffer{};
    buffer.move_to(tile_of(storage, lane));
    const auto& brought = brought_[storage.tensor][instance_of(storage.component, lane.place)];
    for (std::size_t i = 0; i < buffer.points.size(); ++i) {
      const auto value = brought.find(buffer.points[i]);
      if (value != brought.end()) buffer.cells[i] = {value->second, true};
    }
  }
}

/// After the last reader all of what was brought goes.
void Machine::close_taking(const StorageItem& storage) {
  const auto taken = taken_.find(storage.tensor);
  if (taken == taken_.end() || taken->second.first.back().storage != &storage) return;
  for (const Held& taker : taken->second.first)
    release(*taker.storage, taker.lanes, taken->second.second);
  taken_.erase(taken);
}

}  // namespace sluice::referee
