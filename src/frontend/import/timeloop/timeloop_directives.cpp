#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/import/timeloop/timeloop.h"
#include "frontend/yaml/values.h"

namespace sluice::timeloop {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads `R=3 S=1,C=2`, `C1 M8`, `P=3,2`, `K<=4`, or a list of such texts.
class FactorReader {
 public:
  FactorReader(ImportContext& context, const Problem& problem, std::map<int, Factor>& factors)
      : context_(context), problem_(problem), factors_(factors) {}

  void read(const YamlNode& node) {
    if (node.is_sequence()) {
      for (const YamlPointer& item : node.items) read(*item);
    } else if (node.is_map()) {
      for (const YamlEntry& entry : node.entries) read_entry(entry);
    } else if (node.is_scalar()) {
      read_words(node);
    } else if (!node.is_null()) {
      context_.read.error(node,
                          fmt::format("factors must be a text or a list, not {}", describe(node)));
    }
  }

 private:
  void read_entry(const YamlEntry& entry) {
    const auto bound = read_integer(context_.read, entry.value.get(), "a factor", 0);
    if (const auto dimension = dimension_named(*entry.key, 0, entry.key->text); dimension && bound)
      factors_[*dimension] = Factor{*bound, {}, false, false, entry.value.get()};
  }

  void read_words(const YamlNode& node) {
    const std::string text = node.text.substr(0, node.text.find('#'));
    std::size_t at = 0;
    const auto skip = [&](auto fits) {
      while (at < text.size() && fits(text[at])) ++at;
    };
    for (;;) {
      skip([](char c) { return is_space(c) || c == ','; });
      if (at == text.size()) return;
      const std::size_t start = at;
      skip(is_letter);
      // Digits belong to the name where `=` follows: `A2=4`, but `M8`.
      std::size_t equals = at;
      while (equals < text.size() && (is_digit(text[equals]) || is_letter(text[equals]))) ++equals;
      if (equals < text.size() && std::string("=<>").find(text[equals]) != std::string::npos)
        at = equals;
      const std::string name = text.substr(start, at - start);
      Factor factor;
      skip([](char c) { return is_space(c); });
      for (; at < text.size() && std::string("=<>").find(text[at]) != std::string::npos; ++at) {
        factor.at_most |= text[at] == '<';
        factor.at_least |= text[at] == '>';
      }
      skip([](char c) { return is_space(c); });
      const auto bound = number(text, at);
      if (name.empty() || !bound) {
        context_.read.error_inside(node, start,
                                   fmt::format("'{}' is no factor", text.substr(start)),
                                   "write K=4; K=0 takes the rest, K=3,2 has a last tile of 2");
        return;
      }
      factor.bound = *bound;
      factor.node = &node;
      if (at + 1 < text.size() && text[at] == ',' && is_digit(text[at + 1]))
        factor.last = number(text, ++at);
      if (const auto dimension = dimension_named(node, start, name)) factors_[*dimension] = factor;
    }
  }

  static std::optional<std::int64_t> number(const std::string& text, std::size_t& at) {
    const std::size_t start = at;
    std::int64_t value = 0;
    while (at < text.size() && is_digit(text[at]) && at - start < 15)
      value = 10 * value + (text[at++] - '0');
    if (at == start) return std::nullopt;
    return value;
  }

  std::optional<int> dimension_named(const YamlNode& node, std::size_t offset,
                                     const std::string& name) {
    const auto dimension = problem_.dimension(name);
    if (!dimension)
      context_.read.error_inside(
          node, offset, fmt::format("the problem has no dimension '{}'", name),
          did_you_mean(name, problem_.dimensions,
                       fmt::format("its dimensions are {}", fmt::join(problem_.dimensions, ", "))));
    return dimension;
  }

  ImportContext& context_;
  const Problem& problem_;
  std::map<int, Factor>& factors_;
};

class DirectiveReader {
 public:
  DirectiveReader(ImportContext& context, const Specs& specs, const char* what)
      : context_(context), specs_(specs), what_(what) {}

