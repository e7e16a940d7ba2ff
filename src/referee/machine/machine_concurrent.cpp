#include <fmt/format.h>

#include <algorithm>

#include "machine.h"

namespace sluice::referee {

/// A list whose split is a pipeline, from the loops that are its steps on.
void Machine::walk_pipeline(const Body& body, const Lanes& lanes, const Above& above) {
  std::deque<Step> steps;
  find_steps(body, *body.steps_begin, {lanes, above, {}, loop_steps_, {}}, steps);
  run_concurrently(std::get<SplitItem>(body.items.back()), steps, above);
}

void Machine::find_steps(const Body& body, std::size_t index, Step step, std::deque<Step>& steps) {
  if (step.lanes.empty()) return;
  if (index + 1 == body.items.size()) {
    steps.push_back(std::move(step));
    return;
  }
  if (const auto* storage = std::get_if<StorageItem>(&body.items[index])) {
    if (!storage->is_toll) step.storages.emplace_back(storage, step.lanes);
    find_steps(body, index + 1, std::move(step), steps);
    return;
  }
  const LoopItem& loop = std::get<LoopItem>(body.items[index]);
  const Schedules schedules = schedules_of(loop, step.lanes);
  const std::size_t count = step_count(schedules);
  step.runs.emplace_back(loop.id, ++runs_[loop.id]);
  step.above = step.above.below_loop(count > 1, loop.is_spatial);
  if (loop.is_spatial) {
    step.lanes = lanes_of_instances(loop, step.lanes, schedules);
    find_steps(body, index + 1, std::move(step), steps);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Step inside = step;
    inside.lanes = lanes_in_step(step.lanes, schedules, i);
    inside.loop_steps.push_back(static_cast<std::int64_t>(i));
    find_steps(body, index + 1, std::move(inside), steps);
  }
}

std::vector<Machine::Branch> Machine::branches_of(const SplitItem& split) {
  std::vector<Branch> branches;
  for (const Body& child : split.children) {
    const auto* collective =
        child.items.empty() ? nullptr : std::get_if<CollectiveStep>(&child.items.front());
    if (!collective)
      branches.push_back({&child, {}});
    else if (!branches.empty())
      branches.back().collectives.push_back(*collective);
    else
      complaints_.add(ComplaintKind::kStructure, "A collective stands before every child.");
  }
  return branches;
}

/// In time slot t child j works on step t - j of a pipeline; the children of a parallel split work
/// in the same slot. What is made in a slot is there for the other children in the next one.
void Machine::run_concurrently(const SplitItem& split, std::deque<Step>& steps,
                               const Above& above) {
  const std::vector<Branch> branches = branches_of(split);
  const std::size_t lag = split.kind == SplitKind::kPipeline ? 1 : 0;
  const auto outer_steps = loop_steps_;
  const auto last_runs = runs_;
  for (const OpenStorage& open : above.unreserved)
    if (open.reserves) reserve(*open.storage, *open.lanes, above.is_below_loop);
  const std::vector<Forward> forwards = forwards_of(split, branches);
  Parts parts;
  parts.branches.resize(branches.size());
  parts_.push_back(&parts);
  moments_.push_back({++concurrent_runs_, 0, 0});
  for (std::size_t slot = 0; slot < steps.size() + lag * branches.size(); ++slot) {
    const auto works = [&](std::size_t b) {
      return slot >= lag * b && slot - lag * b < steps.size();
    };
    moments_.back().slot = slot;
    for (std::size_t b = branches.size(); b-- > 0;) {
      if (!works(b)) continue;
      for (const Forward& tensor : forwards)
        for (const auto& [storage, branch] : tensor.receivers)
          if (branch == b) step_of_[storage] = slot - lag * b;
      run_branch(split, branches, b, steps[slot - lag * b], slot - lag * b, parts);
    }
    for (const Forward& tensor : forwards)
      if (works(tensor.from))
        forward(split, tensor, branches, steps[slot - lag * tensor.from], slot - lag * tensor.from);
    for (std::size_t b = 0; b < branches.size(); ++b)
      if (works(b)) end_tiles(branches, b, steps[slot - lag * b], slot - lag * b, parts);
  }
  moments_.pop_back();
  parts_.pop_back();
  for (const Forward& tensor : forwards) keep_forwarded(split, tensor, branches, steps, parts);
  reserve_parts(parts);
  for (const OpenStorage& open : above.unreserved)
    if (open.releases) release_open(open, above.is_below_loop);
  loop_steps_ = outer_steps;
  for (const Step& step : steps)
    for (const auto& [loop, run] : step.runs) runs_[loop] = last_runs[loop];
}

/// Whether one of the children from `begin` to before `end` uses a storage.
bool Machine::is_used(const std::vector<Branch>& branches, std::size_t begin, std::size_t end,
                      const StorageItem& storage) {
  return std::any_of(branches.begin() + static_cast<std::ptrdiff_t>(begin),
                     branches.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Branch& branch) { return uses(*branch.child, storage); });
}

