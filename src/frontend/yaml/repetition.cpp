#include "frontend/yaml/repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

constexpr std::array<const char*, 4> kKeywords = {"for", "if", "items", "include"};

bool is_keyword(const std::string& key) {
  return std::find(kKeywords.begin(), kKeywords.end(), key) != kKeywords.end();
}

bool is_directive(const YamlNode& item) {
  return item.is_map() && std::any_of(item.entries.begin(), item.entries.end(),
                                      [](const YamlEntry& e) { return is_keyword(e.key->text); });
}

}  // namespace

bool Repetition::count(const YamlNode& place, std::size_t n_nodes) {
  n_nodes_ += n_nodes;
  if (stopped_) return false;
  if (n_nodes_ <= context_.options().limits.max_nodes) return true;
  context_.error(place, fmt::format("repetition makes more than {} nodes",
                                    context_.options().limits.max_nodes));
  stopped_ = true;
  return false;
}

YamlPointer Repetition::unfold(const YamlPointer& node) {
  if (node->is_null() || stopped_) return node;
  auto copy = std::make_shared<YamlNode>(*node);
  bool changed = false;
  if (node->is_scalar()) {
    if (loop_variables_.empty()) return node;
    copy->text = with_loop_variables(*node);
    return copy->text == node->text ? node : copy;
  }
  copy->items.clear();
  for (const YamlPointer& item : node->items) unfold_item(item, copy->items);
  changed = copy->items != node->items;
  for (YamlEntry& entry : copy->entries) {
    const YamlEntry unfolded{unfold(entry.key), unfold(entry.value)};
    changed = changed || unfolded.key != entry.key || unfolded.value != entry.value;
    entry = unfolded;
  }
  if (!changed) return node;
  update_extent(*copy);
  return copy;
}

void Repetition::unfold_item(const YamlPointer& item, std::vector<YamlPointer>& result) {
  if (stopped_) return;
  if (!is_directive(*item)) {
    if (!loop_variables_.empty() && !count(*item, 1)) return;
    result.push_back(unfold(item));
    return;
  }
  if (const YamlNode* loops = item->find("for")) {
    if (MapReader(context_, *loops, "for").is_map()) repeat(*item, *loops, 0, result);
  } else {
    unfold_body(*item, result);
  }
}

/// One nested loop for each variable of `for`.
void Repetition::repeat(const YamlNode& item, const YamlNode& loops, std::size_t loop,
                        std::vector<YamlPointer>& result) {
  if (loop == loops.entries.size()) return unfold_body(item, result);
  const YamlEntry& entry = loops.entries[loop];
  for (const double value : loop_values(*entry.value)) {
    if (stopped_ || !count(item, 1)) return;
    loop_variables_.push_back({entry.key->text, value});
    repeat(item, loops, loop + 1, result);
    loop_variables_.pop_back();
  }
}

void Repetition::unfold_body(const YamlNode& item, std::vector<YamlPointer>& result) {
  if (const YamlNode* wanted = item.find("if"))
    if (!condition(*wanted)) return;
  const YamlNode* items = item.find("items");
  const YamlNode* include = item.find("include");
  if (items == nullptr && include == nullptr) {
    auto body = std::make_shared<YamlNode>(item);
    std::erase_if(body->entries, [](const YamlEntry& e) { return is_keyword(e.key->text); });
    update_extent(*body);
    if (count(item, body->n_nodes)) result.push_back(unfold(body));
    return;
  }
  for (const YamlEntry& entry : item.entries)
    if (!is_keyword(entry.key->text))
      context_.error(*entry.key, fmt::format("'{}' cannot stand beside '{}'", entry.key->text,
                                             items != nullptr ? "items" : "include"));
  YamlPointer list;
  if (include != nullptr) list = include_list_(*include);
  const YamlNode* source = items != nullptr ? items : list.get();
  if (source == nullptr) return;
  if (!source->is_sequence())
    context_.error(*source, fmt::format("items must be a list, not {}", describe(*source)));
  for (const YamlPointer& inner : source->items) unfold_item(inner, result);
}

