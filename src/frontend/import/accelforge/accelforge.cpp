#include "frontend/import/accelforge/accelforge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>

#include "frontend/import/accelforge/arch_forms.h"
#include "support/yaml_text.h"

namespace sluice {
namespace {

using Keys = std::set<std::string>;

const Keys& component_keys(const std::string& tag) {
  static const Keys kMemory = {"name",       "spatial",       "enabled", "total_latency",
                               "leak_power", "power_gated",   "area",    "actions",
                               "size",       "buffering",     "ports",   "merging_reads",
                               "tensors",    "bits_per_value"};
  static const Keys kToll = {"name", "spatial", "enabled", "total_latency",  "leak_power",
                             "area", "actions", "tensors", "bits_per_value", "direction"};
  static const Keys kContainer = {"name", "spatial", "enabled", "leak_power", "area", "array"};
  static const Keys kNetwork = {"name",           "topology",           "channel_width",
                                "link_bandwidth", "router_latency",     "queue_latency",
                                "hop_energy",     "bits_per_hop_energy"};
  static const Keys kCompute = {"name",       "spatial",     "enabled", "total_latency",
                                "leak_power", "power_gated", "area",    "actions"};
  if (tag == "!Memory") return kMemory;
  if (tag == "!Toll") return kToll;
  if (tag == "!Network") return kNetwork;
  if (tag == "!Compute") return kCompute;
  return kContainer;
}

/// Whether some other component has the key: there it is no misspelt one of this.
bool is_key_of_components(const std::string& key) {
  for (const char* tag : {"!Memory", "!Toll", "!Network", "!Compute", "!Container"})
    if (component_keys(tag).count(key) > 0) return true;
  return false;
}

/// Of components and actions: what with_own_forms takes.
const Keys& translated_keys() {
  static const Keys kKeys = {"energy_scale",     "actions_scale",        "throughput_scale",
                             "latency_scale",    "area_scale",           "leak_power_scale",
                             "latency",          "n_parallel_instances", "bits_per_action",
                             "values_per_action"};
  return kKeys;
}

class AccelForgeWriter {
 public:
  AccelForgeWriter(ImportContext& context, const timeloop::EnergyTable* energies)
      : context_(context), energies_(energies) {}

  /// What is written next belongs to a text with these places.
  AccelForgeWriter& into(PlacedText& places) {
    places_ = &places;
    return *this;
  }

  std::string arch(const YamlNode& section) {
    std::string text = mark(section) + "arch:\n" + default_name(section);
    for (const YamlEntry& entry : section.entries) {
      const std::string& key = entry.key->text;
      if (key == "name" || key == "clock")
        text += fmt::format("  {}{}: {}\n", mark(*entry.key), key, printed(*entry.value));
      else if (key != "nodes" && key != "extra_attributes_for_all_component_models")
        leave_out(*entry.key, "the architecture", section, {"name", "clock", "nodes", "variables"});
    }
    text += "  nodes:\n";
    if (const YamlNode* nodes = section.find("nodes")) text += components(*nodes, "  ");
    if (energies_ != nullptr) energies_->note_unused(context_);
    if (!with_models_.empty())
      context_.note(section,
                    fmt::format("the component models of {} are AccelForge's: what they say "
                                "of energy, time, area and leakage is not known here",
                                fmt::join(with_models_, ", ")));
    if (!without_energy_.empty())
      context_.note(fmt::format("no energies are given for {}: they are null, and so is every "
                                "energy that depends on them",
                                fmt::join(without_energy_, ", ")),
                    "--ert FILE gives energies per action");
    return text;
  }

  std::string workload(const YamlNode& section) {
    static const Keys kKeys = {"name",
                               "n_instances",
                               "rank_sizes",
                               "bits_per_value",
                               "persistent_tensors",
                               "iteration_space_shape",
                               "shape",
                               "initial",
                               "einsums",
                               "renames"};
    static const Keys kEinsum = {"einsum",          "name",
                                 "tensor_accesses", "is_copy_operation",
                                 "n_instances",     "iteration_space_shape",
                                 "bits_per_value",  "renames"};
    static const Keys kAccess = {"name", "projection", "output", "bits_per_value"};
    std::string text = mark(section) + "workload:\n" + default_name(section);
    for (const YamlEntry& entry : section.entries) {
      if (entry.key->text == "version") continue;
      if (kKeys.count(entry.key->text) == 0) {
        leave_out(*entry.key, "the workload", section, kKeys);
      } else if (entry.key->text == "shape") {  // as earlier versions called it
        text +=
            fmt::format("  {}iteration_space_shape: {}\n", mark(*entry.key), printed(*entry.value));
      } else if (entry.key->text == "rank_sizes") {
        text += fmt::format("  {}rank_sizes: {}\n", mark(*entry.key), rank_sizes(*entry.value));
      } else if (entry.key->text != "einsums") {
        text +=
            fmt::format("  {}{}: {}\n", mark(*entry.key), entry.key->text, printed(*entry.value));
      }
    }
    const YamlNode* einsums = section.find("einsums");
    text += "  einsums:\n";
    if (einsums == nullptr) return text;
    for (const YamlPointer& einsum : einsums->items) {
      YamlNode kept = *einsum;
      filter(kept, kEinsum, "an Einsum");
      for (YamlEntry& entry : kept.entries) {
        if (entry.key->text != "tensor_accesses") continue;
        auto accesses = std::make_shared<YamlNode>(*entry.value);
        for (YamlPointer& access : accesses->items) {
          auto of_tensor = std::make_shared<YamlNode>(*access);
          filter(*of_tensor, kAccess, "a tensor access");
          access = of_tensor;
        }
        entry.value = accesses;
      }
      text += fmt::format("  - {}\n", printed(kept));
    }
    return text;
  }

