#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/io/exit_code.h"
#include "cli/io/progress.h"
#include "cli/io/spec_arguments.h"
#include "report/document/bounds_document.h"
#include "report/text/console.h"
#include "sluice/model/latency_policy.h"

namespace sluice {
struct DesignControl;
struct DesignResult;
struct ImportedSpecs;
struct ImportOptions;
}  // namespace sluice

namespace sluice::cli {

/// Where results go.
struct OutputArguments {
  std::string folder;       ///< `-o DIR`; empty: none
  bool json = false;        ///< the result document on standard output
  bool sources = false;     ///< the summary says where numbers come from
  std::string report = {};  ///< `--report FILE`: a page that shows the result; empty: none
};

struct MapArguments {
  SpecArguments specs;
  OutputArguments output;
  std::map<std::string, std::string> options;  ///< search options given as flags, by name
  ProgressStyle progress = ProgressStyle::kNone;
  bool why = false;  ///< explain what was found (docs/why.md)
};
/// Searches for the best mapping. Exit: found, no legal mapping, interrupted.
ExitCode run_map(const MapArguments& arguments, const Console& console);

struct BoundsArguments {
  SpecArguments specs;
  OutputArguments output;
  std::map<std::string, std::string> options;  ///< search options given as flags, by name
  std::string vary;                            ///< `NAME=FIRST..LAST:xFACTOR`; empty: nothing
  ProgressStyle progress = ProgressStyle::kNone;
};
/// The least traffic, energy and latency of any mapping, for each value of a field. Exit: found, no
/// legal mapping at any value, interrupted.
ExitCode run_bounds(const BoundsArguments& arguments, const Console& console);
/// The search of run_bounds, without writing anything; once `cancel` is set, it ends with what was
/// found by then.
BoundsReport find_bounds(const BoundsArguments& arguments, const Console& console,
                         const std::atomic<bool>& cancel);

struct EvaluateArguments {
  SpecArguments specs;  ///< one of the files at least has a mapping
  OutputArguments output;
  LatencyPolicy latency = LatencyPolicy::kOverlap;
  std::string batch;  ///< a stream of mappings, one a line; `-`: standard input
};
/// Prices mappings. Exit: all legal, or one of them illegal.
ExitCode run_evaluate(const EvaluateArguments& arguments, const Console& console);
/// Prices a stream of mappings; one line of JSON each on standard output.
ExitCode run_evaluate_batch(const EvaluateArguments& arguments, const Console& console);

struct EvaluateSchemesArguments {
  std::string runs;             ///< table of runs (CSV)
  std::string schemes;          ///< one scheme a line (JSON)
  std::string compatible_with;  ///< `kapla`: count as its artifact does; `none`
};
/// Prices mappings of whole networks on grids of nodes; each line again, with its costs, on
/// standard output.
ExitCode run_evaluate_schemes(const EvaluateSchemesArguments& arguments, const Console& console);

struct ExecuteArguments {
  SpecArguments specs;  ///< one of the files has a mapping; none: only numbers for `outputs`
  bool json = false;
  std::string trace;  ///< file for the steps; empty: none
  std::uint64_t seed = 0;
  std::string inputs;   ///< file with numbers of inputs; empty: the seed's
  std::string outputs;  ///< file for the numbers of all tensors; empty: none
  ProgressStyle progress = ProgressStyle::kNone;
};
/// Runs mappings literally on small shapes and compares with the model. Exit: all run as they
/// should and the model agrees, or not. Without a mapping, evaluates the workload plainly.
ExitCode run_execute(const ExecuteArguments& arguments, const Console& console);

struct SweepArguments {
  SpecArguments specs;  ///< workload and architecture, or one file with a `sweep:` section
  OutputArguments output;
  std::vector<std::string> vary;               ///< `NAME=VALUES` each
  std::map<std::string, std::string> options;  ///< search options given as flags, by name
  std::size_t jobs = 1;
  std::string csv;                 ///< file; empty: none
  std::vector<std::string> plots;  ///< `X,Y` or `X,Y,FILE` each
  ProgressStyle progress = ProgressStyle::kNone;
};
/// Searches every point of a sweep that the database (`output.folder`, here a file) does not have.
/// Exit: found, no legal mapping at any point, interrupted.
ExitCode run_sweep_command(const SweepArguments& arguments, const Console& console);

struct DesignArguments {
  std::string file;     ///< with a `design:` section, or one of the texts of `specs`
  SpecArguments specs;  ///< of all workloads; without names
  OutputArguments output;
  std::map<std::string, std::string> options;  ///< search options given as flags, by name
  ProgressStyle progress = ProgressStyle::kNone;
};
/// The search itself. Throws Failure.
DesignResult find_design(const DesignArguments& arguments, const DesignControl& control);
/// Finds the best design of a grid. Exit: found, none within the budgets, interrupted.
ExitCode run_design(const DesignArguments& arguments, const Console& console);

struct CompareArguments {
  std::vector<std::string> results;  ///< result documents, or folders that `-o` wrote
  bool json = false;
  /// Documents that stand in no file, by the names that `results` has for them.
  std::map<std::string, std::string> texts = {};
};
/// Says in what results differ.
ExitCode run_compare(const CompareArguments& arguments, const Console& console);

struct ImportArguments {
  std::vector<std::string> files;        ///< of one job of another tool
  std::vector<std::string> assignments;  ///< `--set NAME=VALUE`: variables of templates
  std::string folder;                    ///< where the specs are written
  std::string energy_file;               ///< energies per action; empty: none
  bool json = false;                     ///< prints the document sluice.import/1
};
/// import_specs, where a `--set` that the files do not ask for is a mistake, as it is for `map`.
/// Throws Failure.
ImportedSpecs import_or_fail(const std::vector<std::string>& files, const ImportOptions& options);
/// Writes another tool's specs as Sluice specs, and notes what has no counterpart.
ExitCode run_import(const ImportArguments& arguments, const Console& console);

struct CheckArguments {
  SpecArguments specs;
  bool json = false;
};
/// Reads specs and says everything that is wrong with them.
ExitCode run_check(const CheckArguments& arguments, const Console& console);

struct ShowArguments {
  SpecArguments specs;
  bool yaml = false;           ///< canonical YAML instead of drawings
  bool as_directives = false;  ///< mappings as directives
};
/// Prints specs.
ExitCode run_show(const ShowArguments& arguments, const Console& console);

/// Prints directives, those of a text or of the schemes of a file, as canonical text.
ExitCode run_show_directives(const std::string& file, const Console& console);

struct ReportArguments {
  /// Result documents, folders that have one, databases of sweeps.
  std::vector<std::string> results;
  std::string file;  ///< the page
  /// Documents that stand in no file, by the names that `results` has for them.
  std::map<std::string, std::string> texts = {};
};
/// Writes a page that shows results (docs/report.md).
ExitCode run_report(const ReportArguments& arguments, const Console& console);

/// Prints the names of one kind: architectures, workloads, shapes, components, mappers, objectives.
ExitCode run_list(const std::string& kind, const Console& console);
const std::vector<std::string>& list_kinds();

}  // namespace sluice::cli