  std::vector<Directive> read(const YamlNode& node) {
    const YamlNode* list = &node;
    if (node.is_map() && node.entries.empty()) return {};
    if (node.is_map())
      for (const char* key : {"targets", "nodes"})
        if (const YamlNode* found = find_key(node, key)) list = found;
    if (list != &node) note_other_keys(context_, node, what_, {"targets", "nodes", "version"});
    if (!list->is_sequence()) {
      context_.read.error(
          *list, fmt::format("{} must be a list of directives, not {}", what_, describe(*list)));
      return {};
    }
    for (const YamlPointer& item : list->items) read_one(*item);
    return std::move(directives_);
  }

 private:
  void read_one(const YamlNode& node) {
    if (!node.is_map()) {
      context_.read.error(node, fmt::format("a directive must be a map, not {}", describe(node)));
      return;
    }
    if (const YamlNode* constraints = find_key(node, "constraints"))
      return read_constraints_list(node, *constraints);
    Directive directive;
    directive.node = &node;
    if (has_misspelt_key(context_, node, "a directive", {"type", "target", "factors"})) return;
    if (!read_kind(node, directive) || !read_target(node, directive)) return;
    read_body(node, std::move(directive));
  }

  /// `{name: DRAM, constraints: [{type: temporal, attributes: {permutation: CRS}}]}`
  void read_constraints_list(const YamlNode& node, const YamlNode& constraints) {
    for (const YamlPointer& item : constraints.items) {
      Directive directive;
      directive.node = item.get();
      const YamlNode* attributes = find_key(*item, "attributes");
      if (!read_kind(*item, directive) || !read_target(node, directive)) continue;
      read_body(attributes == nullptr ? *item : *attributes, std::move(directive));
    }
  }

  void read_body(const YamlNode& node, Directive directive) {
    note_other_keys(context_, node, fmt::format("the directive for {}", directive.target),
                    {"target", "type", "factors", "factors_only", "permutation", "split", "keep",
                     "keep_only", "bypass", "no_reuse", "no_multicast_no_reduction",
                     "no_temporal_reuse", "no_link_transfer", "no_iteration_over_dataspaces"});
    if (const YamlNode* factors = find_key(node, "factors"))
      FactorReader(context_, *specs_.problem, directive.factors).read(*factors);
    if (const YamlNode* factors = find_key(node, "factors_only")) {
      FactorReader(context_, *specs_.problem, directive.factors).read(*factors);
      for (std::size_t d = 0; d < specs_.problem->dimensions.size(); ++d)
        directive.factors.try_emplace(static_cast<int>(d));
    }
    no_iteration(
        data_spaces(find_key(node, "no_iteration_over_dataspaces"), "no_iteration_over_dataspaces"),
        directive);
    if (const YamlNode* permutation = find_key(node, "permutation"))
      read_permutation(*permutation, directive);
    if (const YamlNode* split = find_key(node, "split"))
      directive.split = read_integer(context_.read, split, "split", 0);
    directive.keep = data_spaces(find_key(node, "keep"), "keep");
    directive.bypass_node = find_key(node, "bypass");
    directive.bypass = data_spaces(directive.bypass_node, "bypass");
    if (const YamlNode* only = find_key(node, "keep_only")) keep_only(*only, directive);
    directive.no_links = data_spaces(find_key(node, "no_link_transfer"), "no_link_transfer");
    for (const char* key : {"no_reuse", "no_multicast_no_reduction", "no_temporal_reuse"})
      for (std::string& name : data_spaces(find_key(node, key), key))
        directive.no_reuse.push_back(std::move(name));
    directives_.push_back(std::move(directive));
  }

