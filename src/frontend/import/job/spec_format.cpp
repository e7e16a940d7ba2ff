#include "frontend/import/job/spec_format.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "frontend/import/accelforge/total_latency.h"
#include "frontend/yaml/yaml_parser.h"

namespace sluice {
namespace {

/// Keys and tags that AccelForge has and Sluice has not.
const std::set<std::string>& accelforge_words() {
  static const std::set<std::string> kWords = {"<<<",
                                               "!nomerge",
                                               "!Array",
                                               "!Component",
                                               "!Fanout",
                                               "!Hierarchical",
                                               "actions_scale",
                                               "area_scale",
                                               "encapsulate_tensor",
                                               "energy_scale",
                                               "extra_attributes_for_all_component_models",
                                               "extra_attributes_for_component_model",
                                               "latency_scale",
                                               "leak_power_scale",
                                               "loop_bounds",
                                               "n_parallel_instances",
                                               "no_refetch_from_above",
                                               "no_resend_to_below",
                                               "power_gateable",
                                               "throughput_scale",
                                               "total_area",
                                               "total_leak_power",
                                               "usage_scale"};
  return kWords;
}

/// A node of architectures there. Of mappings it is one here as well.
constexpr const char* kBranches = "!Parallel";

/// Component classes that Sluice has not.
const std::set<std::string>& accelforge_classes() {
  static const std::set<std::string> kClasses = {"Dummy", "SmartBufferSRAM", "ADC", "MemoryCell"};
  return kClasses;
}

/// `- !Network {name: NoC, actions: [{name: hop, energy: 1}]}`, or `{name: read, latency: 1e-9}`
bool has_form_of_accelforge(const YamlNode& component) {
  const YamlNode* type = component.find("component_class");
  if (type != nullptr && accelforge_classes().count(type->text) > 0) return true;
  const YamlNode* time = component.find("total_latency");
  if (time != nullptr && names_actions_of_accelforge(time->text)) return true;
  const YamlNode* actions = component.find("actions");
  if (actions == nullptr) return false;
  return component.tag == "!Network" ||
         std::any_of(actions->items.begin(), actions->items.end(),
                     [](const YamlPointer& action) { return action->find("latency") != nullptr; });
}

/// Whether something is so of a node, or of one below it.
template <class Predicate>
bool any_node(const YamlNode& node, const Predicate& is_so) {
  return is_so(node) ||
         std::any_of(node.entries.begin(), node.entries.end(),
                     [&](const YamlEntry& entry) { return any_node(*entry.value, is_so); }) ||
         std::any_of(node.items.begin(), node.items.end(),
                     [&](const YamlPointer& item) { return any_node(*item, is_so); });
}

bool has_word_of_accelforge(const YamlNode& document) {
  const std::set<std::string>& words = accelforge_words();
  return any_node(document, [&](const YamlNode& node) {
    return words.count(node.tag) > 0 || has_form_of_accelforge(node) ||
           std::any_of(node.entries.begin(), node.entries.end(),
                       [&](const YamlEntry& entry) { return words.count(entry.key->text) > 0; });
  });
}

/// Whether a text has no section but a mapping that is a tree, and no word of AccelForge's: as
/// Sluice writes mappings. They can be long, and need not be parsed to know that.
bool is_mapping_alone(const std::string& text) {
  std::istringstream lines(text);
  bool follows_mapping = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line[begin] == '#') continue;
    if (follows_mapping && (begin == 0 || line[begin] == '-')) return false;
    follows_mapping = begin == 0;
    if (begin == 0 && line != "mapping:") return false;
  }
  const auto is_in_text = [&](const std::string& word) {
    return text.find(word) != std::string::npos;
  };
  const std::set<std::string>& words = accelforge_words();
  return std::none_of(words.begin(), words.end(), is_in_text) && !is_in_text("component_class") &&
         !is_in_text("actions");
}

/// LoopTree's: a tree like Sluice's, with its kind at the root.
bool is_looptree_mapping(const YamlNode& mapping) {
  return mapping.is_map() && mapping.find("type") != nullptr && mapping.find("nodes") != nullptr;
}

bool is_timeloop_mapping(const YamlNode& mapping) {
  return is_looptree_mapping(mapping) || (mapping.is_sequence() && !mapping.items.empty() &&
                                          mapping.items.front()->find("target") != nullptr);
}

}  // namespace

bool is_timeloop_arch(const YamlNode& arch) {
  return arch.find("storage") != nullptr || arch.find("arithmetic") != nullptr;
}

bool is_timeloop(const Sections& sections) {
  for (const auto& [name, section] : sections) {
    if (name == "architecture" || name == "problem" || name == "shape" || name == "mapspace")
      return true;
    if (name == "arch" && is_timeloop_arch(*section)) return true;
    // AccelForge's is a tree.
    if (name == "mapping" && (section->is_sequence() || is_looptree_mapping(*section))) return true;
    if (name.ends_with("_constraints")) return true;
  }
  return false;
}

