#include "frontend/import/job/import_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "frontend/import/accelforge/accelforge.h"
#include "frontend/import/job/given_variables.h"
#include "frontend/import/job/spec_format.h"
#include "frontend/import/reading/energy_table.h"
#include "frontend/import/reading/made_nodes.h"
#include "frontend/import/reading/templates.h"
#include "frontend/import/timeloop/timeloop.h"
#include "frontend/import/timeloop/timeloop_residency.h"
#include "frontend/load/variables.h"
#include "frontend/yaml/file_text.h"
#include "frontend/yaml/values.h"
#include "frontend/yaml/yaml_parser.h"

namespace sluice {
namespace {

constexpr std::size_t kLongestLine = 100;

/// Whether a text has a name as a word of its own.
bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end])))
      return true;
  }
  return false;
}

/// What stands between the first quotes of a message.
std::string quoted_name(const std::string& message) {
  const std::size_t begin = message.find('\'') + 1;
  return message.substr(begin, message.find('\'', begin) - begin);
}

constexpr const char* kConstraintSections[] = {"constraints", "architecture_constraints",
                                               "mapspace_constraints", "extra_mapping_constraints",
                                               "mapspace"};

class Importer {
 public:
  Importer(const std::vector<std::string>& files, const ImportOptions& options)
      : options_(options), files_(files), context_(load_options_), import_{context_, {}} {
    load_options_.limits = options.limits;
    load_options_.variables = options.variables;
    for (const std::string& file : files) read_file(file);
  }

  Result<ImportedSpecs> run() {
    ImportedSpecs result;
    if (!context_.has_errors()) translate(result);
    if (context_.has_errors()) return tl::unexpected(mistakes_and_their_causes());
    result.notes = std::move(import_.notes);
    return result;
  }

  /// What stands at a place of one of the texts, in the user's files.
  std::optional<NodePlace> place_of(const SourceLocation& location) const {
    const SourcePosition* position = position_of(location);
    if (position == nullptr) return std::nullopt;
    const SourcePosition origin = context_.sources().origin(*position);
    return NodePlace{{context_.sources().name(origin.file), origin.line, origin.column},
                     context_.sources().line(origin)};
  }

  bool has_templates() const { return import_.has_templates; }
  const std::set<std::string>& variables() const { return import_.template_variables; }

 private:
  const SourcePosition* position_of(const SourceLocation& location) const {
    const PlacedText* text = location.file == kImportedWorkload      ? &places_.workload
                             : location.file == kImportedArch        ? &places_.arch
                             : location.file == kImportedConstraints ? &places_.constraints
                             : location.file == kImportedMapping     ? &places_.mapping
                                                                     : nullptr;
    return text == nullptr ? nullptr : text->at(location.line, location.column);
  }

  /// What was left out for a misspelt word may be why something else is missing.
  Diagnostics mistakes_and_their_causes() {
    Diagnostics found = context_.take_diagnostics();
    for (Diagnostic& mistake : found)
      if (is_timeloop(sections_) && mistake.hint.empty() &&
          mistake.message.starts_with("unknown name '"))
        mistake.hint = fmt::format(
            "name the file that has it among its variables, too, or --set "
            "{}=VALUE",
            quoted_name(mistake.message));
    const auto is_said = [&](const Diagnostic& note) {
      return std::any_of(found.begin(), found.end(), [&](const Diagnostic& mistake) {
        return mistake.location == note.location;
      });
    };
    for (const Diagnostic& note : import_.notes)
      if (note.location.line > 0 && !note.hint.empty() && !is_said(note)) found.push_back(note);
    return found;
  }

  void read_file(const std::string& path) {
    const auto text = file_text(context_, path);
    if (!text) return;
    for (const YamlPointer& document : documents_of(import_, options_, path, *text)) {
      if (document->is_null()) continue;
      documents_.push_back(document);
      if (!document->is_map()) {
        context_.error(*document, fmt::format("a spec file is a map of sections, not {}",
                                              describe(*document)));
        continue;
      }
      for (const YamlEntry& entry : document->entries) add_section(entry);
    }
  }