  /// `constraints: {dataspace: {…}, temporal: {…}, spatial: {…}}` of a node.
 public:
  void read_constraints_of(const std::string& target, const YamlNode& constraints) {
    static const std::map<std::string, Directive::Kind> kKinds = {
        {"dataspace", Directive::Kind::kBypass},
        {"temporal", Directive::Kind::kTemporal},
        {"spatial", Directive::Kind::kSpatial}};
    for (const YamlEntry& entry : constraints.entries) {
      const auto kind = kKinds.find(entry.key->text);
      if (kind == kKinds.end() || !entry.value->is_map()) {
        context_.note(*entry.key,
                      fmt::format("'{}' of the constraints of {} has no counterpart and "
                                  "is left out",
                                  entry.key->text, target));
        continue;
      }
      Directive directive;
      directive.node = entry.value.get();
      directive.kind = kind->second;
      directive.target = target;
      read_body(*entry.value, std::move(directive));
    }
  }
  std::vector<Directive> take() { return std::move(directives_); }

 private:
  /// Dimensions that index one of these have no loop here.
  void no_iteration(const std::vector<std::string>& spaces, Directive& directive) const {
    for (const DataSpace& space : specs_.problem->data_spaces)
      if (std::find(spaces.begin(), spaces.end(), space.name) != spaces.end())
        for (const std::vector<Term>& rank : space.ranks)
          for (const Term& term : rank) directive.factors.try_emplace(term.dimension);
  }

  void keep_only(const YamlNode& node, Directive& directive) {
    directive.keep = data_spaces(&node, "keep_only");
    directive.bypass_node = &node;
    for (const DataSpace& space : specs_.problem->data_spaces)
      if (std::find(directive.keep.begin(), directive.keep.end(), space.name) ==
          directive.keep.end())
        directive.bypass.push_back(space.name);
  }

  bool read_kind(const YamlNode& node, Directive& directive) {
    const YamlNode* type = find_key(node, "type");
    if (type == nullptr) {
      context_.read.error(node, "a directive needs the key 'type'");
      return false;
    }
    const std::string text = read_text(context_.read, type, "type").value_or("");
    if (text == "temporal") {
      directive.kind = Directive::Kind::kTemporal;
    } else if (text == "spatial") {
      directive.kind = Directive::Kind::kSpatial;
    } else if (text == "bypass" || text == "datatype" || text == "dataspace" ||
               text == "bypassing") {
      directive.kind = Directive::Kind::kBypass;
    } else {
      const std::string message =
          fmt::format("directives of the type '{}' have no counterpart and are left out", text);
      const std::string near =
          did_you_mean(text, {"temporal", "spatial", "bypass", "datatype", "dataspace"});
      if (near.empty())
        context_.note(*type, message);
      else
        context_.read.error(*type, fmt::format("there are no directives of the type '{}'", text),
                            near);
      return false;
    }
    return true;
  }

  bool read_target(const YamlNode& node, Directive& directive) {
    const YamlNode* target = find_key(node, "target");
    if (target == nullptr) target = find_key(node, "name");
    if (target == nullptr) {
      context_.read.error(node, "a directive needs the key 'target'");
      return false;
    }
    directive.target = read_text(context_.read, target, "target").value_or("");
    directive.target = directive.target.substr(0, directive.target.find('['));
    if (const auto numbered = storage_with_number(directive.target)) directive.target = *numbered;
    std::vector<std::string> names, known;
    for (const Level& level : specs_.levels) {
      if (level.kind == Level::Kind::kCompute) continue;
      names.push_back(level.name);
      known.insert(known.end(), level.spatial_targets.begin(), level.spatial_targets.end());
    }
    known.insert(known.end(), names.begin(), names.end());
    if (specs_.levels.empty() || specs_.has_bad_levels ||
        std::find(known.begin(), known.end(), directive.target) != known.end())
      return true;
    context_.read.error(
        *target, fmt::format("the architecture has no storage '{}'", directive.target),
        did_you_mean(directive.target, names, fmt::format("there are {}", fmt::join(names, ", "))));
    return false;
  }

