#include "machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "inner_loops.h"
#include "referee/program/loop_schedule.h"

namespace sluice::referee {
namespace {

std::int64_t count_points(const Box& box) {
  std::int64_t points = 1;
  for (const Range& range : box) points *= range.size;
  return points;
}

}  // namespace

Machine::Machine(const Workload& workload, const Arch& arch, const Program& program,
                 const PointMap& points, const InputNumbers& inputs, Facts& facts,
                 const ExecutionOptions& options, Watch& watch, Complaints& complaints)
    : workload_(workload),
      arch_(arch),
      program_(program),
      points_(points),
      inputs_(inputs),
      facts_(facts),
      options_(options),
      watch_(watch),
      complaints_(complaints),
      transfers_(workload, arch, program, points, facts, buffers_, complaints),
      runs_(program.n_loops, 0),
      shifts_(program.n_storages, 0),
      visits_(program.n_storages, 0),
      born_(workload.tensors.size()),
      is_state_(workload.tensors.size(), false),
      lasting_(lasting_storages(workload, program)) {
  std::size_t dimensions = 0;
  for (const Component& component : arch.components) {
    first_dimension_.push_back(dimensions);
    dimensions += component.spatial.size();
  }
  first_dimension_.push_back(dimensions);
  for (const Einsum& einsum : workload.einsums) {
    std::int64_t points_of_einsum = 1;
    for (const VariableRange& range : einsum.iteration_space) points_of_einsum *= range.size;
    executed_.emplace_back(static_cast<std::size_t>(points_of_einsum), false);
  }
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const std::int64_t volume = points[TensorId(t)].volume();
    results_.emplace_back(volume);
    made_.emplace_back(volume);
    missing_.emplace_back(static_cast<std::size_t>(volume), 0);
    makers_.emplace_back(volume);
    moments_of_.emplace_back(volume);
  }
  find_own_dimensions();
  share_reservations();
  find_initial_values();
}

Machine::~Machine() = default;

/// Of the backing storages of a tensor in one memory, of the two tensors of a copy in one memory,
/// and of the readers' storages of a tensor that a collective brings them.
void Machine::share_reservations() {
  for (std::size_t s = 0; s < program_.n_storages; ++s) owner_.push_back(s);
  std::map<std::pair<TensorId, ComponentId>, std::size_t> owners;
  for (const auto& [einsum, path] : program_.paths)
    for (const auto& [tensor, links] : path.links)
      for (const Link& link : links)
        if (const StorageItem& storage = *link.storage; is_of_branches(storage))
          owner_[storage.id] =
              owners.try_emplace({tensor, storage.component}, storage.id).first->second;
  for (const auto& [einsum, path] : program_.paths) {
    if (!workload_[einsum].is_copy_operation) continue;
    const StorageItem* first = nullptr;
    for (const auto& [tensor, links] : path.links) {
      const StorageItem* storage = links.front().storage;
      if (!storage->is_backing) continue;
      if (first && first->component == storage->component)
        std::replace(owner_.begin(), owner_.end(), owner_[storage->id], owner_[first->id]);
      first = storage;
    }
  }
  for (std::size_t t = 0; t < workload_.tensors.size(); ++t)
    for (const std::vector<const StorageItem*> takers = takers_of(TensorId(t));
         const StorageItem* taker : takers)
      owner_[taker->id] = owner_[takers.front()->id];
}

