// Pipelined and parallel splits: the model against the executor, and against hand arithmetic.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/document/disagreements.h"
#include "sluice/frontend/load.h"
#include "support/random_cases.h"
#include "triples/triple.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

/// Chain T, U, Z over 6 rows, row by row, below a split.
std::string chain(const std::string& split, const std::string& buffering,
                  const std::string& z = "U[m,n]") {
  return fmt::format(R"yaml(
workload:
  rank_sizes: {{M: 6, N: 4}}
  bits_per_value: {{All: 8}}
  einsums: ["T[m,n] = A[m,n] * B[n]", "U[m,n] = exp(T[m,n])", "Z[m] = sum({})"]
arch:
  nodes:
  - !Memory {{name: DRAM, size: inf, actions: [{{name: read, energy: 1, throughput: 1}}, {{name: write, energy: 1, throughput: 1}}]}}
  - !Memory {{name: GB, size: inf, buffering: {}, actions: [{{name: read, energy: 1, throughput: 1}}, {{name: write, energy: 1, throughput: 1}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 1, throughput: 1}}]}}
mapping:
  nodes:
  - !Storage {{tensors: [A, B, Z], component: DRAM}}
  - !Storage {{tensors: [B], component: GB}}
  - !Temporal {{rank_variable: m, tile_shape: 1}}
  - !Storage {{tensors: [T, U], component: GB}}
  - !{}
    nodes:
    - !Nested
      nodes:
      - !Storage {{tensors: [A], component: GB}}
      - !Temporal {{rank_variable: n, tile_shape: 1}}
      - !Compute {{einsum: T, component: MAC}}
    - !Nested {{nodes: [!Temporal {{rank_variable: n, tile_shape: 1}}, !Compute {{einsum: U, component: MAC}}]}}
    - !Nested {{nodes: [!Temporal {{rank_variable: n, tile_shape: 1}}, !Compute {{einsum: Z, component: MAC}}]}}
)yaml",
                     z, buffering, split);
}

struct Answer {
  BoundProblem problem;
  cli::Evaluation cost;
  Execution run;
};