  void add_section(const YamlEntry& entry) {
    if (entry.key->text == "variables") return add_variables(entry);
    YamlPointer& known = sections_[entry.key->text];
    YamlPointer& key = keys_[entry.key->text];
    if (known && !known->is_null() && !is_for_accelergy_alone(entry.key->text))
      import_.note(*key, fmt::format("the section '{}' here is left out: {} takes its place",
                                     key->text, place_text(*entry.key)));
    known = entry.value;
    key = entry.key;
  }

  /// A map, or a list of maps that are merged; likewise those of several files. Of a name that is
  /// there twice the last value counts.
  void add_variables(const YamlEntry& entry) {
    keys_["variables"] = entry.key;
    YamlPointer& known = sections_["variables"];
    auto all = std::make_shared<YamlNode>(known ? *known : *entry.value);
    all->kind = YamlNode::Kind::kMap;
    all->items.clear();
    if (!known) all->entries.clear();
    if (entry.value->is_sequence())
      for (const YamlPointer& item : entry.value->items) merge_variables(*all, *item);
    else if (!entry.value->is_null())
      merge_variables(*all, *entry.value);
    known = all;
  }

  void merge_variables(YamlNode& all, const YamlNode& more) {
    if (!more.is_map()) {
      context_.error(more, fmt::format("variables are a map of names, not {}", describe(more)),
                     "as in 'variables: {WIDTH: 64}', or a list of such maps");
      return;
    }
    for (const YamlEntry& entry : more.entries) {
      if (const YamlPointer earlier = take(all, entry.key->text);
          earlier && earlier->text != entry.value->text)
        import_.note(*earlier, fmt::format("the variable '{}' here is left out: {} takes its place",
                                           entry.key->text, place_text(*entry.key)));
      all.entries.push_back(entry);
    }
  }

  std::string place_text(const YamlNode& node) const {
    const SourceLocation place = context_.place_of(node).location;
    return fmt::format("{}:{}", place.file, place.line);
  }

  const YamlNode* section(const std::string& name) {
    const auto found = sections_.find(name);
    if (found == sections_.end()) return nullptr;
    used_.insert(name);
    return found->second->is_null() ? nullptr : found->second.get();
  }

  void translate(ImportedSpecs& result) {
    give_variables(import_, sections_, options_.variables);
    if (context_.has_errors()) return;
    if (is_timeloop(sections_)) {
      timeloop_job(result);
    } else if (sections_.count("arch") > 0 || sections_.count("workload") > 0 ||
               sections_.count("mapping") > 0) {
      accelforge_job(result);
    } else {
      return refuse_sections();
    }
    for (const auto& [name, key] : keys_)
      if (used_.count(name) == 0 && !says_nothing(name, result))
        note_left_out(*key, result.format == "AccelForge");
  }

  /// Constraints alone are Timeloop's: those that name their sections are Sluice's.
  void refuse_sections() {
    bool has_constraints = false;
    for (const char* name : kConstraintSections) {
      const auto key = keys_.find(name);
      if (key == keys_.end()) continue;
      has_constraints = true;
      context_.error(*key->second,
                     "constraints of Timeloop need its architecture and the problem they are for",
                     "name their files, too; constraints on Sluice's own specs have the keys "
                     "`storage`, `tiles`, `spatial`, … (docs/specs.md)");
    }
    if (!has_constraints)
      context_.error_about(
          fmt::format("{}:1", files_.front()), "none of the files has a section that is known",
          "Timeloop has `architecture`, `problem` and `mapping`; AccelForge `arch`, `workload` and "
          "`mapping`");
  }

  /// Sections that are there for Accelergy, or for their anchors only. Of two tables of energies,
  /// which say the same, one is read.
  bool says_nothing(const std::string& name, const ImportedSpecs& result) const {
    if (name == "ERT_summary" && used_.count("ERT") > 0) return true;
    const bool is_accelforge = result.format == "AccelForge";
    return is_for_accelergy_alone(name) && (!is_accelforge || name != "components");
  }

