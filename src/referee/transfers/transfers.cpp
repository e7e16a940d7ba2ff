#include "transfers.h"

#include <fmt/format.h>

#include <algorithm>

#include "referee/points/scalar.h"
#include "sluice/support/error.h"

namespace sluice::referee {
namespace {

/// Whether a spatial loop leaves the indices of a tensor as they are.
bool is_irrelevant(const Einsum& einsum, TensorId tensor, bool is_output, const LoopItem& loop) {
  const auto variable = walked(loop, einsum);
  if (!variable) return true;
  return std::all_of(einsum.accesses.begin(), einsum.accesses.end(),
                     [&](const TensorAccess& access) {
                       return access.tensor != tensor || access.is_output != is_output ||
                              relevance(access, *variable) == Relevance::kIrrelevant;
                     });
}

}  // namespace

Transfers::Transfers(const Workload& workload, const Arch& arch, const Program& program,
                     const PointMap& points, Facts& facts, BufferTable& buffers,
                     Complaints& complaints)
    : workload_(workload),
      arch_(arch),
      program_(program),
      points_(points),
      facts_(facts),
      buffers_(buffers),
      complaints_(complaints),
      wires_(workload, arch, program, points) {}

const Crossing& Transfers::crossing(EinsumId einsum, TensorId tensor, bool is_output,
                                    std::size_t child) {
  auto [place, is_new] = crossings_.try_emplace({einsum, tensor, is_output, child});
  Crossing& crossing = place->second;
  if (!is_new) return crossing;
  const Path& path = program_.paths.at(einsum);
  const std::vector<Link>& links = path.links.at(tensor);
  crossing.einsum = einsum;
  crossing.tensor = tensor;
  crossing.is_output = is_output;
  crossing.child_depth = path.spatial.size();
  if (child < links.size()) {
    crossing.child = links[child].storage;
    crossing.child_depth = links[child].spatial_depth;
  }
  std::size_t parent = child;
  while (links[parent - 1].storage->is_toll) crossing.tolls.push_back(links[--parent]);
  crossing.parent = links[parent - 1];
  std::vector<std::size_t> peers;
  if (crossing.child && crossing.child->shared_by > 1)
    peers = loops_over_peers(workload_, einsum, path, links[child]);
  const bool compares_tiles = crossing.child && crossing.child->incremental && !is_output;
  for (const LoopItem* loop : path.spatial) {
    const bool may = facts_.may_reuse(einsum, loop->component, loop->dimension, tensor);
    const bool is_same = is_irrelevant(workload_[einsum], tensor, is_output, *loop);
    const bool differs =
        std::find(peers.begin(), peers.end(), crossing.shared.size()) != peers.end();
    crossing.shared.push_back(may && is_same && !differs);
    crossing.shares_equal_tiles.push_back(may && !is_same && compares_tiles);
  }
  crossing.journey = {einsum,
                      tensor,
                      crossing.parent.storage->component,
                      crossing.child ? crossing.child->component : path.compute,
                      crossing.parent.spatial_depth,
                      crossing.child_depth,
                      crossing.shared,
                      is_output,
                      child < links.size() ? links[child].loop_depth : path.loops.size()};
  return crossing;
}

/// Who gets its own message, as seen by a component below `depth` spatial loops: that component's
/// instance, and of the instances below it all that the network does not serve together.
std::vector<std::int64_t> Transfers::message_key(const Crossing& crossing, std::size_t depth,
                                                 const Lane& lane) const {
  std::vector<std::int64_t> key = {static_cast<std::int64_t>(lane.ids[depth])};
  for (std::size_t d = depth; d < crossing.child_depth; ++d)
    if (!crossing.shared[d] && !crossing.shares_equal_tiles[d]) key.push_back(lane.turns[d]);
  const std::vector<std::int64_t> shifts = tile_shifts(crossing, depth, lane);
  key.insert(key.end(), shifts.begin(), shifts.end());
  return key;
}

/// How far the turns that share a message where their tiles are equal move the tile: per component
/// (instances of one fanout hear each other) and rank.
std::vector<std::int64_t> Transfers::tile_shifts(const Crossing& crossing, std::size_t depth,
                                                 const Lane& lane) const {
  const Einsum& einsum = workload_[crossing.einsum];
  const std::vector<const LoopItem*>& loops = program_.paths.at(crossing.einsum).spatial;
  std::map<ComponentId, std::vector<std::int64_t>> shifts;
  for (std::size_t d = depth; d < crossing.child_depth; ++d) {
    if (!crossing.shares_equal_tiles[d]) continue;
    std::vector<std::int64_t>& of_component = shifts[loops[d]->component];
    std::size_t place = 0;
    for (const TensorAccess& access : einsum.accesses)
      for (std::size_t rank = 0; rank < access.projection.size(); ++rank) {
        if (access.tensor != crossing.tensor || access.is_output) continue;
        of_component.resize(std::max(of_component.size(), place + 1), 0);
        of_component[place++] +=
            access.projection[rank].coefficient_of(*walked(*loops[d], einsum)) * lane.turns[d] *
            loops[d]->tile_shape;
      }
  }
  std::vector<std::int64_t> result;
  for (const auto& [component, of_component] : shifts)
    result.insert(result.end(), of_component.begin(), of_component.end());
  return result;
}

std::int64_t Transfers::repetitions(EinsumId einsum) const {
  return workload_.n_instances * workload_[einsum].n_instances;
}

void Transfers::add(EinsumId einsum, ComponentId component, TensorId tensor, const char* action,
                    std::int64_t count) {
  if (count == 0) return;
  counts.add(einsum, component, tensor, action, count,
             facts_.bits_per_value(einsum, component, tensor));
}

std::int64_t Transfers::count_messages(const Crossing& crossing, const Link& at,
                                       const std::vector<Party>& parties, const char* action) {
  std::map<std::vector<std::int64_t>, Points> messages;
  for (const Party& party : parties) {
    if (party.points.empty()) continue;
    Points& points = messages[message_key(crossing, at.spatial_depth, *party.lane)];
    points = points.empty() ? party.points : united(points, party.points);
  }
  std::int64_t count = 0;
  for (const auto& [key, points] : messages) {
    count += static_cast<std::int64_t>(points.size());
    if (!at.storage->is_toll)
      padding_values +=
          repetitions(crossing.einsum) * points_.count_padding(crossing.tensor, points);
  }
  add(crossing.einsum, at.storage->component, crossing.tensor, action, count);
  return count;
}

void Transfers::count_child(const Crossing& crossing, const std::vector<Party>& parties,
                            const char* action) {
  if (!crossing.child) return;
  for (const Party& party : parties)
    add(crossing.einsum, crossing.child->component, crossing.tensor, action,
        static_cast<std::int64_t>(party.points.size()));
}

bool Transfers::counts_drains(const Crossing& crossing) const {
  return crossing.child && std::get<Memory>(arch_[crossing.child->component].kind).draining_reads ==
                               DrainingReads::kCounted;
}

/// Whether a toll counts what passes in a direction.
bool Transfers::charges(const Link& toll, bool is_down) const {
  const auto direction = std::get<Toll>(arch_[toll.storage->component].kind).direction;
  return direction == Toll::Direction::kUpAndDown ||
         direction == (is_down ? Toll::Direction::kDown : Toll::Direction::kUp);
}

void Transfers::count_tolls(const Crossing& crossing, const std::vector<Party>& parties,
                            bool is_down) {
  for (const Link& toll : crossing.tolls)
    if (charges(toll, is_down)) count_messages(crossing, toll, parties, "read");
}

Buffer& Transfers::parent_buffer(const Crossing& crossing, const Lane& lane) {
  return buffers_.at(*crossing.parent.storage, crossing.einsum,
                     lane.ids[crossing.parent.spatial_depth]);
}

void Transfers::complain_absent(const Crossing& crossing, Element element) {
  complaints_.add(
      ComplaintKind::kAbsentValue,
      fmt::format("The Einsum {} looks for {} in {}, which does not hold it.",
                  workload_[crossing.einsum].name, points_.name(crossing.tensor, element),
                  arch_[crossing.parent.storage->component].name));
}

bool Transfers::is_dropped(const Crossing& crossing, Element element) const {
  return crossing.parent.storage->is_backing && points_.has_padding(crossing.tensor) &&
         !points_.is_inside(crossing.tensor, element);
}

void Transfers::drop_first_sights(const Crossing& crossing, std::vector<Party>& parties) {
  for (Party& party : parties) {
    if (party.points.empty()) continue;
    Points known;
    SparseElementSet& seen_before = seen(crossing, party.lane->ids[crossing.child_depth]);
    for (Element element : party.points)
      if (!seen_before.insert(element)) known.push_back(element);
    party.points = std::move(known);
  }
}

std::int64_t Transfers::fill(const Crossing& crossing, std::vector<Party>& parties) {
  const std::int64_t read = count(crossing, parties, true, nullptr);
  for (Party& party : parties) {
    party.cells.assign(party.points.size(), Cell{});
    if (party.points.empty()) continue;
    Buffer& parent = parent_buffer(crossing, *party.lane);
    std::size_t next = 0;
    for (std::size_t i = 0; i < party.points.size(); ++i) {
      Cell* cell = parent.find_next(party.points[i], next);
      if (!cell) {
        complain_absent(crossing, party.points[i]);
        continue;
      }
      party.cells[i] = *cell;
      // A partial sum is in one place at a time: whoever fetches it first goes on with it; the
      // other instances start from nothing, and all of them meet again where they are drained.
      if (!crossing.is_output) continue;
      cell->is_made = is_dropped(crossing, party.points[i]);
      party.cells[i].was_read = true;
    }
  }
  return read;
}

void Transfers::hand_on(const Crossing& crossing,
                        const std::vector<std::pair<Party, Party>>& moves) {
  const ComponentId component = crossing.child->component;
  for (const auto& [from, to] : moves)
    for (const char* action : {"read", "write"})
      counts.add(crossing.einsum, component, crossing.tensor, action,
                 static_cast<std::int64_t>(from.points.size()),
                 facts_.bits_per_value(crossing.einsum, component, crossing.tensor));
  wires_.hand_on(crossing.journey, crossing.child->over->first, moves);
}

/// Counts what goes down, or up. `pattern`: set where messages are shared regularly.
std::int64_t Transfers::count(const Crossing& crossing, const std::vector<Party>& parties,
                              bool is_down, const MessagePattern** pattern) {
  const char* const at_parent = is_down ? "read" : "write";
  if (is_down || counts_drains(crossing))
    count_child(crossing, parties, is_down ? "write" : "read");
  const bool returns = is_down && crossing.is_output;
  if (!parties.empty() && std::none_of(parties.begin(), parties.end(),
                                       [](const Party& party) { return party.points.empty(); })) {
    const MessagePattern& regular = pattern_of(crossing, parties, returns);
    if (const auto counted = count_by_pattern(crossing, regular, parties, is_down)) {
      if (pattern) *pattern = &regular;
      return *counted;
    }
  }
  const std::int64_t counted = count_messages(crossing, crossing.parent, parties, at_parent);
  count_tolls(crossing, parties, is_down);
  wires_.carry(crossing.journey, parties, returns);
  return counted;
}

std::optional<std::int64_t> Transfers::count_by_pattern(const Crossing& crossing,
                                                        const MessagePattern& pattern,
                                                        const std::vector<Party>& parties,
                                                        bool is_down) {
  const auto is_same = [&](const std::pair<std::size_t, std::size_t>& two) {
    return parties[two.first].points == parties[two.second].points;
  };
  if (!pattern.on_networks.is_regular ||
      !std::all_of(pattern.together.begin(), pattern.together.end(), is_same))
    return std::nullopt;
  const auto values = [&](std::size_t party) {
    return static_cast<std::int64_t>(parties[party].points.size());
  };
  std::int64_t at_parent = 0;
  for (const std::size_t first : pattern.at_parent.first) {
    at_parent += values(first);
    if (points_.has_padding(crossing.tensor))
      count_padding(crossing, points_.count_padding(crossing.tensor, parties[first].points));
  }
  add(crossing.einsum, crossing.parent.storage->component, crossing.tensor,
      is_down ? "read" : "write", at_parent);
  for (std::size_t t = 0; t < crossing.tolls.size(); ++t) {
    if (!charges(crossing.tolls[t], is_down)) continue;
    std::int64_t passing = 0;
    for (const std::size_t first : pattern.at_tolls[t].first) passing += values(first);
    add(crossing.einsum, crossing.tolls[t].storage->component, crossing.tensor, "read", passing);
  }
  for (const Wires::Pattern::OnNetwork& network : pattern.on_networks.networks) {
    *network.is_used = true;
    for (const Wires::Pattern::Message& message : network.messages) {
      *network.deliveries += values(message.first) * message.nodes;
      *network.half_hops += values(message.first) * message.half_hops;
    }
    for (const auto& [sum, links] : network.longest) *sum += links;
  }
  return at_parent;
}

void Transfers::count_regular(const Crossing& crossing, const MessagePattern& pattern, bool is_down,
                              std::int64_t values, std::int64_t times) {
  if (times == 0) return;
  const std::int64_t all = values * times;
  const auto passing = [&](const MessagePattern::Messages& messages) {
    return all * static_cast<std::int64_t>(messages.first.size());
  };
  add(crossing.einsum, crossing.parent.storage->component, crossing.tensor,
      is_down ? "read" : "write", passing(pattern.at_parent));
  for (std::size_t t = 0; t < crossing.tolls.size(); ++t)
    if (charges(crossing.tolls[t], is_down))
      add(crossing.einsum, crossing.tolls[t].storage->component, crossing.tensor, "read",
          passing(pattern.at_tolls[t]));
  for (const Wires::Pattern::OnNetwork& network : pattern.on_networks.networks) {
    *network.is_used = true;
    for (const Wires::Pattern::Message& message : network.messages) {
      *network.deliveries += all * message.nodes;
      *network.half_hops += all * message.half_hops;
    }
    for (const auto& [sum, links] : network.longest) *sum += times * links;
  }
}

void Transfers::count_singly(const Crossing& crossing, std::int64_t values) {
  add(crossing.einsum, crossing.parent.storage->component, crossing.tensor, "read", values);
  for (const Link& toll : crossing.tolls)
    if (charges(toll, true))
      add(crossing.einsum, toll.storage->component, crossing.tensor, "read", values);
}

const MessagePattern& Transfers::pattern_of(const Crossing& crossing,
                                            const std::vector<Party>& parties, bool returns) {
  std::vector<std::size_t> instances;
  instances.reserve(parties.size());
  for (const Party& party : parties) instances.push_back(party.lane->ids[crossing.child_depth]);
  auto [place, is_new] =
      patterns_[{&crossing, returns}].try_emplace(std::move(instances), MessagePattern{});
  MessagePattern& pattern = place->second;
  if (!is_new) return pattern;
  pattern.at_parent = messages_of(crossing, crossing.parent.spatial_depth, parties, pattern);
  for (const Link& toll : crossing.tolls)
    pattern.at_tolls.push_back(messages_of(crossing, toll.spatial_depth, parties, pattern));
  pattern.shares_messages = !pattern.together.empty();
  pattern.on_networks = wires_.pattern_of(crossing.journey, parties, returns);
  const auto& on_networks = pattern.on_networks.together;
  pattern.together.insert(pattern.together.end(), on_networks.begin(), on_networks.end());
  std::sort(pattern.together.begin(), pattern.together.end());
  pattern.together.erase(std::unique(pattern.together.begin(), pattern.together.end()),
                         pattern.together.end());
  return pattern;
}

/// Who shares a message, as seen from below `depth` spatial loops.
MessagePattern::Messages Transfers::messages_of(const Crossing& crossing, std::size_t depth,
                                                const std::vector<Party>& parties,
                                                MessagePattern& pattern) const {
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> by_key;
  for (std::size_t p = 0; p < parties.size(); ++p)
    by_key[message_key(crossing, depth, *parties[p].lane)].push_back(p);
  MessagePattern::Messages messages;
  for (const auto& [key, members] : by_key) {
    messages.first.push_back(members.front());
    messages.sorted.insert(messages.sorted.end(), members.begin(), members.end());
    messages.ends.push_back(messages.sorted.size());
    for (std::size_t m = 1; m < members.size(); ++m)
      pattern.together.emplace_back(members[m], members.front());
  }
  return messages;
}

std::int64_t Transfers::drain(const Crossing& crossing, const std::vector<Party>& parties) {
  const MessagePattern* pattern = nullptr;
  const std::int64_t written = count(crossing, parties, false, &pattern);
  std::int64_t merged = 0;
  if (pattern) {
    const MessagePattern::Messages& messages = pattern->at_parent;
    const std::size_t* begin = messages.sorted.data();
    for (const std::size_t end : messages.ends) {
      drain_message(crossing, parties, begin, messages.sorted.data() + end, merged);
      begin = messages.sorted.data() + end;
    }
  } else {
    merged = drain_one_by_one(crossing, parties);
  }
  count_merged(crossing, merged);
  return written;
}

void add_up(Reduction reduction, const Cell& part, Cell& sum) {
  sum.was_read = sum.was_read || part.was_read;
  if (!part.is_made) return;
  sum.value = sum.is_made ? combined(reduction, sum.value, part.value) : part.value;
  sum.is_made = true;
}

bool merge(Reduction reduction, const Cell& message, bool is_first, Cell& sum) {
  // Who has read what was there writes its sum back; to add to it unread takes one more read, also
  // while another instance has it, which will write its own part back.
  const bool is_merged = !is_first && !message.was_read;
  if (!message.is_made) return is_merged;
  sum.value = sum.is_made ? combined(reduction, sum.value, message.value) : message.value;
  sum.is_made = true;
  return is_merged;
}

bool Transfers::merge_into(const Crossing& crossing, Element element, const Cell& message,
                           bool is_first, Cell& cell) const {
  Cell dropped = cell;
  return merge(workload_[crossing.einsum].expression.reduction, message, is_first,
               is_dropped(crossing, element) ? dropped : cell);
}

/// One message of parties with the same points.
void Transfers::drain_message(const Crossing& crossing, const std::vector<Party>& parties,
                              const std::size_t* begin, const std::size_t* end,
                              std::int64_t& merged) {
  const Reduction reduction = workload_[crossing.einsum].expression.reduction;
  Buffer& parent = parent_buffer(crossing, *parties[*begin].lane);
  const Points& points = parties[*begin].points;
  SparseElementSet& given = drained(crossing, *parties[*begin].lane);
  std::size_t next = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Cell message;
    for (const std::size_t* party = begin; party != end; ++party)
      add_up(reduction, parties[*party].cells[i], message);
    Cell* const cell = parent.find_next(points[i], next);
    if (!cell)
      complain_absent(crossing, points[i]);
    else if (merge_into(crossing, points[i], message, given.insert(points[i]), *cell))
      ++merged;
  }
}

