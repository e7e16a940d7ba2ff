#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "frontend/import/timeloop/timeloop_names.h"
#include "support/yaml_text.h"

namespace sluice::timeloop {
namespace {

class ConstraintsWriter {
 public:
  ConstraintsWriter(ImportContext& context, const Specs& specs, PlacedText& places)
      : context_(context),
        specs_(specs),
        problem_(*specs.problem),
        names_(problem_),
        places_(places) {}

  std::string write() {
    for (const Directive& directive : specs_.constraints) {
      if (directive.kind == Directive::Kind::kBypass) storage(directive);
      if (directive.kind == Directive::Kind::kSpatial) spatial(directive);
      if (directive.kind == Directive::Kind::kTemporal) temporal(directive);
    }
    for (std::size_t level = 1; level < specs_.levels.size(); ++level)
      if (specs_.levels[level].kind == Level::Kind::kStorage) add_tiles(level);
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
    if (!is_storage(directive.target)) return;  // a fanout keeps nothing anyway
    YamlFlowMap map;
    map.add("memory", sluice_name(directive.target));
    if (!directive.keep.empty()) map.add("keep", yaml_list(tensors(directive.keep)));
    if (!directive.bypass.empty())
      map.add("forbid", mark(directive.bypass_node) + yaml_list(tensors(directive.bypass)));
    put(*directive.node, fmt::format("storage of {}", directive.target), std::move(map), &storage_);
  }

  /// Adds a constraint that a node of the user's files asks for. Its name, by which messages call
  /// it, says where that stands.
  void put(const YamlNode& node, const std::string& what, YamlFlowMap map,
           std::vector<std::string>* section) {
    const SourcePosition origin = context_.read.sources().origin(node.position);
    const std::filesystem::path file = context_.read.sources().name(origin.file);
    const std::string name =
        fmt::format("{} ({}:{}:{})", what, file.filename().string(), origin.line, origin.column);
    std::string unique = name;
    for (int n = 2; !taken_.insert(unique).second; ++n) unique = fmt::format("{} {}", name, n);
    map.add("name", yaml_scalar(unique));
    section->push_back(mark(&node) + map.text());
  }

  std::string mark(const YamlNode* node) const {
    return node == nullptr ? "" : places_.mark(node->position);
  }

  bool is_storage(const std::string& target) const {
    return std::any_of(specs_.levels.begin(), specs_.levels.end(), [&](const Level& level) {
      return level.kind == Level::Kind::kStorage && level.name == target;
    });
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
      put(*directive.node, fmt::format("spatial {} of {}", axis, directive.target), std::move(map),
          &spatial_);
    }
  }

  void note_other_factors(const Directive& directive) {
    for (const auto& [d, factor] : directive.factors)
      if (factor.bound != 1 || factor.at_least) note_left_out(directive, d);
  }

  /// Constraints bound tiles: a factor is expressed by those on both of its sides.
  void note_left_out(const Directive& directive, int d) {
    const auto level = std::find_if(specs_.levels.begin(), specs_.levels.end(),
                                    [&](const Level& l) { return is_at(directive, l); });
    if (level == specs_.levels.end()) return;
    const auto at = static_cast<std::size_t>(level - specs_.levels.begin());
    const auto known = [&](std::size_t l) { return l == 0 || tile_at(l, d).has_value(); };
    const auto is_storage = [&](std::size_t l) {
      return specs_.levels[l].kind == Level::Kind::kStorage;
    };
    std::size_t outer = at, inner = at + 1;
    while (outer > 0 && !is_storage(outer)) --outer;
    while (inner < specs_.levels.size() && !is_storage(inner)) ++inner;
    if (known(outer) && (inner == specs_.levels.size() || known(inner))) return;
    context_.note(
        *directive.node,
        fmt::format("the factor of {} at {} is left out: constraints here bound tiles, "
                    "not trips, and factors {} leave the tile open",
                    dimension(d), directive.target, known(outer) ? "further in" : "elsewhere"));
  }

  /// Whether a directive is about a level.
  static bool is_at(const Directive& directive, const Level& level) {
    if (directive.kind == Directive::Kind::kTemporal)
      return level.kind == Level::Kind::kStorage && level.name == directive.target;
    return directive.kind == Directive::Kind::kSpatial && level.kind == Level::Kind::kFanout &&
           std::find(level.spatial_targets.begin(), level.spatial_targets.end(),
                     directive.target) != level.spatial_targets.end();
  }

  /// The factor of a dimension at a level; nothing where it is open.
  std::optional<std::int64_t> factor_at(const Level& level, int d) const {
    if (level.kind == Level::Kind::kCompute ||
        (level.kind == Level::Kind::kFanout && level.fanout_x * level.fanout_y == 1))
      return 1;
    std::optional<std::int64_t> exact;
    for (const Directive& directive : specs_.constraints) {
      if (!is_at(directive, level)) continue;
      const auto found = directive.factors.find(d);
      if (found == directive.factors.end()) continue;
      const Factor& factor = found->second;
      if (factor.last || factor.at_most || factor.at_least || factor.bound == 0) return {};
      exact = factor.bound;
    }
    return exact;
  }

