#include "frontend/load/spec_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "frontend/load/network_files.h"
#include "frontend/load/onnx_files.h"
#include "frontend/yaml/file_text.h"
#include "frontend/yaml/merge.h"
#include "frontend/yaml/values.h"
#include "frontend/yaml/yaml_parser.h"
#include "sluice/frontend/load.h"

namespace sluice {
namespace fs = std::filesystem;
namespace {

constexpr int kMostIncludes = 1000;
constexpr std::array<const char*, 8> kSections = {"workload",  "arch",    "constraints", "mapper",
                                                  "variables", "renames", "mapping",     "plan"};

bool is_per_file(const std::string& key) {
  return key == "mapping" || key == "mappings" || key == "plan";
}

YamlPointer without_mappings(const YamlNode& document) {
  auto rest = std::make_shared<YamlNode>(document);
  std::erase_if(rest->entries, [](const YamlEntry& e) { return is_per_file(e.key->text); });
  update_extent(*rest);
  return rest;
}

YamlPointer value_of(const YamlNode& document, const std::string& key) {
  for (const YamlEntry& entry : document.entries)
    if (entry.key->text == key) return entry.value;
  return nullptr;
}

}  // namespace

std::vector<YamlPointer> SpecFiles::documents(const std::string& name, std::string text) {
  return parse_yaml(context_, context_.sources().add(name, std::move(text)));
}

void SpecFiles::add_file(const std::string& path) {
  const auto& texts = context_.options().texts;
  if (const auto text = texts.find(path); text != texts.end()) return add_text(path, text->second);
  const auto found = find_spec_file(path, context_.options());
  if (!found) {
    context_.error_about(path, "there is no such file, and nothing in the library has this name",
                         did_you_mean(path, library_names(context_.options())),
                         DiagnosticCause::kUnreadable);
    return;
  }
  if (is_onnx_file(*found)) return add_onnx(*found);
  auto text = file_text(context_, *found);
  if (!text) return;
  if (!is_network_table(*found)) return add_documents(documents(*found, std::move(*text)));
  if (const auto source = workload_of_table(context_, *found, *text))
    add_documents(parse_yaml(context_, *source));
}

/// What is approximated is said, as a note.
void SpecFiles::add_onnx(const std::string& path) {
  const std::optional<OnnxImport> imported = read_onnx_file(context_, path);
  if (!imported) return context_.leave_variables_open();
  for (const Diagnostic& note : imported->notes) context_.add_warning(note);
  add_documents(documents(path, imported->workload));
}

void SpecFiles::add_text(const std::string& name, const std::string& text) {
  if (text.size() > context_.options().limits.max_file_bytes) {
    context_.error_about(name, fmt::format("the text has {} bytes, more than the limit of {}",
                                           text.size(), context_.options().limits.max_file_bytes));
    return;
  }
  add_documents(documents(name, text));
}

void SpecFiles::add_documents(const std::vector<YamlPointer>& documents) {
  std::vector<MergedSpecs::MappingSection> mappings;
  for (const YamlPointer& raw : documents) {
    if (raw->is_null()) continue;
    if (!raw->is_map()) {
      context_.error(*raw, fmt::format("a spec file is a map of sections, not {}", describe(*raw)),
                     fmt::format("sections are {}", fmt::join(kSections, ", ")));
      continue;
    }
    const YamlPointer document = with_includes(raw);
    const YamlPointer plan = value_of(*document, "plan");
    if (const YamlPointer mapping = value_of(*document, "mapping"))
      mappings.push_back({mapping, plan});
    if (const YamlPointer list = value_of(*document, "mappings")) {
      if (!list->is_sequence())
        context_.error(*list, fmt::format("mappings must be a list, not {}", describe(*list)));
      for (const YamlPointer& mapping : list->items) mappings.push_back({mapping, plan});
    }
    const YamlPointer sections = without_mappings(*document);
    for (const YamlEntry& section : sections->entries)
      merged_.named_by[section.key->text] = raw->position.file;
    for (const Hidden& hidden : hidden_by(merged_.root, sections))
      warn_of_hidden(fmt::format("'{}'", hidden.key), *hidden.earlier, *hidden.later);
    merged_.root = merge(merged_.root, sections);
  }
  if (mappings.empty()) return;
  if (!merged_.mappings.empty())
    warn_of_hidden("the mapping", *merged_.mappings.front().mapping, *mappings.front().mapping);
  merged_.mappings = std::move(mappings);
}

void SpecFiles::warn_of_hidden(const std::string& what, const YamlNode& earlier,
                               const YamlNode& later) {
  const SourceLocation by = context_.place_of(later).location;
  context_.warning(
      earlier, fmt::format("{} here does not count: {}:{} takes its place", what, by.file, by.line),
      "of several files the last one counts; lists are replaced whole");
}

/// The file's own keys win over those of the file that it includes.
YamlPointer SpecFiles::with_includes(const YamlPointer& document) {
  const YamlNode* include = document->find("include");
  if (include == nullptr) return document;
  YamlPointer base;
  const auto add = [&](const YamlNode& name) {
    const YamlPointer root = included(name);
    if (root && !root->is_map())
      context_.error(name, "an included file is a map of sections");
    else if (root)
      base = merge(base, root);
  };
  if (include->is_sequence())
    for (const YamlPointer& name : include->items) add(*name);
  else
    add(*include);
  auto rest = std::make_shared<YamlNode>(*document);
  std::erase_if(rest->entries, [](const YamlEntry& e) { return e.key->text == "include"; });
  update_extent(*rest);
  return merge(base, rest);
}

YamlPointer SpecFiles::included(const YamlNode& file_name) {
  const auto name = read_text(context_, &file_name, "an included file");
  if (!name) return nullptr;
  const fs::path beside =
      fs::path(context_.sources().name(file_name.position.file)).parent_path() / *name;
  std::error_code error;
  const auto found = fs::is_regular_file(beside, error) ? std::optional(beside.string())
                                                        : find_spec_file(*name, context_.options());
  if (!found) {
    context_.error(file_name, fmt::format("there is no file '{}' to include", *name));
    return nullptr;
  }
  if (std::find(open_includes_.begin(), open_includes_.end(), *found) != open_includes_.end() ||
      ++n_includes_ > kMostIncludes) {
    context_.error(file_name, fmt::format("'{}' includes itself", *name));
    return nullptr;
  }
  const auto text = file_text(context_, *found);
  if (!text) return nullptr;
  open_includes_.push_back(*found);
  const std::vector<YamlPointer> read = documents(*found, *text);
  YamlPointer root;
  for (const YamlPointer& document : read)
    root = merge(root, document->is_map() ? with_includes(document) : document);
  open_includes_.pop_back();
  return root;
}

}  // namespace sluice
