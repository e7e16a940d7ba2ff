#include "spec_arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "failure.h"
#include "library_names.h"
#include "sluice/frontend/load_any.h"
#include "sluice/kapla/directives.h"
#include "sluice/kapla/loop_tree.h"
#include "sluice/support/library_dir.h"
#include "text_of_file.h"

namespace sluice::cli {
namespace fs = std::filesystem;
namespace {

bool has_ending_of_specs(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json" ||
         extension == ".csv" || extension == ".cfg" || extension == ".jinja" ||
         extension == ".jinja2" || extension == ".onnx";
}

bool looks_like_file(const std::string& name) {
  return name.find('/') != std::string::npos || has_ending_of_specs(name);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const LibraryEntry& entry : library_entries(folder)) names.push_back(entry.name);
  return names;
}

/// A hint at the library's spec of that name, or at a spec file with a name like it beside the one
/// that is not there. Endings are no likeness.
std::string nearest_file(const fs::path& missing) {
  std::error_code error;
  const fs::path folder = missing.has_parent_path() ? missing.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error))
    return fmt::format("there is no folder {}", folder.string());
  const std::string stem = missing.stem().string();
  if (find_in_library(stem, {kWorkloadFolder, kNetworkFolder, kArchitectureFolder, kShapeFolder}))
    return fmt::format("the library has `{}`, without an ending", stem);
  std::map<std::string, std::string> files;  // by stem
  std::vector<std::string> stems;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!has_ending_of_specs(entry.path())) continue;
    stems.push_back(entry.path().stem().string());
    files[stems.back()] = entry.path().filename().string();
  }
  std::sort(stems.begin(), stems.end());
  const std::string nearest = nearest_name(stem, stems);
  return nearest.empty()
             ? ""
             : fmt::format("did you mean `{}`?", (missing.parent_path() / files[nearest]).string());
}

/// The first name is a workload, the second an architecture; later ones may be either.
Diagnostic unknown_name(const std::string& name, std::size_t position) {
  std::vector<std::string> known;
  if (position != 1) {
    known = names_in(kWorkloadFolder);
    const std::vector<std::string> networks = names_in(kNetworkFolder);
    known.insert(known.end(), networks.begin(), networks.end());
  }
  if (position != 0) {
    const std::vector<std::string> architectures = names_in(kArchitectureFolder);
    known.insert(known.end(), architectures.begin(), architectures.end());
  }
  if (position > 1) {
    const std::vector<std::string> shapes = names_in(kShapeFolder);
    known.insert(known.end(), shapes.begin(), shapes.end());
  }
  const char* kind = position == 0 ? "workload" : position == 1 ? "architecture" : "spec";
  const std::string nearest = nearest_name(name, known);
  return error_without_place(fmt::format("`{}` is neither a file nor a{} {} of the library", name,
                                         position == 1 ? "n" : "", kind),
                             (nearest.empty() ? "" : fmt::format("did you mean `{}`? ", nearest)) +
                                 fmt::format("there are: {}", fmt::join(known, ", ")));
}

/// Files that say nothing; where something is missing, that is why.
Diagnostics empty_files(const SpecArguments& arguments) {
  Diagnostics found;
  for (const std::string& file : resolve_files(arguments.names, arguments.texts)) {
    std::error_code error;
    if (fs::is_regular_file(file, error) && fs::file_size(file, error) == 0)
      found.push_back(error_about_file(file, "the file is empty"));
  }
  return found;
}

void name_after_files(Specs& specs, const std::vector<std::string>& files) {
  if (specs.workload && specs.workload->name.empty())
    specs.workload->name = fs::path(files.front()).stem().string();
  if (specs.arch && specs.arch->name.empty())
    specs.arch->name = fs::path(files[files.size() > 1 ? 1 : 0]).stem().string();
}

}  // namespace

std::map<std::string, std::string> variables_of(const std::vector<std::string>& assignments) {
  std::map<std::string, std::string> variables;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == assignment.size())
      throw Failure(ExitCode::kBadInput, fmt::format("`--set {}` assigns nothing", assignment),
                    "write --set NAME=VALUE");
    const auto [known, is_new] =
        variables.try_emplace(assignment.substr(0, equals), assignment.substr(equals + 1));
    if (!is_new)
      throw Failure(ExitCode::kBadInput,
                    fmt::format("`--set {}`: `{}` is set already, by `--set {}={}`", assignment,
                                known->first, known->first, known->second),
                    "leave out one of them");
  }
  return variables;
}

