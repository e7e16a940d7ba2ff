#include "sluice/frontend/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontend/arch/arch_reader.h"
#include "frontend/load/load_files.h"
#include "frontend/load/settings.h"
#include "frontend/load/spec_files.h"
#include "frontend/load/variables.h"
#include "frontend/mapping/constraints_reader.h"
#include "frontend/mapping/mapping_reader.h"
#include "frontend/workload/workload_reader.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/repetition.h"
#include "frontend/yaml/schema_recorder.h"
#include "frontend/yaml/values.h"
#include "sluice/mapper/options_table.h"
#include "workload/backward_mistakes.h"

namespace sluice {
namespace {

/// From merged documents to values, section by section.
class Loader {
 public:
  Loader(ReadContext& context, SpecFiles& files)
      : context_(context),
        merged_(files.take()),
        repetition_(context, [&files](const YamlNode& name) { return files.included(name); }) {}

  Specs run() {
    if (!merged_.root) return std::move(specs_);
    merged_.root = with_settings(context_, merged_.root);
    MapReader map(context_, *merged_.root, "a spec file");
    read_variables(context_, map.optional("variables"));
    const YamlPointer renames = section(map, "renames");
    if (const YamlPointer workload = section(map, "workload")) {
      const WorkloadSource source =
          read_workload(context_, *workload, renames.get(), default_name("workload"));
      specs_.workload = build_workload(context_, source);
      add_backward_pass(*workload, source);
    }
    const YamlPointer arch = section(map, "arch");
    std::vector<ArchExpression> expressions;
    if (arch) specs_.arch = read_arch(context_, *arch, default_name("arch"), expressions);
    specs_.sources = std::move(context_.number_sources());
    specs_.null_energies = std::move(context_.null_energies());
    if (specs_.workload && specs_.arch)
      check_arch_expressions(context_, expressions, *specs_.workload, *specs_.arch);
    else if (specs_.arch && map.optional("workload") == nullptr)
      check_arch_expressions(context_, expressions, *specs_.arch);
    for (const char* known : {"mapping", "mappings", "plan", "include"}) map.optional(known);
    read_mappings(map);
    read_constraints_section(map);
    read_mapper_options(section(map, "mapper"));
    map.finish();
    return std::move(specs_);
  }

 private:
  YamlPointer section(MapReader& map, const std::string& key) {
    if (map.optional(key) == nullptr) return nullptr;
    for (const YamlEntry& entry : merged_.root->entries)
      if (entry.key->text == key) return unfolded(entry.value, key);
    return nullptr;
  }

  void add_backward_pass(const YamlNode& section, const WorkloadSource& source) {
    const std::optional<BackwardOptions>& training = context_.options().training;
    if (!training || !specs_.workload || context_.has_errors()) return;
    auto step = derive_backward_located(*specs_.workload, *training);
    if (step) {
      specs_.workload = std::move(*step);
      return;
    }
    for (const auto& [mistake, einsum] : step.error())
      if (einsum)
        context_.error(place_of(*einsum, section, source), "training step: " + mistake.message,
                       mistake.hint);
      else
        context_.error_about("training step", mistake.message, mistake.hint);
  }

  /// Of an Einsum; else of the workload's section.
  const YamlNode& place_of(EinsumId einsum, const YamlNode& section,
                           const WorkloadSource& source) const {
    const std::string& name = (*specs_.workload)[einsum].name;
    const auto found = std::find_if(source.einsums.begin(), source.einsums.end(),
                                    [&](const EinsumSource& own) { return own.name == name; });
    return found == source.einsums.end() ? section : *found->place;
  }

  /// Null after a mistake in a repetition: what it would have made is not known.
  YamlPointer unfolded(const YamlPointer& node, const std::string& key) {
    const std::size_t before = context_.n_errors();
    YamlPointer result = repetition_.unfold(node);
    if (SchemaRecorder* recorder = context_.recorder())
      recorder->key(*merged_.root, key, result.get(), false);
    return context_.n_errors() == before ? result : nullptr;
  }

