#include "mapping_lines.h"

#include <nlohmann/json.hpp>

namespace sluice::cli {
namespace {

constexpr std::size_t kMostKnown = 100'000;

/// The end of a JSON string that starts at `begin`, or npos.
std::size_t end_of_string(const std::string& line, std::size_t begin) {
  for (std::size_t i = begin + 1; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      return i;
    }
  }
  return std::string::npos;
}

}  // namespace

Mapping MappingLines::read(const std::string& line) {
  if (split(line)) {
    try {
      std::size_t n_read = 0;
      Mapping mapping =
          reader_.read(nlohmann::json::parse(skeleton_), [&](std::size_t l) -> const Node& {
            ++n_read;
            return leaf(leaves_.at(l));
          });
      if (n_read == leaves_.size()) return mapping;  // else some stand beside the mapping
    } catch (const std::exception&) {
      // What is wrong is said of the line as it is.
    }
  }
  return reader_.read(nlohmann::json::parse(line));
}

/// Finds the leaves. False where a line has numbers of its own beside them, or makes no sense.
bool MappingLines::split(const std::string& line) {
  skeleton_.clear();
  leaves_.clear();
  std::size_t open = std::string::npos;  // the last `{`, while nothing has been closed since
  std::size_t copied = 0;                // up to where the skeleton has the line
  bool number = false;                   // since that brace
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      i = end_of_string(line, i);
      if (i == std::string::npos) return false;
    } else if (c == '{') {
      if (number) return false;
      open = i;
    } else if (c == '}' && open != std::string::npos) {
      skeleton_.append(line, copied, open - copied);
      skeleton_ += std::to_string(leaves_.size());
      leaves_.emplace_back(line.data() + open, i + 1 - open);
      copied = i + 1;
      open = std::string::npos;
      number = false;
    } else if (c >= '0' && c <= '9') {
      number = true;
    }
  }
  if (number || copied == 0 || leaves_.front().data() == line.data()) return false;
  skeleton_.append(line, copied);
  return true;
}

const Node& MappingLines::leaf(std::string_view text) {
  key_.assign(text);
  const auto known = known_.find(key_);
  if (known != known_.end()) return known->second;
  if (known_.size() == kMostKnown) known_.clear();
  return known_.emplace(key_, reader_.read_node(nlohmann::json::parse(text))).first->second;
}

}  // namespace sluice::cli
