#include "inner_loops.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::referee {
namespace {

/// Whether the accesses to a tensor differ in constants only, so that a point touches one box.
bool is_one_box(const Einsum& einsum, TensorId tensor, bool is_output) {
  const TensorAccess* first = nullptr;
  for (const TensorAccess& access : einsum.accesses) {
    if (access.tensor != tensor || access.is_output != is_output) continue;
    if (!first) first = &access;
    for (std::size_t r = 0; r < access.projection.size(); ++r)
      if (access.projection[r].terms != first->projection[r].terms) return false;
  }
  return true;
}

bool reads_own_output(const Einsum& einsum) {
  return std::any_of(einsum.accesses.begin(), einsum.accesses.end(), [&](const auto& access) {
    return !access.is_output && access.tensor == einsum.output().tensor;
  });
}

}  // namespace

std::optional<std::size_t> InnerLoops::begin_in(const Workload& workload, const Body& body) {
  const auto* compute = body.items.empty() ? nullptr : std::get_if<ComputeItem>(&body.items.back());
  if (!compute || body.einsums.size() != 1) return std::nullopt;
  const Einsum& einsum = workload[compute->einsum];
  if (einsum.is_copy_operation) return std::nullopt;
  for (const TensorAccess& access : einsum.accesses)
    if (!is_one_box(einsum, access.tensor, access.is_output)) return std::nullopt;
  std::size_t begin = body.items.size() - 1;
  for (; begin > 0; --begin) {
    const auto* storage = std::get_if<StorageItem>(&body.items[begin - 1]);
    const auto* loop = std::get_if<LoopItem>(&body.items[begin - 1]);
    if (loop && loop->rotates)
      return std::nullopt;  // instances go through it in orders of their own
    if (!loop && !(storage && storage->is_toll)) break;
    // Instances that read what they make could meet one another here.
    if (loop && loop->is_spatial && reads_own_output(einsum)) return std::nullopt;
  }
  return begin;
}

InnerLoops::InnerLoops(Machine& machine, const Body& body, std::size_t begin)
    : machine_(machine),
      item_(std::get<ComputeItem>(body.items.back())),
      einsum_(machine.workload_[item_.einsum]),
      n_variables_(einsum_.iteration_space.size()),
      instances_(1),
      expression_(einsum_.expression, einsum_.accesses.size()) {
  for (const TensorAccess& access : einsum_.accesses)
    if (!access.is_output && std::none_of(ports_.begin(), ports_.end(), [&](const Port& port) {
          return port.tensor == access.tensor;
        }))
      add_port(access.tensor, false);
  add_port(einsum_.output().tensor, true);
  number_sum_ = 2 * n_variables_;
  entry_place_ = number_sum_ + 1 + 2 * ports_.size();
  record_size_ = entry_place_ + 1;
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    ports_[p].element_sum = number_sum_ + 1 + 2 * p;
    ports_[p].position_sum = number_sum_ + 2 + 2 * p;
  }
  for (std::size_t i = begin; i < body.items.size(); ++i) {
    const auto* loop = std::get_if<LoopItem>(&body.items[i]);
    if (!loop) continue;
    Level& level = levels_.emplace_back();
    level.loop = loop;
    if (const auto variable = walked(*loop, einsum_)) level.variable = place_of(einsum_, *variable);
    level.tile = loop->tile_shape;
    level.first = loop->initial_tile_shape.value_or(loop->tile_shape);
    if (loop->is_spatial)
      level.dimension = machine.first_dimension_[loop->component.index()] + loop->dimension;
  }
  std::map<std::size_t, bool> ends;  // by variable: its innermost loop
  for (const Level& level : levels_)
    if (level.variable) ends[*level.variable] = level.first == 1 && level.tile == 1;
  ends_in_points_ =
      std::all_of(ends.begin(), ends.end(), [](const auto& variable) { return variable.second; });
  frames_.resize(levels_.size() + 1);
  for (EinsumId reader : machine.facts_.roles().consumers[einsum_.output().tensor.index()])
    if (machine.common_spatial_loops(item_.einsum, reader) > 0) notes_makers_ = true;
}

