#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sluice/frontend/load.h"

namespace sluice {

/// The specs of one text; a failure of the test where it has mistakes.
inline Specs specs_of(const std::string& text, const LoadOptions& options = {}) {
  auto specs = load_specs_from_text({{"test.yaml", text}}, options);
  if (specs) return *specs;
  for (const Diagnostic& diagnostic : specs.error()) ADD_FAILURE() << to_string(diagnostic);
  return {};
}

inline Workload workload_of(const std::string& text) {
  return specs_of(text).workload.value_or(Workload{});
}

inline Arch arch_of(const std::string& text) { return specs_of(text).arch.value_or(Arch{}); }

/// The message of the only mistake.
inline std::string mistake_of(const std::string& text, const LoadOptions& options = {}) {
  const auto specs = load_specs_from_text({{"test.yaml", text}}, options);
  if (specs || specs.error().size() != 1) return "not one mistake";
  return specs.error()[0].message;
}

/// minimum and size of a variable in an Einsum.
inline std::pair<std::int64_t, std::int64_t> range_of(const Workload& workload, std::size_t einsum,
                                                      const std::string& variable) {
  for (const VariableRange& range : workload.einsums.at(einsum).iteration_space)
    if (workload[range.variable].name == variable) return {range.minimum, range.size};
  return {-1, -1};
}

inline std::int64_t rank_size(const Workload& workload, const std::string& name) {
  for (const Rank& rank : workload.ranks)
    if (rank.name == name) return rank.size;
  return -1;
}

}  // namespace sluice
