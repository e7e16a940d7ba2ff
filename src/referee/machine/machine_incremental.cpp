#include <algorithm>

#include "machine.h"
#include "referee/transfers/moved_tiles.h"

namespace sluice::referee {

/// All instances visit the storage: those whose outputs have moved on give them back together,
/// then each sees what it needs.
void Machine::open_incremental(const StorageItem& storage, EinsumId einsum, const Lanes& lanes) {
  if (workload_[einsum].is_copy_operation) return;
  std::set<std::size_t> moved;
  for (const Lane& lane : lanes) {
    const auto box = lane.boxes.find(einsum);
    const Buffer* buffer = buffers_.find(storage, einsum, lane.ids.back());
    if (box == lane.boxes.end() || !buffer) continue;
    if (buffer->outputs != points_.touched(workload_[einsum], storage.tensor, true, box->second))
      moved.insert(lane.ids.back());
  }
  const std::size_t link = link_of(storage, einsum);
  if (!moved.empty()) give_back(einsum, storage.tensor, link, link, &moved);
  for (const Lane& lane : lanes)
    if (lane.boxes.count(einsum) > 0) move_incremental(storage, einsum, lane);
}

void Machine::move_incremental(const StorageItem& storage, EinsumId einsum, const Lane& lane) {
  const Einsum& of = workload_[einsum];
  const Box& box = lane.boxes.at(einsum);
  Buffer& buffer = buffers_.at(storage, einsum, lane.ids.back());
  const bool is_new = !buffer.is_filled;
  if (is_new) buffer = Buffer{};
  auto ranges = PointMap::touched_ranges(of, storage.tensor, false, box);
  Points wanted = points_.touched(of, storage.tensor, false, box);
  Points outputs = points_.touched(of, storage.tensor, true, box);
  const Link& link = program_.paths.at(einsum).links.at(storage.tensor)[link_of(storage, einsum)];
  if (is_new) {
    buffer.fetched = wanted;
  } else if (ranges == buffer.ranges) {
    buffer.fetched.clear();
  } else {
    const auto rank = rank_of_move(buffer.ranges, ranges);
    const bool slides = rank && rank == rank_of_innermost(workload_, program_, einsum,
                                                          storage.tensor, link.loop_depth);
    buffer.fetched = slides ? without(wanted, buffer.window) : wanted;
  }
  buffer.returning = outputs == buffer.outputs ? Points{} : outputs;
  buffer.is_filled = !is_new && buffer.fetched.empty() && buffer.returning.empty();
  buffer.move_to(united(wanted, outputs));
  buffer.ranges = std::move(ranges);
  buffer.window = std::move(wanted);
  buffer.outputs = std::move(outputs);
  keepers_[{&storage, einsum}].insert_or_assign(lane.ids.back(), lane);
}

/// What other Einsums or collectives use is not kept until the tile moves on: the storages below
/// `open_from` loops give it back.
void Machine::give_back_to_others(EinsumId maker, std::size_t open_from) {
  const TensorId tensor = workload_[maker].output().tensor;
  const std::vector<EinsumId>& readers = facts_.roles().consumers[tensor.index()];
  const bool is_used =
      std::any_of(readers.begin(), readers.end(), [&](EinsumId e) { return e != maker; }) ||
      std::any_of(program_.collectives.begin(), program_.collectives.end(),
                  [&](const CollectiveNode& collective) { return collective.tensor == tensor; });
  if (!is_used) return;
  const std::vector<Link>& links = program_.paths.at(maker).links.at(tensor);
  std::size_t first = 0;
  while (first < links.size() && links[first].loop_depth < open_from) ++first;
  give_back(maker, tensor, first, 0, nullptr);
}

/// An incremental storage keeps its tile between visits: it is reserved as long as the outermost
/// loop above it runs.
void Machine::keep_reserved(const StorageItem& storage, const Lanes& lanes) {
  if (is_forever(storage)) {
    reserve(storage, lanes, true);
    return;
  }
  for (const Lane& lane : lanes) {
    double& bits = kept_bits_[{&storage, instance_of(storage.component, lane.place)}];
    bits = std::max(bits, reserved_bits(storage, lane, true));
  }
}

void Machine::release_kept(std::size_t begin) {
  const std::size_t end = reservations_.tick();
  for (const auto& [where, bits] : kept_bits_)
    reservations_.reserve_between(begin, end, where.first->component, where.second,
                                  owner_[where.first->id], bits);
  kept_bits_.clear();
}

void Machine::give_back(EinsumId einsum, TensorId tensor, std::size_t first, std::size_t below,
                        const std::set<std::size_t>* instances) {
  if (keepers_.empty()) return;
  const std::vector<Link>& links = program_.paths.at(einsum).links.at(tensor);
  for (std::size_t link = links.size(); link-- > first;) {
    const auto keepers = keepers_.find({links[link].storage, einsum});
    if (keepers == keepers_.end()) continue;
    std::vector<Party> parties;
    for (const auto& [id, lane] : keepers->second) {
      if (instances && instances->count(lane.ids[links[below].spatial_depth]) == 0) continue;
      Buffer& buffer = buffers_.at(*links[link].storage, einsum, id);
      if (!buffer.is_filled || buffer.outputs.empty()) continue;
      Party party{&lane, std::move(buffer.outputs), {}};
      buffer.outputs.clear();
      for (Element element : party.points) party.cells.push_back(*buffer.find(element));
      parties.push_back(std::move(party));
    }
    drain_parties(*links[link].storage, einsum, std::move(parties));
  }
}

}  // namespace sluice::referee