/// Where parties of one message differ. Returns what was merged.
std::int64_t Transfers::drain_one_by_one(const Crossing& crossing,
                                         const std::vector<Party>& parties) {
  const Reduction reduction = workload_[crossing.einsum].expression.reduction;
  std::map<std::pair<std::vector<std::int64_t>, Element>, std::pair<const Lane*, Cell>> messages;
  for (const Party& party : parties) {
    const auto key = message_key(crossing, crossing.parent.spatial_depth, *party.lane);
    for (std::size_t i = 0; i < party.points.size(); ++i) {
      auto& [lane, cell] = messages[{key, party.points[i]}];
      lane = party.lane;
      add_up(reduction, party.cells[i], cell);
    }
  }
  std::int64_t merged = 0;
  for (const auto& [key, message] : messages) {
    Cell* cell = parent_buffer(crossing, *message.first).find(key.second);
    if (!cell)
      complain_absent(crossing, key.second);
    else if (merge_into(crossing, key.second, message.second,
                        drained(crossing, *message.first).insert(key.second), *cell))
      ++merged;
  }
  return merged;
}

void Transfers::count_merged(const Crossing& crossing, std::int64_t merged) {
  const ComponentId memory = crossing.parent.storage->component;
  if (std::get<Memory>(arch_[memory].kind).merging_reads == MergingReads::kCounted)
    add(crossing.einsum, memory, crossing.tensor, "read", merged);
  else
    merge_values += merged * repetitions(crossing.einsum);
}

}  // namespace sluice::referee
