#include <fmt/format.h>

#include <algorithm>

#include "machine.h"
#include "referee/points/point_rows.h"

namespace sluice::referee {
namespace {

/// Of index ranges that are all the same: these.
std::optional<IndexBox> only_one(std::vector<IndexBox> boxes) {
  if (boxes.empty()) return std::nullopt;
  for (const IndexBox& box : boxes)
    if (box != boxes.front()) return std::nullopt;
  return std::move(boxes.front());
}

}  // namespace

/// For a copy only the storages on its way exist: those between the backing storages of its two
/// tensors, or in the memory of the inner one, that are written above the last of the two.
bool Machine::exists_for(const StorageItem& storage, EinsumId einsum) const {
  if (storage.served.count(einsum) == 0) return false;
  if (!workload_[einsum].is_copy_operation || storage.is_backing) return true;
  const CopyWay way = copy_way(einsum);
  if (std::any_of(way.between.begin(), way.between.end(),
                  [&](const Link* link) { return link->storage == &storage; }))
    return true;
  return storage.component == std::max(way.from.storage->component, way.to.storage->component) &&
         storage.order_as_written(einsum) < way.end;
}

/// What the Einsums that a storage serves touch of its tensor in a lane.
Points Machine::tile_of(const StorageItem& storage, const Lane& lane) const {
  Points tile;
  for (const auto& [einsum, box] : lane.boxes) {
    if (!exists_for(storage, einsum)) continue;
    for (const bool outputs : {false, true}) {
      const Points touched = points_.touched(workload_[einsum], storage.tensor, outputs, box);
      tile = tile.empty() ? touched : united(tile, touched);
    }
  }
  return tile;
}

/// That tile as index ranges; none where it is empty or not a box.
std::optional<IndexBox> Machine::box_of_tile(const StorageItem& storage, const Lane& lane) const {
  std::vector<IndexBox> boxes;
  for (const auto& [einsum, box] : lane.boxes) {
    if (!exists_for(storage, einsum)) continue;
    for (const bool outputs : {false, true})
      for (IndexBox& ranges :
           PointMap::touched_ranges(workload_[einsum], storage.tensor, outputs, box))
        boxes.push_back(std::move(ranges));
  }
  return only_one(std::move(boxes));
}

/// The number of points of that tile.
std::int64_t Machine::count_tile(const StorageItem& storage, const Lane& lane) const {
  const std::optional<IndexBox> only = box_of_tile(storage, lane);
  if (!only) return static_cast<std::int64_t>(tile_of(storage, lane).size());
  std::int64_t points = 1;
  for (const Range& range : *only) points *= range.size;
  return points;
}

void Machine::find_initial_values() {
  for (std::size_t e = 0; e < workload_.einsums.size(); ++e) {
    const Einsum& einsum = workload_.einsums[e];
    const TensorAccess& output = einsum.output();
    ElementSet& made = made_[output.tensor.index()];
    std::vector<std::int32_t>& missing = missing_[output.tensor.index()];
    const LinearElement linear = points_.linear(einsum, output);
    for_each_row(whole_box(einsum), {linear}, [&](auto& at, const auto& steps, auto length) {
      for (std::int64_t i = 0; i < length; ++i) {
        const Element element = at[0] + i * steps[0];
        made.insert(element);
        ++missing[static_cast<std::size_t>(element)];
      }
    });
    for (std::size_t reader = 0; reader <= e; ++reader)
      for (const TensorAccess& access : workload_.einsums[reader].accesses)
        if (!access.is_output && access.tensor == output.tensor)
          is_state_[output.tensor.index()] = true;
  }
}

/// Who works in a memory whose actions are whole ones.
void Machine::note_instances(const StorageItem& storage, const Lanes& lanes) {
  const auto* memory = std::get_if<Memory>(&arch_[storage.component].kind);
  if (memory == nullptr || memory->partial_actions != PartialActions::kWhole) return;
  for (const Lane& lane : lanes)
    for (const auto& [einsum, box] : lane.boxes) {
      if (!exists_for(storage, einsum)) continue;
      const Einsum& of = workload_[einsum];
      const TensorId tensor = of.is_copy_operation ? of.accesses.front().tensor : storage.tensor;
      instances_[{einsum, storage.component, tensor}].insert(lane.ids.back());
    }
}

void Machine::open_backing(const StorageItem& storage, const Lanes& lanes) {
  for (const Lane& lane : lanes) {
    Points tile = tile_of(storage, lane);
    if (tile.empty()) continue;
    Buffer& buffer = buffers_.at(storage, {}, lane.ids.back());
    const Points fresh = without(tile, buffer.points);
    for (EinsumId einsum : storage.served) {
      const std::set<std::size_t> instance = {lane.ids.back()};
      const std::size_t link = link_of(storage, einsum);
      if (!fresh.empty()) give_back(einsum, storage.tensor, link + 1, link, &instance);
    }
    const bool gives = storage.exchange != StorageItem::Exchange::kNone;
    if (!gives) send_off(storage.tensor, buffer, without(buffer.points, tile));
    buffer.move_to(std::move(tile), box_of_tile(storage, lane));
    bring_in(storage, lane, buffer, fresh);
    // What a collective takes away are results only once it has brought them to the readers; what
    // is forwarded, when it leaves.
    if (!gives) resting_[{&storage, lane.ids.back()}] = &buffer;
  }
}

/// A state that only readers are served with: where a storage of the same instance, below the loop
/// over the state's steps, has ended with the value, it has stayed there.
const Cell* Machine::last_slice_beside(const StorageItem& storage, const Lane& lane,
                                       Element element) {
  if (!is_state_[storage.tensor.index()]) return nullptr;
  for (EinsumId einsum : storage.served)
    if (workload_[einsum].output().tensor == storage.tensor) return nullptr;
  for (const auto& [where, buffer] : resting_) {
    const StorageItem& other = *where.first;
    if (&other == &storage || other.tensor != storage.tensor ||
        other.component != storage.component || where.second != lane.ids.back() ||
        !stands_behind(storage, other))
      continue;
    const Cell* cell = buffer->find(element);
    if (cell && cell->is_made) return cell;
  }
  return nullptr;
}

/// Whether all loops above a reader's backing storage stand above the maker's, too, and those above
/// the maker's alone go from step to step: instances of separate loops are not the same.
bool Machine::stands_behind(const StorageItem& storage, const StorageItem& other) const {
  const std::vector<const LoopItem*> reading = loops_above(storage);
  const std::vector<const LoopItem*> making = loops_above(other);
  const auto is_in = [](const std::vector<const LoopItem*>& loops, const LoopItem* loop) {
    return loop->has_one_step || std::find(loops.begin(), loops.end(), loop) != loops.end();
  };
  return std::all_of(reading.begin(), reading.end(),
                     [&](const LoopItem* loop) { return is_in(making, loop); }) &&
         std::all_of(making.begin(), making.end(), [&](const LoopItem* loop) {
           return !loop->is_spatial || is_in(reading, loop);
         });
}

std::vector<const LoopItem*> Machine::loops_above(const StorageItem& storage) const {
  std::vector<const LoopItem*> loops;
  for (EinsumId einsum : storage.served) {
    const Path& path = program_.paths.at(einsum);
    const Link& link = path.links.at(storage.tensor)[link_of(storage, einsum)];
    for (std::size_t i = 0; i < link.loop_depth; ++i) loops.push_back(path.loops[i]);
  }
  return loops;
}

/// Points enter a backing storage: inputs with their numbers, results empty.
void Machine::bring_in(const StorageItem& storage, const Lane& lane, Buffer& buffer,
                       const Points& fresh) {
  const TensorId tensor = storage.tensor;
  ElementSet& born =
      born_[tensor.index()]
          .try_emplace(copy_of(tensor, *storage.served.begin(), lane), points_[tensor].volume())
          .first->second;
  const bool is_produced = facts_.roles().is_made(tensor);
  for (Element element : fresh) {
    Cell& cell = *buffer.find(element);
    if (!points_.is_inside(tensor, element)) {
      cell = {0, true};
      continue;
    }
    if (!born.insert(element)) {
      if (const Cell* last = last_slice_beside(storage, lane, element)) {
        cell = *last;
        continue;
      }
      complaints_.add(ComplaintKind::kRecomputation,
                      fmt::format("{} enters its backing storage twice: what was there is lost.",
                                  points_.name(tensor, element)));
    }
    const bool is_made = made_[tensor.index()].has(element);
    const auto& initial = workload_[tensor].initial;
    if (is_made || (is_produced && !is_state_[tensor.index()] && !initial)) continue;
    cell = {initial && is_produced ? *initial : inputs_.at(tensor, element), true};
  }
}

void Machine::send_off(TensorId tensor, const Buffer& buffer, const Points& dropped) {
  for (Element element : dropped)
    if (made_[tensor.index()].has(element)) {
      Cell& result = results_[tensor.index()][element];
      const Cell& last = *const_cast<Buffer&>(buffer).find(element);
      // Copies that a collective has made equal leave one after the other.
      if (last.is_made && result.is_made && result.value != last.value &&
          born_[tensor.index()].size() > 1)
        complaints_.add(ComplaintKind::kWrongNumber,
                        fmt::format("Two instances hold different values of {}: {} and {}.",
                                    points_.name(tensor, element), result.value, last.value));
      if (last.is_made) result = last;
    }
}

void Machine::open_for_einsums(const StorageItem& storage, const Lanes& lanes) {
  if (storage.incremental) {
    for (EinsumId einsum : storage.served) open_incremental(storage, einsum, lanes);
    return;
  }
  for (const Lane& lane : lanes)
    for (const auto& [einsum, box] : lane.boxes) {
      const Einsum& of = workload_[einsum];
      if (storage.served.count(einsum) == 0 || of.is_copy_operation) continue;
      Buffer& buffer = buffers_.at(storage, einsum, lane.ids.back());
      if (storage.stays_in && stays_open(storage, einsum, box, buffer)) continue;
      shifts_[storage.id] = 0;
      const std::size_t run = storage.slides_over ? runs_[*storage.slides_over]
                              : storage.stays_in  ? moments_[*storage.stays_in].run
                                                  : 0;
      if (!storage.slides_over || buffer.run != run) buffer = Buffer{};
      buffer.run = run;
      std::vector<IndexBox> boxes = PointMap::touched_ranges(of, storage.tensor, false, box);
      const std::vector<IndexBox> made = PointMap::touched_ranges(of, storage.tensor, true, box);
      Points wanted = points_.all_of(storage.tensor, boxes);
      buffer.outputs = points_.all_of(storage.tensor, made);
      buffer.returning = buffer.outputs;
      buffer.fetched = without(wanted, buffer.window);
      boxes.insert(boxes.end(), made.begin(), made.end());
      if (storage.shared_by > 1) {
        const Box own = share_of(storage, lane, peer_of(storage, lane));
        boxes = PointMap::touched_ranges(of, storage.tensor, false, own);
        buffer.fetched = points_.all_of(storage.tensor, boxes);
        buffer.move_to(buffer.fetched, only_one(std::move(boxes)));
      } else {
        buffer.move_to(united(wanted, buffer.outputs), only_one(std::move(boxes)));
      }
      buffer.window = std::move(wanted);
      buffer.is_open = true;
      buffer.is_filled = false;
    }
}

/// Whether a resident storage still holds what was brought when its pipeline began to run.
bool Machine::stays_open(const StorageItem& storage, EinsumId einsum, const Box& box,
                         Buffer& buffer) {
  if (buffer.run != moments_[*storage.stays_in].run) return false;
  if (points_.touched(workload_[einsum], storage.tensor, false, box) != buffer.window)
    complaints_.add(ComplaintKind::kStructure,
                    fmt::format("{} is resident in {}, and its tile moves while the pipeline runs.",
                                workload_[storage.tensor].name, arch_[storage.component].name));
  buffer.is_open = true;
  return true;
}

/// Drains what an Einsum has made in a storage, and ends its service.
void Machine::close_for(const StorageItem& storage, EinsumId einsum, const Lanes& lanes) {
  if (storage.incremental) return;
  std::vector<Party> parties;
  for (const Lane& lane : lanes) {
    Buffer* buffer = buffers_.find(storage, einsum, lane.ids.back());
    if (!buffer || !buffer->is_open) continue;
    buffer->is_open = false;
    if (!buffer->is_filled || buffer->outputs.empty()) continue;
    Party party{&lane, buffer->outputs, {}};
    std::size_t next = 0;
    for (Element element : party.points) party.cells.push_back(*buffer->find_next(element, next));
    parties.push_back(std::move(party));
  }
  drain_parties(storage, einsum, std::move(parties));
}

void Machine::drain_parties(const StorageItem& storage, EinsumId einsum,
                            std::vector<Party> parties) {
  if (parties.empty()) return;
  const Crossing& crossing =
      transfers_.crossing(einsum, storage.tensor, true, link_of(storage, einsum));
  const std::int64_t written = transfers_.drain(crossing, parties);
  record_transfer(ExecutionStep::Kind::kDrain, crossing, parties, written);
}

/// Place of a storage on the way of its tensor to an Einsum.
std::size_t Machine::link_of(const StorageItem& storage, EinsumId einsum) const {
  const std::vector<Link>& links = program_.paths.at(einsum).links.at(storage.tensor);
  std::size_t link = 0;
  while (links[link].storage != &storage) ++link;
  return link;
}

void Machine::fill_storages(EinsumId einsum, TensorId tensor, const Lanes& lanes) {
  const std::vector<Link>& links = program_.paths.at(einsum).links.at(tensor);
  for (std::size_t link = 0; link < links.size(); ++link)
    if (!links[link].storage->is_toll && !links[link].storage->is_backing)
      fill_storage(einsum, tensor, link, lanes);
}

/// Fills the tiles that have just been opened, in all instances together.
void Machine::fill_storage(EinsumId einsum, TensorId tensor, std::size_t link, const Lanes& lanes) {
  const Link& at = program_.paths.at(einsum).links.at(tensor)[link];
  std::vector<Party> inputs;
  std::vector<Party> outputs;
  for (const Lane& lane : lanes) {
    Buffer& buffer = buffers_.at(*at.storage, einsum, lane.ids[at.spatial_depth]);
    if (buffer.is_filled) continue;
    buffer.is_filled = true;
    inputs.push_back({&lane, buffer.fetched, {}});
    outputs.push_back({&lane, buffer.returning, {}});
  }
  for (const bool is_output : {false, true}) {
    std::vector<Party>& parties = is_output ? outputs : inputs;
    const Crossing& crossing = transfers_.crossing(einsum, tensor, is_output, link);
    if (is_output) transfers_.drop_first_sights(crossing, parties);
    std::erase_if(parties, [](const Party& party) { return party.points.empty(); });
    if (parties.empty()) continue;
    const std::int64_t read = transfers_.fill(crossing, parties);
    record_transfer(ExecutionStep::Kind::kFill, crossing, parties, read);
    for (const Party& party : parties) {
      Buffer& buffer = buffers_.at(*at.storage, einsum, party.lane->ids[at.spatial_depth]);
      std::size_t next = 0;
      for (std::size_t i = 0; i < party.points.size(); ++i)
        *buffer.find_next(party.points[i], next) = party.cells[i];
    }
  }
}

bool Machine::is_forever(const StorageItem& storage) const {
  return storage.persistent || (storage.is_backing && workload_[storage.tensor].persistent);
}

/// Each repetition of the workload and of the tensor's users has persistent values of its own.
std::int64_t Machine::repetitions(const StorageItem& storage) const {
  std::int64_t most = 1;
  for (const Einsum& einsum : workload_.einsums)
    if (find_access(einsum, storage.tensor)) most = std::max(most, einsum.n_instances);
  return most * workload_.n_instances;
}

double Machine::reserved_bits(const StorageItem& storage, const Lane& lane, bool is_double) {
  double bits_per_value = 0;
  for (const auto& [einsum, box] : lane.boxes)
    if (storage.served.count(einsum) > 0)
      bits_per_value = std::max(bits_per_value,
                                facts_.bits_per_value(einsum, storage.component, storage.tensor));
  const double values =
      static_cast<double>(count_tile(storage, lane)) / static_cast<double>(storage.shared_by);
  if (storage.shared_by > 1) return values * bits_per_value * 2;  // one that comes, one that goes
  const bool twice =
      is_double && !is_forever(storage) && !storage.resident &&
      std::get<Memory>(arch_[storage.component].kind).buffering == Buffering::kDouble;
  return values * bits_per_value * (twice ? 2 : 1);
}

/// The coordinates that tell the instances of a component apart: those of the dimensions above it.
void Machine::find_own_dimensions() {
  std::vector<std::set<std::size_t>> own(arch_.components.size());
  for (ComponentId compute : computes_of(arch_)) {
    std::set<std::size_t> above;
    for (ComponentId component : path_to(arch_, compute)) {
      for (std::size_t d = first_dimension_[component.index()];
           d < first_dimension_[component.index() + 1]; ++d)
        above.insert(d);
      own[component.index()].insert(above.begin(), above.end());
    }
  }
  for (const std::set<std::size_t>& dimensions : own)
    own_dimensions_.emplace_back(dimensions.begin(), dimensions.end());
}

InstancePlace Machine::instance_of(ComponentId component, const InstancePlace& place) const {
  InstancePlace own(place.size(), 0);
  for (const std::size_t d : own_dimensions_[component.index()]) own[d] = place[d];
  return own;
}

void Machine::reserve(const StorageItem& storage, const Lanes& lanes, bool is_double) {
  const bool lasts = lasting_.count(storage.id) > 0;
  if (records() && !lasts && !lanes.empty())
    record_reservation(ExecutionStep::Kind::kReserve, storage,
                       static_cast<std::int64_t>(lanes.size()),
                       reserved_bits(storage, lanes.front(), is_double));
  for (const Lane& lane : lanes) {
    const double bits = reserved_bits(storage, lane, is_double);
    if (bits == 0) continue;
    const InstancePlace place = instance_of(storage.component, lane.place);
    if (is_forever(storage)) {
      reservations_.reserve_forever(storage.component, place, owner_[storage.id],
                                    bits * static_cast<double>(repetitions(storage)));
      continue;
    }
    reserved_->reserve(storage.component, place, owner_[storage.id], bits);
    note_branch(storage, place, bits);
  }
}

void Machine::release(const StorageItem& storage, const Lanes& lanes, bool is_double) {
  const bool lasts = lasting_.count(storage.id) > 0;
  if (records() && !lasts && !lanes.empty())
    record_reservation(ExecutionStep::Kind::kRelease, storage,
                       static_cast<std::int64_t>(lanes.size()),
                       reserved_bits(storage, lanes.front(), is_double));
  if (is_forever(storage)) return;
  for (const Lane& lane : lanes) {
    const double bits = reserved_bits(storage, lane, is_double);
    if (bits == 0) continue;
    const InstancePlace place = instance_of(storage.component, lane.place);
    note_branch(storage, place, bits);
    reserved_->release(storage.component, place, owner_[storage.id], bits);
  }
}

void Machine::release_open(const OpenStorage& open, bool is_double) {
  if (open.storage->exchange == StorageItem::Exchange::kTakes)
    close_taking(*open.storage);
  else
    release(*open.storage, *open.lanes, is_double);
}

}  // namespace sluice::referee
