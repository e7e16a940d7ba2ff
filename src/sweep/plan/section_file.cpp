#include "section_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "frontend/yaml/file_text.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/schema_recorder.h"
#include "frontend/yaml/values.h"
#include "frontend/yaml/yaml_parser.h"
#include "sluice/frontend/load.h"
#include "sluice/report/spec_schema_json.h"
#include "sluice/support/error.h"

namespace sluice {
namespace fs = std::filesystem;

namespace {

std::vector<YamlPointer> documents_of(ReadContext& context, const std::string& file) {
  const auto& texts = context.options().texts;
  const auto given = texts.find(file);
  auto text = given == texts.end() ? file_text(context, file) : std::optional(given->second);
  if (!text) return {};
  return parse_yaml(context, context.sources().add(file, std::move(*text)));
}

std::optional<std::string> file_of(const std::string& name, const std::string& folder,
                                   const LoadOptions& options) {
  if (options.texts.contains(name)) return name;
  std::error_code error;
  const fs::path beside = fs::path(folder) / name;
  if (fs::is_regular_file(beside, error)) return beside.string();
  return find_spec_file(name, options);
}

}  // namespace

bool has_section(const std::string& file, const std::string& section, const LoadOptions& options) {
  std::error_code error;
  if (!options.texts.contains(file) && !fs::is_regular_file(file, error))
    return false;  // a pipe can be read only once
  ReadContext context(options);
  for (const YamlPointer& document : documents_of(context, file))
    if (document->is_map() && document->find(section) != nullptr) return true;
  return false;
}

YamlPointer read_section(ReadContext& context, const std::string& file,
                         const std::string& section) {
  const std::size_t before = context.n_errors();
  const std::vector<YamlPointer> documents = documents_of(context, file);
  if (context.n_errors() > before) return nullptr;
  if (documents.size() != 1 || !documents.front()->is_map()) {
    context.error_about(file, fmt::format("expected one document with the key '{}'", section));
    return nullptr;
  }
  MapReader map(context, *documents.front(), fmt::format("a file with '{}'", section));
  map.required(section);
  map.finish();
  for (const YamlEntry& entry : documents.front()->entries)
    if (entry.key->text == section) return entry.value;
  return nullptr;
}

std::string section_schema_text(const std::string& section,
                                const std::vector<std::string>& examples,
                                const std::function<void(ReadContext&, const std::string&)>& read) {
  constexpr const char* kFile = "every_key.yaml";
  SchemaRecorder recorder;
  for (const std::string& example : examples) {
    LoadOptions options;
    options.texts = {{kFile, example}, {"a_workload", ""}, {"an_architecture", ""}};
    ReadContext context(options);
    context.watch(recorder);
    read(context, kFile);
    recorder.forget_nodes();
    SLUICE_CHECK(!context.has_errors(), to_string(context.take_diagnostics().front()));
  }
  return object_schema_text(recorder.take(), fmt::format("a file with '{}'", section),
                            fmt::format("Sluice {} file", section));
}

std::vector<std::string> read_spec_names(ReadContext& context, const YamlNode* node,
                                         const std::string& folder) {
  if (node == nullptr) return {};
  std::vector<const YamlNode*> items;
  if (node->is_sequence())
    for (const YamlPointer& item : node->items) items.push_back(item.get());
  else
    items.push_back(node);
  std::vector<std::string> files;
  for (const YamlNode* item : items) {
    const auto name = read_text(context, item, "a file, or a name of the library");
    if (!name) continue;
    if (auto file = file_of(*name, folder, context.options()))
      files.push_back(std::move(*file));
    else
      context.error(*item,
                    fmt::format("'{}' is no file, and nothing in the library has this name", *name),
                    did_you_mean(*name, library_names(context.options())));
  }
  return files;
}

}  // namespace sluice