namespace {

/// `mapper: {algorithm: random-pruned, victory-condition: 100}`: none of these is an option here.
bool is_timeloop_mapper(const YamlNode& mapper) {
  static const std::set<std::string> kKeys = {"algorithm",
                                              "diagnostics",
                                              "emit_whoop_nest",
                                              "environment",
                                              "filter_revisits",
                                              "live_status",
                                              "log_all",
                                              "log_all_mappings",
                                              "log_interval",
                                              "log_mappings_verbose",
                                              "log_mappings_yaml",
                                              "log_oave_mappings",
                                              "log_stats",
                                              "log_suboptimal",
                                              "max_permutations_per_if_visit",
                                              "max_temporal_loops_in_a_mapping",
                                              "num_threads",
                                              "optimization_metric",
                                              "optimization_metrics",
                                              "out_prefix",
                                              "penalize_consecutive_bypass_fails",
                                              "search_size",
                                              "sync_interval",
                                              "template",
                                              "timeout",
                                              "version",
                                              "victory_condition"};
  return std::any_of(mapper.entries.begin(), mapper.entries.end(), [](const YamlEntry& entry) {
    return kKeys.count(with_underscores(entry.key->text)) > 0;
  });
}

bool is_companion(const YamlEntry& section) {
  const std::string& name = section.key->text;
  if (name == "mapper") return is_timeloop_mapper(*section.value);
  return name == "sparse_optimizations" || is_for_accelergy_alone(name) ||
         std::find(kEnergySections.begin(), kEnergySections.end(), name) != kEnergySections.end();
}

/// Of a document that has nothing of Timeloop or AccelForge alone.
FileOwner owner_of_rest(const YamlNode& document) {
  bool has_companion = false, has_variables = false;
  for (const YamlEntry& section : document.entries) {
    const bool is_variables = section.key->text == "variables";
    if (!is_variables && !is_companion(section)) return FileOwner::kSluice;
    has_companion |= !is_variables || section.value->is_sequence();
    has_variables |= is_variables;
  }
  if (has_companion) return FileOwner::kCompanion;
  return has_variables ? FileOwner::kVariables : FileOwner::kSluice;
}

bool is_of_other_tool(const YamlNode& document) {
  Sections sections;
  for (const YamlEntry& entry : document.entries) sections[entry.key->text] = entry.value;
  const auto mapping = sections.find("mapping");
  if (mapping != sections.end() && is_timeloop_mapping(*mapping->second)) return true;
  sections.erase("mapping");
  const auto workload = sections.find("workload");
  if (workload != sections.end() && workload->second->find("shape") != nullptr) return true;
  if (is_timeloop(sections) || has_word_of_accelforge(document)) return true;
  const auto arch = sections.find("arch");
  if (arch != sections.end() &&
      any_node(*arch->second, [](const YamlNode& node) { return node.tag == kBranches; }))
    return true;
  const auto constraints = sections.find("constraints");
  if (constraints == sections.end()) return false;
  const bool is_list = constraints->second->is_sequence() && arch == sections.end() &&
                       workload == sections.end();  // with these it is one of ours, and wrong
  return is_list || constraints->second->find("targets") != nullptr;
}

}  // namespace

const std::vector<std::string> kEnergySections = {"ERT", "ERT_summary"};

bool is_for_accelergy_alone(const std::string& section) {
  static const std::set<std::string> kNames = {
      "ART",        "ART_summary",          "action_counts",
      "components", "compound_components",  "globals",
      "ignore",     "primitive_components", "dumped_by_timeloop_front_end"};
  return kNames.count(section) > 0 || section.ends_with("_ignore");
}

bool has_energies(const std::string& path, const std::string& text) {
  if (text.find("ERT") == std::string::npos) return false;
  const LoadOptions options;
  ReadContext context(options);
  const auto documents = parse_yaml(context, context.sources().add(path, text));
  return std::any_of(documents.begin(), documents.end(), [](const YamlPointer& document) {
    return std::any_of(
        kEnergySections.begin(), kEnergySections.end(),
        [&](const std::string& section) { return document->find(section) != nullptr; });
  });
}

FileOwner owner_of(const std::string& path, const std::string& text) {
  if (std::filesystem::path(path).extension() == ".cfg" || text.find("{%") != std::string::npos ||
      text.find("{{") != std::string::npos)
    return FileOwner::kOtherTool;
  if (is_mapping_alone(text)) return FileOwner::kSluice;
  const LoadOptions options;
  ReadContext context(options);
  FileOwner owner = FileOwner::kSluice;
  for (const YamlPointer& document : parse_yaml(context, context.sources().add(path, text))) {
    if (!document->is_map()) continue;
    if (is_of_other_tool(*document)) return FileOwner::kOtherTool;
    owner = owner_of_rest(*document);
  }
  return owner;
}

std::set<std::string> variables_in(const std::string& path, const std::string& text) {
  const LoadOptions options;
  ReadContext context(options);
  std::set<std::string> names;
  for (const YamlPointer& document : parse_yaml(context, context.sources().add(path, text)))
    if (const YamlNode* variables = document->find("variables")) {
      for (const YamlEntry& entry : variables->entries) names.insert(entry.key->text);
      for (const YamlPointer& item : variables->items)
        for (const YamlEntry& entry : item->entries) names.insert(entry.key->text);
    }
  return names;
}

bool has_arch(const std::string& path, const std::string& text) {
  const LoadOptions options;
  ReadContext context(options);
  const auto documents = parse_yaml(context, context.sources().add(path, text));
  return std::any_of(documents.begin(), documents.end(), [](const YamlPointer& document) {
    return document->is_map() && document->find("arch") != nullptr;
  });
}

}  // namespace sluice