  std::string default_name(const std::string& section) const {
    const std::size_t file = merged_.named_by.at(section);
    return std::filesystem::path(context_.sources().name(file)).stem().string();
  }

  void read_mappings(MapReader& map) {
    for (const MergedSpecs::MappingSection& section : merged_.mappings) {
      require_workload_and_arch(map, *section.mapping, "mappings need");
      if (!specs_.workload || !specs_.arch) continue;
      if (SchemaRecorder* recorder = context_.recorder())
        recorder->key(*merged_.root, "plan", section.plan.get(), false);
      const YamlPointer nodes = unfolded(section.mapping, "mapping");
      if (!nodes) continue;
      MappingPlaces places;
      auto mapping = read_mapping(context_, *nodes, section.plan.get(), *specs_.workload,
                                  *specs_.arch, &places);
      if (!mapping) continue;
      specs_.mappings.push_back(std::move(*mapping));
      specs_.mapping_places.push_back(std::move(places));
    }
  }

  void read_constraints_section(MapReader& map) {
    const YamlPointer node = section(map, "constraints");
    if (!node) return;
    require_workload_and_arch(map, *node, "constraints need");
    if (specs_.workload && specs_.arch)
      specs_.constraints = read_constraints(context_, *node, *specs_.workload, *specs_.arch);
  }

  void require_workload_and_arch(MapReader& map, const YamlNode& node, const char* who) {
    for (const char* needed : {"workload", "arch"})
      if (map.optional(needed) == nullptr)
        context_.error(node, fmt::format("{} the '{}' that they are for", who, needed));
  }

  void read_mapper_options(const YamlPointer& node) {
    if (!node || !MapReader(context_, *node, "mapper").is_map()) return;
    for (const YamlEntry& entry : node->entries) {
      std::string value = entry.value->text;
      for (const YamlPointer& item : entry.value->items)
        if (const auto text = read_text(context_, item.get(), "an option"))
          value += (value.empty() ? "" : ",") + *text;
      if (entry.value->is_map())
        context_.error(*entry.value, "an option of the mapper is a value or a list of values");
      check_mapper_option(entry, value);
      specs_.mapper_options[entry.key->text] = value;
    }
  }

  void check_mapper_option(const YamlEntry& entry, const std::string& value) {
    const MapperOption* option = find_mapper_option(entry.key->text);
    if (option == nullptr) {
      std::vector<std::string> names;
      for (const MapperOption& known : mapper_option_table()) names.push_back(known.name);
      return context_.error(
          *entry.key, fmt::format("'mapper' has no option '{}'", entry.key->text),
          did_you_mean(entry.key->text, names, fmt::format("options: {}", fmt::join(names, ", "))));
    }
    MapperOptions scratch;
    scratch.policies = context_.options().latency_policies;
    if (const auto set = option->set(scratch, value); !set)
      context_.error(*entry.value, fmt::format("'{}': {}", option->name, set.error()));
  }

  ReadContext& context_;
  MergedSpecs merged_;
  Repetition repetition_;
  Specs specs_;
};

}  // namespace

Result<Specs> load(ReadContext& context, SpecFiles& files) {
  Specs specs = Loader(context, files).run();
  if (context.has_errors()) return tl::unexpected(context.take_diagnostics());
  specs.warnings = context.warnings();
  return specs;
}

Result<Specs> load_specs(const std::vector<NamedText>& texts, const std::vector<std::string>& paths,
                         const LoadOptions& options) {
  ReadContext context(options);
  SpecFiles files(context);
  for (const NamedText& text : texts) files.add_text(text.name, text.text);
  for (const std::string& path : paths) files.add_file(path);
  return load(context, files);
}

Result<Specs> load_specs(const std::vector<std::string>& paths, const LoadOptions& options) {
  return load_specs({}, paths, options);
}

Result<Specs> load_specs_from_text(const std::vector<NamedText>& texts,
                                   const LoadOptions& options) {
  return load_specs(texts, {}, options);
}

}  // namespace sluice
