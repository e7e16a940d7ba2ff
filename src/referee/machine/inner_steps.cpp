#include <algorithm>

#include "inner_loops.h"

// One step of the compute in all lanes.

namespace sluice::referee {

void InnerLoops::step(const Frame& frame) {
  machine_.watch_.note(static_cast<std::int64_t>(frame.instances.size()));
  if (entries_to_fill_ > 0) fill(frame);
  if (!is_checked_ || !is_regular_) {
    is_regular_ = is_regular(frame, group_of(frame));
    is_checked_ = ends_in_points_;
  }
  if (is_regular_ && is_ordinary(frame, *group_))
    finish(frame, *group_);
  else
    step_the_long_way(frame);
}

std::vector<Lane> InnerLoops::lanes_of(const Frame& frame) const {
  std::vector<Lane> lanes;
  for (std::size_t l = 0; l < frame.instances.size(); ++l) {
    Lane& lane = lanes.emplace_back(instances_[frame.instances[l]].lane);
    Box box;
    for (std::size_t v = 0; v < n_variables_; ++v)
      box.push_back({frame.records[l * record_size_ + v],
                     frame.records[l * record_size_ + n_variables_ + v]});
    lane.boxes[item_.einsum] = std::move(box);
  }
  return lanes;
}

void InnerLoops::step_the_long_way(const Frame& frame) { machine_.compute(item_, lanes_of(frame)); }

/// Fills the storages above in the lanes that need a value for the first time.
void InnerLoops::fill(const Frame& frame) {
  std::vector<Lane> lanes;
  std::set<std::size_t> entries;
  std::vector<Lane> all = lanes_of(frame);
  for (std::size_t l = 0; l < all.size(); ++l) {
    if (entries_[instances_[frame.instances[l]].entry].is_filled) continue;
    const Box& box = all[l].boxes.at(item_.einsum);
    if (std::any_of(box.begin(), box.end(), [](const Range& range) { return range.size != 1; }))
      continue;
    lanes.push_back(std::move(all[l]));
    entries.insert(instances_[frame.instances[l]].entry);
  }
  if (lanes.empty()) return;
  const TensorId output = ports_.back().tensor;
  for (const Port& port : ports_)  // what is read back must not be fetched before it was read
    if (!port.is_output && port.tensor == output) return;
  for (const Port& port : ports_) machine_.fill_storages(item_.einsum, port.tensor, lanes);
  for (const std::size_t entry : entries) entries_[entry].is_filled = true;
  entries_to_fill_ -= entries.size();
}

InnerLoops::Group& InnerLoops::group_of(const Frame& frame) {
  if (group_ && *group_instances_ == frame.instances) return *group_;
  const auto [place, is_new] = groups_.try_emplace(frame.instances);
  group_ = &place->second;
  group_instances_ = &place->first;
  if (!is_new) return *group_;
  std::vector<Party> parties;
  for (std::size_t instance : frame.instances)
    parties.push_back({&instances_[instance].lane, {}, {}});
  for (const Port& port : ports_)
    group_->patterns.push_back(&machine_.transfers_.pattern_of(*port.crossing, parties, false));
  group_->returning = &machine_.transfers_.pattern_of(*ports_.back().crossing, parties, true);
  const Crossing& sums = *ports_.back().crossing;
  for (const Party& party : parties) {
    group_->seen.push_back(&machine_.transfers_.seen(sums, party.lane->ids[sums.child_depth]));
    group_->drained.push_back(&machine_.transfers_.drained(sums, *party.lane));
  }
  return *group_;
}

/// Whether instances that share messages need the same values.
bool InnerLoops::shares_ordinarily(const Frame& frame, const Group& group) const {
  const auto is_same = [&](const MessagePattern& pattern, std::size_t sum) {
    return pattern.on_networks.is_regular &&
           std::all_of(pattern.together.begin(), pattern.together.end(), [&](const auto& two) {
             return frame.records[two.first * record_size_ + sum] ==
                    frame.records[two.second * record_size_ + sum];
           });
  };
  for (std::size_t p = 0; p < ports_.size(); ++p)
    if (!is_same(*group.patterns[p], ports_[p].element_sum)) return false;
  return is_same(*group.returning, ports_.back().element_sum);
}

/// Whether nothing but the values can be out of the ordinary.
bool InnerLoops::is_regular(const Frame& frame, const Group& group) const {
  if (entries_to_fill_ > 0) return false;
  for (std::size_t l = 0; l < frame.instances.size(); ++l)
    for (std::size_t v = 0; v < n_variables_; ++v)
      if (frame.records[l * record_size_ + n_variables_ + v] != 1) return false;
  return shares_ordinarily(frame, group);
}

/// Whether all values are there, and nothing is wrong. Only if so, the points are marked as
/// executed.
bool InnerLoops::is_ordinary(const Frame& frame, Group& group) {
  std::size_t n_marked = 0;
  if (prepare(frame, group, n_marked)) return true;
  std::vector<bool>& executed = machine_.executed_[item_.einsum.index()];
  for (std::size_t l = 0; l < n_marked; ++l)
    executed[static_cast<std::size_t>(frame.records[l * record_size_ + number_sum_])] = false;
  return false;
}

/// Works out what every lane adds, and where.
bool InnerLoops::prepare(const Frame& frame, Group& group, std::size_t& n_marked) {
  const Port& output = ports_.back();
  const std::size_t n_lanes = frame.instances.size();
  cells_.resize(n_lanes);
  sums_at_.resize(n_lanes);
  was_seen_.resize(n_lanes);
  std::size_t n_seen = 0;
  std::vector<bool>& executed = machine_.executed_[item_.einsum.index()];
  for (std::size_t l = 0; l < n_lanes; ++l) {
    const std::int64_t* const record = &frame.records[l * record_size_];
    auto is_executed = executed[static_cast<std::size_t>(record[number_sum_])];
    if (is_executed) return false;
    is_executed = true;
    ++n_marked;
    const Entry& entry = entries_[static_cast<std::size_t>(record[entry_place_])];
    if (!read_operands(record, entry, frame.instances[l])) return false;
    cells_[l] = {expression_.value(), true, false};
    sums_at_[l] = cell_at(entry, ports_.size() - 1, record[output.position_sum]);
    if (!sums_at_[l]) return false;
    was_seen_[l] = group.seen[l]->has(record[output.element_sum]);
    n_seen += static_cast<std::size_t>(was_seen_[l]);
  }
  sums_ = n_seen == 0 ? Sums::kNone : n_seen == n_lanes ? Sums::kAll : Sums::kSome;
  return sums_ != Sums::kSome ||
         (!group.returning->shares_messages && group.returning->on_networks.networks.empty());
}

bool InnerLoops::read_operands(const std::int64_t* record, const Entry& entry,
                               std::size_t instance) {
  for (std::size_t p = 0; p + 1 < ports_.size(); ++p) {
    const Port& port = ports_[p];
    const std::int64_t corner = record[port.position_sum];
    if (!port.is_direct && port.positions.size() > 1)
      for (std::int64_t position : port.positions)
        if (!cell_at(entry, p, corner + position)) return false;
    for (std::size_t a = 0; a < port.accesses.size(); ++a) {
      const Cell* const cell = cell_at(entry, p, corner + port.access_positions[a]);
      if (!cell || !cell->is_made) return false;
      if (port.is_produced &&
          !may_read(port, instances_[instance], record[port.element_sum] + port.access_elements[a]))
        return false;
      expression_.set(port.accesses[a], cell->value);
    }
  }
  return true;
}

bool InnerLoops::may_read(const Port& port, const Instance& instance, Element element) const {
  if (machine_.missing_[port.tensor.index()][static_cast<std::size_t>(element)] > 0) return false;
  if (port.meets_makers && machine_.meets_maker(item_.einsum, port.tensor, element, instance.lane))
    return false;
  return !machine_.works_beside_maker(port.tensor, element);
}

/// The same as the second half of Machine::compute.
void InnerLoops::finish(const Frame& frame, Group& group) {
  const Port& output = ports_.back();
  const Reduction reduction = einsum_.expression.reduction;
  std::vector<std::int32_t>& missing = machine_.missing_[output.tensor.index()];
  const std::size_t n_lanes = frame.instances.size();
  for (std::size_t l = 0; l < n_lanes; ++l) {
    const std::int64_t* const record = &frame.records[l * record_size_];
    --missing[static_cast<std::size_t>(record[output.element_sum])];
    if (!was_seen_[l]) {
      group.seen[l]->insert(record[output.element_sum]);
      continue;
    }
    Cell& sum = *sums_at_[l];
    if (sum.is_made) cells_[l].value = combined(reduction, sum.value, cells_[l].value);
    sum.is_made = false;
    cells_[l].was_read = true;
  }
  drain(frame, group);
  ++group.steps;
  if (sums_ == Sums::kAll) ++group.steps_returning;
  if (sums_ == Sums::kSome)
    group.returned +=
        std::count(was_seen_.begin(), was_seen_.begin() + static_cast<std::ptrdiff_t>(n_lanes), 1);
  if (has_padding_) count_padding(frame, group);
  points_ += static_cast<std::int64_t>(n_lanes);
  ++machine_.compute_steps_;
  for (std::size_t l = 0; l < n_lanes && (notes_makers_ || !machine_.moments_.empty()); ++l) {
    const Element element = frame.records[l * record_size_ + output.element_sum];
    if (notes_makers_)
      machine_.makers_[output.tensor.index()].note(
          element, entries_[instances_[frame.instances[l]].entry].maker);
    if (!machine_.moments_.empty())
      machine_.moments_of_[output.tensor.index()].note(element, machine_.moments_);
  }
  if (machine_.records()) record(frame);
}

/// Results go up, and meet others there.
void InnerLoops::drain(const Frame& frame, const Group& group) {
  const Reduction reduction = einsum_.expression.reduction;
  const MessagePattern::Messages& messages = group.patterns.back()->at_parent;
  std::size_t begin = 0;
  for (const std::size_t end : messages.ends) {
    Cell message = cells_[messages.sorted[begin]];
    for (std::size_t m = begin + 1; m < end; ++m)
      add_up(reduction, cells_[messages.sorted[m]], message);
    const std::size_t lane = messages.sorted[begin];
    const Element element = frame.records[lane * record_size_ + ports_.back().element_sum];
    if (merge(reduction, message, group.drained[lane]->insert(element), *sums_at_[lane])) ++merged_;
    begin = end;
  }
}

void InnerLoops::count_padding(const Frame& frame, const Group& group) {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const Port& port = ports_[p];
    if (!machine_.points_.has_padding(port.tensor)) continue;
    for (const std::size_t first : group.patterns[p]->at_parent.first) {
      std::int64_t outside = 0;
      for (Element element : port.elements)
        outside +=
            machine_.points_.is_inside(
                port.tensor, frame.records[first * record_size_ + port.element_sum] + element)
                ? 0
                : 1;
      const bool returns = port.is_output && was_seen_[first];
      machine_.transfers_.count_padding(*port.crossing, outside * (returns ? 2 : 1));
    }
  }
}

