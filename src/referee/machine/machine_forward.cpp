#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "machine.h"
#include "referee/collectives/link_walk.h"

// Tensors that go from one child of a pipelined split to later ones (docs/executor.md).

namespace sluice::referee {
namespace {

/// The containers on the way to a memory, each with the network above it, and where two of the
/// memory's instances stand in them.
struct Route {
  CollectiveGroup group;
  std::vector<std::optional<ComponentId>> networks;  ///< none: nothing links the instances
  std::vector<ComponentId> containers;
  std::vector<NetworkNode> from, to;

  /// Whether both ends exist (a loop that leaves the fanout is complained about elsewhere).
  bool exists() const {
    for (std::size_t n = 0; n < from.size(); ++n)
      for (std::size_t d = 0; d < from[n].size(); ++d)
        if (std::max(from[n][d], to[n][d]) >= group.networks[n].fanouts[d]) return false;
    return true;
  }
};

Route route_between(const Arch& arch, const std::vector<ComponentId>& way,
                    const std::vector<std::size_t>& first_dimension, const InstancePlace& from,
                    const InstancePlace& to) {
  Route route;
  std::optional<ComponentId> above;
  for (ComponentId component : way) {
    if (std::holds_alternative<Network>(arch[component].kind)) above = component;
    if (arch[component].spatial.empty()) continue;
    CollectiveNetwork& network = route.group.networks.emplace_back();
    if (above) network.network = std::get<Network>(arch[*above].kind);
    route.networks.push_back(std::exchange(above, std::nullopt));
    route.containers.push_back(component);
    NetworkNode& begin = route.from.emplace_back();
    NetworkNode& end = route.to.emplace_back();
    for (std::size_t d = 0; d < arch[component].spatial.size(); ++d) {
      const std::size_t dimension = first_dimension[component.index()] + d;
      network.fanouts.push_back(arch[component].spatial[d].fanout);
      begin.push_back(from[dimension]);
      end.push_back(to[dimension]);
    }
  }
  return route;
}

std::int64_t total(const std::vector<std::int64_t>& links) {
  return std::accumulate(links.begin(), links.end(), std::int64_t{0});
}

}  // namespace

std::vector<Machine::Forward> Machine::forwards_of(const SplitItem& split,
                                                   const std::vector<Branch>& branches) {
  std::vector<Forward> forwards;
  const auto branch_of = [&](EinsumId einsum) {
    std::size_t b = 0;
    while (branches[b].child->einsums.count(einsum) == 0) ++b;
    return b;
  };
  for (const auto& [tensor, memory] : split.forwards) {
    const EinsumId maker = *facts_.roles().sole_maker(tensor);
    Forward& forward = forwards.emplace_back(Forward{tensor, memory, maker, nullptr, 0, {}});
    forward.sender = program_.paths.at(maker).links.at(tensor).front().storage;
    forward.from = branch_of(maker);
    for (EinsumId reader : facts_.roles().consumers[tensor.index()]) {
      const std::pair receiver{program_.paths.at(reader).links.at(tensor).front().storage,
                               branch_of(reader)};
      if (std::find(forward.receivers.begin(), forward.receivers.end(), receiver) ==
          forward.receivers.end())
        forward.receivers.push_back(receiver);
    }
  }
  return forwards;
}

/// The lanes in which a child reaches its storage of a forwarded tensor.
Machine::Lanes Machine::lanes_of_forwarded(const SplitItem& split,
                                           const std::vector<Branch>& branches, std::size_t branch,
                                           const Step& step, const StorageItem& storage) {
  Lanes found;
  find_lanes(*branches[branch].child, 0,
             lanes_in_region(split, branches[branch], branch, step.lanes), storage, found);
  return found;
}

/// At the end of its maker's step every instance of every reader gets the tile that it will need in
/// the same step.
void Machine::forward(const SplitItem& split, const Forward& forward,
                      const std::vector<Branch>& branches, const Step& step, std::size_t number) {
  loop_steps_ = step.loop_steps;
  const Lanes makers = lanes_of_forwarded(split, branches, forward.from, step, *forward.sender);
  for (const Lane& maker : makers) {
    const Buffer& buffer = buffers_.at(*forward.sender, forward.maker, maker.ids.back());
    send_off(forward.tensor, buffer, buffer.points);
  }
  // The instances of loops above the split work side by side.
  const std::size_t n_common = step.lanes.empty() ? 0 : step.lanes.front().turns.size();
  std::map<std::vector<std::int64_t>, Delivery> deliveries;
  for (const auto& [storage, branch] : forward.receivers)
    for (const Lane& taker : lanes_of_forwarded(split, branches, branch, step, *storage)) {
      Points wanted = tile_of(*storage, taker);
      std::erase_if(wanted, [&](Element e) { return !points_.is_inside(forward.tensor, e); });
      const std::vector<std::int64_t> group(
          taker.turns.begin(), taker.turns.begin() + static_cast<std::ptrdiff_t>(n_common));
      forwarded_[{storage, number, taker.ids.back()}] =
          send_to(forward, makers, taker, n_common, std::move(wanted), deliveries[group]);
    }
  for (auto& [group, delivery] : deliveries) {
    deliver(forward, delivery);
    end_delivery(forward, group, delivery);
  }
}

/// What one instance of a reader gets, a message from each instance that has made some of it.
std::map<Element, double> Machine::send_to(const Forward& forward, const Lanes& makers,
                                           const Lane& taker, std::size_t n_common, Points missing,
                                           Delivery& delivery) {
  const auto absent = [&](const Points& points) {
    complaints_.add(ComplaintKind::kAbsentValue,
                    fmt::format("{} is to be forwarded before anybody has made it in this step.",
                                points_.name(forward.tensor, points)));
  };
  std::map<Element, double> received;
  for (const Lane& maker : makers) {
    if (!std::equal(taker.turns.begin(),
                    taker.turns.begin() + static_cast<std::ptrdiff_t>(n_common),
                    maker.turns.begin()))
      continue;
    const Points part = common(missing, points_.touched(workload_[forward.maker], forward.tensor,
                                                        true, maker.boxes.at(forward.maker)));
    missing = without(missing, part);
    Buffer& buffer = buffers_.at(*forward.sender, forward.maker, maker.ids.back());
    for (Element element : part) {
      const Cell* cell = buffer.find(element);
      if (cell && cell->is_made)
        received[element] = cell->value;
      else
        absent({element});
      makers_[forward.tensor.index()].forget(element);
    }
    if (!part.empty() &&
        instance_of(forward.memory, maker.place) != instance_of(forward.memory, taker.place))
      delivery.messages[{maker.place, part}].insert(taker.place);
  }
  if (!missing.empty()) absent(missing);
  return received;
}

/// Instances that get the same from one of a maker get it from one another, each time the nearest
/// one of those without from the nearest one with it, if all networks on their ways grow trees;
/// else each gets a message of its own.
void Machine::deliver(const Forward& forward, Delivery& delivery) {
  std::vector<ComponentId> way = path_to(arch_, program_.paths.at(forward.maker).compute);
  way.erase(std::find(way.begin(), way.end(), forward.memory) + 1, way.end());
  const auto links = [&](const InstancePlace& from, const InstancePlace& to) {
    const Route route = route_between(arch_, way, first_dimension_, from, to);
    return route.exists() ? links_between(route.group, route.from, route.to)
                          : std::vector<std::int64_t>(route.networks.size(), 0);
  };
  const auto grows_tree = [&](const InstancePlace& from, const InstancePlace& to) {
    const Route route = route_between(arch_, way, first_dimension_, from, to);
    const std::vector<std::int64_t> crossed = links(from, to);
    for (std::size_t n = 0; n < crossed.size(); ++n)
      if (crossed[n] > 0 && (!route.networks[n] ||
                             route.group.networks[n].network.multicast != Multicast::kGreedyTree))
        return false;
    return true;
  };
  for (const auto& [message, takers] : delivery.messages) {
    const auto values = static_cast<std::int64_t>(message.second.size());
    struct Server {
      InstancePlace place;
      std::vector<std::int64_t> way;
    };
    std::vector<Server> servers = {{message.first, {}}};
    const bool is_tree = std::all_of(takers.begin(), takers.end(), [&](const auto& taker) {
      return grows_tree(message.first, taker);
    });
    for (std::multiset<InstancePlace> waiting = takers; !waiting.empty();) {
      auto next = waiting.begin();
      std::size_t from = 0;
      for (auto taker = waiting.begin(); is_tree && taker != waiting.end(); ++taker)
        for (std::size_t h = 0; h < servers.size(); ++h)
          if (total(links(servers[h].place, *taker)) < total(links(servers[from].place, *next))) {
            next = taker;
            from = h;
          }
      Server taker{*next, servers[from].way};
      hand_on(forward, servers[from].place, taker.place, values, taker.way, delivery);
      if (is_tree) servers.push_back(std::move(taker));
      waiting.erase(next);
    }
  }
}

/// One message from the memory of one instance to that of another one, of values that have come
/// over these links before.
void Machine::hand_on(const Forward& forward, const InstancePlace& from, const InstancePlace& to,
                      std::int64_t values, std::vector<std::int64_t>& way_before,
                      Delivery& delivery) {
  std::vector<ComponentId> way = path_to(arch_, program_.paths.at(forward.maker).compute);
  way.erase(std::find(way.begin(), way.end(), forward.memory) + 1, way.end());
  const Route route = route_between(arch_, way, first_dimension_, from, to);
  if (!route.exists()) return;
  const std::vector<std::int64_t> links = links_between(route.group, route.from, route.to);
  const double bits = static_cast<double>(values) *
                      facts_.bits_per_value(forward.maker, forward.memory, forward.tensor);
  delivery.run.networks.resize(links.size());
  delivery.longest.resize(links.size(), 0);
  delivery.networks.resize(links.size());
  way_before.resize(links.size(), 0);
  for (std::size_t n = 0; n < links.size(); ++n) {
    if (links[n] == 0) continue;
    if (!route.networks[n]) {
      complaints_.add(ComplaintKind::kStructure,
                      fmt::format("{} is forwarded between instances of {}, and there is no "
                                  "network above it.",
                                  workload_[forward.tensor].name, arch_[route.containers[n]].name));
      return;
    }
    delivery.networks[n] = *route.networks[n];
    delivery.run.networks[n].volume_bits += bits;
    delivery.run.networks[n].bit_hops += bits * static_cast<double>(links[n]);
    way_before[n] += links[n];
  }
  // Of equally long routes the one with more links further out.
  if (std::make_pair(total(way_before), way_before) >
      std::make_pair(total(delivery.longest), delivery.longest))
    delivery.longest = way_before;
  delivery.values += values;
  ++delivery.instances;
}

/// All messages of a step go at once. One read where a value comes from, one write where it goes.
void Machine::end_delivery(const Forward& forward, const std::vector<std::int64_t>& key,
                           const Delivery& delivery) {
  if (delivery.values == 0) return;
  CollectiveRun run = delivery.run;
  for (std::size_t n = 0; n < run.networks.size(); ++n)
    run.networks[n].latency_hops = delivery.longest[n];
  collective_uses_.add_forward(forward.maker, forward.tensor, delivery.networks, key, run);
  for (const char* action : {"read", "write"})
    transfers_.counts.add(forward.maker, forward.memory, forward.tensor, action, delivery.values,
                          facts_.bits_per_value(forward.maker, forward.memory, forward.tensor));
  if (!records()) return;
  ExecutionStep step;
  step.kind = ExecutionStep::Kind::kCollective;
  step.einsum = forward.maker;
  step.tensor = forward.tensor;
  step.from = step.to = forward.memory;
  step.read = step.written = delivery.values;
  step.instances = delivery.instances;
  step.points = workload_[forward.tensor].name;
  record(std::move(step));
}

/// The maker keeps its tile, a reader one for each step in flight between the two.
void Machine::keep_forwarded(const SplitItem& split, const Forward& forward,
                             const std::vector<Branch>& branches, const std::deque<Step>& steps,
                             Parts& parts) {
  for (const Step& step : steps) {
    const bool is_below_loop = step.above.is_below_loop;
    keep(*forward.sender, lanes_of_forwarded(split, branches, forward.from, step, *forward.sender),
         1, is_below_loop, parts);
    for (const auto& [storage, branch] : forward.receivers) {
      const Lanes lanes = lanes_of_forwarded(split, branches, branch, step, *storage);
      const std::size_t tiles = std::min(branch - forward.from + 1, steps.size());
      keep(*storage, lanes, static_cast<double>(tiles), false, parts);
      keep(*storage, lanes, 1, is_below_loop, parts);
    }
  }
}

/// A reader's storage holds what was forwarded to it for the step that its child works on; padding
/// is there for free.
void Machine::open_receiving(const StorageItem& storage, const Lanes& lanes) {
  for (const Lane& lane : lanes) {
    Buffer& buffer = buffers_.at(storage, {}, lane.ids.back());
    buffer = Buffer{};
    buffer.move_to(tile_of(storage, lane));
    const std::map<Element, double>& received =
        forwarded_[{&storage, step_of_[&storage], lane.ids.back()}];
    for (std::size_t i = 0; i < buffer.points.size(); ++i) {
      const auto value = received.find(buffer.points[i]);
      if (value != received.end()) buffer.cells[i] = {value->second, true};
      if (!points_.is_inside(storage.tensor, buffer.points[i])) buffer.cells[i] = {0, true};
    }
  }
}

}  // namespace sluice::referee
