#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/mapping/mapping.h"
#include "sluice/workload/workload.h"

namespace sluice::testing {

/// One folder of the reference data.
struct GoldenCase {
  std::string name;  ///< `accelforge/fixed_tpu_unicast`
  std::filesystem::path folder;
  friend void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.name; }
};

/// The case folders of the given groups that hold every one of `files`, in order of their names.
/// Empty where there is no reference data.
std::vector<GoldenCase> golden_cases(const std::vector<std::string>& groups,
                                     const std::vector<std::string>& files);

/// A name that gtest accepts, for parametrised tests.
std::string test_name(const GoldenCase& golden);

/// `expected.json` of a case.
nlohmann::json expected_of(const GoldenCase& golden);

/// The YAML files of a case. Throws std::runtime_error with all diagnostics if one does not load.
struct GoldenSpecs {
  Workload workload;
  Arch arch;
  std::vector<Mapping> mappings;
};
GoldenSpecs load_golden(const GoldenCase& golden, const std::vector<std::string>& files);

}  // namespace sluice::testing