  void note_left_out(const YamlNode& key, bool is_accelforge) {
    const bool is_of_other_tool = !is_accelforge && (key.text == "arch" || key.text == "workload");
    if (!options_.energy_file.empty() && is_energy_section(key.text))
      return import_.note(key, fmt::format("the energies of '{}' are left out: those of {} count",
                                           key.text, options_.energy_file));
    std::string message =
        fmt::format("the section '{}' has no counterpart and is left out", key.text);
    if (is_of_other_tool)
      for (const char* name : {"architecture", "problem", "mapping"})
        if (const auto found = keys_.find(name); found != keys_.end()) {
          message = fmt::format(
              "the section '{}' is AccelForge's and left out: with '{}' at {} this is a job of "
              "Timeloop's",
              key.text, name, place_text(*found->second));
          break;
        }
    const std::vector<std::string> known = {"architecture", "problem", "mapping", "constraints"};
    import_.note(key, message, is_of_other_tool ? "" : did_you_mean(key.text, known));
  }

  /// `ERT: {version: 0.4, tables: []}`, as timeloopfe writes where it has no energies.
  static bool is_empty_table(const YamlNode& table) {
    const YamlNode* tables = table.find("tables");
    return tables != nullptr && tables->is_sequence() && tables->items.empty();
  }

  static bool is_energy_section(const std::string& name) {
    return std::find(kEnergySections.begin(), kEnergySections.end(), name) != kEnergySections.end();
  }

  static bool names(const YamlNode& node, const std::string& wanted) {
    if (node.is_scalar()) return has_word(node.text, wanted);
    return std::any_of(node.items.begin(), node.items.end(),
                       [&](const YamlPointer& item) { return names(*item, wanted); }) ||
           std::any_of(node.entries.begin(), node.entries.end(),
                       [&](const YamlEntry& entry) { return names(*entry.value, wanted); });
  }

  /// Variables of files that are not among those named: `--set` gives what some text asks for.
  void set_variables() {
    for (const auto& [name, text] : options_.variables) {
      const bool is_named = std::any_of(
          documents_.begin(), documents_.end(),
          [&, name = name](const YamlPointer& document) { return names(*document, name); });
      const auto value = Expression::parse(text);
      if (!is_named || !value || !context_.variables().emplace(name, *value).second) continue;
      import_.template_variables.insert(name);
    }
  }

  /// Numbers of `variables:` may be used in attributes, and in one another.
  void timeloop_variables(timeloop::Specs& specs) {
    const YamlNode* variables = section("variables");
    if (variables != nullptr)
      for (const YamlEntry& entry : variables->entries)
        if (const auto value = Expression::parse(entry.value->text))
          context_.variables().emplace(entry.key->text, *value);
    set_variables();
    resolve_variables();
    const YamlNode* cycle =
        variables == nullptr ? nullptr : variables->find("global_cycle_seconds");
    if (cycle == nullptr) return;
    if (const auto seconds = read_quantity(context_, cycle, {.what = "global_cycle_seconds"}))
      specs.cycle_s = seconds->value;
  }

  /// Puts variables into those that name them, until none does; what names itself in the end stays
  /// as it is.
  void resolve_variables() {
    constexpr std::size_t kLongest = 4000;  // characters
    std::map<std::string, Expression>& variables = context_.variables();
    for (std::size_t pass = 0; pass < variables.size(); ++pass) {
      bool is_done = true;
      for (auto& [name, value] : variables) {
        const auto value_of = [&](const std::string& other) {
          const auto found = variables.find(other);
          const bool is_known = found != variables.end() && found->second.names().empty();
          return is_known ? std::optional(found->second) : std::nullopt;
        };
        const std::size_t before = value.names().size();
        if (before == 0 || value.to_string().size() > kLongest) continue;
        value = value.substitute(value_of);
        is_done = is_done && value.names().size() == before;
      }
      if (is_done) return;
    }
  }

