#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sluice/frontend/component_class.h"
#include "sluice/model/collective_cost.h"
#include "sluice/model/latency_policy.h"
#include "sluice/workload/backward.h"

namespace sluice {

/// Limits on hostile input (file size, nesting, alias and `for:` expansion).
struct LoadLimits {
  std::size_t max_file_bytes = 64u << 20;
  int max_depth = 64;
  std::size_t max_nodes = 2'000'000;  ///< after expansion of aliases, includes and repetitions
};

struct LoadOptions {
  /// `--set NAME=VALUE`: variables, whose values are expressions; with dots in NAME fields of the
  /// specs (`arch.DRAM.size`), whose values are YAML.
  std::map<std::string, std::string> variables;
  std::set<std::string> known_variables;  ///< that no file needs to declare
  std::vector<std::string> library_dirs;  ///< where names without a file are looked up
  /// Specs that stand in no file, by the names that load_specs is given for them.
  std::map<std::string, std::string> texts;
  ComponentClasses component_classes;  ///< beside those of the library
  CollectiveAlgorithms collective_algorithms = standard_collective_algorithms();  ///< of mappings
  LatencyPolicies latency_policies = standard_latency_policies();  ///< of `mapper: {latency: …}`
  /// The workload becomes a training step of it, before mappings and constraints are read.
  std::optional<BackwardOptions> training;
  LoadLimits limits;
};

}  // namespace sluice
