#include <fmt/format.h>

#include <algorithm>

#include "frontend/import/timeloop_names.h"
#include "support/yaml_text.h"

namespace sluice::timeloop {
namespace {

class ConstraintsWriter {
 public:
  ConstraintsWriter(ImportContext& context, const Specs& specs)
      : context_(context), specs_(specs), problem_(*specs.problem), names_(problem_) {}

  std::string write() {
    for (const Directive& directive : specs_.constraints) {
      if (directive.kind == Directive::Kind::kBypass) storage(directive);
      if (directive.kind == Directive::Kind::kSpatial) spatial(directive);
      if (directive.kind == Directive::Kind::kTemporal) temporal(directive);
    }
    std::string text;
    const auto section = [&](const char* name, const std::vector<std::string>& lines) {
      if (lines.empty()) return;
      text += fmt::format("  {}:\n", name);
      for (const std::string& line : lines) text += fmt::format("  - {}\n", line);
    };
    section("storage", storage_);
    section("tiles", tiles_);
    section("spatial", spatial_);
    section("loop_orders", loop_orders_);
    return text.empty() ? text : "constraints:\n" + text;
  }

 private:
  const std::string& dimension(int d) const {
    return problem_.dimensions[static_cast<std::size_t>(d)];
  }
  const std::string& variable(int d) const { return names_.variables[static_cast<std::size_t>(d)]; }

  static std::vector<std::string> tensors(const std::vector<std::string>& spaces) {
    std::vector<std::string> names;
    for (const std::string& space : spaces) names.push_back(sluice_name(space));
    return names;
  }

  void storage(const Directive& directive) {
    if (directive.keep.empty() && directive.bypass.empty()) return;
    YamlFlowMap map;
    map.add("memory", sluice_name(directive.target));
    if (!directive.keep.empty()) map.add("keep", yaml_list(tensors(directive.keep)));
    if (!directive.bypass.empty()) map.add("forbid", yaml_list(tensors(directive.bypass)));
    storage_.push_back(map.text());
  }

  static bool is_one(const Directive& directive, int d) {
    const auto factor = directive.factors.find(d);
    return factor != directive.factors.end() && factor->second.bound == 1 &&
           !factor->second.at_least;
  }

  /// A dimension whose factor is 1 has no loop there; with a split, each axis has its dimensions.
  void spatial(const Directive& directive) {
    const Level* fanout = nullptr;
    for (const Level& level : specs_.levels)
      if (level.kind == Level::Kind::kFanout &&
          std::find(level.spatial_targets.begin(), level.spatial_targets.end(), directive.target) !=
              level.spatial_targets.end())
        fanout = &level;
    if (fanout == nullptr) return;
    note_other_factors(directive);
    for (const char axis : {'X', 'Y'}) {
      if ((axis == 'X' ? fanout->fanout_x : fanout->fanout_y) == 1) continue;
      std::vector<std::string> variables;
      for (std::size_t d = 0; d < problem_.dimensions.size(); ++d) {
        const auto place = std::find(directive.permutation.begin(), directive.permutation.end(),
                                     static_cast<int>(d)) -
                           directive.permutation.begin();
        const bool is_split = directive.split.has_value();
        const bool in_axis = !is_split || (place < *directive.split) == (axis == 'X');
        if (in_axis && !is_one(directive, static_cast<int>(d)))
          variables.push_back(variable(static_cast<int>(d)));
      }
      YamlFlowMap map;
      map.add("component", sluice_name(fanout->name)).add("dimension", std::string(1, axis));
      map.add("rank_variables", yaml_list(variables));
      spatial_.push_back(map.text());
    }
  }

  void note_other_factors(const Directive& directive) {
    for (const auto& [d, factor] : directive.factors)
      if (factor.bound != 1 || factor.at_least)
        context_.note(
            *directive.node,
            fmt::format("the factor of {} at {} is left out: constraints here bound tiles, "
                        "not trips",
                        dimension(d), directive.target));
  }

  void temporal(const Directive& directive) {
    const bool innermost = is_innermost(directive.target);
    for (const auto& [d, factor] : directive.factors) {
      if (!innermost || factor.last || factor.bound == 0) {
        context_.note(
            *directive.node,
            fmt::format("the factor of {} at {} is left out: constraints here bound tiles, "
                        "not trips",
                        dimension(d), directive.target));
        continue;
      }
      YamlFlowMap map;
      map.add("memory", sluice_name(directive.target)).add("rank_variable", variable(d));
      const std::string bound = std::to_string(factor.bound);
      map.add(factor.at_most ? "maximum" : factor.at_least ? "minimum" : "tile_shape", bound);
      tiles_.push_back(map.text());
    }
    if (directive.permutation.size() < 2) return;
    std::vector<std::string> order;
    for (auto d = directive.permutation.rbegin(); d != directive.permutation.rend(); ++d)
      order.push_back(variable(*d));
    YamlFlowMap map;
    map.add("memory", sluice_name(directive.target)).add("order", yaml_list(order));
    loop_orders_.push_back(map.text());
    if (order.size() < problem_.dimensions.size())
      context_.note(*directive.node,
                    fmt::format("the permutation of {} orders the loops that it names; that the "
                                "others stand outside is left out",
                                directive.target));
  }

  /// Nothing but the compute below: the tile is the factor.
  bool is_innermost(const std::string& target) const {
    const std::size_t n = specs_.levels.size();
    return n >= 2 && specs_.levels[n - 2].kind == Level::Kind::kStorage &&
           specs_.levels[n - 2].name == target;
  }

  ImportContext& context_;
  const Specs& specs_;
  const Problem& problem_;
  Names names_;
  std::vector<std::string> storage_, tiles_, spatial_, loop_orders_;
};

}  // namespace

std::string constraints_text(ImportContext& context, const Specs& specs) {
  return ConstraintsWriter(context, specs).write();
}

}  // namespace sluice::timeloop
