// Mappings from anywhere are checked against constraints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kProblem = R"yaml(workload:
  rank_sizes: {M: 8, N: 4}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,n] * B[m,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: Buffer, size: inf, tensors: {may_keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, B, Z], component: Main}
  - !Temporal {rank_variable: m, tile_shape: 2}
  - !Storage {tensors: [A], component: Buffer}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Compute {einsum: Z, component: MAC}
)yaml";

// The tile of m at the buffer is 2, and the buffer holds A alone.
constexpr const char* kConstraints = R"yaml(constraints:
  tiles:
  - {name: wide, memory: Buffer, rank_variable: m, minimum: 4}
  - {name: narrow, memory: Buffer, rank_variable: m, maximum: 2}
  storage: [{memory: Buffer, keep: [B]}]
)yaml";

class EvaluateConstraints : public ::testing::Test {
 protected:
  ProgramRun run(std::vector<std::string> arguments) const { return run_sluice(arguments); }

  TemporaryFolder folder_;
  std::string problem_ = folder_.write("problem.yaml", kProblem);
  std::string constraints_ = folder_.write("wishes.yaml", kConstraints);
};

TEST_F(EvaluateConstraints, NamesThoseThatAMappingBreaks) {
  const ProgramRun alone = run({"evaluate", problem_});
  EXPECT_EQ(alone.exit_status, 0) << alone.err;
  for (const auto& arguments : {std::vector<std::string>{"evaluate", problem_, constraints_},
                                {"evaluate", problem_, "--constraints", constraints_}}) {
    const ProgramRun constrained = run(arguments);
    EXPECT_EQ(constrained.exit_status, 1) << constrained.err;
    EXPECT_THAT(constrained.out, HasSubstr("illegal, for 2 reasons:\n"
                                           "  - The mapping breaks the constraint storage 1: B is "
                                           "not held in Buffer for Z.\n"));
    EXPECT_THAT(constrained.out, HasSubstr("problem.yaml:14:5: The mapping breaks the constraint "
                                           "wide: m is 2 at Buffer, at least 4.\n"));
  }
}

TEST_F(EvaluateConstraints, AreViolationsOfTheDocumentAndOfBatches) {
  const auto document =
      nlohmann::json::parse(run({"evaluate", problem_, constraints_, "--json"}).out);
  EXPECT_EQ(document["status"], "illegal");
  const auto& wide = document["mappings"][0]["violations"][1];
  EXPECT_EQ(wide["kind"], "constraint");
  EXPECT_EQ(wide["component"], "Buffer");
  EXPECT_EQ(wide["node_path"], (std::vector<std::size_t>{2}));
  EXPECT_EQ(wide["line"], 14);
  EXPECT_EQ(document["mappings"][0]["violations"][0]["tensors"][0], "B");
  const std::string lines =
      folder_.write("lines.jsonl", document["mappings"][0]["mapping"].dump() + "\n");
  EXPECT_EQ(run({"evaluate", problem_, "--batch", lines}).exit_status, 0);
  const ProgramRun batch =
      run({"evaluate", problem_, "--batch", lines, "--constraints", constraints_});
  EXPECT_EQ(batch.exit_status, 1);
  const auto line = nlohmann::json::parse(batch.out);
  EXPECT_EQ(line["status"], "illegal");
  EXPECT_EQ(line["violations"][0], document["mappings"][0]["violations"][0]);
  EXPECT_EQ(line["violations"][1]["message"], wide["message"]);  // and has no line of a file
}

// A word on tiles of the buffer says nothing where no tensor stays there.
TEST_F(EvaluateConstraints, AreNamedByMapWhereTheyApplyToNoNode) {
  const std::string empty = folder_.write(
      "empty.yaml",
      "constraints:\n  tiles: [{name: small, memory: Buffer, rank_variable: m, maximum: 2}]\n"
      "  storage: [{memory: Buffer, forbid: [A, B, Z]}]\n");
  EXPECT_THAT(run({"map", problem_, "--constraints", empty}).out,
              HasSubstr("constraint small: no node or loop of this mapping to apply to\n"));
}

TEST_F(EvaluateConstraints, AreNamedByMapWhereTheyLeaveNoVariableToSpread) {
  const std::string spread = folder_.write("spread.yaml", R"yaml(
workload:
  rank_sizes: {M: 8, N: 4}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,n] * B[m,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: Row, spatial: [{name: x, fanout: 4}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
constraints:
  spatial:
  - {name: along m, component: Row, dimension: x, rank_variables: [m]}
  - {name: along n, component: Row, dimension: x, rank_variables: [n]}
)yaml");
  EXPECT_THAT(
      run({"map", spread}).out,
      HasSubstr("constraints along m, along n: no node or loop of this mapping to apply to\n"));
}

TEST_F(EvaluateConstraints, AreLookedAtByCheck) {
  const ProgramRun check = run({"check", problem_, constraints_});
  EXPECT_EQ(check.exit_status, 1);
  EXPECT_THAT(check.err, HasSubstr("mapping 1 is illegal: The mapping breaks the constraint wide: "
                                   "m is 2 at Buffer, at least 4."));
}

}  // namespace
}  // namespace sluice::testing
