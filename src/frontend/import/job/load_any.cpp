#include "sluice/frontend/load_any.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "frontend/import/job/import_job.h"
#include "frontend/import/job/spec_format.h"
#include "frontend/load/network_files.h"
#include "frontend/load/onnx_files.h"
#include "frontend/load/settings.h"
#include "frontend/yaml/file_text.h"

namespace sluice {
namespace {

/// Files by who they are written for, in the order given.
struct SortedFiles {
  std::vector<std::string> own, of_other_tools;
};

/// Of a file that is neither a table of a network nor an ONNX model.
std::optional<std::string> text_of_specs(ReadContext& context, const std::string& path) {
  if (is_network_table(path) || is_onnx_file(path)) return std::nullopt;
  return file_text(context, path);
}

/// A file of the call, and whom it is for.
struct OwnedFile {
  std::string name, path;
  FileOwner owner = FileOwner::kSluice;
  bool has_energies = false, has_arch = false;
};

OwnedFile owned(const std::string& file, const LoadOptions& options) {
  ReadContext context(options);
  const auto path = find_spec_file(file, options);
  const auto text = path ? text_of_specs(context, *path) : std::nullopt;
  if (!text) return {file, file};
  return {file, *path, owner_of(*path, *text), has_energies(*path, *text), has_arch(*path, *text)};
}

/// Of all files together: what goes with files of other tools is theirs where there are some, and
/// so are `variables` alone where Sluice has no file that could name them. With energies for files
/// of other tools an architecture is theirs, whose words may all be Sluice's, too.
SortedFiles sorted(const std::vector<std::string>& names, const LoadOptions& options,
                   bool has_energies) {
  std::vector<OwnedFile> files;
  for (const std::string& name : names) {
    files.push_back(owned(name, options));
    has_energies |= files.back().has_energies;
  }
  const auto has = [&](FileOwner owner) {
    return std::any_of(files.begin(), files.end(),
                       [&](const OwnedFile& file) { return file.owner == owner; });
  };
  for (OwnedFile& file : files)
    if (has_energies && file.has_arch) file.owner = FileOwner::kOtherTool;
  const bool have_others = has(FileOwner::kOtherTool);
  const bool have_own = has(FileOwner::kSluice);
  SortedFiles result;
  for (const OwnedFile& file : files) {
    const bool is_other = have_others && file.owner != FileOwner::kSluice &&
                          (file.owner != FileOwner::kVariables || !have_own);
    (is_other ? result.of_other_tools : result.own).push_back(is_other ? file.path : file.name);
  }
  return result;
}

/// That YAML files declare.
std::set<std::string> variables_of(const std::vector<std::string>& files,
                                   const LoadOptions& options) {
  std::set<std::string> result;
  for (const std::string& file : files) {
    ReadContext context(options);
    const auto path = find_spec_file(file, options);
    const auto text = path ? text_of_specs(context, *path) : std::nullopt;
    if (text) result.merge(variables_in(*path, *text));
  }
  return result;
}

/// Puts what is said about the texts at its place in the user's files. Hints that name lines of a
/// text are of no use there.
void relocate(const ImportedJob& job, Diagnostics& found) {
  for (Diagnostic& diagnostic : found) {
    const auto place = job.place_of(diagnostic.location);
    if (!place) continue;
    diagnostic.location = place->location;
    diagnostic.source_line = place->source_line;
    if (diagnostic.hint.find(" on line ") != std::string::npos) diagnostic.hint.clear();
  }
}

void relocate(const ImportedJob& job, Specs& specs) {
  relocate(job, specs.warnings);
  for (NullEnergy& energy : specs.null_energies)
    if (const auto place = job.place_of(energy.place.location)) {
      energy.place = *place;
      energy.is_imported = true;
    }
  for (MappingPlaces& places : specs.mapping_places)
    for (NodePlace& node : places)
      if (const auto place = job.place_of(node.location)) node = *place;
}

/// An architecture without a name of its own is called as the one file that has it, not as the text
/// that it became.
void name_after_file(const SortedFiles& by_tool, const LoadOptions& options, Specs& specs) {
  if (!specs.arch || specs.arch->name != "arch") return;
  std::vector<std::string> names;
  for (const std::string& file : by_tool.of_other_tools) {
    ReadContext context(options);
    const auto text = file_text(context, file);
    const bool has_section =
        text && (text->starts_with("architecture:") ||
                 text->find("\narchitecture:") != std::string::npos || has_arch(file, *text));
    std::filesystem::path path = std::filesystem::path(file).filename();
    while (path.has_extension()) path = path.stem();
    if (has_section) names.push_back(path.string());
  }
  if (names.size() == 1) specs.arch->name = names.front();
}

/// Templates may be given variables that they do not ask for, as with the other tools. That is
/// said.
void accept_variables(const ImportedJob& job, const SortedFiles& by_tool, LoadOptions& options,
                      Diagnostics& notes) {
  for (const std::string& name : job.variables) options.known_variables.insert(name);
  if (!job.has_templates) return;
  const std::set<std::string> own = variables_of(by_tool.own, options);
  for (const auto& [name, value] : options.variables) {
    if (is_field(name) || job.variables.count(name) + own.count(name) > 0) continue;
    options.known_variables.insert(name);
    notes.push_back({.severity = Severity::kWarning,
                     .location = {fmt::format("--set {}={}", name, value)},
                     .message = fmt::format("no file asks for the variable '{}'", name),
                     .source_line = {},
                     .hint = did_you_mean(name, {job.variables.begin(), job.variables.end()})});
  }
}

}  // namespace

Result<Specs> load_any_specs(const std::vector<std::string>& files, const LoadOptions& options,
                             const std::string& energy_file) {
  const SortedFiles by_tool = sorted(files, options, !energy_file.empty());
  if (by_tool.of_other_tools.empty() && energy_file.empty()) return load_specs(files, options);
  if (by_tool.of_other_tools.empty())
    return tl::unexpected(
        Diagnostics{{.severity = Severity::kError,
                     .location = {energy_file},
                     .message = "no file needs these energies: none is Timeloop's or AccelForge's",
                     .source_line = {},
                     .hint = "energies of Sluice's own files stand in them"}});
  ImportOptions import_options;
  import_options.variables = options.variables;
  import_options.limits = options.limits;
  import_options.energy_file = energy_file;
  const Result<ImportedJob> job = import_job(by_tool.of_other_tools, import_options);
  if (!job) return tl::unexpected(job.error());
  LoadOptions own_options = options;
  Diagnostics notes = job->specs.notes;
  accept_variables(*job, by_tool, own_options, notes);
  Result<Specs> specs = load_specs(texts_of(job->specs), by_tool.own, own_options);
  if (!specs) {
    Diagnostics found = specs.error();
    relocate(*job, found);
    return tl::unexpected(after_notes(notes, std::move(found)));
  }
  relocate(*job, *specs);
  name_after_file(by_tool, options, *specs);
  specs->warnings.insert(specs->warnings.begin(), notes.begin(), notes.end());
  return specs;
}

Diagnostics after_notes(const Diagnostics& notes, Diagnostics mistakes) {
  Diagnostics all;
  for (const Diagnostic& note : notes)
    if (note.location.line > 0 &&
        std::find(mistakes.begin(), mistakes.end(), note) == mistakes.end())
      all.push_back(note);
  all.insert(all.end(), mistakes.begin(), mistakes.end());
  return all;
}

}  // namespace sluice