  /// An unknown version is read as those that are known.
  void check_versions() {
    static const std::vector<std::string> kVersions = {"0.1", "0.2", "0.3", "0.4"};
    std::vector<const char*> names = {"architecture", "arch", "problem", "mapping", "mapper"};
    names.insert(names.end(), std::begin(kConstraintSections), std::end(kConstraintSections));
    for (const char* name : names) {
      const auto found = sections_.find(name);
      const YamlNode* version =
          found == sections_.end() ? nullptr : find_key(*found->second, "version");
      if (version == nullptr ||
          std::find(kVersions.begin(), kVersions.end(), version->text) != kVersions.end())
        continue;
      import_.note_or_warn(
          *version,
          fmt::format("version {} of Timeloop's files is not known: '{}' is read as versions {} "
                      "to {} are",
                      describe(*version), name, kVersions.front(), kVersions.back()),
          fmt::format("versions are {}", fmt::join(kVersions, ", ")));
    }
  }

  void timeloop_job(ImportedSpecs& result) {
    timeloop::Specs specs;
    check_versions();
    if (const auto problem = sections_.find("problem"); problem != sections_.end())
      for (auto& [name, section] : sections_)
        if (name != "problem") section = timeloop::with_problem_sizes(section, *problem->second);
    timeloop_variables(specs);
    result.format = "Timeloop v3";
    if (const YamlNode* architecture = section("architecture")) {
      if (find_key(*architecture, "nodes") != nullptr) {
        result.format = "Timeloop v4";
        timeloop::read_arch_v4(import_, *architecture, specs);
      } else {
        timeloop::read_arch_v3(import_, *architecture, specs);
      }
    } else if (const auto arch = sections_.find("arch");
               arch != sections_.end() && is_timeloop_arch(*arch->second)) {
      result.format = "Timeloop v1";
      timeloop::read_arch_v1(import_, *section("arch"), specs);
    }
    specs.has_bad_levels = context_.has_errors();
    const YamlNode* shape = section("shape");
    const YamlNode* problem = section("problem");
    const YamlNode* cascade = problem != nullptr && !problem->items.empty() ? problem : nullptr;
    if (cascade != nullptr)
      result.workload = timeloop::cascade_text(
          import_, *cascade, timeloop::word_bits_of(import_, specs), places_.workload);
    else if (problem != nullptr)
      timeloop::read_problem(import_, *problem, shape, specs);
    else if (shape != nullptr)
      timeloop::read_shape(import_, *shape, specs);
    if (const YamlNode* mapping = section("mapping")) {
      if (cascade != nullptr)
        context_.error(*mapping, "mappings of a cascade (LoopTree) are not read",
                       "leave it out: `sluice map` finds one; or write it as in docs/specs.md");
      else if (specs.problem && !specs.levels.empty())
        specs.mapping = timeloop::read_directives(import_, *mapping, specs, "mapping");
      else if (!context_.has_errors())
        context_.error(*mapping, "a mapping needs the architecture and the problem it is for",
                       "name their files, too");
    }
    timeloop_constraints(specs);
    if (context_.has_errors()) return;
    timeloop::EnergyTable energies;
    const bool has_energies = read_energies(energies);
    if (specs.problem) result.workload = timeloop::workload_text(import_, specs, places_.workload);
    if (!specs.mapping.empty())
      result.mapping = timeloop::mapping_text(import_, specs, places_.mapping);
    if (!specs.constraints.empty())
      result.constraints = constraints_text(import_, specs, places_.constraints);
    if (!specs.levels.empty())
      result.arch =
          timeloop::arch_text(import_, specs, has_energies ? &energies : nullptr, places_.arch);
    if (!context_.has_errors()) check_that_it_loads(result);
    if (!specs.mapping.empty() && !context_.has_errors()) settle_residency(specs, result);
  }

