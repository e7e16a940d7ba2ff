#include "wires.h"

#include <algorithm>

namespace sluice::referee {

void Wires::carry(const Journey& journey, const std::vector<Party>& parties, bool returns,
                  std::optional<std::int64_t> visit) {
  for (ComponentId network : networks_of(journey, returns))
    carry_over(stretch_of(network, journey, returns), journey, parties, visit);
}

/// The networks on the way that count what is carried.
std::vector<ComponentId> Wires::networks_of(const Journey& journey, bool returns) const {
  const std::vector<ComponentId> way = path_to(arch_, program_.paths.at(journey.einsum).compute);
  auto at = std::find(way.begin(), way.end(), journey.outer);
  const auto end = std::find(at, way.end(), journey.inner);
  std::vector<ComponentId> networks;
  for (; at != end; ++at) {
    const Network* network = std::get_if<Network>(&arch_[*at].kind);
    if (network && !(returns && network->returning_sums == ReturningSums::kFree))
      networks.push_back(*at);
  }
  return networks;
}

Wires::Pattern Wires::pattern_of(const Journey& journey, const std::vector<Party>& parties,
                                 bool returns) {
  Pattern pattern;
  for (ComponentId network : networks_of(journey, returns)) {
    const Stretch stretch = stretch_of(network, journey, returns);
    pattern.is_regular = pattern.is_regular && !stretch.holder;
    std::map<std::pair<Key, Key>, std::pair<std::size_t, std::set<NetworkNode>>> messages;
    for (std::size_t p = 0; p < parties.size(); ++p) {
      const Address address = address_of(stretch, journey, parties[p]);
      auto& [first, nodes] =
          messages.try_emplace({address.instance, address.message}, p, std::set<NetworkNode>{})
              .first->second;
      nodes.insert(address.node);
      if (first != p) pattern.together.emplace_back(p, first);
    }
    Use& use = uses_[{journey.einsum, network, journey.tensor}];
    Pattern::OnNetwork& on = pattern.networks.emplace_back();
    on.is_used = &use.is_used;
    on.deliveries = &use.deliveries;
    on.half_hops = &use.half_hops;
    std::map<Key, std::int64_t> longest;
    for (const auto& [key, message] : messages) {
      const Reached reached = reach(stretch, message.second, message.second);
      on.messages.push_back(
          {message.first, static_cast<std::int64_t>(message.second.size()), reached.half_hops});
      longest[key.first] = std::max(longest[key.first], reached.longest);
    }
    for (const auto& [instance, links] : longest)
      on.longest.emplace_back(&use.longest[instance], links);
  }
  return pattern;
}

/// The links to those nodes that pay for them, and how many there are to the one of all that is
/// farthest away.
Wires::Reached Wires::reach(const Stretch& stretch, const std::set<NetworkNode>& all,
                            const std::set<NetworkNode>& paying) const {
  const auto spread = [&](const std::set<NetworkNode>& nodes) {
    return spread_to(*stretch.kind, stretch.fanouts, nodes, stretch.gathers);
  };
  Reached reached;
  reached.longest = spread(all).longest;
  for (const Wire& wire : spread(paying).wires) reached.half_hops += wire.half_hops;
  return reached;
}

Wires::Stretch Wires::stretch_of(ComponentId network, const Journey& journey, bool returns) const {
  const Path& path = program_.paths.at(journey.einsum);
  const std::vector<ComponentId> way = path_to(arch_, path.compute);
  const auto own = std::find(way.begin(), way.end(), network);
  const auto fanned =
      std::find_if(own, way.end(), [&](ComponentId c) { return !arch_[c].spatial.empty(); });
  Stretch stretch;
  stretch.network = network;
  stretch.kind = &std::get<Network>(arch_[network].kind);
  stretch.gathers = journey.is_output && !returns;
  if (fanned != way.end()) {
    stretch.fanned = *fanned;
    for (const SpatialDimension& dimension : arch_[*fanned].spatial)
      stretch.fanouts.push_back(dimension.fanout);
    for (std::size_t c = 0; c < fanned->index(); ++c)
      stretch.first_dimension += arch_.components[c].spatial.size();
  }
  for (std::size_t d = 0; d < journey.inner_depth; ++d)
    stretch.above.push_back(d < journey.outer_depth ||
                            std::find(way.begin(), own, path.spatial[d]->component) != own);
  if (stretch.kind->repeated_values == RepeatedValues::kFree)
    stretch.holder = holder_of(stretch, journey, returns);
  return stretch;
}

/// None where the inner end itself stands right behind the network's instances, and for copies.
std::optional<Holder> Wires::holder_of(const Stretch& stretch, const Journey& journey,
                                       bool returns) const {
  const Path& path = program_.paths.at(journey.einsum);
  std::size_t n_loops = 0;
  for (std::size_t d = journey.outer_depth; d < journey.inner_depth; ++d)
    if (path.spatial[d]->component == stretch.fanned)
      n_loops = static_cast<std::size_t>(
          std::find(path.loops.begin(), path.loops.end(), path.spatial[d]) - path.loops.begin() +
          1);
  const bool is_there = n_loops == journey.inner_loops && journey.inner != path.compute;
  if (n_loops == 0 || is_there || workload_[journey.einsum].is_copy_operation) return std::nullopt;
  return Holder{journey.einsum,    stretch.network, journey.tensor,
                journey.is_output, returns,         n_loops};
}

Wires::Address Wires::address_of(const Stretch& stretch, const Journey& journey,
                                 const Party& party) const {
  const Path& path = program_.paths.at(journey.einsum);
  Address address;
  address.node.assign(stretch.fanouts.size(), 0);
  std::int64_t number = 0;  // in the order of the loops
  for (std::size_t d = 0; d < journey.inner_depth; ++d) {
    const LoopItem& loop = *path.spatial[d];
    const std::int64_t turn = party.lane->turns[d];
    if (stretch.above[d]) {
      address.instance.push_back(turn);
      continue;
    }
    if (!journey.shared[d]) {
      address.message.push_back(turn);
      const auto holder_end =
          path.loops.begin() + (stretch.holder ? static_cast<long>(stretch.holder->n_loops) : 0);
      if (std::find(path.loops.begin(), holder_end, &loop) != holder_end)
        address.holder.push_back(turn);
    }
    if (loop.component != stretch.fanned) continue;
    const auto steps = loop.steps.find(journey.einsum);
    const auto turns = static_cast<std::int64_t>(steps == loop.steps.end() ? 1 : steps->second);
    address.node[loop.dimension] = address.node[loop.dimension] * turns + turn;
    number = number * turns + turn;
  }
  if (stretch.kind->layout == NodeLayout::kPacked)
    for (std::size_t d = 0; d < stretch.fanouts.size(); ++d) {
      address.node[d] = number % stretch.fanouts[d];
      number /= stretch.fanouts[d];
    }
  for (std::size_t d = 0; d < stretch.fanouts.size(); ++d)
    address.node[d] += party.lane->origin(stretch.first_dimension + d);
  for (const Key* key : {&address.instance, &address.node})
    address.holder.insert(address.holder.end(), key->begin(), key->end());
  return address;
}

void Wires::carry_over(const Stretch& stretch, const Journey& journey,
                       const std::vector<Party>& parties, std::optional<std::int64_t> visit) {
  // Who gets each value, by instance of the network and message; and for whom it pays hops.
  struct Nodes {
    std::set<NetworkNode> all, paying;
    auto operator<=>(const Nodes&) const = default;
  };
  std::map<std::pair<Key, Key>, std::map<Element, Nodes>> messages;
  for (const Party& party : parties) {
    const Address address = address_of(stretch, journey, party);
    auto& values = messages[{address.instance, address.message}];
    for (Element element : party.points) values[element].all.insert(address.node);
    const Points paying =
        stretch.holder ? held_.take_new(*stretch.holder, address.holder, party) : party.points;
    for (Element element : paying) values[element].paying.insert(address.node);
  }
  Use& use = uses_[{journey.einsum, stretch.network, journey.tensor}];
  use.is_used = true;
  std::map<Key, std::int64_t> longest;
  for (const auto& [key, values] : messages) {
    std::map<Nodes, std::int64_t> together;
    for (const auto& [element, nodes] : values) ++together[nodes];
    for (const auto& [nodes, count] : together) {
      const Reached reached = reach(stretch, nodes.all, nodes.paying);
      longest[key.first] = std::max(longest[key.first], reached.longest);
      use.deliveries += count * static_cast<std::int64_t>(nodes.all.size());
      use.half_hops += count * reached.half_hops;
    }
  }
  for (const auto& [instance, links] : longest)
    if (visit) {
      std::int64_t& most = use.longest_of_copies[instance][*visit];
      most = std::max(most, links);
    } else {
      use.longest[instance] += links;
    }
}

void Wires::hand_on(const Journey& journey, ComponentId linked,
                    const std::vector<std::pair<Party, Party>>& moves) {
  for (const ComponentId network : networks_of(journey, false)) {
    const Stretch stretch = stretch_of(network, journey, false);
    if (stretch.fanned != linked) continue;
    Use& use = uses_[{journey.einsum, network, journey.tensor}];
    use.is_used = true;
    std::map<Key, std::int64_t> longest;
    for (const auto& [from, to] : moves) {
      const Address giver = address_of(stretch, journey, from);
      const Address taker = address_of(stretch, journey, to);
      const auto exists = [&](const NetworkNode& node) {  // else the walk complains
        return std::equal(node.begin(), node.end(), stretch.fanouts.begin(), std::less<>());
      };
      if (!exists(giver.node) || !exists(taker.node)) continue;
      const std::int64_t links =
          links_walked(*stretch.kind, stretch.fanouts, giver.node, taker.node);
      const auto values = static_cast<std::int64_t>(from.points.size());
      use.deliveries += values;
      use.half_hops += 2 * links * values;
      longest[taker.instance] = std::max(longest[taker.instance], links);
    }
    for (const auto& [instance, links] : longest) use.longest[instance] += links;
  }
}

std::vector<NetworkCount> Wires::totals(Facts& facts) const {
  std::vector<NetworkCount> rows;
  for (const auto& [what, use] : uses_) {
    if (!use.is_used) continue;
    const auto& [einsum, network, tensor] = what;
    const double times = static_cast<double>(workload_.n_instances * workload_[einsum].n_instances);
    const double width = facts.bits_per_value(einsum, network, tensor);
    std::int64_t most = 0;
    std::map<Key, std::int64_t> sums = use.longest;
    for (const auto& [instance, visits] : use.longest_of_copies)
      for (const auto& [visit, links] : visits) sums[instance] += links;
    for (const auto& [instance, sum] : sums) most = std::max(most, sum);
    rows.push_back({einsum, network, tensor, static_cast<double>(use.deliveries) * width * times,
                    static_cast<double>(use.half_hops) / 2 * width * times,
                    static_cast<double>(most) * times});
  }
  return rows;
}

}  // namespace sluice::referee