  std::string mapping(const YamlNode& section) {
    std::string text = mark(section) + "mapping:\n  nodes:\n";
    for (const YamlEntry& entry : section.entries)
      if (entry.key->text != "nodes") leave_out(*entry.key, "the mapping", section, {"nodes"});
    if (const YamlNode* nodes = section.find("nodes")) text += mapping_nodes(*nodes, "  ");
    return text;
  }

  std::string whole(const char* name, const YamlNode& section) {
    return fmt::format("{}{}: {}\n", mark(section), name, printed(section));
  }

  /// Variables that are numbers; lists and texts are for component models.
  std::string variables(const YamlNode& section, const ArchVariables& variables) {
    YamlNode kept = section;
    std::vector<std::string> left_out;
    std::erase_if(kept.entries, [&](const YamlEntry& entry) {
      const bool is_kept = variables.is_plain(entry.key->text);
      if (!is_kept) left_out.push_back(entry.key->text);
      return !is_kept;
    });
    if (!left_out.empty())
      context_.note(section, fmt::format("the variables {} are no numbers and are left out",
                                         fmt::join(left_out, ", ")));
    return kept.entries.empty() ? std::string() : whole("variables", kept);
  }

 private:
  std::string mark(const YamlNode& node) const { return places_->mark(node.position); }

  /// `Inputs()`, as earlier versions wrote sets, is `Inputs`.
  static std::string without_calls(const std::string& text) {
    static const std::regex kSet(
        R"(\b(All|Nothing|Inputs|Outputs|Intermediates|Shared|Persistent)\(\))");
    return text.find("()") == std::string::npos ? text : std::regex_replace(text, kSet, "$1");
  }

  /// A node as flow YAML, with marks.
  std::string printed(const YamlNode& node) const {
    if (node.is_null()) return mark(node) + "null";
    if (node.is_scalar()) return mark(node) + yaml_scalar(without_calls(node.text));
    std::vector<std::string> items;
    for (const YamlPointer& item : node.items) items.push_back(printed(*item));
    if (node.is_sequence()) return mark(node) + yaml_list(items);
    for (const YamlEntry& entry : node.entries)
      items.push_back(mark(*entry.key) + yaml_scalar(entry.key->text) + ": " +
                      printed(*entry.value));
    return fmt::format("{}{}{}{{{}}}", mark(node), node.tag, node.tag.empty() ? "" : " ",
                       fmt::join(items, ", "));
  }

  /// A size may name other ranks: `XT: ceil(2048 / X)`.
  std::string rank_sizes(const YamlNode& sizes) const {
    YamlNode written = sizes;
    for (YamlEntry& entry : written.entries) {
      const std::string text = with_sizes(sizes, entry.value->text, 0);
      if (!entry.value->is_scalar() || text == entry.value->text) continue;
      auto size = std::make_shared<YamlNode>(*entry.value);
      size->text = text;
      entry.value = size;
    }
    return printed(written);
  }

  static std::string with_sizes(const YamlNode& sizes, const std::string& text, int depth) {
    constexpr int kDeepest = 20;
    constexpr std::size_t kLongest = 4000;
    const auto parsed = Expression::parse(text);
    if (!parsed || parsed->names().empty() || depth > kDeepest) return text;
    return parsed
        ->substitute([&](const std::string& name) -> std::optional<Expression> {
          const YamlNode* other = sizes.find(name);
          if (other == nullptr || !other->is_scalar() || other->text == text) return std::nullopt;
          const auto size = Expression::parse(with_sizes(sizes, other->text, depth + 1));
          const bool fits = size && size->to_string().size() < kLongest;
          return fits ? std::optional(*size) : std::nullopt;
        })
        .to_string();
  }