void Machine::run() {
  Lane lane;
  for (EinsumId einsum : program_.root.einsums) lane.boxes[einsum] = whole_box(workload_[einsum]);
  lane.ids.push_back(numbers_.of({}));
  lane.place.assign(first_dimension_.back(), 0);
  walk(program_.root, 0, {lane}, {});
  for (const auto& [body, inner] : inner_loops_)
    if (inner.second) inner.second->count();
  for (const auto& [einsum, path] : program_.paths)
    for (const auto& [tensor, links] : path.links) give_back(einsum, tensor, 0, 0, nullptr);
  for (const auto& [where, buffer] : resting_)
    send_off(where.first->tensor, *buffer, buffer->points);
  check_tiles();
  for (std::size_t e = 0; e < executed_.size(); ++e) {
    const auto missing = std::count(executed_[e].begin(), executed_[e].end(), false);
    if (missing > 0)
      complaints_.add(ComplaintKind::kCoverage,
                      fmt::format("{} of the {} points of the Einsum {} are never computed.",
                                  missing, executed_[e].size(), workload_.einsums[e].name));
  }
}

/// Remembers the largest tile that each Einsum brings to a loop which cuts it.
void Machine::note_tiles(const LoopItem& loop, const Lane& lane,
                         const std::map<EinsumId, Walk>& schedule) {
  for (const auto& [einsum, walk] : schedule)
    if (!walk.follows)
      note_tile(loop, einsum, walk.variable, lane.boxes.at(einsum)[walk.variable].size);
}

void Machine::note_tile(const LoopItem& loop, EinsumId einsum, std::size_t variable,
                        std::int64_t size) {
  auto& [tile, shape] =
      tiles_seen_[{loop.id, einsum, workload_[einsum].iteration_space[variable].variable}];
  tile = std::max(tile, size);
  shape = std::max(loop.tile_shape, loop.initial_tile_shape.value_or(0));
}

void Machine::note_steps(const LoopItem& loop, const std::map<EinsumId, Walk>& schedule) {
  for (const auto& [einsum, walk] : schedule)
    for (const Range& step : walk.steps) note_step(loop, einsum, step.size);
}

void Machine::note_step(const LoopItem& loop, EinsumId einsum, std::int64_t size) {
  if (tile_of_loop_.try_emplace({loop.id, einsum}, size).first->second != size)
    uneven_.insert(einsum);
}

std::vector<NetworkCount> Machine::network_counts() {
  std::vector<NetworkCount> counts = transfers_.network_counts();
  for (NetworkCount& count : counts) count.is_even = uneven_.count(count.einsum) == 0;
  const std::vector<NetworkCount> collectives = collective_uses_.totals(workload_);
  counts.insert(counts.end(), collectives.begin(), collectives.end());
  return counts;
}

std::vector<InstanceUse> Machine::instances() const {
  std::vector<InstanceUse> uses;
  for (const auto& [what, ids] : instances_) {
    const auto& [einsum, component, tensor] = what;
    uses.push_back({einsum, component, tensor, static_cast<std::int64_t>(ids.size())});
  }
  return uses;
}

void Machine::check_tiles() {
  for (const auto& [what, sizes] : tiles_seen_)
    if (sizes.second > sizes.first)
      complaints_.add(
          ComplaintKind::kStructure,
          fmt::format("A loop over {} has tiles of {}; the largest tile that the Einsum "
                      "{} brings to it has {}.",
                      workload_[std::get<2>(what)].name, sizes.second,
                      workload_[std::get<1>(what)].name, sizes.first));
}

void Machine::walk(const Body& body, std::size_t index, const Lanes& lanes, const Above& above) {
  if (index == body.items.size() || lanes.empty()) return;
  if (body.steps_begin == index) {
    walk_pipeline(body, lanes, above);
    return;
  }
  InnerLoops* const inner = inner_loops(body, index);
  if (inner && inner->run(lanes, above.is_below_loop)) return;
  const Item& item = body.items[index];
  if (const auto* storage = std::get_if<StorageItem>(&item)) {
    walk_storage(*storage, body, index, lanes, above);
  } else if (const auto* loop = std::get_if<LoopItem>(&item)) {
    if (loop->is_spatial)
      walk_spatial(*loop, body, index, lanes, above);
    else
      walk_temporal(*loop, body, index, lanes, above);
  } else if (const auto* split = std::get_if<SplitItem>(&item)) {
    walk_split(*split, lanes, above);
  } else if (const auto* compute_item = std::get_if<ComputeItem>(&item)) {
    for (const Lane& lane : lanes) watch_.note(count_points(lane.boxes.at(compute_item->einsum)));
    compute(*compute_item, lanes);
  } else {
    complaints_.add(ComplaintKind::kStructure,
                    "A collective stands on the way to a compute; it must be a child of a split.");
  }
}

