// Runs of the executor that are long: their limit, their progress, their end when asked to.
#include <gtest/gtest.h>

#include <atomic>

#include "sluice/referee/execute.h"
#include "triples/triple.h"

namespace sluice {
namespace {

using triples::NodeSpec;
using triples::Triple;

NodeSpec storage(const std::string& component) {
  NodeSpec node;
  node.names = {"A", "B", "C"};
  node.component = component;
  return node;
}

NodeSpec loop(const std::string& variable) {
  NodeSpec node;
  node.kind = NodeSpec::Kind::kTemporal;
  node.names = {variable};
  return node;
}

/// C[m,n] = A[m,k] * B[k,n] from one memory, `size`³ points.
triples::LoadedTriple matmul(std::int64_t size) {
  Triple triple;
  triple.rank_sizes = {{"M", size}, {"N", size}, {"K", size}};
  triple.einsums = {{"C[m,n] = A[m,k] * B[k,n]", "C"}};
  triples::ComponentSpec memory, compute;
  memory.name = "DRAM";
  compute.name = "MAC";
  compute.kind = triples::ComponentSpec::Kind::kCompute;
  triple.components = {memory, compute};
  NodeSpec mac;
  mac.kind = NodeSpec::Kind::kCompute;
  mac.names = {"C"};
  mac.component = "MAC";
  triple.nodes = {storage("DRAM"), loop("m"), loop("n"), loop("k"), mac};
  return *load(triple, nullptr);
}

Execution run(std::int64_t size, const ExecutionOptions& options) {
  const triples::LoadedTriple triple = matmul(size);
  return execute(triple.problem.workload, triple.problem.arch, triple.mapping, options);
}

TEST(LongRun, MoreThanTwoMillionPointsAreWalked) {
  const Execution execution = run(130, {});  // 130³ = 2,197,000
  EXPECT_TRUE(execution.is_legal());
  EXPECT_EQ(execution.compute_steps, 130 * 130 * 130);
  EXPECT_EQ(execution.numbers.exact, 130 * 130);
}

TEST(LongRun, AWorkloadThatDoesNotFitInMemoryIsRefusedWithTheReason) {
  ExecutionOptions options;
  options.max_bytes = 1e5;
  const Execution execution = run(20, options);
  EXPECT_TRUE(execution.is_unsupported());
  // 3 tensors × 400 values × 150 bytes + 8,000 points / 8 = 181,000 bytes.
  EXPECT_EQ(
      execution.complaints.front().message,
      "To run the workload takes about 0.00018 GB for its values and points; 0.0001 GB may be "
      "used.");
}

TEST(LongRun, ProgressGoesThroughBothPhasesToTheirEnd) {
  ExecutionOptions options;
  std::vector<ExecutionProgress> seen;
  options.progress = [&](const ExecutionProgress& progress) { seen.push_back(progress); };
  EXPECT_TRUE(run(40, options).is_legal());
  ASSERT_GE(seen.size(), 6);  // 64,000 points, at least every 20,000, in two phases
  EXPECT_EQ(seen.front().phase, "walking the loops");
  EXPECT_EQ(seen.front().done, 0);
  EXPECT_EQ(seen.front().all, 64'000);
  EXPECT_EQ(seen.back().phase, "checking the numbers");
  EXPECT_GE(seen.back().done, 44'000);
  EXPECT_LE(seen.back().done, 64'000);
}

TEST(LongRun, ARunThatIsCancelledStopsAndSaysSo) {
  ExecutionOptions options;
  std::atomic<bool> cancel{false};
  std::int64_t reports = 0;
  options.cancel = &cancel;
  options.progress = [&](const ExecutionProgress&) { cancel = ++reports == 2; };
  const Execution execution = run(100, options);
  EXPECT_TRUE(execution.cancelled);
  EXPECT_EQ(reports, 2);
  EXPECT_TRUE(execution.counts.empty());
  EXPECT_TRUE(execution.complaints.empty());
}

}  // namespace
}  // namespace sluice
