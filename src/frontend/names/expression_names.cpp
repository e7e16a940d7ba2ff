#include "frontend/names/expression_names.h"

#include <algorithm>
#include <cctype>

#include "sluice/support/expression.h"

namespace sluice {

const std::vector<std::string>& set_names() {
  static const std::vector<std::string> names = {"All",           "Nothing", "Inputs",    "Outputs",
                                                 "Intermediates", "Shared",  "Persistent"};
  return names;
}

bool is_set_word(const std::string& name) {
  return name == "Other" || name == "ops" || is_expression_keyword(name) ||
         std::find(set_names().begin(), set_names().end(), name) != set_names().end();
}

std::string name_at(const std::string& text, std::size_t offset) {
  const auto inside = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::size_t end = offset;
  while (end < text.size() && inside(text[end])) ++end;
  return offset < text.size() ? text.substr(offset, end - offset) : std::string();
}

}  // namespace sluice
