#include "sluice/model/collective_algorithm.h"

#include <algorithm>

#include "model/topology/ports.h"
#include "sluice/support/checked.h"

namespace sluice {

CollectiveTally::CollectiveTally(const CollectiveRequest& request) : request_(request) {
  const CollectiveGroup& group = request.group;
  std::int64_t participants = 1;
  for (const CollectiveDimension& dimension : group.over)
    participants = checked_multiply(participants, dimension.participants);
  for (const CollectiveNetwork& network : group.networks) {
    doors_.emplace_back(network.fanouts.size(), 0);
    kinds_.push_back(&routes_over(network.network.topology));
  }
  for (std::int64_t rank = 0; rank < participants; ++rank) nodes_.push_back(node_of(rank));
  route_.resize(group.networks.size());
  longest_.resize(group.networks.size());
  networks_.resize(group.networks.size());
}

CollectiveTally::Node CollectiveTally::node_of(std::int64_t rank) const {
  const CollectiveGroup& group = request_.group;
  Node node = group.standing_at.empty() ? doors_ : group.standing_at;
  std::int64_t stride = 1;
  for (std::size_t d = group.over.size(); d-- > 0;) {
    const CollectiveDimension& dimension = group.over[d];
    node[dimension.network][dimension.dimension] =
        dimension.first + rank / stride % dimension.participants;
    stride *= dimension.participants;
  }
  return node;
}

/// Below the outermost network where the ends differ, the way leads over the ports.
void CollectiveTally::find_route(const Node& from, const Node& to) {
  bool through_door = false;
  route_hops_ = 0;
  for (std::size_t n = 0; n < route_.size(); ++n) {
    const auto& [network, fanouts] = request_.group.networks[n];
    route_[n] = through_door ? hops_from_port(network, fanouts, from[n]) +
                                   hops_from_port(network, fanouts, to[n])
                             : kinds_[n]->hops(fanouts, from[n], to[n]);
    if (n + 1 < route_.size()) through_door |= from[n] != to[n];
    route_hops_ += route_[n];
  }
}

std::int64_t CollectiveTally::hops(std::int64_t from, std::int64_t to) {
  return hops(nodes_[static_cast<std::size_t>(from)], nodes_[static_cast<std::size_t>(to)]);
}

std::int64_t CollectiveTally::hops(const Node& from, const Node& to) {
  find_route(from, to);
  return route_hops_;
}

void CollectiveTally::send(std::int64_t from, std::int64_t to, std::int64_t values,
                           Arrival arrival) {
  send(nodes_[static_cast<std::size_t>(from)], nodes_[static_cast<std::size_t>(to)], values,
       arrival);
}

void CollectiveTally::send(const Node& from, const Node& to, std::int64_t values, Arrival arrival) {
  way_.assign(route_.size(), 0);
  relay(from, to, values, way_.data());
  if (arrival == Arrival::kCombined) combined_ = checked_add(combined_, values);
}

void CollectiveTally::relay(const Node& from, const Node& to, std::int64_t values,
                            std::int64_t* links) {
  if (values == 0) return;
  find_route(from, to);
  const auto add = [values](Values& sum, std::int64_t hops) {
    sum.values = checked_add(sum.values, values);
    sum.value_hops = checked_add(sum.value_hops, checked_multiply(values, hops));
  };
  add(total_, route_hops_);
  std::int64_t way = 0;
  for (std::size_t n = 0; n < route_.size(); ++n) {
    if (route_[n] > 0) add(networks_[n], route_[n]);
    way += links[n] += route_[n];
  }
  note_length(way, links);
}

void CollectiveTally::send_each(const Node& from, const std::vector<const Node*>& to,
                                std::int64_t values) {
  if (values == 0) return;
  struct Sum {
    std::int64_t messages = 0, hops = 0;
  };
  std::vector<Sum> sums(networks_.size());
  Sum all;
  for (const Node* node : to) {
    find_route(from, *node);
    ++all.messages;
    all.hops += route_hops_;
    for (std::size_t n = 0; n < route_.size(); ++n) {
      sums[n].messages += route_[n] > 0 ? 1 : 0;
      sums[n].hops += route_[n];
    }
    if (route_hops_ >= longest_hops_) note_length(route_hops_, route_.data());
  }
  const auto add = [values](Values& sum, const Sum& more) {
    sum.values = checked_add(sum.values, checked_multiply(values, more.messages));
    sum.value_hops = checked_add(sum.value_hops, checked_multiply(values, more.hops));
  };
  add(total_, all);
  for (std::size_t n = 0; n < sums.size(); ++n) add(networks_[n], sums[n]);
}

void CollectiveTally::relay(const Relays& relays, std::int64_t values) {
  if (values == 0) return;
  const auto add = [&](Values& sum, std::int64_t messages) {
    sum.values = checked_add(sum.values, checked_multiply(values, messages));
    sum.value_hops = checked_add(sum.value_hops, checked_multiply(values, relays.links));
  };
  add(total_, relays.messages);
  add(networks_.front(), relays.over_links);
  note_length(relays.longest_way, &relays.longest_way);
}

/// Of equally long ways the one with more links further out.
void CollectiveTally::note_length(std::int64_t hops, const std::int64_t* links) {
  const std::vector<std::int64_t>& known = longest_;
  if (hops < longest_hops_ ||
      (hops == longest_hops_ &&
       !std::lexicographical_compare(known.begin(), known.end(), links, links + known.size())))
    return;
  longest_hops_ = hops;
  longest_.assign(links, links + known.size());
}

void CollectiveTally::end_step() {
  total_.latency_hops += longest_hops_;
  for (std::size_t n = 0; n < longest_.size(); ++n) networks_[n].latency_hops += longest_[n];
  longest_hops_ = 0;
  std::fill(longest_.begin(), longest_.end(), 0);
}

CollectiveCounts CollectiveTally::counts() const {
  const auto in_bits = [&](const Values& sum) {
    return CollectiveQuantities{sum.latency_hops,
                                static_cast<double>(sum.values) * request_.bits_per_value,
                                static_cast<double>(sum.value_hops) * request_.bits_per_value};
  };
  CollectiveCounts counts;
  counts.total = in_bits(total_);
  for (const Values& network : networks_) counts.networks.push_back(in_bits(network));
  counts.combined_values = combined_;
  return counts;
}

}  // namespace sluice