  /// Specs without a name are called as their file.
  std::string default_name(const YamlNode& section) const {
    if (section.find("name") != nullptr) return {};
    const std::string file = context_.read.place_of(section).location.file;
    const std::string name = std::filesystem::path(file).stem().string();
    return fmt::format("  name: {}\n", yaml_scalar(name));
  }

  /// `known`: keys of the map that stands there, one of which may have been meant.
  void leave_out(const YamlNode& key, const std::string& what, const YamlNode& map,
                 const Keys& known, const Keys& translated = {}) {
    std::vector<std::string> absent;
    for (const Keys* keys : {&known, &translated})
      for (const std::string& name : *keys)
        if (map.find(name) == nullptr) absent.push_back(name);
    context_.note_or_warn(
        key, fmt::format("'{}' of {} has no counterpart and is left out", key.text, what),
        is_key_of_components(key.text) ? "" : did_you_mean(key.text, absent));
  }

  /// `translated`: further keys that AccelForge has, of which nothing is left by now.
  void filter(YamlNode& map, const Keys& known, const std::string& what,
              const Keys& translated = {}) {
    const YamlNode written = map;
    std::erase_if(map.entries, [&](const YamlEntry& entry) {
      const bool drop = known.count(entry.key->text) == 0;
      if (drop) leave_out(*entry.key, what, written, known, translated);
      return drop;
    });
  }

  std::string components(const YamlNode& nodes, const std::string& indent) {
    std::string text;
    for (const YamlPointer& node : nodes.items) {
      const YamlNode* below = node->find("nodes");
      if (below != nullptr && node->tag == "!Fork")
        text += fmt::format("{}- !Fork\n{}  nodes:\n{}", indent, indent,
                            components(*below, indent + "  "));
      else if (below != nullptr)
        text += components(*below, indent);
      else
        text += component(*node, indent);
    }
    return text;
  }

  std::string component(const YamlNode& node, const std::string& indent) {
    const YamlNode* name_node = node.find("name");
    const std::string name = name_node == nullptr ? "?" : name_node->text;
    const std::string tag = node.tag == "!Fanout" ? "!Container" : node.tag;
    std::string text = fmt::format("{}- {}{}\n", indent, mark(node), tag);
    static const Keys kSpatial = {"name", "fanout", "may_reuse", "reuse", "min_usage"};
    bool has_actions = false;
    for (const YamlEntry& entry : node.entries) {
      const std::string& key = entry.key->text;
      if (key == "component_class" || key == "extra_attributes_for_component_model") {
        with_models_.insert(name);
        continue;
      }
      if (component_keys(tag).count(key) == 0) {
        leave_out(*entry.key, name, node, component_keys(tag), translated_keys());
        continue;
      }
      if (key == "actions") {
        has_actions = true;
        text += actions(node, name, *entry.value, indent);
        continue;
      }
      YamlNode value = *entry.value;
      if (key == "spatial")
        for (YamlPointer& dimension : value.items) {
          auto kept = std::make_shared<YamlNode>(*dimension);
          filter(*kept, kSpatial, "a spatial dimension of " + name, {"usage_scale"});
          dimension = kept;
        }
      text += fmt::format("{}  {}{}: {}\n", indent, mark(*entry.key), key, printed(value));
    }
    const bool acts = tag == "!Memory" || tag == "!Compute" || tag == "!Toll";
    if (!has_actions && acts) text += actions(node, name, YamlNode{}, indent);
    return text;
  }

  /// Energies that are not known are null; so are bandwidths that AccelForge would ask its
  /// component models for.
  std::string actions(const YamlNode& component, const std::string& name, const YamlNode& written,
                      const std::string& indent) {
    static const Keys kKeys = {
        "name", "energy", "throughput", "bits_per_action", "values_per_action", "setup"};
    std::string text = indent + "  actions:\n";
    std::set<std::string> seen;
    const auto line = [&](YamlNode action, const std::string& action_name) {
      filter(action, kKeys, fmt::format("the action {} of {}", action_name, name),
             translated_keys());
      YamlFlowMap map;
      for (const YamlEntry& entry : action.entries)
        if (entry.key->text != "energy") map.add(entry.key->text, printed(*entry.value));
      if (action.find("name") == nullptr) map.add("name", action_name);
      map.add("energy", energy(action, name, action_name));
      if (action.find("throughput") == nullptr && component.find("total_latency") == nullptr) {
        map.add("throughput", "null");
        context_.note(component, fmt::format("the action {} of {} has no throughput: its time is "
                                             "unknown here (null)",
                                             action_name, name));
      }
      text += fmt::format("{}  - {}\n", indent, map.text());
      seen.insert(action_name);
    };
    for (const YamlPointer& action : written.items) {
      const YamlNode* action_name = action->find("name");
      line(*action, action_name == nullptr ? "?" : action_name->text);
    }
    const std::vector<std::string> needed =
        component.tag == "!Memory"
            ? std::vector<std::string>{"read", "write"}
            : std::vector<std::string>{component.tag == "!Toll" ? "read" : "compute"};
    if (component.tag == "!Compute" && !seen.empty()) return text;
    for (const std::string& action : needed)
      if (seen.count(action) == 0) {
        YamlNode empty;
        empty.kind = YamlNode::Kind::kMap;
        empty.position = component.position;
        line(empty, action);
      }
    return text;
  }

