#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/sweep/sweep.h"

namespace sluice {

inline constexpr const char* kDesignSchema = "sluice.design/1";

/// A workload of a design search: how much of the objective is its.
struct DesignWorkload {
  std::string file;
  SweepSettings settings;  ///< of this workload's specs alone
  double weight = 1;
};

/// Which designs there are, what they may cost, and what is asked of them.
struct DesignRequest {
  std::vector<DesignWorkload> workloads;
  std::string architecture;        ///< file; empty: the workloads' files bring it
  std::vector<std::string> files;  ///< merged into the specs of every workload
  std::string energy_file;         ///< energies for files of other tools; empty: none
  SweepSettings settings;
  std::vector<VariedField> variables;
  std::optional<double> area_budget_m2;  ///< of the machine
  /// Of every workload, energy ÷ latency of its best mapping.
  std::optional<double> power_budget_w;
  /// Search options by name; one objective. A budget of time is one of the whole search.
  std::map<std::string, std::string> options;
};

/// One workload on a design.
struct DesignOutcome {
  std::string workload;
  double weight = 1, objective = 0;
  double energy_j = 0, latency_s = 0;
  std::optional<double> power_w;
  std::string mapping;  ///< canonical YAML
};

/// A design that keeps to the budgets.
struct DesignCandidate {
  SweepSettings settings;
  std::optional<double> area_m2;
  double objective = 0;  ///< sum over workloads, weight × objective of the mapping
  std::vector<DesignOutcome> outcomes;
  std::string arch;  ///< canonical YAML
};

struct DesignResult {
  std::string objective;  ///< `edp` …
  std::optional<DesignCandidate> best;
  double bound = 0;        ///< no design within the budgets has an objective below
  bool is_proven = false;  ///< `best` is best; or, without one, nothing keeps to the budgets
  std::size_t n_designs = 0;
  std::size_t n_over_area = 0;          ///< left out for their area
  std::size_t n_over_power = 0;         ///< left out for what their best mapping draws
  std::optional<double> least_area_m2;  ///< of any design, where there is a budget of area
  /// Where there is one of power: the least that any design draws whose best mapping is known and
  /// over it.
  std::optional<double> least_power_w;
  std::optional<double> area_budget_m2, power_budget_w;  ///< as asked for
  std::size_t n_looks = 0;     ///< designs, or relaxed ones that stand for several, searched for
  std::size_t n_searches = 0;  ///< of mappers: one look is one for each workload
  bool is_cancelled = false;
  double seconds = 0;
};

struct DesignProgress {
  std::string phase;
  double fraction = 0;  ///< of designs that are decided
  std::optional<double> best, bound;
};

struct DesignControl {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const DesignProgress&)> progress;  ///< may be empty
  Leftovers* leftovers = nullptr;                       ///< as in MapperControl
};

/// Reads a file with a `design:` section (docs/sweeps.md).
Result<DesignRequest> read_design(const std::string& file, const LoadOptions& options);
/// JSON Schema (2020-12) of such files, as their reader knows them.
std::string design_schema_text();

/// The best design of the grid of variables: the one with the least objective, each workload mapped
/// as well as the mapper can. Groups of designs are bounded by a relaxed one, that has the best of
/// every number of theirs (docs/sweeps.md); a group that cannot have the best is not looked into.
/// What it proves holds in the space of the mapper, as the guarantees of its searches do.
Result<DesignResult> design_search(const DesignRequest& request, const LoadOptions& options,
                                   const DesignControl& control);

/// JSON, schema `sluice.design/1`.
std::string document_text(const DesignResult& result);

}  // namespace sluice