void InnerLoops::record(const Frame& frame) {
  const Port& output = ports_.back();
  ExecutionStep step;
  step.kind = ExecutionStep::Kind::kCompute;
  step.einsum = item_.einsum;
  step.tensor = output.tensor;
  step.from = item_.component;
  step.read = static_cast<std::int64_t>(frame.instances.size());
  step.instances = step.read;
  step.points = machine_.points_.name(output.tensor, frame.records[output.element_sum]);
  machine_.record(std::move(step));
}

void InnerLoops::count() {
  Transfers& transfers = machine_.transfers_;
  for (const auto& [instances, group] : groups_) {
    for (std::size_t p = 0; p < ports_.size(); ++p)
      transfers.count_regular(*ports_[p].crossing, *group.patterns[p], !ports_[p].is_output,
                              static_cast<std::int64_t>(ports_[p].elements.size()), group.steps);
    const Crossing& sums = *ports_.back().crossing;
    transfers.count_regular(sums, *group.returning, true, 1, group.steps_returning);
    if (group.returned > 0) transfers.count_singly(sums, group.returned);
  }
  transfers.count_merged(*ports_.back().crossing, merged_);
  if (points_ > 0) machine_.count_operations(item_.einsum, item_.component, points_);
}

}  // namespace sluice::referee
