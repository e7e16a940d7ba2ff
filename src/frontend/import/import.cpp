#include "sluice/frontend/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/import/accelforge.h"
#include "frontend/import/energy_table.h"
#include "frontend/import/templates.h"
#include "frontend/import/timeloop.h"
#include "frontend/import/timeloop_residency.h"
#include "frontend/load/network_files.h"
#include "frontend/load/onnx_files.h"
#include "frontend/load/variables.h"
#include "frontend/yaml/file_text.h"
#include "frontend/yaml/values.h"
#include "frontend/yaml/yaml_parser.h"

namespace sluice {
namespace {

constexpr const char* kWorkloadText = "workload.yaml";
constexpr const char* kMappingText = "mapping.yaml";
constexpr std::size_t kLongestLine = 100;

std::vector<NamedText> texts_of(const ImportedSpecs& specs) {
  std::vector<NamedText> texts;
  if (!specs.workload.empty()) texts.push_back({kWorkloadText, specs.workload});
  if (!specs.arch.empty()) texts.push_back({"arch.yaml", specs.arch});
  const bool complete = !specs.workload.empty() && !specs.arch.empty();
  if (!specs.constraints.empty() && complete)
    texts.push_back({"constraints.yaml", specs.constraints});
  if (!specs.mapping.empty() && complete) texts.push_back({kMappingText, specs.mapping});
  return texts;
}

/// Sections of the files of one job, by key; what stands in two files counts in the last one.
using Sections = std::map<std::string, YamlPointer>;

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

 private:
  /// What was left out for a misspelt word may be why something else is missing.
  Diagnostics mistakes_and_their_causes() {
    Diagnostics found = context_.take_diagnostics();
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
    YamlPointer& known = sections_[entry.key->text];
    YamlPointer& key = keys_[entry.key->text];
    if (known && !known->is_null())
      import_.note(*key, fmt::format("the section '{}' here is left out: {} takes its place",
                                     key->text, place_text(*entry.key)));
    known = entry.value;
    key = entry.key;
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
    const auto mapping = sections_.find("mapping");  // Timeloop's is a list, AccelForge's a tree
    const bool lists = mapping != sections_.end() && mapping->second->is_sequence();
    if (sections_.count("architecture") > 0 || sections_.count("problem") > 0 || lists) {
      timeloop_job(result);
    } else if (sections_.count("arch") > 0 || sections_.count("workload") > 0 ||
               sections_.count("mapping") > 0) {
      accelforge_job(result);
    } else {
      context_.error_about(
          fmt::format("{}:1", files_.front()), "none of the files has a section that is known",
          "Timeloop has `architecture`, `problem` and `mapping`; AccelForge `arch`, `workload` and "
          "`mapping`");
      return;
    }
    for (const auto& [name, key] : keys_)
      if (used_.count(name) == 0) note_left_out(*key, result.format == "AccelForge");
  }

  void note_left_out(const YamlNode& key, bool is_accelforge) {
    const bool is_of_other_tool = !is_accelforge && (key.text == "arch" || key.text == "workload");
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

  /// Numbers of `variables:` may be used in attributes; `--set` overrides them.
  void timeloop_variables(timeloop::Specs& specs) {
    const YamlNode* variables = section("variables");
    if (variables == nullptr) return;
    for (const YamlEntry& entry : variables->entries) {
      const std::string& name = entry.key->text;
      const auto set = options_.variables.find(name);
      const std::string text = set == options_.variables.end() ? entry.value->text : set->second;
      if (const auto value = Expression::parse(text)) context_.variables().emplace(name, *value);
      if (name != "global_cycle_seconds") continue;
      if (const auto cycle = read_quantity(context_, entry.value.get(), {.what = name.c_str()}))
        specs.cycle_s = cycle->value;
    }
  }

  void timeloop_job(ImportedSpecs& result) {
    timeloop::Specs specs;
    timeloop_variables(specs);
    result.format = "Timeloop v3";
    if (const YamlNode* architecture = section("architecture")) {
      if (find_key(*architecture, "nodes") != nullptr) {
        result.format = "Timeloop v4";
        timeloop::read_arch_v4(import_, *architecture, specs);
      } else {
        timeloop::read_arch_v3(import_, *architecture, specs);
      }
      specs.has_bad_levels = context_.has_errors();
    }
    if (const YamlNode* problem = section("problem"))
      timeloop::read_problem(import_, *problem, specs);
    if (const YamlNode* mapping = section("mapping")) {
      if (specs.problem && !specs.levels.empty())
        specs.mapping = timeloop::read_directives(import_, *mapping, specs, "mapping");
      else if (!context_.has_errors())
        context_.error(*mapping, "a mapping needs the architecture and the problem it is for",
                       "name their files, too");
    }
    timeloop_constraints(specs);
    if (context_.has_errors()) return;
    timeloop::EnergyTable energies;
    const bool has_energies = read_energies(energies);
    if (specs.problem) result.workload = timeloop::workload_text(import_, specs);
    if (!specs.mapping.empty()) result.mapping = timeloop::mapping_text(import_, specs);
    if (!specs.constraints.empty()) result.constraints = constraints_text(import_, specs);
    if (!specs.levels.empty())
      result.arch = timeloop::arch_text(import_, specs, has_energies ? &energies : nullptr);
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
      if (!is_settled) result.mapping = timeloop::mapping_text(import_, specs);
    }
  }