  /// Storages whose tile the model cannot keep between visits fetch it each time.
  void settle_residency(timeloop::Specs& specs, ImportedSpecs& result) {
    for (bool is_settled = false; !is_settled;) {
      is_settled = true;
      for (const timeloop::Unpriced& node : timeloop::unpriced_nodes(texts_of(result))) {
        if (!specs.refetched.insert({node.component, node.tensor}).second) continue;
        is_settled = false;
        import_.note(*section("mapping"),
                     fmt::format("{} in {} is moved at each visit; in Timeloop it stays while its "
                                 "tile does. {}",
                                 node.tensor, node.component, node.why));
      }
      if (!is_settled) result.mapping = timeloop::mapping_text(import_, specs, places_.mapping);
    }
  }

  /// Constraints stand in sections of their own (v3) or at the nodes (v4).
  void timeloop_constraints(timeloop::Specs& specs) {
    if (!specs.problem || specs.levels.empty()) {
      for (const auto& [target, node] : specs.node_constraints)
        import_.note(
            *node, fmt::format("the constraints of {} need the problem, and are left out", target));
      for (const char* name : kConstraintSections)
        if (section(name) != nullptr)
          import_.note(*keys_.at(name), fmt::format("'{}' is left out: it needs the architecture "
                                                    "and the problem, as files of Timeloop",
                                                    name));
      return;
    }
    specs.constraints = timeloop::read_node_constraints(import_, specs);
    for (const char* name : kConstraintSections) {
      const YamlNode* node = section(name);
      if (node != nullptr && node->text.empty() && name == std::string("mapspace"))
        node = constraints_of_mapspace(*node);
      if (node == nullptr) continue;
      for (timeloop::Directive& directive : timeloop::read_directives(import_, *node, specs, name))
        specs.constraints.push_back(std::move(directive));
    }
  }

  /// `{constraints: […]}`, or `{constraints: NAME, constraints_NAME: […]}`, or `{targets: […]}`.
  const YamlNode* constraints_of_mapspace(const YamlNode& mapspace) {
    if (!mapspace.is_map()) return &mapspace;
    const YamlNode* constraints = find_key(mapspace, "constraints");
    std::set<std::string> known = {"constraints", "targets", "version", "template"};
    if (constraints != nullptr && constraints->is_scalar()) {
      const std::string key = "constraints_" + constraints->text;
      known.insert(key);
      const YamlNode* chosen = find_key(mapspace, key);
      if (chosen == nullptr) {
        std::vector<std::string> names;
        for (const YamlEntry& entry : mapspace.entries) names.push_back(entry.key->text);
        context_.error(*constraints, fmt::format("the mapspace has no '{}'", key),
                       did_you_mean(key, names));
        return nullptr;
      }
      constraints = chosen;
    }
    note_other_keys(import_, mapspace, "the mapspace", known);
    if (constraints == nullptr && find_key(mapspace, "targets") == nullptr) return nullptr;
    return constraints != nullptr ? constraints : find_key(mapspace, "targets");
  }

  void accelforge_job(ImportedSpecs& result) {
    used_.insert({"arch", "workload", "renames", "variables", "mapping"});
    timeloop::EnergyTable energies;
    const bool has_energies = read_energies(energies);
    if (context_.has_errors()) return;
    translate_accelforge(import_, sections_, has_energies ? &energies : nullptr, result, places_);
    if (!context_.has_errors()) report_what_does_not_load(result);
  }

  /// AccelForge's words are Sluice's: what is wrong with them is the user's to know, at the place
  /// in the user's file.
  void report_what_does_not_load(const ImportedSpecs& result) {
    const Result<Specs> loaded = load_specs_from_text(texts_of(result), {});
    if (loaded) return;
    for (const Diagnostic& found : loaded.error()) {
      const SourcePosition* position = position_of(found.location);
      const bool names_a_line = found.hint.find(" on line ") != std::string::npos;  // of the text
      if (position != nullptr)
        context_.error(*position, found.message, names_a_line ? "" : found.hint);
      else
        context_.error_about(files_.front(), found.message, found.hint);
    }
  }