/// The loops that begin here and end at a compute, if they can be walked the short way.
InnerLoops* Machine::inner_loops(const Body& body, std::size_t index) {
  if (!std::holds_alternative<ComputeItem>(body.items.back())) return nullptr;
  auto [place, is_new] = inner_loops_.try_emplace(&body);
  auto& [begin, inner] = place->second;
  if (is_new) {
    if (const auto found = InnerLoops::begin_in(workload_, body)) {
      begin = *found;
      inner = std::make_unique<InnerLoops>(*this, body, begin);
    }
  }
  return inner && begin == index ? inner.get() : nullptr;
}

void Machine::walk_storage(const StorageItem& storage, const Body& body, std::size_t index,
                           const Lanes& lanes, const Above& above) {
  if (storage.is_toll) {
    walk(body, index + 1, lanes, above);
    return;
  }
  ++visits_[storage.id];
  note_instances(storage, lanes);
  Above below = above;
  if (storage.exchange == StorageItem::Exchange::kTakes) {
    open_taking(storage, lanes);
  } else if (storage.exchange == StorageItem::Exchange::kReceives) {
    open_receiving(storage, lanes);
  } else if (storage.is_backing) {
    open_backing(storage, lanes);
  } else {
    open_for_einsums(storage, lanes);
    below.open.push_back({&storage, &lanes});
  }
  const bool stays = storage.stays_in && !is_forever(storage);
  const bool is_incremental = storage.incremental && above.is_below_loop;
  const bool is_kept = stays || is_incremental || storage.is_forwarded();  // by others, or for long
  const bool split_reserves = !is_kept && reaches_split(body, index + 1, lanes);
  if (stays)
    keep(storage, lanes, 1, false, *parts_[*storage.stays_in]);
  else if (is_incremental)
    keep_reserved(storage, lanes);
  else if (split_reserves)
    below.unreserved.push_back({&storage, &lanes, storage.exchange != StorageItem::Exchange::kTakes,
                                storage.exchange != StorageItem::Exchange::kGives});
  else if (!is_kept && storage.exchange != StorageItem::Exchange::kTakes)
    reserve(storage, lanes, above.is_below_loop);
  if (storage.exchange == StorageItem::Exchange::kGives) given_.insert(storage.tensor);
  if (!stays && lasting_.count(storage.id) > 0) keep_lasting(storage, lanes, above.is_below_loop);
  walk(body, index + 1, lanes, below);
  if (!split_reserves && !is_kept && storage.exchange != StorageItem::Exchange::kGives)
    release_open({&storage, &lanes}, above.is_below_loop);
  if (storage.is_backing) return;
  for (EinsumId einsum : storage.served) close_for(storage, einsum, lanes);
}

/// Whether nothing but storages (and loops of one step) stand before the split of this body.
bool Machine::reaches_split(const Body& body, std::size_t index, const Lanes& lanes) const {
  if (std::holds_alternative<ComputeItem>(body.items.back())) return false;
  for (; index < body.items.size(); ++index) {
    if (std::holds_alternative<SplitItem>(body.items[index])) return true;
    if (std::holds_alternative<ComputeItem>(body.items[index])) return false;
    const auto* loop = std::get_if<LoopItem>(&body.items[index]);
    if (!loop) continue;
    for (const Lane& lane : lanes)
      if (referee::step_count(loop_schedule(workload_, *loop, lane)) > 1) return false;
  }
  return false;
}

