#pragma once

#include <deque>
#include <string>
#include <vector>

#include "sluice/support/diagnostic.h"

namespace sluice {

/// A place in one of the SourceFiles; line and column count from 1.
struct SourcePosition {
  std::size_t file = 0;
  int line = 0;  ///< 0: the whole file
  int column = 0;
  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

/// The texts that a load has read, for the quotations of its diagnostics.
class SourceFiles {
 public:
  std::size_t add(std::string name, std::string text);
  /// A text that was made of other files: per line the place in one of them that it stands for.
  std::size_t add(std::string name, std::string text, std::vector<SourcePosition> origins);
  /// Where a place stands in a file that the user has.
  SourcePosition origin(const SourcePosition& position) const;
  const std::string& name(std::size_t file) const { return files_[file].name; }
  const std::string& text(std::size_t file) const { return files_[file].text; }
  /// The line without its end; empty where there is none.
  std::string line(const SourcePosition& position) const;

 private:
  struct File {
    std::string name;
    std::string text;
    std::vector<std::size_t> line_starts;
    std::vector<SourcePosition> origins;  ///< per line; empty: it is a file of the user's
  };
  std::deque<File> files_;
};

}  // namespace sluice
