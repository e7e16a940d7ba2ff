#include "sweep/plan/field_conflicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/support/failed.h"

namespace sluice {
namespace {

constexpr std::size_t kMostShown = 8;
constexpr const char* kLeaveOneOut = "leave out one of them";

/// `4,8,…`
std::string values_text(const std::vector<std::string>& values) {
  const std::size_t n_shown = std::min(values.size(), kMostShown);
  return fmt::format("{}{}", fmt::join(values.begin(), values.begin() + n_shown, ","),
                     n_shown < values.size() ? ",…" : "");
}

SourceLocation place_of(const VariedField& field) {
  if (!field.place.file.empty()) return field.place;
  return {fmt::format("--vary {}={}", field.name, values_text(field.values))};
}

std::string place_text(const VariedField& field) {
  const SourceLocation place = place_of(field);
  return place.line == 0 ? fmt::format("`{}`", place.file)
                         : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

const std::string* value_in(const SweepSettings& settings, const std::string& name) {
  const std::string* value = nullptr;
  for (const auto& [known, text] : settings)
    if (known == name) value = &text;  // a later one takes the place of an earlier one
  return value;
}

Diagnostic at(SourceLocation place, std::string message, std::string hint) {
  Diagnostic mistake = error_without_place(message, hint);
  mistake.location = std::move(place);
  return mistake;
}

Diagnostic varied_twice(const VariedField& first, const VariedField& second) {
  std::vector<std::string> values = first.values;
  for (const std::string& value : second.values)
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  return at(
      place_of(second),
      fmt::format("`{}` varies twice: {} gives it values, too", second.name, place_text(first)),
      fmt::format("give all values at once: {}={}", second.name, values_text(values)));
}

std::string set_and_varied(const std::string& name, const char* how, const std::string& value) {
  return fmt::format("`{}` {}, and `set` gives it one value, {}", name, how, value);
}

bool has(const SweepSettings& settings, const std::string& name) {
  return value_in(settings, name) != nullptr;
}

/// How every point has its own value; null: some point has that of all. No field of the grid is
/// asked for.
const char* given_by_all_points(const SweepRequest& request, const std::string& name) {
  const bool has_only_others =
      request.grid.empty() && request.list.size() + request.draws.size() > 0;
  const bool is_own = has_only_others &&
                      std::all_of(request.list.begin(), request.list.end(),
                                  [&](const SweepSettings& point) { return has(point, name); }) &&
                      std::all_of(request.draws.begin(), request.draws.end(),
                                  [&](const SweepDraw& draw) { return has(draw.ranges, name); });
  if (!is_own) return nullptr;
  return request.draws.empty() ? "is in every point of the list" : "is drawn";
}

class HiddenField {
 public:
  HiddenField(const SweepRequest& request, const std::vector<std::string>& files,
              const SweepSettings& first, const SweepSettings& last, const LoadOptions& options)
      : files_(files), first_(first), last_(last), options_(options) {
    request_.energy_file = request.energy_file;
    request_.options = request.options;
  }

  std::optional<Diagnostic> find(const std::set<std::string>& varied) const {
    for (const auto& [name, value] : first_) {
      std::vector<std::string> paths;
      for (const auto& [path, other] : first_)
        if (path != name && path.find('.') != std::string::npos &&
            (varied.contains(name) || varied.contains(path)))
          paths.push_back(path);
      if (paths.empty() || changes_anything(name, first_) || changes_anything(name, last_))
        continue;
      for (const std::string& path : paths)
        if (changes_anything(name, without(first_, path)))
          return at(
              {fmt::format("--{} {}={}", varied.contains(name) ? "vary" : "set", name, value)},
              fmt::format("`{}` changes nothing beside `{}`, which takes its place", name, path),
              kLeaveOneOut);
    }
    return std::nullopt;
  }

 private:
  static SweepSettings without(SweepSettings settings, const std::string& name) {
    std::erase_if(settings, [&](const auto& setting) { return setting.first == name; });
    return settings;
  }

  /// Whether specs differ with the name's first value, its last one, and none, all else as given.
  bool changes_anything(const std::string& name, const SweepSettings& settings) const {
    SweepSettings others = without(settings, name);
    std::set<std::string> keys;
    const auto add = [&](const SweepSettings& all) {
      if (const auto key = key_of(all)) keys.insert(*key);
    };
    add(others);
    for (const SweepSettings* given : {&first_, &last_}) {
      if (keys.size() > 1) break;
      others.emplace_back(name, *value_in(*given, name));
      add(others);
      others.pop_back();
    }
    return keys.size() > 1;
  }

  /// None where the specs do not read: without a setting something may be missing.
  std::optional<std::string> key_of(const SweepSettings& settings) const {
    SweepPoint point;
    point.files = files_;
    point.settings = settings;
    const auto inputs = sweep_inputs(request_, point, options_);
    if (!inputs) return std::nullopt;
    return sweep_key(*inputs);
  }

  const std::vector<std::string>& files_;
  const SweepSettings &first_, &last_;
  const LoadOptions& options_;
  SweepRequest request_;
};

}  // namespace

Diagnostics repeated_fields(const std::vector<VariedField>& fields, const SweepSettings& settings) {
  Diagnostics mistakes;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const VariedField& field = fields[f];
    const auto same = std::find_if(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(f),
                                   [&](const auto& other) { return other.name == field.name; });
    if (same != fields.begin() + static_cast<std::ptrdiff_t>(f))
      mistakes.push_back(varied_twice(*same, field));
    else if (const std::string* value = value_in(settings, field.name))
      mistakes.push_back(
          at(place_of(field), set_and_varied(field.name, "varies", *value), kLeaveOneOut));
  }
  return mistakes;
}

Diagnostics repeated_fields(const SweepRequest& request) {
  Diagnostics mistakes = repeated_fields(request.grid, request.settings);
  for (const auto& [name, value] : request.settings)
    if (const char* how = given_by_all_points(request, name))
      mistakes.push_back(error_without_place(set_and_varied(name, how, value), kLeaveOneOut));
  return mistakes;
}

std::optional<Diagnostic> hidden_field(const SweepRequest& request,
                                       const std::vector<std::string>& files,
                                       const SweepSettings& first, const SweepSettings& last,
                                       const std::set<std::string>& varied,
                                       const LoadOptions& options) {
  return HiddenField(request, files, first, last, options).find(varied);
}

}  // namespace sluice