  /// What is written from Timeloop's files must load; where it does not, what it comes from is
  /// named.
  void check_that_it_loads(const ImportedSpecs& result) {
    const Result<Specs> loaded = load_specs_from_text(texts_of(result), {});
    if (loaded) return;
    for (const Diagnostic& found : loaded.error()) {
      const char* name = found.location.file == kImportedWorkload      ? "problem"
                         : found.location.file == kImportedMapping     ? "mapping"
                         : found.location.file == kImportedConstraints ? "constraints"
                                                                       : "architecture";
      const auto node = sections_.find(name);
      const std::string message = fmt::format("the {} cannot be imported: {}", name, found.message);
      const std::string hint =
          fmt::format("it would be written as {}", found.source_line.substr(0, kLongestLine));
      if (const SourcePosition* position = position_of(found.location))
        context_.error(*position, message, hint);
      else if (node != sections_.end())
        context_.error(*node->second, message, hint);
      else
        context_.error_about(files_.front(), message, hint);
    }
  }

  /// Its own name and those of the files.
  std::vector<std::string> names_of_architecture() const {
    std::vector<std::string> names;
    if (const auto arch = sections_.find("arch"); arch != sections_.end())
      if (const YamlNode* name = arch->second->find("name")) names.push_back(name->text);
    for (const std::string& file : files_)
      if (const std::string name = std::filesystem::path(file).stem().string();
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    return names;
  }

  bool read_energies(timeloop::EnergyTable& energies) {
    if (!options_.energy_file.empty()) {
      const auto text = file_text(context_, options_.energy_file);
      if (!text) return false;
      const auto documents =
          parse_yaml(context_, context_.sources().add(options_.energy_file, *text));
      if (documents.empty() && context_.has_errors()) return false;
      if (documents.empty()) {
        context_.error_about(fmt::format("{}:1", options_.energy_file), "the file is empty");
        return false;
      }
      documents_.push_back(documents.front());  // notes point into it
      energies = timeloop::read_energy_table(import_, *documents.front(), names_of_architecture());
      return true;
    }
    for (const std::string& name : kEnergySections)
      if (const YamlNode* table = section(name); table != nullptr && !is_empty_table(*table)) {
        energies = timeloop::read_energy_table(import_, *table, names_of_architecture());
        return true;
      }
    return false;
  }

  const ImportOptions& options_;
  std::vector<std::string> files_;
  LoadOptions load_options_;
  ReadContext context_;
  ImportContext import_;
  std::vector<YamlPointer> documents_;
  Sections sections_;
  std::map<std::string, YamlPointer> keys_;  ///< of the sections, where they stand
  std::set<std::string> used_;
  ImportedPlaces places_;
};

}  // namespace

std::vector<NamedText> texts_of(const ImportedSpecs& specs) {
  std::vector<NamedText> texts;
  if (!specs.workload.empty()) texts.push_back({kImportedWorkload, specs.workload});
  if (!specs.arch.empty()) texts.push_back({kImportedArch, specs.arch});
  const bool complete = !specs.workload.empty() && !specs.arch.empty();
  if (!specs.constraints.empty() && complete)
    texts.push_back({kImportedConstraints, specs.constraints});
  if (!specs.mapping.empty() && complete) texts.push_back({kImportedMapping, specs.mapping});
  return texts;
}

Result<ImportedJob> import_job(const std::vector<std::string>& files,
                               const ImportOptions& options) {
  const auto importer = std::make_shared<Importer>(files, options);
  Result<ImportedSpecs> specs = importer->run();
  if (!specs) return tl::unexpected(specs.error());
  return ImportedJob{std::move(*specs), importer->has_templates(), importer->variables(),
                     [importer](const SourceLocation& place) { return importer->place_of(place); }};
}

}  // namespace sluice
