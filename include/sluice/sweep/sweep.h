#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/mapper/mapper.h"
#include "sluice/model/binding.h"
#include "sluice/sweep/varied_field.h"

namespace sluice {

/// Names (variables, or fields by their path) and the values they take, as `--set` takes them.
using SweepSettings = std::vector<std::pair<std::string, std::string>>;

/// Points that are drawn.
struct SweepDraw {
  /// Latin hypercube: each range is cut into as many parts as there are samples, and every part has
  /// one of them.
  bool is_latin_hypercube = false;
  std::size_t n_samples = 0;
  std::uint64_t seed = 0;
  SweepSettings
      ranges;  ///< name, and `FIRST..LAST`, `FIRST..LAST:log` or values as a grid has them
};

/// What to search: every point of the grid, then those of the list, then those that are drawn; each
/// for every workload and architecture.
struct SweepRequest {
  std::vector<std::string> workloads, architectures;  ///< files; the first may bring everything
  std::vector<std::string> files;                     ///< merged into those of every point
  std::string energy_file;        ///< energies for files of other tools; empty: none
  SweepSettings settings;         ///< of every point
  std::vector<VariedField> grid;  ///< the last one varies fastest
  std::vector<SweepSettings> list;
  std::vector<SweepDraw> draws;
  std::map<std::string, std::string> options;  ///< search options by name
};

/// One search of a sweep.
struct SweepPoint {
  std::vector<std::string> files;
  SweepSettings settings;            ///< that only this point has
  std::string workload, arch;        ///< names
  std::string key;                   ///< of the inputs, see sweep_key
  std::optional<std::size_t> donor;  ///< an earlier point whose mapping this search starts from
};

struct SweepPlan {
  SweepRequest request;
  std::vector<SweepPoint> points;
  std::string key;  ///< of all points
  Diagnostics warnings;
};

/// What a point's specs say.
struct SweepInputs {
  BoundProblem problem;
  MapperOptions options;
  bool is_mapper_chosen = false;
};

/// Reads a file with a `sweep:` section (docs/sweeps.md). Its specs are files beside it, or names
/// of the library. Everything wrong with it is returned together.
Result<SweepRequest> read_sweep(const std::string& file, const LoadOptions& options);
/// Whether a file, or one of the texts that the options have, has such a section.
bool is_sweep_file(const std::string& file, const LoadOptions& options = {});
/// JSON Schema (2020-12) of such files, as their reader knows them.
std::string sweep_schema_text();

/// The points of a sweep, in order. The specs of all of them are read, so that a mistake in the
/// last is told before the first search; at most 10,000 points.
Result<SweepPlan> plan_sweep(const SweepRequest& request, const LoadOptions& options);

Result<SweepInputs> sweep_inputs(const SweepRequest& request, const SweepPoint& point,
                                 const LoadOptions& options);

/// What stands for the inputs of a search: 128 bits of a hash, as text, of the version of Sluice,
/// workload, architecture and constraints as canonical YAML, and every option but threads and
/// memory.
std::string sweep_key(const SweepInputs& inputs);

/// What one component has of a mapping's costs.
struct SweepComponent {
  std::string name;
  double energy_j = 0;
  std::optional<double> of_peak, busy;             ///< see Utilisation
  std::optional<double> peak_bits, capacity_bits;  ///< memories; no capacity: no limit
  friend bool operator==(const SweepComponent&, const SweepComponent&) = default;
};

struct SweepMapping {
  double energy_j = 0, latency_s = 0, edp_js = 0, leak_energy_j = 0;
  std::optional<double> operations_per_s, operations_per_j, power_w;
  std::string mapping;  ///< canonical YAML
  std::vector<SweepComponent> components;
  friend bool operator==(const SweepMapping&, const SweepMapping&) = default;
};

/// What a search found. All but `timing` depends on the plan alone, not on jobs, threads or when it
/// was interrupted; and on machine and clock where a budget of time or memory ends searches.
struct SweepRun {
  std::string key, workload, arch;
  std::string status;  ///< `ok`, `no_mapping`
  std::string reason;  ///< why there is no mapping
  std::string mapper, guarantee;
  std::optional<double> bound;  ///< that no mapping's first objective is below
  std::optional<double> area_m2;
  double operations = 0;
  std::string ended_by;                ///< `budget`, `memory`, `templates`; empty: its end
  std::vector<SweepMapping> mappings;  ///< best first
  struct Timing {
    double seconds = 0, mappings_evaluated = 0;
  } timing;
};

/// Searches one point. `donor`: the mapping of a similar problem as text, or empty: where it is a
/// mapping of this search's space, no worse one is found, and the search is shorter. Nothing where
/// `cancel` ended it. `leftovers`: as in MapperControl.
std::optional<SweepRun> search_point(const SweepInputs& inputs, const std::string& donor,
                                     const std::atomic<bool>* cancel,
                                     Leftovers* leftovers = nullptr);

class SweepDatabase;

struct SweepProgress {
  std::size_t n_points = 0, n_done = 0, n_known = 0;  ///< known: the database had them before
  std::vector<std::size_t> running;                   ///< points
  std::optional<double> seconds_left;                 ///< at the pace so far
};

struct SweepControl {
  std::size_t jobs = 1;  ///< searches at a time; each has its part of the processors
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const SweepProgress&)> progress;  ///< one call at a time; may be empty
  Leftovers* leftovers = nullptr;                      ///< as in MapperControl
};

struct SweepOutcome {
  std::size_t n_done = 0, n_known = 0;
  bool is_cancelled = false;
};

/// Searches every point that the database does not have, and saves each as soon as it is done, one
/// transaction a run. Mistakes: the database cannot be written any more (a full disk); what was
/// saved by then stays.
Result<SweepOutcome> run_sweep(const SweepPlan& plan, SweepDatabase& database,
                               const LoadOptions& options, const SweepControl& control);

}  // namespace sluice
