#include "replaced_result.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/io/text_of_file.h"
#include "publish.h"
#include "sluice/support/human_units.h"

namespace sluice::cli {
namespace {

using Value = nlohmann::json;

std::string text_of(const Value& value) {
  if (value.is_null()) return "none";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A key that only one of the two has says nothing: other versions have other keys.
void compare(const Value& earlier, const Value& now, const std::string& key,
             std::vector<std::string>* differences) {
  if (!earlier.contains(key) || !now.contains(key) || earlier[key] == now[key]) return;
  differences->push_back(
      key == "constraints"
          ? "other constraints"
          : fmt::format("{} {}, now {}", key, text_of(earlier[key]), text_of(now[key])));
}

/// A line of YAML for people: sizes are not in bits.
std::string readable(const std::string& line) {
  const std::string key = "size: ";
  if (!line.starts_with(key)) return line;
  const double bits = std::strtod(line.c_str() + key.size(), nullptr);
  return std::isfinite(bits) ? key + human_size(bits) : line;
}

/// The search options of a document without those that say only how far a search goes.
Value without_limits(Value options) {
  if (options.is_object())
    for (const char* limit : {"budget", "seed"}) options.erase(limit);
  return options;
}

std::filesystem::path document_file(const std::string& folder) {
  return std::filesystem::path(folder) / "result.json";
}

}  // namespace

std::optional<Value> document_in(const std::string& folder) {
  const std::filesystem::path file = document_file(folder);
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::exists(file, ignored)) return std::nullopt;
  return Value::parse(text_of_file(file), nullptr, /*allow_exceptions=*/false);
}

Value as_value(const Json& document) { return Value::parse(document.dump()); }

std::vector<std::string> differences(const Value& earlier, const Value& now) {
  std::vector<std::string> found;
  for (const char* key : {"command", "workload", "arch", "latency_policy", "varied"})
    compare(earlier, now, key, &found);
  const Value options = without_limits(now.value("options", Value()));
  if (!options.is_object() || !earlier.contains("options")) return found;
  for (const auto& option : options.items())
    if (option.key() != "latency")  // the policy, which is compared already
      compare(earlier["options"], options, option.key(), &found);
  return found;
}

std::optional<std::string> changed_specs(const std::string& folder, const std::string& now) {
  std::ifstream before(std::filesystem::path(folder) / kSpecsFile);
  if (!before) return "unknown specs";  // of a version that did not write them
  std::istringstream after(now);
  std::string was, is, part;  // the part is what the last `name:` names
  while (true) {
    const bool had = static_cast<bool>(std::getline(before, was));
    const bool has = static_cast<bool>(std::getline(after, is));
    if (!had && !has) return std::nullopt;
    if (!had || !has) return "other specs";
    was.erase(0, was.find_first_not_of(" -"));
    is.erase(0, is.find_first_not_of(" -"));
    if (was != is) return fmt::format("in {} `{}`, now `{}`", part, readable(was), readable(is));
    if (was.starts_with("name: ")) part = was.substr(std::string("name: ").size());
  }
}

void warn_of_replaced(const std::string& folder, const std::vector<std::string>& differences,
                      const Console& console) {
  if (differences.empty()) return;
  const Diagnostic warning{
      Severity::kWarning,
      {},
      fmt::format("the result in {} will be replaced; it is of something else: {}", folder,
                  fmt::join(differences, "; ")),
      "",
      "another -o keeps both"};
  console.err << to_string(warning) << std::flush;
}

void warn_of_damaged(const std::string& folder, const Console& console) {
  const Diagnostic warning{Severity::kWarning,
                           {},
                           fmt::format("{} is damaged, and will be replaced: it is no JSON object",
                                       document_file(folder).string()),
                           "",
                           "another -o keeps it"};
  console.err << to_string(warning) << std::flush;
}

void warn_of_replaced(const std::string& folder, const Value& now, const Console& console) {
  const auto earlier = document_in(folder);
  if (!earlier) return;
  if (earlier->is_object())
    warn_of_replaced(folder, differences(*earlier, now), console);
  else
    warn_of_damaged(folder, console);
}

}  // namespace sluice::cli
