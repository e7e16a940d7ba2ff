#pragma once

#include <gtest/gtest.h>

#include <string>

#include "oracle/compare.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"

namespace sluice {

/// Expects that the mapper finds what brute force finds for a workload and an architecture written
/// as YAML, in every objective and the whole front, each pruning rule switched off in turn.
/// `legal`: whether there is a mapping.
inline void expect_brute_force_agreement(const std::string& text, bool legal = true) {
  const auto specs = load_specs_from_text({{"problem.yaml", text}}, {});
  std::string mistakes;
  if (!specs)
    for (const Diagnostic& diagnostic : specs.error()) mistakes += to_string(diagnostic);
  ASSERT_TRUE(specs.has_value()) << mistakes;
  const auto problem = bind(*specs->workload, *specs->arch);
  ASSERT_TRUE(problem.has_value());
  MapperOptions options;
  options.max_fused_loops = kUnlimitedLoops;
  const oracle::Enumeration truth = oracle::enumerate(*problem, options);
  ASSERT_FALSE(truth.exceeded);
  EXPECT_TRUE(truth.refusals.empty()) << truth.refusals.front();
  EXPECT_EQ(truth.best_edp.has_value(), legal);
  for (std::uint64_t variation = 0; variation < 6; ++variation) {
    const auto found =
        oracle::difference(*standard_mappers().find("fused"), *problem, options, truth, variation);
    EXPECT_FALSE(found.has_value()) << *found << "\n" << text;
  }
}

}  // namespace sluice
