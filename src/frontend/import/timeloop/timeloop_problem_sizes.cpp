#include <memory>
#include <regex>

#include "frontend/import/timeloop/timeloop.h"

namespace sluice::timeloop {
namespace {

constexpr const char* kInstance = "spec.problem.instance";

std::string with_sizes(std::string text, const YamlNode& instance) {
  static const std::regex kCount(R"(len\(\s*spec\.problem\.instance\s*\))");
  static const std::regex kSize(R"(spec\.problem\.instance(?:\.(\w+)|\[\s*["']?(\w+)["']?\s*\]))");
  text = std::regex_replace(text, kCount, std::to_string(instance.entries.size()));
  std::string result;
  std::smatch found;
  for (std::string rest = text; std::regex_search(rest, found, kSize); rest = found.suffix()) {
    const std::string name = found[1].matched ? found[1] : found[2];
    const YamlNode* size = instance.find(name);
    result += found.prefix().str() + (size == nullptr ? found.str() : "(" + size->text + ")");
    text = found.suffix();
  }
  return result + text;
}

bool has_instance(const YamlNode& node) {
  constexpr std::size_t kLongest = 4000;  // regular expressions recurse along their text
  if (node.is_scalar() && node.text.size() > kLongest) return false;
  if (node.is_scalar()) return node.text.find(kInstance) != std::string::npos;
  for (const YamlPointer& item : node.items)
    if (has_instance(*item)) return true;
  for (const YamlEntry& entry : node.entries)
    if (has_instance(*entry.value)) return true;
  return false;
}

YamlPointer replaced(const YamlPointer& node, const YamlNode& instance) {
  auto copy = std::make_shared<YamlNode>(*node);
  if (node->is_scalar() && has_instance(*node)) copy->text = with_sizes(node->text, instance);
  for (YamlPointer& item : copy->items) item = replaced(item, instance);
  for (YamlEntry& entry : copy->entries) entry.value = replaced(entry.value, instance);
  return copy;
}

}  // namespace

YamlPointer with_problem_sizes(const YamlPointer& section, const YamlNode& problem) {
  const YamlNode* instance = find_key(problem, "instance");
  if (instance == nullptr) instance = &problem;
  return has_instance(*section) ? replaced(section, *instance) : section;
}

}  // namespace sluice::timeloop