void InnerLoops::add_port(TensorId tensor, bool is_output) {
  Port& port = ports_.emplace_back();
  port.tensor = tensor;
  port.is_output = is_output;
  const std::vector<Link>& links = machine_.program_.paths.at(item_.einsum).links.at(tensor);
  port.crossing = &machine_.transfers_.crossing(item_.einsum, tensor, is_output, links.size());
  for (const Link& link : links)
    if (!link.storage->is_toll && !link.storage->is_backing) fills_ = true;
  const std::vector<EinsumId>& makers = machine_.facts_.roles().makers[tensor.index()];
  port.is_produced = !makers.empty();
  port.meets_makers = std::any_of(makers.begin(), makers.end(), [&](EinsumId maker) {
    return machine_.common_spatial_loops(maker, item_.einsum) > 0;
  });
  for (std::uint32_t a = 0; a < einsum_.accesses.size(); ++a) {
    const TensorAccess& access = einsum_.accesses[a];
    if (access.tensor != tensor || access.is_output != is_output) continue;
    if (port.accesses.empty()) port.corner = access.projection;
    port.accesses.push_back(a);
    for (std::size_t r = 0; r < port.corner.size(); ++r)
      port.corner[r].constant = std::min(port.corner[r].constant, access.projection[r].constant);
  }
  port.extents.assign(port.corner.size(), 1);
  for (std::uint32_t a : port.accesses) {
    Element from_corner = 0;
    for (std::size_t r = 0; r < port.corner.size(); ++r) {
      const std::int64_t apart =
          einsum_.accesses[a].projection[r].constant - port.corner[r].constant;
      port.extents[r] = std::max(port.extents[r], apart + 1);
      from_corner += apart * machine_.points_[tensor].stride(r);
    }
    port.access_elements.push_back(from_corner);
  }
  port.elements = {0};
  for (std::size_t r = 0; r < port.corner.size(); ++r) {
    std::vector<Element> longer;
    for (Element before : port.elements)
      for (std::int64_t i = 0; i < port.extents[r]; ++i)
        longer.push_back(before + i * machine_.points_[tensor].stride(r));
    port.elements = std::move(longer);
  }
  has_padding_ = has_padding_ || machine_.points_.has_padding(tensor);
  drops_results_ = drops_results_ || (is_output && machine_.points_.has_padding(tensor));
}

bool InnerLoops::run(const std::vector<Lane>& lanes, bool is_below_loop) {
  if (!bind(lanes)) return false;
  walk(0, is_below_loop);
  return true;
}

std::size_t InnerLoops::instance_inside(std::size_t outer, std::size_t turn) {
  if (instances_[outer].inside.size() <= turn) instances_[outer].inside.resize(turn + 1, 0);
  std::size_t& inside = instances_[outer].inside[turn];
  if (inside == 0) {
    inside = instances_.size();
    const std::size_t number = inside;
    Instance instance;
    instance.lane = instances_[outer].lane;
    instance.lane.turns.push_back(static_cast<std::int64_t>(turn));
    instance.lane.ids.push_back(machine_.numbers_.of(instance.lane.turns));
    instances_.push_back(std::move(instance));
    return number;
  }
  return inside;
}

void InnerLoops::walk(std::size_t level, bool is_below_loop) {
  if (level == levels_.size())
    step(frames_[level]);
  else if (levels_[level].loop->is_spatial)
    walk_spatial(level, is_below_loop);
  else
    walk_temporal(level, is_below_loop);
}

/// The fewest and the most steps of a lane.
std::pair<std::int64_t, std::int64_t> InnerLoops::steps_of(Level& level, const Frame& frame) {
  if (!level.variable) return {1, 1};
  std::int64_t fewest = 0, most = 0, last_size = -1;
  for (std::size_t l = 0; l < frame.instances.size(); ++l) {
    const std::int64_t size = frame.records[l * record_size_ + n_variables_ + *level.variable];
    if (size == last_size) continue;
    last_size = size;
    if (size != level.last_whole) note_sizes(level, size);
    level.last_whole = size;
    const std::int64_t steps =
        size <= level.first ? 1 : 1 + (size - level.first + level.tile - 1) / level.tile;
    fewest = l == 0 ? steps : std::min(fewest, steps);
    most = std::max(most, steps);
  }
  return {fewest, most};
}

/// The tiles into which a loop cuts one, for what the machine says about them at the end.
void InnerLoops::note_sizes(Level& level, std::int64_t whole) {
  if (whole > level.largest) {
    level.largest = whole;
    machine_.note_tile(*level.loop, item_.einsum, *level.variable, whole);
  }
  note_size(level, std::min(level.first, whole));
  const std::int64_t rest = whole - level.first;
  if (rest >= level.tile) note_size(level, level.tile);
  if (rest > 0 && rest % level.tile != 0) note_size(level, rest % level.tile);
}

void InnerLoops::note_size(Level& level, std::int64_t size) {
  if (size == level.noted) return;
  machine_.note_step(*level.loop, item_.einsum, size);
  if (level.noted == 0) level.noted = size;
}

