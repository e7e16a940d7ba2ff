#pragma once

#include <map>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/model/binding.h"

namespace sluice::cli {

/// The files and variables named on a command line.
struct SpecArguments {
  std::vector<std::string> names;        ///< files or names of the library, in the order given
  std::vector<std::string> assignments;  ///< `--set NAME=VALUE`
  std::string energy_file = {};          ///< `--ert`: energies for files of other tools
  bool is_training = false;              ///< `--training`: a training step of the workload
  BackwardOptions training;
  std::string directives = {};         ///< `--directives`: a file with the mapping as directives
  bool ends_with_constraints = false;  ///< `--constraints`: the last names are files with these
  /// Specs that stand in no file, by the names that `names` has for them.
  std::map<std::string, std::string> texts = {};
};

/// `--set` as pairs. Throws Failure where one assigns nothing, or two the same name.
std::map<std::string, std::string> variables_of(const std::vector<std::string>& assignments);

/// The files that the names stand for. Throws Failure: kBadInput for a name that is neither a file
/// nor in the library (with the nearest name and all names), kFileTrouble for a file that cannot be
/// read. Names of `texts` stand for themselves.
std::vector<std::string> resolve_files(const std::vector<std::string>& names,
                                       const std::map<std::string, std::string>& texts = {});

/// Where names are looked up, and what becomes of the workload; no variables.
LoadOptions load_options(const SpecArguments& arguments, LoadOptions options = {});

/// Reads and merges all files; directives are the mapping. A workload or architecture without a
/// name gets that of its file. `options`: whatever comes from outside, such as component classes.
/// Throws Failure with every diagnostic.
Specs load(const SpecArguments& arguments, LoadOptions options = {});

/// The workload on the architecture. Throws Failure where one is missing or they do not fit.
BoundProblem bind_or_fail(const Specs& specs, const SpecArguments& arguments);

/// What is missing in all files that were named; the last one is where it could stand.
Diagnostic missing_section(const SpecArguments& arguments, const std::string& message,
                           const std::string& hint);

}  // namespace sluice::cli