  std::string energy(const YamlNode& action, const std::string& name,
                     const std::string& action_name) {
    const YamlNode* written = action.find("energy");
    if (written != nullptr && !written->is_null()) return printed(*written);
    without_energy_.push_back(fmt::format("{}.{}", name, action_name));
    return mark(written == nullptr ? action : *written) + "null";
  }

  std::string mapping_nodes(const YamlNode& nodes, const std::string& indent) {
    static const Keys kKeys = {
        "tensors",   "component", "einsums", "persistent",    "resident",   "sliding",
        "shared_by", "over",      "along",   "rank_variable", "tile_shape", "initial_tile_shape",
        "name",      "einsum",    "nodes",   "shares",        "forward",    "type",
        "tensor",    "op",        "src",     "dst",           "root",       "algorithm"};
    std::string text;
    for (const YamlPointer& node : nodes.items) {
      YamlNode kept = *node;
      filter(kept, kKeys, fmt::format("a {}", node->tag));
      const YamlNode* below = kept.find("nodes");
      if (below == nullptr) {
        text += fmt::format("{}- {}\n", indent, printed(kept));
        continue;
      }
      text += fmt::format("{}- {}{}\n", indent, mark(*node), node->tag);
      for (const YamlEntry& entry : kept.entries)
        if (entry.key->text != "nodes")
          text += fmt::format("{}  {}{}: {}\n", indent, mark(*entry.key), entry.key->text,
                              printed(*entry.value));
      text += fmt::format("{}  nodes:\n{}", indent, mapping_nodes(*below, indent + "  "));
    }
    return text;
  }

  ImportContext& context_;
  const timeloop::EnergyTable* energies_;
  PlacedText* places_ = nullptr;
  std::vector<std::string> without_energy_;
  std::set<std::string> with_models_;  ///< components with a class of AccelForge's
};

/// Bits of a value, where all tensors have as many.
std::optional<double> bits_of(const YamlNode* workload) {
  std::set<std::string> found;
  const auto add = [&](const YamlNode* bits) {
    if (bits == nullptr) return;
    if (bits->is_scalar()) found.insert(bits->text);
    for (const YamlEntry& entry : bits->entries) found.insert(entry.value->text);
  };
  if (workload == nullptr) return std::nullopt;
  add(workload->find("bits_per_value"));
  if (const YamlNode* einsums = workload->find("einsums"))
    for (const YamlPointer& einsum : einsums->items) {
      add(einsum->find("bits_per_value"));
      if (const YamlNode* accesses = einsum->find("tensor_accesses"))
        for (const YamlPointer& access : accesses->items) add(access->find("bits_per_value"));
    }
  if (found.size() != 1) return std::nullopt;
  const auto parsed = Expression::parse(*found.begin());
  return parsed ? parsed->constant() : std::nullopt;
}

}  // namespace

void translate_accelforge(ImportContext& context,
                          const std::map<std::string, YamlPointer>& sections,
                          const timeloop::EnergyTable* energies, ImportedSpecs& result,
                          ImportedPlaces& places) {
  AccelForgeWriter writer(context, energies);
  const auto section = [&](const char* name) -> const YamlNode* {
    const auto found = sections.find(name);
    return found == sections.end() || found->second->is_null() ? nullptr : found->second.get();
  };
  result.format = "AccelForge";
  if (const YamlNode* workload = section("workload"))
    result.workload = writer.into(places.workload).workload(*workload);
  if (const YamlNode* renames = section("renames"))
    result.workload += writer.into(places.workload).whole("renames", *renames);
  const ArchVariables arch_variables(section("arch"), section("variables"));
  if (const YamlNode* variables = section("variables")) {
    const bool of_arch = result.workload.empty();
    writer.into(of_arch ? places.arch : places.workload);
    (of_arch ? result.arch : result.workload) += writer.variables(*variables, arch_variables);
  }
  if (section("arch") != nullptr)
    result.arch += writer.into(places.arch)
                       .arch(*with_own_forms(context, sections.at("arch"), arch_variables,
                                             bits_of(section("workload")), energies));
  if (const YamlNode* mapping = section("mapping"))
    result.mapping = writer.into(places.mapping).mapping(*mapping);
  result.workload = places.workload.finish(result.workload);
  result.arch = places.arch.finish(result.arch);
  result.mapping = places.mapping.finish(result.mapping);
}

}  // namespace sluice
