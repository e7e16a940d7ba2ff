#include "frontend/import/accelforge/arch_variables.h"

#include <fmt/format.h>

#include <regex>

namespace sluice {
namespace {

constexpr int kDeepest = 60;
constexpr std::size_t kLongest = 4'000;  ///< texts of expressions

std::size_t closing_parenthesis(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at;
  }
  return std::string::npos;
}

/// `round(x)` as `floor((x) + 0.5)`.
std::string without_round(std::string text) {
  const std::string word = "round(";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
    const std::size_t open = at + word.size() - 1;
    const std::size_t close = closing_parenthesis(text, open);
    if (close == std::string::npos) return text;
    text = text.substr(0, at) + "floor((" + text.substr(open + 1, close - open - 1) + ") + 0.5)" +
           text.substr(close + 1);
  }
  return text;
}

}  // namespace

ArchVariables::ArchVariables(const YamlNode* arch, const YamlNode* variables) {
  for (const YamlNode* section : {variables, arch == nullptr ? nullptr : arch->find("variables")})
    if (section != nullptr)
      for (const YamlEntry& entry : section->entries) values_[entry.key->text] = entry.value.get();
  if (const YamlNode* nodes = arch == nullptr ? nullptr : arch->find("nodes")) add_fanouts(*nodes);
}

void ArchVariables::add_fanouts(const YamlNode& nodes) {
  for (const YamlPointer& node : nodes.items) {
    if (const YamlNode* below = node->find("nodes")) add_fanouts(*below);
    const YamlNode* name = node->find("name");
    if (name == nullptr) continue;
    std::string product = "1";
    if (const YamlNode* spatial = node->find("spatial"))
      for (const YamlPointer& dimension : spatial->items)
        if (const YamlNode* fanout = dimension->find("fanout"))
          product += fmt::format(" * ({})", fanout->text);
    fanouts_[name->text] = product;
  }
}

std::optional<Expression> ArchVariables::resolved(const std::string& text) const {
  return resolved(text, 0);
}

std::optional<Expression> ArchVariables::resolved(const std::string& text, int depth) const {
  static const std::regex kFanout(R"((\w+)\.get_fanout\(\))");
  if (depth > kDeepest || text.size() > kLongest) return std::nullopt;
  std::string plain;
  std::smatch found;
  std::string rest = text;
  while (std::regex_search(rest, found, kFanout)) {
    const auto fanout = fanouts_.find(found[1]);
    if (fanout == fanouts_.end()) return std::nullopt;
    plain += found.prefix().str() + "(" + fanout->second + ")";
    rest = found.suffix().str();
  }
  plain = without_round(plain + rest);
  const auto parsed = Expression::parse(plain);
  if (!parsed) return std::nullopt;
  bool has_value = true;
  const Expression expression =
      parsed->substitute([&](const std::string& name) -> std::optional<Expression> {
        const auto value = values_.find(name);
        if (value == values_.end()) return std::nullopt;
        const auto known = known_.find(name);
        if (known == known_.end())
          known_[name] =
              value->second->is_scalar() ? resolved(value->second->text, depth + 1) : std::nullopt;
        has_value &= known_[name].has_value();
        return known_[name];
      });
  if (!has_value || expression.to_string().size() > kLongest) return std::nullopt;
  return expression;
}

std::optional<double> ArchVariables::number(const std::string& text,
                                            std::optional<double> bits) const {
  const auto expression = resolved(text);
  if (!expression) return std::nullopt;
  const auto value = expression
                         ->bind([&](const std::string& name) -> std::optional<ExpressionValue> {
                           if (bits && name.ends_with(".bits_per_value")) return *bits;
                           return std::nullopt;
                         })
                         .evaluate({});
  if (!value || !std::holds_alternative<double>(*value)) return std::nullopt;
  return std::get<double>(*value);
}

std::string ArchVariables::unknown_part(const std::string& text) const {
  const auto parsed = Expression::parse(without_round(text));
  if (!parsed) return text;
  for (const std::string& name : parsed->names()) {
    const auto value = values_.find(name);
    if (value == values_.end()) continue;
    if (!value->second->is_scalar()) return name;
    if (!resolved(value->second->text)) return unknown_part(value->second->text);
  }
  return text;
}

bool ArchVariables::is_plain(const std::string& name) const {
  const auto value = values_.find(name);
  if (value == values_.end() || !value->second->is_scalar()) return false;
  const auto expression = resolved(value->second->text);
  return expression && expression->names().empty();
}

}  // namespace sluice