void InnerLoops::walk_temporal(std::size_t level_number, bool is_below_loop) {
  Level& level = levels_[level_number];
  const Frame& outer = frames_[level_number];
  Frame& inner = frames_[level_number + 1];
  const auto [fewest, most] = steps_of(level, outer);
  ++machine_.runs_[level.loop->id];
  const std::size_t begin = machine_.reservations_.tick();
  machine_.loop_steps_.push_back(0);
  inner = outer;
  for (std::int64_t now = 0; now < most; ++now) {
    machine_.loop_steps_.back() = now;
    if (now >= fewest)
      keep_lanes(level, outer, now, inner);
    else if (level.variable)
      move_all(level, outer, now, inner);
    walk(level_number + 1, is_below_loop || most > 1);
  }
  machine_.loop_steps_.pop_back();
  if (fewest < most) is_checked_ = false;
  if (most > 1 && !is_below_loop) machine_.release_kept(begin);
}

/// To the next step, which all lanes take.
void InnerLoops::move_all(const Level& level, const Frame& outer, std::int64_t step,
                          Frame& inner) const {
  const std::size_t size = n_variables_ + *level.variable;
  const std::int64_t distance = step == 0 ? 0 : step == 1 ? level.first : level.tile;
  const std::int64_t before = step == 0 ? 0 : level.first + (step - 1) * level.tile;
  const std::int64_t tile = step == 0 ? level.first : level.tile;
  std::int64_t* record = inner.records.data();
  for (std::size_t l = 0; l < inner.instances.size(); ++l, record += record_size_) {
    if (distance != 0) move(level, record, distance);
    record[size] = std::min(tile, outer.records[l * record_size_ + size] - before);
  }
}

/// Lanes that have come to the end of their tile sit out.
void InnerLoops::keep_lanes(const Level& level, const Frame& outer, std::int64_t step,
                            Frame& inner) {
  const std::size_t size = n_variables_ + *level.variable;
  const std::int64_t before = step == 0 ? 0 : level.first + (step - 1) * level.tile;
  is_checked_ = false;
  inner.instances.clear();
  inner.records.clear();
  for (std::size_t l = 0; l < outer.instances.size(); ++l) {
    const auto record = outer.records.begin() + static_cast<std::ptrdiff_t>(l * record_size_);
    const std::int64_t whole = record[static_cast<std::ptrdiff_t>(size)];
    if (whole <= before) continue;
    inner.instances.push_back(outer.instances[l]);
    inner.records.insert(inner.records.end(), record,
                         record + static_cast<std::ptrdiff_t>(record_size_));
    std::int64_t* const own = &inner.records[inner.records.size() - record_size_];
    move(level, own, before);
    own[size] = std::min(step == 0 ? level.first : level.tile, whole - before);
  }
}

void InnerLoops::walk_spatial(std::size_t level_number, bool is_below_loop) {
  Level& level = levels_[level_number];
  const Frame& outer = frames_[level_number];
  Frame& inner = frames_[level_number + 1];
  ++machine_.runs_[level.loop->id];
  const std::int64_t most = steps_of(level, outer).second;
  inner.instances.clear();
  inner.records.resize(outer.instances.size() * static_cast<std::size_t>(most) * record_size_);
  for (std::size_t l = 0; l < outer.instances.size(); ++l) {
    const std::int64_t* const from = &outer.records[l * record_size_];
    for (std::int64_t turn = 0; turn < most; ++turn) {
      const std::int64_t before = turn == 0 ? 0 : level.first + (turn - 1) * level.tile;
      std::int64_t* const record = &inner.records[inner.instances.size() * record_size_];
      if (level.variable && before >= from[n_variables_ + *level.variable]) break;
      std::copy(from, from + record_size_, record);
      if (level.variable) {
        move(level, record, before);
        std::int64_t& size = record[n_variables_ + *level.variable];
        size = std::min(turn == 0 ? level.first : level.tile, size - before);
      }
      const std::size_t inside =
          instance_inside(outer.instances[l], static_cast<std::size_t>(turn));
      place(level, instances_[inside], instances_[outer.instances[l]], most, turn);
      inner.instances.push_back(inside);
    }
  }
  inner.records.resize(inner.instances.size() * record_size_);
  is_checked_ = false;
  walk(level_number + 1, is_below_loop);
}

/// Where an instance stands now.
void InnerLoops::place(const Level& level, Instance& instance, const Instance& outer,
                       std::int64_t most, std::int64_t turn) {
  instance.entry = outer.entry;
  instance.lane.place = outer.lane.place;
  machine_.stand(*level.loop, level.dimension, most, turn, instance.lane);
}

}  // namespace sluice::referee
