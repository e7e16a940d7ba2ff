#include "frontend/import/job/spec_format.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

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
                                               "!Parallel",
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
                                               "tensor_order_options",
                                               "throughput_scale",
                                               "total_area",
                                               "total_leak_power",
                                               "usage_scale"};
  return kWords;
}

/// Component classes that Sluice has not.
const std::set<std::string>& accelforge_classes() {
  static const std::set<std::string> kClasses = {"Dummy", "SmartBufferSRAM", "ADC", "MemoryCell"};
  return kClasses;
}

/// `- !Network {name: NoC, actions: [{name: hop, energy: 1}]}`, or `{name: read, latency: 1e-9}`
bool has_form_of_accelforge(const YamlNode& component) {
  const YamlNode* type = component.find("component_class");
  if (type != nullptr && accelforge_classes().count(type->text) > 0) return true;
  const YamlNode* actions = component.find("actions");
  if (actions == nullptr) return false;
  return component.tag == "!Network" ||
         std::any_of(actions->items.begin(), actions->items.end(),
                     [](const YamlPointer& action) { return action->find("latency") != nullptr; });
}

bool has_word_of_accelforge(const YamlNode& node) {
  const std::set<std::string>& words = accelforge_words();
  if (words.count(node.tag) > 0 || has_form_of_accelforge(node)) return true;
  for (const YamlEntry& entry : node.entries)
    if (words.count(entry.key->text) > 0 || has_word_of_accelforge(*entry.value)) return true;
  return std::any_of(node.items.begin(), node.items.end(),
                     [](const YamlPointer& item) { return has_word_of_accelforge(*item); });
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

bool is_of_other_tool(const std::string& path, const std::string& text) {
  if (std::filesystem::path(path).extension() == ".cfg" || text.find("{%") != std::string::npos ||
      text.find("{{") != std::string::npos)
    return true;
  if (is_mapping_alone(text)) return false;
  const LoadOptions options;
  ReadContext context(options);
  for (const YamlPointer& document : parse_yaml(context, context.sources().add(path, text))) {
    if (!document->is_map()) continue;
    Sections sections;
    for (const YamlEntry& entry : document->entries) sections[entry.key->text] = entry.value;
    const auto mapping = sections.find("mapping");
    if (mapping != sections.end() && is_timeloop_mapping(*mapping->second)) return true;
    sections.erase("mapping");
    const auto workload = sections.find("workload");
    if (workload != sections.end() && workload->second->find("shape") != nullptr) return true;
    if (is_timeloop(sections) || has_word_of_accelforge(*document)) return true;
    const auto constraints = sections.find("constraints");
    if (constraints != sections.end() &&
        (constraints->second->is_sequence() || constraints->second->find("targets") != nullptr))
      return true;
  }
  return false;
}

std::set<std::string> variables_in(const std::string& path, const std::string& text) {
  const LoadOptions options;
  ReadContext context(options);
  std::set<std::string> names;
  for (const YamlPointer& document : parse_yaml(context, context.sources().add(path, text)))
    if (const YamlNode* variables = document->find("variables"))
      for (const YamlEntry& entry : variables->entries) names.insert(entry.key->text);
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