std::vector<std::string> resolve_files(const std::vector<std::string>& names,
                                       const std::map<std::string, std::string>& texts) {
  std::vector<std::string> files;
  Diagnostics unknown;
  for (std::size_t position = 0; position < names.size(); ++position) {
    const std::string& name = names[position];
    std::error_code error;
    if (texts.contains(name)) {
      files.push_back(name);
    } else if (fs::exists(name, error) && !fs::is_directory(name, error)) {
      if (access(name.c_str(), R_OK) != 0)
        throw Failure(ExitCode::kFileTrouble,
                      fmt::format("cannot read {}: {}", name, std::strerror(errno)));
      files.push_back(name);
    } else if (const auto path = find_in_library(
                   name, {kWorkloadFolder, kNetworkFolder, kArchitectureFolder, kShapeFolder})) {
      files.push_back(path->string());
    } else if (looks_like_file(name) || fs::is_directory(name, error)) {
      const bool is_folder = fs::is_directory(name, error);
      throw Failure(
          ExitCode::kFileTrouble,
          fmt::format("cannot read {}: {}", name, is_folder ? "it is a folder" : "no such file"),
          is_folder ? "name the files in it" : nearest_file(name));
    } else {
      unknown.push_back(unknown_name(name, position));
    }
  }
  if (!unknown.empty()) throw Failure(ExitCode::kBadInput, unknown);
  return files;
}

namespace {

/// The mapping from `--directives`, in place of those of the files.
void take_directives(const SpecArguments& arguments, Specs& specs) {
  const BoundProblem problem = bind_or_fail(specs, arguments);
  const std::string text = text_of_file(arguments.directives);
  const auto layers = kapla::parse_directives(text, arguments.directives);
  if (!layers) throw Failure(with_lines(layers.error(), text));
  std::vector<kapla::DirectivePlace> places;
  auto mapping = kapla::to_loop_tree(*layers, problem, arguments.directives, &places);
  if (!mapping) throw Failure(with_lines(mapping.error(), text));
  specs.mappings = {std::move(*mapping)};
  Diagnostics here(places.size());
  for (std::size_t n = 0; n < places.size(); ++n)
    here[n].location = {arguments.directives, places[n].line, places[n].column};
  MappingPlaces of_nodes;
  for (Diagnostic& place : with_lines(std::move(here), text))
    of_nodes.push_back({std::move(place.location), std::move(place.source_line)});
  specs.mapping_places = {std::move(of_nodes)};
}

}  // namespace

LoadOptions load_options(const SpecArguments& arguments, LoadOptions options) {
  options.texts = arguments.texts;
  for (const char* folder :
       {kWorkloadFolder, kNetworkFolder, kArchitectureFolder, kShapeFolder, kComponentFolder})
    options.library_dirs.push_back((library_dir() / folder).string());
  if (arguments.is_training) options.training = arguments.training;
  return options;
}

Specs load(const SpecArguments& arguments, LoadOptions options) {
  const std::vector<std::string> files = resolve_files(arguments.names, arguments.texts);
  options = load_options(arguments, std::move(options));
  options.variables = variables_of(arguments.assignments);
  Result<Specs> specs = load_any_specs(files, options, arguments.energy_file);
  if (!specs) throw Failure(specs.error());
  if (arguments.ends_with_constraints && !specs->constraints)
    throw Failure(
        Diagnostics{missing_section(arguments, "no constraints: the file has no `constraints:`",
                                    "--constraints names a file with this section")});
  name_after_files(*specs, files);
  if (!arguments.directives.empty()) take_directives(arguments, *specs);
  return std::move(*specs);
}

Diagnostic missing_section(const SpecArguments& arguments, const std::string& message,
                           const std::string& hint) {
  const std::vector<std::string> files = resolve_files(arguments.names, arguments.texts);
  return error_about_file(files.back(), message, hint);
}

BoundProblem bind_or_fail(const Specs& specs, const SpecArguments& arguments) {
  Diagnostics missing;
  if (!specs.workload || !specs.arch) missing = empty_files(arguments);
  if (!missing.empty()) throw Failure(ExitCode::kBadInput, missing);
  if (!specs.workload)
    missing.push_back(missing_section(arguments, "no workload: none of the files has `workload:`",
                                      "name one first: sluice map WORKLOAD ARCH"));
  if (!specs.arch)
    missing.push_back(missing_section(arguments, "no architecture: none of the files has `arch:`",
                                      "name one after the workload: sluice map WORKLOAD ARCH"));
  if (!missing.empty()) throw Failure(ExitCode::kBadInput, missing);
  Result<BoundProblem> problem = bind(*specs.workload, *specs.arch);
  if (!problem) throw Failure(problem.error());
  return std::move(*problem);
}

}  // namespace sluice::cli
