#include <algorithm>

#include "inner_loops.h"

// Where the values are that the lanes need, before they begin to walk.

namespace sluice::referee {
namespace {

/// Of a box's places, the last rank's next to each other.
std::vector<std::int64_t> strides(const IndexBox& box) {
  std::vector<std::int64_t> result(box.size(), 1);
  for (std::size_t r = box.size(); r-- > 1;) result[r - 1] = result[r] * box[r].size;
  return result;
}

}  // namespace

/// Finds the values that the lanes will need.
bool InnerLoops::bind(const std::vector<Lane>& lanes) {
  if (drops_results_) return false;
  const std::int64_t most_points = find_ranges(lanes);
  for (std::size_t p = 0; p < ports_.size(); ++p)
    if (!shape_port(p, most_points)) return false;
  if (!are_steps_known_) find_steps();
  is_checked_ = false;
  entries_.resize(std::max(entries_.size(), lanes.size()));
  entries_to_fill_ = fills_ ? lanes.size() : 0;
  Frame& frame = frames_[0];
  frame.instances.clear();
  frame.records.resize(lanes.size() * record_size_);
  std::vector<std::size_t> runs;
  if (notes_makers_)
    for (const LoopItem* loop : machine_.program_.paths.at(item_.einsum).spatial)
      runs.push_back(machine_.runs_[loop->id]);
  for (std::size_t e = 0; e < lanes.size(); ++e) {
    entries_[e].is_filled = false;
    entries_[e].views.resize(ports_.size());
    entries_[e].firsts.resize(ports_.size());
    const IndexBox* const ranges = &ranges_[e * ports_.size()];
    for (std::size_t p = 0; p < ports_.size(); ++p)
      find_port(p, ranges[p], *buffers_[e * ports_.size() + p], entries_[e]);
    if (notes_makers_)
      entries_[e].maker = machine_.makers_[ports_.back().tensor.index()].number_of(
          {item_.einsum, lanes[e].turns, runs});
    frame.instances.push_back(instance_of_entry(lanes[e], e));
    begin_record(lanes[e], ranges, &frame.records[e * record_size_]);
    frame.records[e * record_size_ + entry_place_] = static_cast<std::int64_t>(e);
  }
  return true;
}

/// Which values the lanes use, and the buffers above. The most points of a lane: the result.
std::int64_t InnerLoops::find_ranges(const std::vector<Lane>& lanes) {
  ranges_.clear();
  buffers_.clear();
  std::int64_t most_points = 0;
  for (const Lane& lane : lanes) {
    const Box& box = lane.boxes.at(item_.einsum);
    std::int64_t points = 1;
    for (const Range& range : box) points *= range.size;
    most_points = std::max(most_points, points);
    for (const Port& port : ports_) {
      ranges_.push_back(
          PointMap::touched_ranges(einsum_, port.tensor, port.is_output, box).front());
      const Link& parent = port.crossing->parent;
      buffers_.push_back(
          &machine_.buffers_.at(*parent.storage, item_.einsum, lane.ids[parent.spatial_depth]));
    }
  }
  return most_points;
}

/// Whether the values of all lanes lie in boxes of equal strides.
bool InnerLoops::is_direct(std::size_t port) const {
  const auto strides_of = [&](std::size_t l) { return strides(*buffers_[l]->box); };
  for (std::size_t l = port; l < buffers_.size(); l += ports_.size()) {
    const auto& box = buffers_[l]->box;
    if (!box) return false;
    for (std::size_t r = 0; r < box->size(); ++r)
      if (ranges_[l][r].begin < (*box)[r].begin || ranges_[l][r].end() > (*box)[r].end())
        return false;
    if (buffers_[l] != buffers_[port] && strides_of(l) != strides_of(port)) return false;
  }
  return true;
}

/// The positions of all lanes have the same strides, so that a step of a loop moves all alike.
/// False where a view would be too full of holes.
bool InnerLoops::shape_port(std::size_t number, std::int64_t most_points) {
  Port& port = ports_[number];
  std::vector<std::int64_t> before = std::move(port.strides);
  port.is_direct = is_direct(number);
  if (port.is_direct) {
    port.strides = strides(*buffers_[number]->box);
  } else {
    IndexBox largest(port.corner.size(), Range{0, 1});
    for (std::size_t l = number; l < ranges_.size(); l += ports_.size())
      for (std::size_t r = 0; r < largest.size(); ++r)
        largest[r].size = std::max(largest[r].size, ranges_[l][r].size);
    std::int64_t volume = 1;
    for (const Range& range : largest) volume *= range.size;
    if (volume > 1000 + 8 * most_points) return false;
    port.strides = strides(largest);
  }
  if (port.strides == before && !port.positions.empty()) return true;
  are_steps_known_ = false;
  port.positions.clear();
  for (std::size_t i = 0; i < port.elements.size(); ++i) {
    std::int64_t position = 0;
    std::int64_t place = static_cast<std::int64_t>(i);
    for (std::size_t r = port.strides.size(); r-- > 0; place /= port.extents[r])
      position += place % port.extents[r] * port.strides[r];
    port.positions.push_back(position);
  }
  port.access_positions.clear();
  for (std::uint32_t a : port.accesses) {
    std::int64_t position = 0;
    for (std::size_t r = 0; r < port.strides.size(); ++r)
      position +=
          (einsum_.accesses[a].projection[r].constant - port.corner[r].constant) * port.strides[r];
    port.access_positions.push_back(position);
  }
  return true;
}

/// What a step of each loop adds to the sums.
void InnerLoops::find_steps() {
  are_steps_known_ = true;
  for (Level& level : levels_) {
    level.steps.clear();
    if (!level.variable) continue;
    const RankVariableId variable = einsum_.iteration_space[*level.variable].variable;
    std::int64_t number = 1;
    for (std::size_t v = *level.variable + 1; v < n_variables_; ++v)
      number *= einsum_.iteration_space[v].size;
    level.steps.emplace_back(number_sum_, number);
    for (const Port& port : ports_) {
      std::int64_t element = 0, position = 0;
      for (std::size_t r = 0; r < port.corner.size(); ++r) {
        const std::int64_t coefficient = port.corner[r].coefficient_of(variable);
        element += coefficient * machine_.points_[port.tensor].stride(r);
        position += coefficient * port.strides[r];
      }
      if (element != 0) level.steps.emplace_back(port.element_sum, element);
      if (position != 0) level.steps.emplace_back(port.position_sum, position);
    }
  }
}

/// Where the values of a lane's tile are in the storage above.
void InnerLoops::find_port(std::size_t number, const IndexBox& ranges, Buffer& buffer,
                           Entry& entry) {
  const Port& port = ports_[number];
  if (!port.is_direct) {
    find_values(port, ranges, buffer, entry.views[number]);
    return;
  }
  std::int64_t first = 0;
  for (std::size_t r = 0; r < ranges.size(); ++r)
    first += (ranges[r].begin - (*buffer.box)[r].begin) * port.strides[r];
  entry.firsts[number] = buffer.cells.data() + first;
}

/// The same one by one; null where it is not.
void InnerLoops::find_values(const Port& port, const IndexBox& ranges, Buffer& buffer,
                             std::vector<Cell*>& view) {
  const TensorReach& reach = machine_.points_[port.tensor];
  std::int64_t last = 0, position = 0;
  Element element = 0;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    last += (ranges[r].size - 1) * port.strides[r];
    element += (ranges[r].begin - reach.ranges()[r].begin) * reach.stride(r);
  }
  view.assign(static_cast<std::size_t>(last + 1), nullptr);
  index_.assign(ranges.size(), 0);
  std::size_t next = 0;
  while (true) {
    view[static_cast<std::size_t>(position)] = buffer.find_next(element, next);
    std::size_t r = index_.size();
    while (r > 0 && index_[r - 1] + 1 == ranges[r - 1].size) {
      --r;
      element -= index_[r] * reach.stride(r);
      position -= index_[r] * port.strides[r];
      index_[r] = 0;
    }
    if (r == 0) return;
    ++index_[r - 1];
    element += reach.stride(r - 1);
    position += port.strides[r - 1];
  }
}