  /// Constraints stand in sections of their own (v3) or at the nodes (v4).
  void timeloop_constraints(timeloop::Specs& specs) {
    if (!specs.problem || specs.levels.empty()) {
      for (const auto& [target, node] : specs.node_constraints)
        import_.note(
            *node, fmt::format("the constraints of {} need the problem, and are left out", target));
      return;
    }
    specs.constraints = timeloop::read_node_constraints(import_, specs);
    for (const char* name : {"constraints", "architecture_constraints", "mapspace_constraints"}) {
      const YamlNode* node = section(name);
      if (node == nullptr) continue;
      for (timeloop::Directive& directive : timeloop::read_directives(import_, *node, specs, name))
        specs.constraints.push_back(std::move(directive));
    }
  }

  void accelforge_job(ImportedSpecs& result) {
    used_.insert({"arch", "workload", "renames", "variables", "mapping"});
    timeloop::EnergyTable energies;
    const bool has_energies = read_energies(energies);
    if (context_.has_errors()) return;
    ImportedPlaces places;
    translate_accelforge(import_, sections_, has_energies ? &energies : nullptr, result, places);
    report_what_does_not_load(result, places);
  }

  /// AccelForge's words are Sluice's: what is wrong with them is the user's to know, at the place
  /// in the user's file.
  void report_what_does_not_load(const ImportedSpecs& result, const ImportedPlaces& places) {
    const Result<Specs> loaded = load_specs_from_text(texts_of(result), {});
    if (loaded) return;
    for (const Diagnostic& found : loaded.error()) {
      const SourceLocation& location = found.location;
      const PlacedText& text = location.file == kWorkloadText  ? places.workload
                               : location.file == kMappingText ? places.mapping
                                                               : places.arch;
      const SourcePosition* position = text.at(location.line, location.column);
      const bool names_a_line = found.hint.find(" on line ") != std::string::npos;  // of the text
      if (position != nullptr)
        context_.error(*position, found.message, names_a_line ? "" : found.hint);
      else
        context_.error_about(files_.front(), found.message, found.hint);
    }
  }

  /// What is written from Timeloop's files must load; where it does not, the section it comes from
  /// is named.
  void check_that_it_loads(const ImportedSpecs& result) {
    const Result<Specs> loaded = load_specs_from_text(texts_of(result), {});
    if (loaded) return;
    for (const Diagnostic& found : loaded.error()) {
      const char* name = found.location.file == kWorkloadText  ? "problem"
                         : found.location.file == kMappingText ? "mapping"
                                                               : "architecture";
      const auto node = sections_.find(name);
      const std::string message = fmt::format("the {} cannot be imported: {}", name, found.message);
      const std::string hint =
          fmt::format("it would be written as {}", found.source_line.substr(0, kLongestLine));
      if (node != sections_.end())
        context_.error(*node->second, message, hint);
      else
        context_.error_about(files_.front(), message, hint);
    }
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
      energies = timeloop::read_energy_table(import_, *documents.front());
      return true;
    }
    const YamlNode* table = section("ERT");
    if (table == nullptr) return false;
    energies = timeloop::read_energy_table(import_, *table);
    return true;
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
};

/// Files that are jobs of their own.
bool is_job(const std::string& file) { return is_network_table(file) || is_onnx_file(file); }

void read_table(ReadContext& context, const std::string& file, ImportedSpecs& specs) {
  const auto text = file_text(context, file);
  const auto workload = text ? workload_of_table(context, file, *text) : std::nullopt;
  specs.format = "a table of layers";
  if (workload) specs.workload = *workload;
}

void read_model(ReadContext& context, const std::string& file, ImportedSpecs& specs) {
  specs.format = "ONNX";
  specs.onnx = read_onnx_file(context, file);
  if (!specs.onnx) return;
  specs.workload = specs.onnx->workload;
  specs.notes = specs.onnx->notes;
  const Result<Specs> loaded = load_specs_from_text({{file, specs.workload}}, {});
  if (loaded) return;
  for (const Diagnostic& found : loaded.error())
    context.error_about(file, found.message, found.source_line.substr(0, kLongestLine));
}

Result<ImportedSpecs> import_job(const std::vector<std::string>& files,
                                 const ImportOptions& options) {
  LoadOptions load_options;
  load_options.variables = options.variables;
  ReadContext context(load_options);
  ImportedSpecs specs;
  if (files.size() > 1)
    context.error_about(
        files.back(),
        "a table of layers, or an ONNX model, is imported alone, without other files");
  else
    (is_onnx_file(files[0]) ? read_model : read_table)(context, files[0], specs);
  if (context.has_errors()) return tl::unexpected(context.take_diagnostics());
  return specs;
}

}  // namespace

Result<ImportedSpecs> import_specs(const std::vector<std::string>& files,
                                   const ImportOptions& options) {
  const bool has_job = std::any_of(files.begin(), files.end(), is_job);
  return has_job ? import_job(files, options) : Importer(files, options).run();
}

}  // namespace sluice
