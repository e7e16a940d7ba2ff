#include "frontend/import/reading/placed_text.h"

#include <fmt/format.h>

#include <cstdlib>
#include <tuple>

namespace sluice {
namespace {

/// No text of a user has them: files with control characters are refused.
constexpr char kBegin = '\x01';
constexpr char kEnd = '\x02';

}  // namespace

std::string PlacedText::mark(const SourcePosition& position) {
  marks_.push_back(position);
  return fmt::format("{}{}{}", kBegin, marks_.size() - 1, kEnd);
}

std::string PlacedText::finish(const std::string& marked) {
  std::string text;
  Place place;
  for (std::size_t at = 0; at < marked.size(); ++at) {
    if (marked[at] == kBegin) {
      place.mark = std::strtoull(marked.c_str() + at + 1, nullptr, 10);
      places_.push_back(place);
      at = marked.find(kEnd, at);
      continue;
    }
    text += marked[at];
    place.column = marked[at] == '\n' ? 1 : place.column + 1;
    place.line += marked[at] == '\n' ? 1 : 0;
  }
  return text;
}

const SourcePosition* PlacedText::at(int line, int column) const {
  const SourcePosition* found = places_.empty() ? nullptr : &marks_[places_.front().mark];
  for (const Place& place : places_)
    if (std::tie(place.line, place.column) <= std::tie(line, column)) found = &marks_[place.mark];
  return found;
}

}  // namespace sluice
