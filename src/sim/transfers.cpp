#include "transfers.h"

#include <fmt/format.h>

#include <algorithm>

#include "scalar.h"
#include "sluice/support/error.h"

namespace sluice::sim {
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
  const bool compares_tiles = crossing.child && crossing.child->incremental && !is_output;
  for (const LoopItem* loop : path.spatial) {
    const bool may = facts_.may_reuse(einsum, loop->component, loop->dimension, tensor);
    const bool is_same = is_irrelevant(workload_[einsum], tensor, is_output, *loop);
    crossing.shared.push_back(may && is_same);
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

void Transfers::count_tolls(const Crossing& crossing, const std::vector<Party>& parties,
                            bool is_down) {
  for (const Link& toll : crossing.tolls) {
    const auto direction = std::get<Toll>(arch_[toll.storage->component].kind).direction;
    const auto wanted = is_down ? Toll::Direction::kDown : Toll::Direction::kUp;
    if (direction == wanted || direction == Toll::Direction::kUpAndDown)
      count_messages(crossing, toll, parties, "read");
  }
}

Buffer& Transfers::parent_buffer(const Crossing& crossing, const Lane& lane) {
  return buffers_.at(*crossing.parent.storage, crossing.einsum,
                     lane.ids[crossing.parent.spatial_depth]);
}

Cell* Transfers::parent_cell(const Crossing& crossing, const Lane& lane, Element element) {
  Cell* cell = parent_buffer(crossing, lane).find(element);
  if (!cell)
    complaints_.add(
        ComplaintKind::kAbsentValue,
        fmt::format("The Einsum {} looks for {} in {}, which does not hold it.",
                    workload_[crossing.einsum].name, points_.name(crossing.tensor, element),
                    arch_[crossing.parent.storage->component].name));
  return cell;
}

void Transfers::drop_first_sights(const Crossing& crossing, std::vector<Party>& parties) {
  for (Party& party : parties) {
    Points known;
    for (Element element : party.points)
      if (!seen_.insert({&crossing, party.lane->ids[crossing.child_depth], element}).second)
        known.push_back(element);
    party.points = std::move(known);
  }
}

std::int64_t Transfers::fill(const Crossing& crossing, std::vector<Party>& parties) {
  const std::int64_t read = count_messages(crossing, crossing.parent, parties, "read");
  count_child(crossing, parties, "write");
  count_tolls(crossing, parties, true);
  wires_.carry(crossing.journey, parties, crossing.is_output, ++transfers_);
  for (Party& party : parties) {
    party.cells.assign(party.points.size(), Cell{});
    for (std::size_t i = 0; i < party.points.size(); ++i) {
      Cell* cell = parent_cell(crossing, *party.lane, party.points[i]);
      if (!cell) continue;
      party.cells[i] = *cell;
      // A partial sum is in one place at a time: whoever fetches it first goes on with it; the
      // other instances start from nothing, and all of them meet again where they are drained.
      if (!crossing.is_output) continue;
      cell->is_made = false;
      party.cells[i].was_read = true;
    }
  }
  return read;
}

std::int64_t Transfers::drain(const Crossing& crossing, const std::vector<Party>& parties) {
  const std::int64_t written = count_messages(crossing, crossing.parent, parties, "write");
  if (counts_drains(crossing)) count_child(crossing, parties, "read");
  count_tolls(crossing, parties, false);
  wires_.carry(crossing.journey, parties, false, ++transfers_);
  const Reduction reduction = workload_[crossing.einsum].expression.reduction;
  // The network adds up what it carries together.
  std::map<std::pair<std::vector<std::int64_t>, Element>, std::pair<const Lane*, Cell>> messages;
  for (const Party& party : parties) {
    const auto key = message_key(crossing, crossing.parent.spatial_depth, *party.lane);
    for (std::size_t i = 0; i < party.points.size(); ++i) {
      auto& [lane, cell] = messages[{key, party.points[i]}];
      lane = party.lane;
      cell.was_read = cell.was_read || party.cells[i].was_read;
      if (!party.cells[i].is_made) continue;
      cell.value = cell.is_made ? combined(reduction, cell.value, party.cells[i].value)
                                : party.cells[i].value;
      cell.is_made = true;
    }
  }
  std::int64_t merged = 0;
  for (const auto& [key, message] : messages) {
    Cell* cell = parent_cell(crossing, *message.first, key.second);
    if (!cell) continue;
    // Who has read what was there writes its sum back; to add to it unread takes one more read,
    // also while another instance has it, which will write its own part back.
    const std::size_t parent = message.first->ids[crossing.parent.spatial_depth];
    const bool is_first = drained_.insert({&crossing, parent, key.second}).second;
    if (!is_first && !message.second.was_read) ++merged;
    if (!message.second.is_made) continue;
    cell->value = cell->is_made ? combined(reduction, cell->value, message.second.value)
                                : message.second.value;
    cell->is_made = true;
  }
  const ComponentId memory = crossing.parent.storage->component;
  if (std::get<Memory>(arch_[memory].kind).merging_reads == MergingReads::kCounted)
    add(crossing.einsum, memory, crossing.tensor, "read", merged);
  else
    merge_values += merged * repetitions(crossing.einsum);
  return written;
}

}  // namespace sluice::sim
