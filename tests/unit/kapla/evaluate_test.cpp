#include "sluice/kapla/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/network/network_table.h"

namespace sluice::kapla {
namespace {

using ::testing::HasSubstr;

/// A run of one layer, `conv2_a` of AlexNet, on 16 × 16 nodes of 8 × 8 elements, whose input lies
/// in DRAM.
Run conv2_a(const std::string& solver) {
  constexpr const char* kTable =
      "layer,type,C,K,HO,WO,R,S,stride,prevs\n"
      "input,input,,48,27,27,1,1,1,\nconv2_a,conv,48,128,27,27,5,5,1,input\n";
  Run run;
  run.name = "run";
  run.solver = solver;
  run.network = *read_network_table(kTable, "conv2_a.csv");
  run.batch = 64;
  run.machine = *find_machine("multi_node.json");
  run.compatibility = kapla_compatibility(solver);
  return run;
}

/// The mapping of docs/networks.md: 16 parts of the samples outside, 16 of the input channels
/// inside.
Scheme scheme_of_conv2_a() {
  Scheme scheme;
  scheme.place = {"schemes.jsonl", 1, 0};
  scheme.layer = "conv2_a";
  scheme.nodes = 256;
  scheme.partition.order = {kBySamples, kByInputChannels, kByOutputChannels, kByPlane};
  scheme.partition.parts[kBySamples] = {8, 2};
  scheme.partition.parts[kByInputChannels] = {2, 8};
  scheme.blocking = {{{1, 8, 1}, {1, 16, 16}, {3, 1, 1}}};
  scheme.orders = {{{1, 0, 2}, {2, 1, 0}}};
  scheme.unit_size = {{{25, 240.25, 189}, {5, 5, 1}}};
  scheme.directives = SchemeDirectives{
      parse_directives("conv2_a REGF tensor{I}(Yi=1) tensor{O}(Yo=1) tensor{W}(S=1)"
                       "  stack(Yi+=1, Yo+=1, 7) stack(S+=1, Yi+=1, 5)"
                       " GBUF tensor{O}(Yo=28)",
                       "conv2_a")
          ->at(0),
      false};
  return scheme;
}

SchemeCost cost_of(const Run& run, const Scheme& scheme) {
  const auto costs = evaluate_schemes(run, {scheme});
  if (!costs) throw std::runtime_error(to_string(costs.error()));
  return costs->at(0);
}

// 48 · 128 · 25 weights, once; 64 samples of 48 · 31 · 31 inputs, once; 64 · 128 · 27 · 28 outputs:
// 27 rows are padded to 4 folds of 7.
TEST(Evaluate, CountsWordsFromDram) {
  const SchemeCost cost = cost_of(conv2_a("KAPLA-fix"), scheme_of_conv2_a());
  EXPECT_EQ(cost.access[kDram], (PerOperand<double>{153600, 2952192, 6193152}));
  EXPECT_EQ(cost.fetch[0], (PerOperand<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(cost.dram_cycles, 371958);  // ⌈9,298,944 / 25⌉
}

// Inputs are fetched for each of 8 · 16 steps of output channels; weights by each of 16 nodes with
// other samples, outputs by each of 16 nodes with other input channels.
TEST(Evaluate, CountsWordsFromBuffers) {
  const SchemeCost cost = cost_of(conv2_a("KAPLA-fix"), scheme_of_conv2_a());
  EXPECT_EQ(cost.fetch[1], (PerOperand<std::int64_t>{1, 128, 1}));
  EXPECT_EQ(cost.access[kGlobalBuffer],
            (PerOperand<double>{153600 * 16, 2952192 * 128, 6193152 * 16}));
  EXPECT_EQ(cost.access[kArrayBus][kInput], 31.0 * 35 * 48 * 128 * 256);
  EXPECT_EQ(cost.bus_cycles, 184512);  // 377,880,576 / 256 nodes / 8 words
}

// 27 · 27 · 128 · 48 · 25 · 64 multiply-adds, with 28 rows for 27.
TEST(Evaluate, CountsOperationsAndCycles) {
  const SchemeCost cost = cost_of(conv2_a("KAPLA-fix"), scheme_of_conv2_a());
  EXPECT_EQ(cost.operations, 7431782400);
  EXPECT_EQ(cost.access[kRegisters][kOutput], 2 * cost.operations);
  EXPECT_EQ(cost.array_cycles, 5 * 27 * 6144);  // a row of 27 positions, 5 weights each
}

// The published evaluator takes R · S cycles a pass.
TEST(Evaluate, TakesTheCyclesOfAWindowWhereKaplaDoes) {
  EXPECT_EQ(cost_of(conv2_a("KAPLA"), scheme_of_conv2_a()).array_cycles, 25 * 6144);
}

// As published for this layer. Its weights: 16 ranges of 3 input channels, 9,600 words each; the
// ports and 16 nodes that need a range make trees of 556 links for all 16 ranges: 5,337,600 /
// 9,600.
TEST(Evaluate, CountsHopsToMemory) {
  const SchemeCost cost = cost_of(conv2_a("KAPLA-fix"), scheme_of_conv2_a());
  EXPECT_EQ(cost.hops[kWeights], 5337600);
  EXPECT_EQ(cost.hops[kOutput], 86593536);
  EXPECT_EQ(cost.node_hops, 0);
}

// Without the artifact's rounding DRAM moves 51.2 / 2 = 25.6 words a cycle: 9,298,944 / 25.6 =
// 363,240; all else is as before.
TEST(Evaluate, CountsWhatIsRightWithoutCompatibility) {
  auto run = conv2_a("KAPLA");
  run.compatibility = {};
  const SchemeCost cost = cost_of(run, scheme_of_conv2_a());
  EXPECT_EQ(cost.dram_cycles, 363240);
  EXPECT_EQ(cost.array_cycles, 5 * 27 * 6144);
  EXPECT_EQ(cost.access, cost_of(conv2_a("KAPLA"), scheme_of_conv2_a()).access);
}

// The layer is the whole network: weights that no loop outside the buffers changes are there before
// it starts.
TEST(Evaluate, LeavesWeightsOfANetworkThatIsOneSegmentInPlace) {
  Scheme scheme = scheme_of_conv2_a();
  scheme.blocking = {{{1, 1, 1}, {1, 128, 16}, {3, 1, 1}}};
  const SchemeCost cost = cost_of(conv2_a("KAPLA-fix"), scheme);
  EXPECT_EQ(cost.fetch[0][kWeights], 0);
  EXPECT_EQ(cost.access[kDram][kWeights], 0);
}

TEST(Evaluate, ReadsOutputsOnTheChipFromOtherBuffers) {
  Scheme scheme = scheme_of_conv2_a();
  scheme.destination_is_dram = false;
  const SchemeCost cost = cost_of(conv2_a("KAPLA-fix"), scheme);
  EXPECT_EQ(cost.access[kDram][kOutput], 0);
  EXPECT_EQ(cost.remote_buffer[kOutput], 6193152);
}

/// 2 × 2 pools of 16 channels, 8 × 8 to 4 × 4, on a systolic array of 16 × 16: one pass.
SchemeCost searched_pool(const Compatibility& compatibility) {
  auto run = conv2_a("KAPLA-fix");
  run.network = *read_network_table(
      "layer,type,C,K,HO,WO,R,S,stride,prevs\n"
      "input,input,,16,8,8,1,1,1,\npool,pool,16,16,4,4,2,2,2,input\n",
      "pool.csv");
  run.batch = 1;
  run.machine = *find_machine("single_node.json");
  run.mapping = ArrayMapping::kSystolic;
  run.compatibility = compatibility;
  Scheme scheme;
  scheme.layer = "pool";
  scheme.unit_size = {{{0, 1024, 256}, {0, 4, 1}}};
  scheme.partition.order = {kByOutputChannels, kByPlane, kBySamples, kByInputChannels};
  scheme.blocking.fill({1, 1, 1});
  scheme.orders.fill({0, 1, 2});
  scheme.directives = SchemeDirectives{{"pool", {{"REGF", {}, {}, {}}}}, true};
  return cost_of(run, scheme);
}

// 16 channels of 8 · 8 inputs and 4 · 4 outputs, four operations for each output.
TEST(Evaluate, CountsAPassOfASystolicArray) {
  const SchemeCost cost = searched_pool({});
  EXPECT_EQ(cost.access[kDram], (PerOperand<double>{0, 1024, 256}));
  EXPECT_EQ(cost.access[kRegisters], (PerOperand<double>{0, 1024, 2048}));
  EXPECT_EQ(cost.array_cycles, 4);
}

TEST(Evaluate, ReadsWeightsOfSearchedPoolsWhereKaplaDoes) {
  const SchemeCost cost = searched_pool(kapla_compatibility("KAPLA-fix"));
  EXPECT_EQ(cost.access[kRegisters], (PerOperand<double>{1024, 1024, 2048}));
}

std::string mistake_of(const Scheme& scheme) {
  const auto costs = evaluate_schemes(conv2_a("KAPLA-fix"), {scheme});
  return costs ? "" : to_string(costs.error());
}

TEST(Evaluate, SaysWhatIsWrongWithAScheme) {
  Scheme scheme = scheme_of_conv2_a();
  scheme.layer = "conv2";
  EXPECT_THAT(mistake_of(scheme),
              HasSubstr("schemes.jsonl:1: error: network conv2_a has no layer `conv2`"));
  scheme = scheme_of_conv2_a();
  scheme.nodes = 64;
  EXPECT_THAT(mistake_of(scheme), HasSubstr("takes 16 × 16 nodes; its region has 16 × 4"));
  scheme = scheme_of_conv2_a();
  scheme.partition.parts[kByPlane] = {0, 1};
  EXPECT_THAT(mistake_of(scheme), HasSubstr("`part_dims` has 0 × 1; extents are from 1 to 256"));
  scheme = scheme_of_conv2_a();
  scheme.blocking[1][kSamples] = 0;
  EXPECT_THAT(mistake_of(scheme), HasSubstr("`tvals` has 0; steps are at least 1"));
  scheme = scheme_of_conv2_a();
  scheme.directives.reset();
  EXPECT_THAT(mistake_of(scheme), HasSubstr("`conv2_a`: the scheme has no `directives`"));
}

// Two regions of one segment that need more nodes than there are.
TEST(Evaluate, SaysThatRegionsDoNotFit) {
  Scheme other = scheme_of_conv2_a();
  other.region = 1;
  const auto costs = evaluate_schemes(conv2_a("KAPLA-fix"), {scheme_of_conv2_a(), other});
  ASSERT_FALSE(costs);
  EXPECT_THAT(to_string(costs.error()),
              HasSubstr("the regions of segment 0 need more than the 16 × 16 nodes"));
}

}  // namespace
}  // namespace sluice::kapla
