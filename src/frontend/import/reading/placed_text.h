#pragma once

#include <string>
#include <vector>

#include "frontend/yaml/source_files.h"

namespace sluice {

/// A text that is made from nodes of the user's files, and remembers from which. While it is put
/// together, invisible marks stand before what comes from a node.
class PlacedText {
 public:
  /// A mark to put before text that comes from `position`.
  std::string mark(const SourcePosition& position);
  /// The text without its marks, which are then known.
  std::string finish(const std::string& marked);
  /// What stands at a line and column of the finished text, or shortly before; null where nothing
  /// does.
  const SourcePosition* at(int line, int column) const;

 private:
  struct Place {
    int line = 1, column = 1;
    std::size_t mark = 0;
  };
  std::vector<SourcePosition> marks_;
  std::vector<Place> places_;  ///< in order
};

}  // namespace sluice
