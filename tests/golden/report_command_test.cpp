// `sluice report`, and what the document says for it; pages themselves are tested in a browser
// (tests/browser).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/folders.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string example(const std::string& name) {
  return (repository_dir() / "tests/golden/examples" / (name + ".yaml")).string();
}

class OccupancyOverTime : public ::testing::TestWithParam<const char*> {};

// In each step the parts add up to what the memory holds; the fullest step is the peak.
TEST_P(OccupancyOverTime, IsFullestAtThePeak) {
  const ProgramRun run =
      run_sluice({"evaluate", example(GetParam()), "--latency", "staged", "--json"});
  const Json mapping = Json::parse(run.out)["mappings"][0];
  if (!mapping.contains("occupancy")) GTEST_SKIP() << "not priced yet";
  const Json& over_time = mapping["occupancy_over_time"];
  std::map<std::string, std::vector<double>> sums;
  for (const Json& row : over_time["held"]) {
    auto& steps = sums[row["component"]];
    steps.resize(over_time["steps"].size());
    for (std::size_t step = row["from"]; step <= row["until"]; ++step)
      steps.at(step) += row["bits"].get<double>();
  }
  for (const Json& row : mapping["occupancy"]) {
    const auto& steps = sums[row["component"]];
    const double fullest = steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end());
    EXPECT_DOUBLE_EQ(fullest, row["peak_bits"].get<double>()) << row["component"];
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, OccupancyOverTime,
                         ::testing::Values("1_fused_attention", "2_distributed_softmax",
                                           "3_pipelined_layers", "4_compute_shift",
                                           "5_gathered_softmax", "6_forwarded_layers"),
                         [](const auto& entry) { return std::string("number_") + entry.param; });

// DRAM holds A (4 × 8), B (8 × 2) and C (4 × 2) whole; below the loop over m, A has 2 × 8 in GB.
TEST(NodeSizes, AreStepsOfLoopsAndTilesOfStorages) {
  const TemporaryFolder folder;
  const std::string specs = folder.write("case.yaml", R"(
workload: {rank_sizes: {M: 4, N: 2, K: 8}, bits_per_value: {All: 8}, einsums: ["C[m,n] = A[m,k] * B[k,n]"]}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: GB, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, B, C], component: DRAM}
  - !Temporal {rank_variable: m, tile_shape: 2}
  - !Storage {tensors: [A], component: GB}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: C, component: MAC}
)");
  const Json rows =
      Json::parse(run_sluice({"evaluate", specs, "--json"}).out)["mappings"][0]["node_sizes"];
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0], Json::parse(R"({"node":0,"tensor":"A","bits":256.0,"tile":"M 4, K 8"})"));
  EXPECT_EQ(rows[3], Json::parse(R"({"node":1,"trips":2})"));
  EXPECT_EQ(rows[4], Json::parse(R"({"node":2,"tensor":"A","bits":128.0,"tile":"M 2, K 8"})"));
  EXPECT_EQ(rows[7], Json::parse(R"({"node":5,"trips":8})"));
}

TEST(ReportCommand, RefusesWhatIsNoResult) {
  const TemporaryFolder folder;
  const std::string page = folder / "page.html";
  EXPECT_EQ(run_sluice({"report", folder / "none.json", "-o", page}).exit_status, 3);
  ProgramRun run = run_sluice({"report", folder.write("a.json", "{"), "-o", page});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("this is no JSON"));
  run = run_sluice(
      {"report", folder.write("b.json", R"({"schema": "sluice.bounds/1"})"), "-o", page});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr(R"(the schema is "sluice.bounds/1"; a report shows)"));
  run = run_sluice(
      {"report", folder.write("d.json", R"({"schema": "sluice.design/1"})"), "-o", page});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("a report does not show the result of a design search"));
  EXPECT_THAT(run.err, HasSubstr("sluice map WORKLOAD DIR/arch.yaml --report FILE"));
  const std::string executed = run_sluice({"execute", example("1_fused_attention"), "--json"}).out;
  run = run_sluice({"report", folder.write("c.json", executed), "-o", page});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("have no costs"));
  run = run_sluice({"map", "matmul", "simple", "--report", folder / "none/page.html"});
  EXPECT_EQ(run.exit_status, 3);
}

TEST(ReportCommand, WritesOneFileThatLoadsNothing) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_sluice({"map", "matmul", "simple", "--report", folder / "page.html"}).exit_status,
            0);
  const std::string page = read_text(folder / "page.html");
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("<title>matmul on simple · Sluice</title>"));
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_LT(page.size(), 2'000'000U);
}

TEST(Completion, KnowsCommandsOptionsAndNames) {
  const TemporaryFolder folder;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const ProgramRun run = run_sluice({"completion", shell});
    EXPECT_EQ(run.exit_status, 0);
    for (const char* word : {"evaluate", "max-fused-loops", "gpt3_6.7b", "tpu_v4i", "exhaustive"})
      EXPECT_THAT(run.out, HasSubstr(word)) << shell;
  }
  const std::string script = folder.write("sluice.bash", run_sluice({"completion", "bash"}).out);
  const ProgramRun run = run_program(
      "/bin/bash", {"-c", ". " + script +
                              "; COMP_WORDS=(sluice map matmul tpu); COMP_CWORD=3; _sluice; "
                              "echo ${COMPREPLY[@]}; COMP_WORDS=(sluice map --mapper r); "
                              "COMP_CWORD=3; _sluice; echo ${COMPREPLY[@]}"});
  EXPECT_EQ(run.out, "tpu_v4i\nrandom\n") << run.err;
  EXPECT_EQ(run_sluice({"completion", "csh"}).exit_status, 2);
}

TEST(ManualPage, NamesEveryCommand) {
  const ProgramRun run = run_sluice({"man"});
  EXPECT_THAT(run.out, HasSubstr(".TH SLUICE 1"));
  for (const char* command : {"map", "bounds", "evaluate", "execute", "import", "check", "show",
                              "report", "list", "schema", "completion", "man"})
    EXPECT_THAT(run.out, HasSubstr(std::string(".SS sluice ") + command));
}

}  // namespace
}  // namespace sluice::testing