Answer answer_for(const std::string& text) {
  auto specs = load_specs_from_text({{"concurrent.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  BoundProblem problem = *bind(*specs->workload, *specs->arch);
  const Mapping& mapping = specs->mappings.front();
  auto cost = evaluate(problem, mapping);
  Execution run = execute(problem.workload, problem.arch, mapping);
  return {std::move(problem), std::move(cost), std::move(run)};
}

std::int64_t count_of(const Execution& run, std::size_t component, const std::string& action) {
  std::int64_t count = 0;
  for (const CountRow& row : run.counts)
    if (row.component == ComponentId(component) && row.action == action) count += row.count;
  return count;
}

TEST(ConcurrentMapping, ThreeStagesByHand) {
  const Answer pipeline = answer_for(chain("Pipeline", "single"));
  ASSERT_TRUE(pipeline.run.is_legal()) << pipeline.run.complaints.front().message;
  EXPECT_EQ(pipeline.run.numbers.differing, 0);
  EXPECT_EQ(pipeline.run.numbers.exact, 6 * 4 * 2 + 6);
  EXPECT_EQ(cli::disagreements(pipeline.problem, pipeline.cost, pipeline.run),
            std::vector<std::string>{});
  // B, 4 values, above the loop. T is there for the first and the second child, U for the second
  // and the third: 2 rows of 4 values each. A's node sinks below the loop over n: 1 value.
  EXPECT_EQ(pipeline.run.occupancy[1].peak_bits, 8 * (4 + 2 * 4 + 2 * 4 + 1));
  // Moved as one child after the other.
  const Answer sequence = answer_for(chain("Sequential", "single"));
  for (std::size_t memory = 0; memory < 2; ++memory)
    for (const char* action : {"read", "write"})
      EXPECT_EQ(count_of(pipeline.run, memory, action), count_of(sequence.run, memory, action));
  // There T and U together are the most: 4 + 4 + 4.
  EXPECT_EQ(sequence.run.occupancy[1].peak_bits, 8 * 12);
}

// All that GB moves of T, 192 bits, is one action of 480.
TEST(ConcurrentMapping, PartsOfActionsCostAsMuchAsWholeOnes) {
  const std::string single = "buffering: single, actions: [{name: read, ";
  std::string text = chain("Pipeline", "single");
  text.insert(text.find(single) + single.size(), "bits_per_action: 480, ");
  text.insert(text.find(single) + std::string("buffering: single, ").size(),
              "partial_actions: whole, ");
  const Answer answer = answer_for(text);
  ASSERT_TRUE(answer.run.is_legal());
  EXPECT_EQ(cli::disagreements(answer.problem, answer.cost, answer.run),
            std::vector<std::string>{});
}

TEST(ConcurrentMapping, WhatIsThereForEachStepInFlightIsNotDoubledAgain) {
  const Answer answer = answer_for(chain("Pipeline", "double"));
  ASSERT_TRUE(answer.run.is_legal());
  EXPECT_EQ(cli::disagreements(answer.problem, answer.cost, answer.run),
            std::vector<std::string>{});
  // A alone is twice as large now: it is below loops, and no step in flight has its own.
  EXPECT_EQ(answer.run.occupancy[1].peak_bits, 8 * (4 + 2 * 4 + 2 * 4 + 2));
}

TEST(ConcurrentMapping, AReaderTwoChildrenFurtherOnKeepsThreeTiles) {
  const Answer answer = answer_for(chain("Pipeline", "single", "T[m,n]"));
  ASSERT_TRUE(answer.run.is_legal());
  EXPECT_EQ(cli::disagreements(answer.problem, answer.cost, answer.run),
            std::vector<std::string>{});
  EXPECT_EQ(answer.run.occupancy[1].peak_bits, 8 * (4 + 3 * 4 + 1 * 4 + 1));
}

TEST(ConcurrentMapping, ParallelChildrenDoNotWaitForEachOther) {
  const Answer answer = answer_for(chain("Parallel", "single"));
  EXPECT_FALSE(answer.cost);
  ASSERT_FALSE(answer.run.is_legal());
  EXPECT_EQ(answer.run.complaints.front().kind, ComplaintKind::kAbsentValue);
  EXPECT_THAT(answer.run.complaints.front().message, HasSubstr("before anybody has made it"));
}

// Each child computes on an element of its own; what they hold is further out.
TEST(ConcurrentMapping, ChildrenWithElementsOfTheirOwnMoveTheSame) {
  std::string text = chain("Pipeline\n    over: x\n    shares: [1, 1, 1]", "single");
  text.insert(text.find("  - !Compute {name"),
              "  - !Container {name: PE, spatial: [{name: x, fanout: 3}]}\n");
  const Answer answer = answer_for(text);
  ASSERT_TRUE(answer.run.is_legal()) << answer.run.complaints.front().message;
  EXPECT_EQ(cli::disagreements(answer.problem, answer.cost, answer.run),
            std::vector<std::string>{});
  EXPECT_EQ(answer.run.occupancy[1].peak_bits, 8 * (4 + 2 * 4 + 2 * 4 + 1));
}

// The random triples of the executor's test, with most of their splits pipelined or parallel.
TEST(ConcurrentMapping, RandomTriplesAgreeWithTheModel) {
  const testing::RandomCases cases = testing::random_cases(1500);
  std::int64_t legal = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const triples::Triple triple = triples::concurrent_triple(seed);
    const auto loaded = triples::load(triple, nullptr);
    ASSERT_TRUE(loaded) << seed;
    if (triple.einsums.size() > 1 && evaluate(loaded->problem, loaded->mapping)) ++legal;
    const std::vector<std::string> differing = triples::differences(*loaded);
    ASSERT_TRUE(differing.empty()) << "seed " << seed << ": " << differing.front() << "\n"
                                   << triples::to_yaml(triples::shrink(triple));
  }
  if (cases.count >= 100) {
    EXPECT_GT(legal, cases.count / 8);
  }
}

}  // namespace
}  // namespace sluice