/// The lanes of a child, each in the first instance of the child's region.
Machine::Lanes Machine::lanes_in_region(const SplitItem& split, const Branch& branch,
                                        std::size_t number, const Lanes& lanes) {
  Lanes inside = lanes_of(*branch.child, lanes);
  if (!split.shared_out) return inside;
  const auto& [component, dimension] = *split.shared_out;
  const std::size_t place = first_dimension_[component.index()] + dimension;
  Range region{0, split.shares.at(number)};
  for (std::size_t before = 0; before < number; ++before) region.begin += split.shares[before];
  for (Lane& lane : inside) {
    const Range own{lane.origin(place) + region.begin, region.size};  // in the region around
    lane.regions[place] = own;
    lane.place[place] = own.begin;
  }
  return inside;
}

void Machine::run_branch(const SplitItem& split, const std::vector<Branch>& branches,
                         std::size_t branch, const Step& step, std::size_t number, Parts& parts) {
  const Body& child = *branches[branch].child;
  moments_.back().branch = branch;
  loop_steps_ = step.loop_steps;
  for (const auto& [loop, run] : step.runs) runs_[loop] = run;
  Above above = step.above;
  above.unreserved.clear();
  for (const auto& [storage, lanes] : step.storages) {
    buffers_.select_step(*storage, storage->is_backing ? number : 0);
    if (!uses(child, *storage)) continue;
    if (!is_used(branches, 0, branch, *storage))
      begin_tile(*storage, lanes, number, step.above.is_below_loop, parts);
    if (storage->is_backing) continue;
    open_for_einsums(*storage, lanes_of(child, lanes));
    above.open.push_back({storage, &lanes});
  }
  ReservationTable* const outside = std::exchange(reserved_, &parts.branches[branch]);
  walk_child(child, lanes_in_region(split, branches[branch], branch, step.lanes), above);
  for (const CollectiveStep& collective : branches[branch].collectives)
    collect(collective, step.lanes);
  reserved_ = outside;
}

/// At the end of a slot the storages between the steps' loops and the split that no later child
/// uses are free again.
void Machine::end_tiles(const std::vector<Branch>& branches, std::size_t branch, const Step& step,
                        std::size_t number, Parts& parts) {
  for (const auto& [storage, lanes] : step.storages) {
    if (!uses(*branches[branch].child, *storage) ||
        is_used(branches, branch + 1, branches.size(), *storage))
      continue;
    if (storage->is_backing) buffers_.select_step(*storage, number);
    end_tile(*storage, lanes, number, parts);
  }
}

/// The first child comes to a storage between the steps' loops and the split.
void Machine::begin_tile(const StorageItem& storage, const Lanes& lanes, std::size_t number,
                         bool is_below_loop, Parts& parts) {
  ++visits_[storage.id];
  note_instances(storage, lanes);
  if (storage.is_backing) open_backing(storage, lanes);
  TilesInFlight& tiles = parts.tiles[&storage];
  ReservationTable* const outside = std::exchange(reserved_, &tiles.alone);
  reserve(storage, lanes, is_below_loop);
  release(storage, lanes, is_below_loop);
  reserved_ = outside;
  for (const auto& [where, bits] : tiles_of_step(storage, lanes)) {
    tiles.number.reserve(where.first, where.second, number, 1);
    tiles.largest[where] = std::max(tiles.largest[where], bits);
  }
}

