#include "support/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "support/printable_text.h"

namespace sluice {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_plain_inside(char c) {
  return is_word_character(c) ||
         std::string_view("~.()+*/<>=|& -").find(c) != std::string_view::npos;
}

/// Scalars that YAML reads as nothing.
bool is_null_word(std::string_view text) {
  constexpr std::array<std::string_view, 4> kNulls = {"~", "null", "Null", "NULL"};
  return std::find(kNulls.begin(), kNulls.end(), text) != kNulls.end();
}

bool is_plain(std::string_view text) {
  if (text.empty() || is_null_word(text) || text.back() == ' ') return false;
  const bool starts_well = is_word_character(text[0]) || text[0] == '~' || text[0] == '(' ||
                           (text[0] == '-' && text.size() > 1 && is_word_character(text[1]));
  return starts_well && std::all_of(text.begin(), text.end(), is_plain_inside);
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  quoted = printable_text(quoted);  // its escapes are YAML's, too
  std::string line = "\"";
  for (const char c : quoted) line += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return line + "\"";
}

std::string yaml_number(double value) {
  return fmt::format("{}", value + 0.0);  // of the two zeros the one without a sign
}

YamlFlowMap& YamlFlowMap::add(std::string_view key, std::string_view value) {
  if (!text_.empty()) text_ += ", ";
  text_ += fmt::format("{}: {}", yaml_scalar(key), value);
  return *this;
}

std::string yaml_list(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

}  // namespace sluice