Machine::Above Machine::Above::below_loop(bool has_steps, bool is_spatial) const {
  Above below = *this;
  ++below.n_loops;
  if (!has_steps) return below;
  below.unreserved.clear();
  if (is_spatial) return below;
  below.open.clear();
  below.open_from = below.n_loops;
  below.is_below_loop = true;
  return below;
}

/// What every lane does in a loop.
Machine::Schedules Machine::schedules_of(const LoopItem& loop, const Lanes& lanes) {
  Schedules schedules;
  for (const Lane& lane : lanes) {
    schedules.push_back(loop_schedule(workload_, loop, lane));
    note_steps(loop, schedules.back());
    note_tiles(loop, lane, schedules.back());
  }
  return schedules;
}

std::size_t Machine::step_count(const Schedules& schedules) {
  std::size_t steps = 0;
  for (const auto& schedule : schedules) steps = std::max(steps, referee::step_count(schedule));
  return steps;
}

Machine::Lanes Machine::lanes_in_step(const Lanes& lanes, const Schedules& schedules,
                                      std::size_t step) {
  Lanes inside;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    Lane lane = lanes[l];
    lane.boxes = boxes_in_step(lanes[l], schedules[l], step);
    if (!lane.boxes.empty()) inside.push_back(std::move(lane));
  }
  return inside;
}

void Machine::walk_temporal(const LoopItem& loop, const Body& body, std::size_t index,
                            const Lanes& lanes, const Above& above) {
  const Schedules schedules = schedules_of(loop, lanes);
  const std::size_t steps = step_count(schedules);
  ++runs_[loop.id];
  const Above below = above.below_loop(steps > 1, false);
  const std::size_t begin = reservations_.tick();
  running_.push_back({loop.id, 0, {}});
  loop_steps_.push_back(0);
  if (loop.rotates) {
    walk_rotation(loop, body, index, lanes, schedules, below);
  } else {
    for (std::size_t step = 0; step < steps; ++step) {
      loop_steps_.back() = static_cast<std::int64_t>(step);
      begin_step();
      walk(body, index + 1, lanes_in_step(lanes, schedules, step), below);
      end_step();
    }
  }
  loop_steps_.pop_back();
  end_lasting();
  if (steps > 1 && !above.is_below_loop) release_kept(begin);
}

void Machine::walk_spatial(const LoopItem& loop, const Body& body, std::size_t index,
                           const Lanes& lanes, const Above& above) {
  ++runs_[loop.id];
  const Schedules schedules = schedules_of(loop, lanes);
  walk(body, index + 1, lanes_of_instances(loop, lanes, schedules),
       above.below_loop(step_count(schedules) > 1, true));
}

/// The instances that a spatial loop spreads the work over.
Machine::Lanes Machine::lanes_of_instances(const LoopItem& loop, const Lanes& lanes,
                                           const Schedules& schedules) {
  Lanes inside;
  const std::size_t most = step_count(schedules);
  const std::size_t dimension = first_dimension_[loop.component.index()] + loop.dimension;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    for (std::size_t turn = 0; turn < referee::step_count(schedules[l]); ++turn) {
      Lane instance = lanes[l];
      instance.boxes = boxes_in_step(lanes[l], schedules[l], turn);
      if (instance.boxes.empty()) continue;
      instance.turns.push_back(static_cast<std::int64_t>(turn));
      instance.ids.push_back(numbers_.of(instance.turns));
      stand(loop, dimension, static_cast<std::int64_t>(most), instance.turns.back(), instance);
      inside.push_back(std::move(instance));
    }
  }
  return inside;
}

/// Puts an instance of a spatial loop of so many turns at most where it stands along the loop's
/// dimension.
void Machine::stand(const LoopItem& loop, std::size_t dimension, std::int64_t most,
                    std::int64_t turn, Lane& lane) {
  const SpatialDimension& spread = arch_[loop.component].spatial[loop.dimension];
  const auto region = lane.regions.find(dimension);
  const bool is_shared_out = region != lane.regions.end();
  const Range own = is_shared_out ? region->second : Range{0, spread.fanout};
  std::int64_t& place = lane.place[dimension];
  place = own.begin + (place - own.begin) * most + turn;
  if (place < own.end()) return;
  complaints_.add(ComplaintKind::kStructure,
                  fmt::format("A spatial loop spreads over more than the {} instances of {}.{}{}.",
                              own.size, arch_[loop.component].name, spread.name,
                              is_shared_out ? " that are the share of its child" : ""));
}