/// What one step's tile takes in each instance; nothing of what stays during the whole run.
std::map<MemoryInstance, double> Machine::tiles_of_step(const StorageItem& storage,
                                                        const Lanes& lanes) {
  std::map<MemoryInstance, double> bits;
  for (const Lane& lane : lanes) {
    const double tile = reserved_bits(storage, lane, false);
    if (tile == 0 || is_forever(storage)) continue;
    double& own = bits[{storage.component, instance_of(storage.component, lane.place)}];
    own = std::max(own, tile);
  }
  return bits;
}

/// Results leave it, too.
void Machine::end_tile(const StorageItem& storage, const Lanes& lanes, std::size_t number,
                       Parts& parts) {
  for (const auto& [where, bits] : tiles_of_step(storage, lanes))
    parts.tiles[&storage].number.release(where.first, where.second, number, 1);
  if (!storage.is_backing) return;
  for (const Lane& lane : lanes) {
    Buffer* buffer = buffers_.find(storage, {}, lane.ids.back());
    if (!buffer) continue;
    send_off(storage.tensor, *buffer, buffer->points);
    buffer->move_to({});
  }
}

/// All parts are there as long as the split runs: a memory holds the sum of what each holds at
/// most.
void Machine::reserve_parts(const Parts& parts) {
  std::map<MemoryInstance, double> sums;
  for (const ReservationTable& branch : parts.branches)
    for (const auto& [where, bits] : branch.peaks()) sums[where] += bits;
  for (const auto& [storage, tiles] : parts.tiles) {
    std::map<MemoryInstance, double> most = tiles.alone.peaks();
    for (const auto& [where, number] : tiles.number.peaks())
      most[where] = std::max(most[where], number * tiles.largest.at(where));
    for (const auto& [where, bits] : most) sums[where] += bits;
  }
  for (const auto& [storage, kept] : parts.kept)
    for (const auto& [where, bits] : kept) sums[where] += bits;
  const std::size_t owner = program_.n_storages + concurrent_runs_;
  for (const auto& [where, bits] : sums)
    if (bits > 0) reserved_->reserve(where.first, where.second, owner, bits);
  for (const auto& [where, bits] : sums)
    if (bits > 0) reserved_->release(where.first, where.second, owner, bits);
}

/// A child holds so many tiles of a storage as long as the split runs.
void Machine::keep(const StorageItem& storage, const Lanes& lanes, double tiles, bool is_double,
                   Parts& parts) {
  for (const Lane& lane : lanes) {
    const double bits = tiles * reserved_bits(storage, lane, is_double);
    double& kept =
        parts.kept[&storage][{storage.component, instance_of(storage.component, lane.place)}];
    kept = std::max(kept, bits);
  }
}

void Machine::note_moments(EinsumId einsum, const Lanes& lanes) {
  if (moments_.empty()) return;
  const TensorAccess& output = workload_[einsum].output();
  for (const Lane& lane : lanes)
    moments_of_[output.tensor.index()].note(
        points_.at(workload_[einsum], output, lane.boxes.at(einsum)), moments_);
}

/// Children that work in the same slot know nothing of each other.
bool Machine::works_beside_maker(TensorId tensor, Element element) const {
  if (moments_.empty()) return false;
  const std::vector<Moment>* made = moments_of_[tensor.index()].find(element);
  if (!made) return false;
  const std::size_t common = std::min(moments_.size(), made->size());
  for (std::size_t m = 0; m < common && (*made)[m].run == moments_[m].run; ++m)
    if ((*made)[m].slot == moments_[m].slot && (*made)[m].branch != moments_[m].branch) return true;
  return false;
}

void Machine::check_moments(EinsumId reader, TensorId tensor, Element element) {
  if (works_beside_maker(tensor, element))
    complaints_.add(
        ComplaintKind::kAbsentValue,
        fmt::format("The Einsum {} reads {}, which another child of its split makes at the same "
                    "time.",
                    workload_[reader].name, points_.name(tensor, element)));
}

}  // namespace sluice::referee