/// `0..N-1` (both ends belong to it), or a list of numbers.
std::vector<double> Repetition::loop_values(const YamlNode& values) {
  std::vector<double> result;
  if (values.is_sequence()) {
    for (const YamlPointer& item : values.items)
      if (const auto value = loop_bound(*item, item->text, 0)) result.push_back(*value);
    return result;
  }
  const std::size_t dots = values.text.find("..");
  if (!values.is_scalar() || dots == std::string::npos) {
    context_.error(values, fmt::format("a range is needed here, not {}", describe(values)),
                   "for example 'for: {i: 0..N-1}'");
    return result;
  }
  const auto first = loop_bound(values, values.text.substr(0, dots), 0);
  const auto last = loop_bound(values, values.text.substr(dots + 2), dots + 2);
  if (!first || !last || *last < *first) return result;
  const double n_values = *last - *first + 1;
  if (n_values > static_cast<double>(context_.options().limits.max_nodes)) {
    context_.error(values, fmt::format("a repetition of {} times is too long", n_values));
    return result;
  }
  for (double value = *first; value <= *last; ++value) result.push_back(value);
  return result;
}

std::optional<double> Repetition::loop_bound(const YamlNode& node, const std::string& text,
                                             std::size_t offset) {
  const auto expression = Expression::parse(text);
  if (!expression) {
    context_.error_inside(node, offset + expression.error().offset, expression.error().message,
                          expression.error().hint);
    return std::nullopt;
  }
  const auto value =
      expression->substitute([this](const std::string& name) { return variable(name); })
          .evaluate({});
  if (!value) {
    context_.error_inside(node, offset + value.error().offset, value.error().message);
    return std::nullopt;
  }
  const double* number = std::get_if<double>(&*value);
  if (number != nullptr && *number == std::floor(*number) && std::abs(*number) < 1e15)
    return *number;
  context_.error_inside(node, offset, "a loop runs over whole numbers");
  return std::nullopt;
}

bool Repetition::is_loop_variable(const std::string& name) const {
  return std::any_of(loop_variables_.begin(), loop_variables_.end(),
                     [&](const LoopVariable& loop) { return loop.name == name; });
}

std::optional<Expression> Repetition::variable(const std::string& name) const {
  // An inner loop's variable hides an outer one's of the same name.
  const auto loop = std::find_if(loop_variables_.rbegin(), loop_variables_.rend(),
                                 [&](const LoopVariable& l) { return l.name == name; });
  if (loop == loop_variables_.rend()) return context_.variable(name);
  return Expression::literal(loop->value);
}

bool Repetition::condition(const YamlNode& node) {
  const auto parsed = Expression::parse(node.text);
  if (!node.is_scalar() || !parsed) {
    if (node.is_scalar())
      context_.error(node, parsed.error());
    else
      context_.error(node, fmt::format("'if' needs an expression, not {}", describe(node)));
    return false;
  }
  const auto value =
      parsed->substitute([this](const std::string& name) { return variable(name); }).evaluate({});
  if (!value)
    context_.error(node, value.error());
  else if (const bool* truth = std::get_if<bool>(&*value))
    return *truth;
  else
    context_.error(node, fmt::format("'if' needs true or false, not {}", describe(node)));
  return false;
}

/// Replaces `{i+1}` wherever the braces hold an expression with a loop variable. (Set literals such
/// as
/// `{mul_add, add}` have none.)
std::string Repetition::with_loop_variables(const YamlNode& scalar) {
  const std::string& text = scalar.text;
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) break;
    const auto value = loop_expression(scalar, text.substr(open + 1, close - open - 1), open + 1);
    result += text.substr(at, open - at);
    result += value ? *value : text.substr(open, close - open + 1);
    at = close + 1;
  }
  return result + text.substr(std::min(at, text.size()));
}

std::optional<std::string> Repetition::loop_expression(const YamlNode& scalar,
                                                       const std::string& text,
                                                       std::size_t offset) {
  const auto expression = Expression::parse(text);
  if (!expression) return std::nullopt;
  const std::vector<std::string> names = expression->names();
  if (std::none_of(names.begin(), names.end(),
                   [this](const std::string& name) { return is_loop_variable(name); }))
    return std::nullopt;
  const auto value = loop_bound(scalar, text, offset);
  return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

}  // namespace sluice