  /// Version 0.1 numbers the storages, from the innermost.
  std::optional<std::string> storage_with_number(const std::string& text) const {
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
    std::int64_t wanted = number_of(text);
    for (std::size_t at = specs_.levels.size(); at-- > 0;)
      if (specs_.levels[at].kind == Level::Kind::kStorage && wanted-- == 0)
        return specs_.levels[at].name;
    return std::nullopt;
  }

  static std::int64_t number_of(const std::string& digits) {
    std::int64_t value = 0;
    for (const char c : digits.substr(0, 9)) value = 10 * value + (c - '0');
    return value;
  }

  /// `KCRS`, `K C R S` or a list; innermost first.
  void read_permutation(const YamlNode& node, Directive& directive) {
    std::vector<std::string> words;
    directive.permutation_node = &node;
    if (node.is_sequence()) {
      words = read_names(context_.read, &node, "permutation");
    } else if (node.is_scalar()) {
      words = words_of(node.text);
    }
    for (const std::string& word : words) {
      const auto dimension = specs_.problem->dimension(word);
      if (!dimension) {
        context_.read.error(node, fmt::format("the problem has no dimension '{}'", word),
                            did_you_mean(word, specs_.problem->dimensions));
        continue;
      }
      if (std::find(directive.permutation.begin(), directive.permutation.end(), *dimension) !=
          directive.permutation.end())
        context_.read.error(node,
                            fmt::format("dimension {} stands twice in the permutation", word));
      else
        directive.permutation.push_back(*dimension);
    }
  }

  /// Words where there are separators or a dimension has that very name, else letters.
  std::vector<std::string> words_of(const std::string& text) const {
    std::vector<std::string> words;
    const bool separated = text.find_first_of(" ,") != std::string::npos;
    if (!separated && specs_.problem->dimension(text)) return {text};
    bool open = false;
    for (const char c : text) {
      if (is_space(c) || c == ',') {
        open = false;
      } else if (open && separated) {
        words.back() += c;
      } else {
        words.emplace_back(1, c);
        open = true;
      }
    }
    // `KC RS`: separators between groups of letters
    std::vector<std::string> names;
    for (const std::string& word : words) {
      if (specs_.problem->dimension(word) || word.size() == 1) {
        names.push_back(word);
        continue;
      }
      for (const char c : word) names.emplace_back(1, c);
    }
    return names;
  }

  std::vector<std::string> data_spaces(const YamlNode* node, const char* what) {
    std::vector<std::string> known;
    for (const DataSpace& space : specs_.problem->data_spaces) known.push_back(space.name);
    if (node != nullptr && is_all(*node)) return known;
    std::vector<std::string> names = read_names(context_.read, node, what);
    std::erase_if(names, [&](const std::string& name) {
      const bool unknown = std::find(known.begin(), known.end(), name) == known.end();
      if (unknown)
        context_.read.error(
            *node, fmt::format("the problem has no data space '{}'", name),
            did_you_mean(name, known, fmt::format("there are {}", fmt::join(known, ", "))));
      return unknown;
    });
    return names;
  }

  /// `"*"`, alone or in a list
  static bool is_all(const YamlNode& node) {
    return node.text == "*" ||
           std::any_of(node.items.begin(), node.items.end(),
                       [](const YamlPointer& item) { return item->text == "*"; });
  }

  ImportContext& context_;
  const Specs& specs_;
  const char* what_;
  std::vector<Directive> directives_;
};

}  // namespace

std::vector<Directive> read_directives(ImportContext& context, const YamlNode& node,
                                       const Specs& specs, const char* what) {
  return DirectiveReader(context, specs, what).read(node);
}

std::vector<Directive> read_node_constraints(ImportContext& context, const Specs& specs) {
  DirectiveReader reader(context, specs, "constraints");
  for (const auto& [target, constraints] : specs.node_constraints)
    reader.read_constraints_of(target, *constraints);
  return reader.take();
}

}  // namespace sluice::timeloop