void InnerLoops::begin_record(const Lane& lane, const IndexBox* ranges_of_ports,
                              std::int64_t* record) const {
  const Box& box = lane.boxes.at(item_.einsum);
  std::int64_t number = 0;
  for (std::size_t v = 0; v < n_variables_; ++v) {
    record[v] = box[v].begin;
    record[n_variables_ + v] = box[v].size;
    const VariableRange& range = einsum_.iteration_space[v];
    number = number * range.size + (box[v].begin - range.minimum);
  }
  record[number_sum_] = number;
  for (const Port& port : ports_) {
    const IndexBox& ranges = *ranges_of_ports++;
    const TensorReach& reach = machine_.points_[port.tensor];
    std::int64_t element = 0, position = 0;
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      std::int64_t index = port.corner[r].constant;
      for (const AffineTerm& term : port.corner[r].terms)
        index += term.coefficient * box[place_of(einsum_, term.variable)].begin;
      element += (index - reach.ranges()[r].begin) * reach.stride(r);
      position += (index - ranges[r].begin) * port.strides[r];
    }
    record[port.element_sum] = element;
    record[port.position_sum] = position;
  }
}

std::size_t InnerLoops::instance_of_entry(const Lane& lane, std::size_t entry) {
  auto [place, is_new] = instance_of_id_.try_emplace(lane.ids.back(), instances_.size());
  if (is_new) instances_.emplace_back();
  Instance& instance = instances_[place->second];
  instance.lane.turns = lane.turns;
  instance.lane.ids = lane.ids;
  instance.lane.place = lane.place;
  instance.lane.regions = lane.regions;
  instance.entry = entry;
  return place->second;
}

}  // namespace sluice::referee
