// The steps of a run, as they are told and written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sluice/frontend/load.h"
#include "sluice/referee/execute.h"
#include "support/folders.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

std::string matmul_of(int m, int n, int k) {
  std::ostringstream text;
  text << "workload:\n  rank_sizes: {M: " << m << ", N: " << n << ", K: " << k << "}\n"
       << R"(  bits_per_value: {All: 8}
  einsums: ["C[m,n] = A[m,k] * B[k,n]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, B, C], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: C, component: MAC}
)";
  return text.str();
}

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// 101 · 100 · 100 points; three reservations that are made and released.
TEST(Trace, HasEveryStepOfMoreThanAMillion) {
  const auto specs = load_specs_from_text({{"case.yaml", matmul_of(101, 100, 100)}}, {});
  ASSERT_TRUE(specs);
  std::int64_t computes = 0, others = 0;
  ExecutionOptions options;
  options.on_step = [&](const ExecutionStep& step) {
    ++(step.kind == ExecutionStep::Kind::kCompute ? computes : others);
  };
  EXPECT_TRUE(execute(*specs->workload, *specs->arch, specs->mappings.front(), options).is_legal());
  EXPECT_EQ(computes, 1'010'000);
  EXPECT_EQ(others, 6);
}

// 2 · 2 · 3 points: 12 computes of a microsecond. Two names of rows; 6 times a counter.
TEST(Trace, IsADocumentAndAListingOfEveryStep) {
  const TemporaryFolder folder;
  const std::string specs = folder.write("case.yaml", matmul_of(2, 2, 3));
  const ProgramRun run = run_sluice({"execute", specs, "--trace", folder / "run.json"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const auto events = nlohmann::json::parse(contents(folder / "run.json"))["traceEvents"];
  std::int64_t computes = 0, counters = 0;
  for (const auto& event : events) {
    counters += event["ph"] == "C" ? 1 : 0;
    if (event["ph"] != "X") continue;
    EXPECT_EQ(event["cat"], "compute");
    EXPECT_EQ(event["ts"], computes);
    EXPECT_EQ(event["args"]["loop_steps"].size(), 3U);
    ++computes;
  }
  EXPECT_EQ(computes, 12);
  EXPECT_EQ(counters, 6);
  EXPECT_EQ(events.size(), 2U + 12U + 6U);
  const std::string listing = contents(folder / "run.json.txt");
  EXPECT_EQ(std::count(listing.begin(), listing.end(), '\n'), 1 + 12 + 6);
  EXPECT_THAT(listing, ::testing::HasSubstr("[1 1 2]         C         do    C[1, 1]"));
}

// Two layers in a pipeline: what one row does at a time never overlaps, and all rows have names.
TEST(Trace, OfAPipelineIsAValidDocument) {
  const TemporaryFolder folder;
  const std::string specs =
      (repository_dir() / "tests/golden/examples/3_pipelined_layers.yaml").string();
  ASSERT_EQ(run_sluice({"execute", specs, "--trace", folder / "run.json"}).exit_status, 0);
  const auto events = nlohmann::json::parse(contents(folder / "run.json"))["traceEvents"];
  std::map<std::int64_t, std::int64_t> end;  // of the last slice of each row
  std::set<std::int64_t> named;
  std::set<std::string> einsums;
  for (const auto& event : events) {
    if (event["ph"] == "M") named.insert(event["tid"].get<std::int64_t>());
    if (event["ph"] != "X") continue;
    const std::int64_t row = event["tid"], begin = event["ts"], duration = event["dur"];
    EXPECT_TRUE(named.contains(row));
    EXPECT_GE(begin, end[row]);
    EXPECT_GE(duration, 1);
    end[row] = begin + duration;
    einsums.insert(event["args"]["einsum"].get<std::string>());
  }
  EXPECT_EQ(einsums.size(), 2U);
}

}  // namespace
}  // namespace sluice::testing