  /// What gives the factor of a dimension at a level; null where nothing does.
  const YamlNode* factor_node(const Level& level, int d) const {
    const YamlNode* node = nullptr;
    for (const Directive& directive : specs_.constraints) {
      const auto found = directive.factors.find(d);
      if (found == directive.factors.end() || !is_at(directive, level)) continue;
      node = found->second.node != nullptr ? found->second.node : directive.node;
    }
    return node;
  }

  /// What a tile follows from: the factor at its storage, else that of the nearest level further
  /// in, else further out.
  const YamlNode& tile_node(std::size_t level, int d) const {
    for (std::size_t l = level; l < specs_.levels.size(); ++l)
      if (const YamlNode* node = factor_node(specs_.levels[l], d)) return *node;
    for (std::size_t l = level; l-- > 0;)
      if (const YamlNode* node = factor_node(specs_.levels[l], d)) return *node;
    return *specs_.levels[level].node;
  }

  /// The tile of a dimension at a storage, from the factors at it and further in or from those
  /// further out; nothing where they are open.
  std::optional<std::int64_t> tile_at(std::size_t level, int d) const {
    std::optional<std::int64_t> inside = 1, outside = 1;
    for (std::size_t l = 0; l < specs_.levels.size(); ++l) {
      std::optional<std::int64_t>& side = l < level ? outside : inside;
      const auto factor = factor_at(specs_.levels[l], d);
      side = side && factor ? std::optional(*side * *factor) : std::nullopt;
    }
    const std::int64_t size = problem_.sizes[static_cast<std::size_t>(d)];
    if (inside) return inside;
    if (outside && *outside > 0 && size % *outside == 0) return size / *outside;
    return {};
  }

  /// Timeloop keeps what a loop does not move: the tiles of tensors that the dimension indexes.
  void add_tiles(std::size_t level) {
    for (std::size_t d = 0; d < problem_.dimensions.size(); ++d) {
      const auto tile = tile_at(level, static_cast<int>(d));
      if (!tile) continue;
      if (*tile > problem_.sizes[d]) {
        context_.note(
            *specs_.levels[level].node,
            fmt::format("the factors of {} make a tile of {} at {}, but it has {} values: "
                        "left out",
                        problem_.dimensions[d], *tile, specs_.levels[level].name,
                        problem_.sizes[d]));
        continue;
      }
      std::vector<std::string> indexed;
      for (const DataSpace& space : problem_.data_spaces)
        for (const std::vector<Term>& rank : space.ranks)
          for (const Term& term : rank)
            if (term.dimension == static_cast<int>(d) &&
                !contains(indexed, sluice_name(space.name)))
              indexed.push_back(sluice_name(space.name));
      const YamlNode& node = tile_node(level, static_cast<int>(d));
      YamlFlowMap map;
      map.add("memory", sluice_name(specs_.levels[level].name));
      map.add("rank_variable", variable(static_cast<int>(d)));
      map.add("tile_shape", std::to_string(*tile)).add("tensors", yaml_list(indexed));
      put(node, fmt::format("tile of {} at {}", problem_.dimensions[d], specs_.levels[level].name),
          std::move(map), &tiles_);
    }
  }

  static bool contains(const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  }

  void temporal(const Directive& directive) {
    const bool innermost = is_innermost(directive.target);
    for (const auto& [d, factor] : directive.factors) {
      if (!innermost || !(factor.at_most || factor.at_least)) {
        note_left_out(directive, d);
        continue;
      }
      const YamlNode& node = factor.node != nullptr ? *factor.node : *directive.node;
      YamlFlowMap map;
      map.add("memory", sluice_name(directive.target)).add("rank_variable", variable(d));
      map.add(factor.at_most ? "maximum" : "minimum", std::to_string(factor.bound));
      put(node, fmt::format("factor of {} at {}", dimension(d), directive.target), std::move(map),
          &tiles_);
    }
    if (directive.permutation.size() < 2 || !is_storage(directive.target)) return;
    if (innermost) {  // Timeloop's own mappings do not keep to it, either
      context_.note(*directive.node,
                    fmt::format("the permutation of {} is left out: nothing below keeps a tile, so "
                                "the order of its loops changes nothing",
                                directive.target));
      return;
    }
    std::vector<std::string> order;
    for (auto d = directive.permutation.rbegin(); d != directive.permutation.rend(); ++d)
      order.push_back(variable(*d));
    YamlFlowMap map;
    map.add("memory", sluice_name(directive.target)).add("order", yaml_list(order));
    put(*directive.permutation_node, fmt::format("permutation of {}", directive.target),
        std::move(map), &loop_orders_);
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
  PlacedText& places_;
  std::set<std::string> taken_;  ///< names of constraints
  std::vector<std::string> storage_, tiles_, spatial_, loop_orders_;
};

}  // namespace

std::string constraints_text(ImportContext& context, const Specs& specs, PlacedText& places) {
  places = {};
  return places.finish(ConstraintsWriter(context, specs, places).write());
}

}  // namespace sluice::timeloop
