#include "frontend/yaml/yaml_parser.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "frontend/yaml/text_encoding.h"

namespace sluice {
namespace {

struct ParsingStopped {};

/// Builds nodes from the events of yaml-cpp and stops as soon as a limit is passed.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(ReadContext& context, std::size_t file) : context_(context), file_(file) {}

  std::vector<YamlPointer> documents;

  void OnDocumentStart(const YAML::Mark&) override {
    open_.clear();
    anchored_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto node = start(mark, YamlNode::Kind::kNull, {});
    count(*node, node->position);
    complete(node, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) stop(position(mark), "an alias stands inside the node it names");
    if (depth() + found->second->height > context_.options().limits.max_depth)
      stop(position(mark), depth_message());
    count(*found->second, position(mark));
    attach(found->second, position(mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto node = start(mark, YamlNode::Kind::kScalar, tag);
    node->text = value;
    node->quoted = tag == "!";
    if (node->quoted) last_quoted_ = mark;
    count(*node, node->position);
    complete(node, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(start(mark, YamlNode::Kind::kSequence, tag), anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(start(mark, YamlNode::Kind::kMap, tag), anchor);
  }
  void OnMapEnd() override { close(); }

  /// yaml-cpp takes a string that never ends for one that ends with the file.
  bool all_strings_end() {
    const std::string& text = context_.sources().text(file_);
    if (!last_quoted_) return true;
    std::size_t at = text.find_first_of("'\"", static_cast<std::size_t>(last_quoted_->pos));
    if (at == std::string::npos) return true;
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at)
      if (quote == '"' && text[at] == '\\') ++at;
    if (at < text.size()) return true;
    context_.error(position(*last_quoted_), "this string is never closed",
                   fmt::format("close it with {}", quote));
    return false;
  }

 private:
  struct Open {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor = 0;
    YamlPointer key;                            ///< of the entry that is being read
    std::unordered_map<std::string, int> keys;  ///< with the line of each
    bool has_repeated = false;                  ///< a key, which was said
  };

  int depth() const { return static_cast<int>(open_.size()); }
  SourcePosition position(const YAML::Mark& mark) const {
    return {file_, mark.line + 1, mark.column + 1};
  }
  std::string depth_message() const {
    return fmt::format("nested more than {} levels deep", context_.options().limits.max_depth);
  }

  [[noreturn]] void stop(const SourcePosition& position, std::string message,
                         std::string hint = {}) {
    context_.error(position, std::move(message), std::move(hint));
    throw ParsingStopped{};
  }

  std::shared_ptr<YamlNode> start(const YAML::Mark& mark, YamlNode::Kind kind,
                                  const std::string& tag) {
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->position = position(mark);
    if (tag != "?" && tag != "!") node->tag = tag;
    return node;
  }

  void open(std::shared_ptr<YamlNode> node, YAML::anchor_t anchor) {
    if (depth() >= context_.options().limits.max_depth) stop(node->position, depth_message());
    open_.push_back({.node = std::move(node), .anchor = anchor, .key = {}, .keys = {}});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    update_extent(*closed.node);
    complete(closed.node, closed.anchor);
  }

  void complete(const std::shared_ptr<YamlNode>& node, YAML::anchor_t anchor) {
    if (anchor != 0) anchored_[anchor] = node;
    attach(node, node->position);
  }

  void attach(const YamlPointer& node, const SourcePosition& position) {
    if (open_.empty()) {
      documents.push_back(node);
    } else if (open_.back().node->is_sequence()) {
      open_.back().node->items.push_back(node);
    } else {
      attach_to_map(open_.back(), node, position);
    }
  }

  void attach_to_map(Open& map, const YamlPointer& node, const SourcePosition& position) {
    if (map.key) {
      map.node->entries.push_back(
          {map.key, node->is_null() ? nothing_at(map.key->position) : node});
      map.key = nullptr;
      return;
    }
    if (!node->is_scalar()) stop(position, fmt::format("{} cannot be a key", describe(*node)));
    const auto [earlier, is_new] = map.keys.emplace(node->text, position.line);
    if (!is_new && map.has_repeated) context_.error_that_follows();
    if (!is_new && !map.has_repeated)
      context_.error(position, fmt::format("the key '{}' is given twice", node->text),
                     fmt::format("its first value is on line {}; if another item begins here, the "
                                 "line with its '-' is missing",
                                 earlier->second));
    map.has_repeated = map.has_repeated || !is_new;
    map.key = node;
  }

  /// yaml-cpp places a missing value where the next key stands.
  static YamlPointer nothing_at(const SourcePosition& position) {
    auto node = std::make_shared<YamlNode>();
    node->position = position;
    return node;
  }

  /// Against the limit: leaves as they are read, and all that an alias stands for.
  void count(const YamlNode& node, const SourcePosition& position) {
    n_nodes_ += node.n_nodes;
    if (n_nodes_ > context_.options().limits.max_nodes)
      stop(position, fmt::format("the file has more than {} nodes, aliases expanded",
                                 context_.options().limits.max_nodes));
  }

  ReadContext& context_;
  std::size_t file_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, YamlPointer> anchored_;
  std::optional<YAML::Mark> last_quoted_;
  std::size_t n_nodes_ = 0;
};

/// Reports the first byte that no YAML file in UTF-8 has.
bool is_text(ReadContext& context, std::size_t file) {
  const std::string& text = context.sources().text(file);
  const std::size_t at = first_byte_that_is_no_text(text);
  if (at == std::string::npos) return true;
  const auto begin = text.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(at);
  const std::size_t line_start = text.rfind('\n', at) + 1;  // npos + 1: the first line
  const SourcePosition position{file, static_cast<int>(std::count(begin, end, '\n')) + 1,
                                static_cast<int>(at - std::min(line_start, at)) + 1};
  const bool is_binary = text.find('\0') != std::string::npos;
  context.error(position,
                fmt::format("{}: byte 0x{:02x} is no character of UTF-8 text",
                            is_binary ? "this is a binary file" : "this is no text file",
                            static_cast<unsigned char>(text[at])),
                "spec files are YAML, written as UTF-8 text");
  return false;
}

std::string hint_for(std::string_view line, std::string_view message) {
  if (line.starts_with('\t')) return "lines are indented with spaces, not with tabs";
  if (message.starts_with("end of map") || message.starts_with("end of sequence"))
    return "a { or [ is not closed, or a value between them has one of its own, or a comma, and no "
           "quotes";
  return "";
}

}  // namespace

std::vector<YamlPointer> parse_yaml(ReadContext& context, std::size_t file) {
  if (!is_text(context, file)) return {};
  std::istringstream stream(context.sources().text(file));
  TreeBuilder builder(context, file);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    if (!builder.all_strings_end()) return {};
  } catch (const ParsingStopped&) {
    return {};
  } catch (const YAML::Exception& error) {
    SourcePosition position{file, 0, 0};
    if (!error.mark.is_null()) position = {file, error.mark.line + 1, error.mark.column + 1};
    context.error(position, fmt::format("not valid YAML: {}", error.msg),
                  hint_for(context.sources().line(position), error.msg));
    return {};
  }
  return builder.documents;
}

}  // namespace sluice
