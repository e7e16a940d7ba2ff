#include <algorithm>

#include "machine.h"

// Tiles that peers share, each with a share that goes round (docs/executor.md).

namespace sluice::referee {

/// The number of an instance among the peers that share its tile.
std::int64_t Machine::peer_of(const StorageItem& storage, const Lane& lane) const {
  const EinsumId einsum = *storage.served.begin();
  const Path& path = program_.paths.at(einsum);
  const Link& link = path.links.at(storage.tensor)[link_of(storage, einsum)];
  std::int64_t peer = 0;
  for (const std::size_t d : loops_over_peers(workload_, einsum, path, link))
    peer = peer * static_cast<std::int64_t>(path.spatial[d]->steps.at(einsum)) + lane.turns[d];
  return peer;
}

/// A lane's box, cut to one share.
Box Machine::share_of(const StorageItem& storage, const Lane& lane, std::int64_t share) const {
  const EinsumId einsum = *storage.served.begin();
  Box box = lane.boxes.at(einsum);
  Range& cut = box[place_of(workload_[einsum], *storage.along)];
  cut.size /= storage.shared_by;
  cut.begin += share * cut.size;
  return box;
}

/// In step t peer j works on share (j + t) mod k, counted from where the shares were left; between
/// two steps every peer hands its share to the one before it.
void Machine::walk_rotation(const LoopItem& loop, const Body& body, std::size_t index,
                            const Lanes& lanes, const Schedules& schedules, const Above& below) {
  const StorageItem* storage = nullptr;
  for (const auto& [tensor, links] : program_.paths.at(*body.einsums.begin()).links)
    for (const Link& link : links)
      if (link.storage->id == *loop.rotates) storage = link.storage;
  const std::int64_t k = storage->shared_by;
  for (std::int64_t step = 0; step < k; ++step) {
    loop_steps_.back() = step;
    begin_step();
    if (step > 0) {
      hand_round(*storage, lanes);
      shifts_[storage->id] = (shifts_[storage->id] + 1) % k;
    }
    Lanes inside;
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      Lane lane = lanes[l];
      const std::int64_t share = (peer_of(*storage, lane) + shifts_[storage->id]) % k;
      lane.boxes = boxes_in_step(lanes[l], schedules[l], static_cast<std::size_t>(share));
      if (!lane.boxes.empty()) inside.push_back(std::move(lane));
    }
    walk(body, index + 1, inside, below);
    end_step();
  }
}

/// Each peer takes what the next one has; the last one what the first one has.
void Machine::hand_round(const StorageItem& storage, const Lanes& lanes) {
  const EinsumId einsum = *storage.served.begin();
  const Path& path = program_.paths.at(einsum);
  const std::size_t place = link_of(storage, einsum);
  const Link& link = path.links.at(storage.tensor)[place];
  const std::vector<std::size_t> over = loops_over_peers(workload_, einsum, path, link);
  const auto buffer_of = [&](const Lane& lane) -> Buffer& {
    return buffers_.at(storage, einsum, lane.ids[link.spatial_depth]);
  };
  std::map<std::pair<std::vector<std::int64_t>, std::int64_t>, const Lane*> peers;
  const auto group_of = [&](const Lane& lane) {
    std::vector<std::int64_t> group = lane.turns;
    for (const std::size_t d : over) group[d] = 0;
    return group;
  };
  for (const Lane& lane : lanes) peers[{group_of(lane), peer_of(storage, lane)}] = &lane;
  std::vector<std::pair<Party, Party>> moves;
  std::map<const Lane*, Buffer> received;
  for (const Lane& taker : lanes) {
    const std::int64_t next = (peer_of(storage, taker) + 1) % storage.shared_by;
    const auto found = peers.find({group_of(taker), next});
    if (found == peers.end()) {
      complaints_.add(ComplaintKind::kUnsupported,
                      "A tile whose peers have not all work in a step cannot be executed yet.");
      return;
    }
    const Lane& giver = *found->second;
    const Buffer& given = buffer_of(giver);
    moves.push_back({Party{&giver, given.points, {}}, Party{&taker, given.points, {}}});
    received[&taker] = given;
  }
  for (auto& [lane, content] : received) {
    content.window = buffer_of(*lane).window;
    buffer_of(*lane) = std::move(content);
  }
  transfers_.hand_on(transfers_.crossing(einsum, storage.tensor, false, place), moves);
}

}  // namespace sluice::referee
