#pragma once

#include <vector>

#include "box.h"
#include "partition.h"
#include "region.h"

namespace sluice::kapla {

/// One producer's part of a feature map: which channels, in which region, divided how.
struct LayoutPiece {
  Box box;
  Region region;
  Partition partition;
};

/// Where the parts of a feature map lie.
class Layout {
 public:
  explicit Layout(std::vector<LayoutPiece> pieces);

  const std::vector<LayoutPiece>& pieces() const { return pieces_; }

  /// Words × links that bring `wanted` to each of the nodes, each on its own.
  std::vector<std::int64_t> words_times_links(const Box& wanted, const std::vector<Node>& to) const;

  /// Words × links that bring it to all of them: to the one where it costs least, and from there
  /// along a tree through all others.
  std::int64_t along_a_tree(const Box& wanted, const std::vector<Node>& to) const;

 private:
  struct Part {
    Box box;
    Node node;
  };
  std::vector<LayoutPiece> pieces_;
  std::vector<Part> parts_;
  Box whole_;
};

/// Layouts side by side along the channels.
std::vector<LayoutPiece> concatenated(const std::vector<std::vector<LayoutPiece>>& layouts);

/// The same values where `region` holds them.
std::vector<LayoutPiece> moved_to(const std::vector<LayoutPiece>& pieces, const Region& region);

/// Links of a tree that reaches all nodes: again and again the node that is nearest to any reached
/// one.
std::int64_t tree_links(const std::vector<Node>& reached, const std::vector<Node>& to);

}  // namespace sluice::kapla