/// The lanes that have work in a child of a split, with that work alone.
Machine::Lanes Machine::lanes_of(const Body& child, const Lanes& lanes) {
  Lanes inside = lanes;
  for (Lane& lane : inside)
    std::erase_if(lane.boxes, [&](const auto& box) { return child.einsums.count(box.first) == 0; });
  std::erase_if(inside, [](const Lane& lane) { return lane.boxes.empty(); });
  return inside;
}

bool Machine::uses(const Body& child, const StorageItem& storage) {
  return std::any_of(child.einsums.begin(), child.einsums.end(),
                     [&](EinsumId e) { return storage.served.count(e) > 0; });
}

/// Walks a child of a split; then the storages that are open above it end their service for it.
void Machine::walk_child(const Body& child, const Lanes& lanes, const Above& above) {
  walk(child, 0, lanes, above);
  for (auto open = above.open.rbegin(); open != above.open.rend(); ++open)
    for (EinsumId einsum : child.einsums)
      if (open->storage->served.count(einsum) > 0) close_for(*open->storage, einsum, *open->lanes);
  for (EinsumId einsum : child.einsums) give_back_to_others(einsum, above.open_from);
}

void Machine::walk_split(const SplitItem& split, const Lanes& lanes, const Above& above) {
  if (split.kind != SplitKind::kSequential) {
    std::deque<Step> steps;
    steps.push_back({lanes, above, {}, loop_steps_, {}});
    run_concurrently(split, steps, above);
    return;
  }
  const auto uses = [&](std::size_t child, const StorageItem& storage) {
    return Machine::uses(split.children[child], storage);
  };
  const auto is_first = [&](std::size_t child, const StorageItem& storage) {
    for (std::size_t c = 0; c < child; ++c)
      if (uses(c, storage)) return false;
    return uses(child, storage);
  };
  const auto is_last = [&](std::size_t child, const StorageItem& storage) {
    for (std::size_t c = child + 1; c < split.children.size(); ++c)
      if (uses(c, storage)) return false;
    return uses(child, storage);
  };
  splits_.push_back({reserved_, 0, {}});
  for (std::size_t c = 0; c < split.children.size(); ++c) {
    const Body& child = split.children[c];
    splits_.back().child = c;
    if (child.items.size() == 1 && std::holds_alternative<CollectiveStep>(child.items.front())) {
      const auto& collective = std::get<CollectiveStep>(child.items.front());
      if (is_exchanged(program_.collectives[collective.id].tensor))
        exchange(collective, split, lanes, above.is_below_loop);
      else
        collect(collective, lanes);
      continue;
    }
    const Lanes inside = lanes_of(child, lanes);
    const bool has_split = reaches_split(child, 0, inside);
    std::vector<OpenStorage> here, below;
    for (OpenStorage open : above.unreserved) {
      if (!uses(c, *open.storage)) continue;
      open.reserves = open.reserves && is_first(c, *open.storage);
      open.releases = open.releases && is_last(c, *open.storage);
      (open.storage->is_hoisted && has_split ? below : here).push_back(open);
    }
    for (const OpenStorage& open : here)
      if (open.reserves) reserve(*open.storage, *open.lanes, above.is_below_loop);
    walk_child(child, inside,
               {above.open, below, above.is_below_loop, above.n_loops, above.open_from});
    for (const OpenStorage& open : here)
      if (open.releases) release_open(open, above.is_below_loop);
  }
  end_branches();
}

}  // namespace sluice::referee
