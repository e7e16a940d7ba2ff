#include "layout.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice::kapla {

Layout::Layout(std::vector<LayoutPiece> pieces) : pieces_(std::move(pieces)) {
  for (const LayoutPiece& piece : pieces_)
    for (const PartIndex& index : part_indices(piece.partition))
      parts_.push_back({part_of(piece.partition, piece.box, index),
                        node_of(piece.partition, piece.region, index)});
  if (pieces_.empty()) return;
  for (std::size_t side = 0; side < whole_.sides.size(); ++side)
    whole_.sides[side] = {pieces_.front().box.sides[side].begin,
                          pieces_.back().box.sides[side].end};
}

std::vector<std::int64_t> Layout::words_times_links(const Box& wanted,
                                                    const std::vector<Node>& to) const {
  std::vector<std::int64_t> costs(to.size(), 0);
  for (const Part& part : parts_) {
    const std::int64_t words = overlap(wanted, part.box);
    if (words == 0) continue;
    for (std::size_t i = 0; i < to.size(); ++i) costs[i] += words * distance(to[i], part.node);
  }
  return costs;
}

std::int64_t Layout::along_a_tree(const Box& wanted, const std::vector<Node>& to) const {
  const std::vector<std::int64_t> costs = words_times_links(wanted, to);
  const auto first = std::min_element(costs.begin(), costs.end());
  return *first + overlap(whole_, wanted) * tree_links({to[first - costs.begin()]}, to);
}

std::vector<LayoutPiece> concatenated(const std::vector<std::vector<LayoutPiece>>& layouts) {
  std::vector<LayoutPiece> joined;
  std::int64_t channels = 0;
  for (const auto& layout : layouts)
    for (LayoutPiece piece : layout) {
      const std::int64_t size = piece.box.sides[kChannelSide].size();
      piece.box.sides[kChannelSide] = {channels, channels + size};
      channels += size;
      joined.push_back(std::move(piece));
    }
  return joined;
}

std::vector<LayoutPiece> moved_to(const std::vector<LayoutPiece>& pieces, const Region& region) {
  std::vector<LayoutPiece> moved = pieces;
  for (LayoutPiece& piece : moved) {
    piece.region = region;
    piece.partition = project(piece.partition, region);
  }
  return moved;
}

std::int64_t tree_links(const std::vector<Node>& reached, const std::vector<Node>& to) {
  std::vector<std::pair<std::int64_t, Node>> open;  // distance to the nearest reached node
  for (const Node& node : to) {
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    for (const Node& source : reached) nearest = std::min(nearest, distance(node, source));
    open.emplace_back(nearest, node);
  }
  std::int64_t links = 0;
  while (!open.empty()) {
    const auto next = std::min_element(open.begin(), open.end());
    const Node node = next->second;
    links += next->first;
    open.erase(next);
    for (auto& [nearest, other] : open) nearest = std::min(nearest, distance(other, node));
  }
  return links;
}

}  // namespace sluice::kapla
