// Mappings with collectives: the model against the executor, and against hand arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "report/document/disagreements.h"
#include "sluice/frontend/load.h"
#include "support/folders.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

struct Answer {
  BoundProblem problem;
  Mapping mapping;
  tl::expected<Cost, std::vector<Violation>> cost;
};

Answer answer_for(const Result<Specs>& specs) {
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  BoundProblem problem = *bind(*specs->workload, *specs->arch);
  auto cost = evaluate(problem, specs->mappings.front(), LatencyPolicy::kOverlap);
  return {std::move(problem), specs->mappings.front(), std::move(cost)};
}

Answer softmax_example() {
  return answer_for(load_specs(
      {(testing::repository_dir() / "tests/golden/examples/2_distributed_softmax.yaml").string()},
      {}));
}

double energy_of(const Answer& answer, const std::string& component, const std::string& action,
                 const std::string& einsum) {
  double energy_j = 0;
  for (const EnergyRow& row : answer.cost->energy)
    if (answer.problem.arch[row.component].name == component && row.action == action &&
        answer.problem.workload[row.einsum].name == einsum)
      energy_j += row.energy_j;
  return energy_j;
}

TEST(CollectiveMapping, TheAllReducesOfDistributedSoftmaxByHand) {
  const Answer answer = softmax_example();
  ASSERT_TRUE(answer.cost);
  // Both run once in each of the 2 steps of m, over 2 × 2 cores, on 2 values of 16 bit.
  // MX, recursive doubling: 23 ns each (tests/unit/model/collective_cost_test.cpp).
  // DN, auto: a tree, 6 messages of 32 bit: 192 / 512e9 = 0.375 ns; hops 1 (cores) + 1 (clusters),
  // up
  //   and down: 4 · 5 ns; between cores 4 messages, between clusters 2: 2 ns · (128 + 64) / 256.
  //   0.375 + 20 + 1.5 = 21.875 ns each.
  ASSERT_EQ(answer.cost->collectives.size(), 2U);
  EXPECT_EQ(answer.cost->collectives[0].algorithm, "recursive_doubling");
  EXPECT_DOUBLE_EQ(answer.cost->collectives[0].latency_s, 2 * 23e-9);
  EXPECT_EQ(answer.cost->collectives[1].algorithm, "tree");
  EXPECT_DOUBLE_EQ(answer.cost->collectives[1].latency_s, 2 * 21.875e-9);
  // Bit hops of MX: 128 between clusters, 256 between cores, twice.
  EXPECT_DOUBLE_EQ(energy_of(answer, "ClusterMesh", "all_reduce", "MX"), 2 * 128 * 0.5e-12);
  EXPECT_DOUBLE_EQ(energy_of(answer, "CoreMesh", "all_reduce", "MX"), 2 * 256 * 0.2e-12);
  // OB reads MX: from the second of 4 columns on, 4 rows × 3 × 4 cores = 48, and 2 × 16 values
  // sent.
  EXPECT_DOUBLE_EQ(energy_of(answer, "OB", "read", "MX"), (64 + 48 + 32) * 16 * 0.2e-12);
  // 4 × 16 maxima, and 2 × 16 in the collective.
  EXPECT_DOUBLE_EQ(energy_of(answer, "SIMD", "max", "MX"), (64 + 32) * 1e-12);
}

TEST(CollectiveMapping, LatencyIsThatOfTheEinsumsAndOfTheirCollectives) {
  const Answer answer = softmax_example();
  ASSERT_TRUE(answer.cost);
  std::map<EinsumId, double> slowest;
  for (const LatencyRow& row : answer.cost->latency)
    slowest[row.einsum] = std::max(slowest[row.einsum], row.latency_s);
  double sum = 0, energy_j = 0;
  for (const auto& [einsum, latency_s] : slowest) sum += latency_s;
  for (const CollectiveRow& row : answer.cost->collectives) sum += row.latency_s;
  for (const EnergyRow& row : answer.cost->energy) energy_j += row.energy_j;
  EXPECT_DOUBLE_EQ(answer.cost->latency_s, sum);
  EXPECT_NEAR(answer.cost->energy_j, energy_j, 1e-12 * energy_j);
}

// Nanoseconds, bits over Gbit/s. The loop over m, 2 steps: GB of each cluster takes 16 values of A
// and 64 of B from DRAM, which reads A once: (16 + 2 · 64) · 16 / 200 = 11.52, and S goes back,
// 2 · 16 · 16 / 200 = 2.56; far shorter than a window of 66.9 (with the collectives 112).
// What the children take, first fill and last drain of their operands, 16 bits each:
//   C   64 steps of 1;           GB 3 values (A for both cores) 3 · 16 / 16000, OB 16 / 32000:
//   .0035 MX   8 of 1/32;              C and 6/8 of MX 1.75 · .0005, MX .0005:   .001375 EX   8 of
//   1/32 + 1/8;        C, MX .001, EX .0005:                     .0015 DN   8 of 1/32; as MX:
//   .001375 S    8 of 1/8;               EX, DN .001, 2 of S to GB .002:           .003
// The network above the cores works longer than all that: the rest is optional stall.
TEST(CollectiveMapping, TheStallsOfDistributedSoftmaxByHand) {
  const Answer answer = softmax_example();
  const auto staged = evaluate(answer.problem, answer.mapping, LatencyPolicy::kStaged);
  ASSERT_TRUE(staged);
  std::map<std::string, double> ns;
  for (const LatencyPart& part : staged->breakdown) ns[part.name] = part.seconds * 1e9;
  EXPECT_NEAR(ns["compute"], 2 * 64, 1e-9);
  EXPECT_NEAR(ns["simd"], 2 * 8 * (3 / 32.0 + 2 / 8.0), 1e-9);
  EXPECT_NEAR(ns["compulsory_stall"], 11.52 + 2.56 + 2 * (.0035 + .001375 + .0015 + .001375 + .003),
              1e-9);
  EXPECT_NEAR(ns["collectives"], 2 * 23 + 2 * 21.875, 1e-9);
  EXPECT_EQ(ns["conflicts"], 0);
  EXPECT_NEAR(staged->latency_s, answer.cost->latency_s, 1e-18);
}

// With links so wide that the networks never count, the stages alone are left.
TEST(CollectiveMapping, TheStagesOfDistributedSoftmaxByHand) {
  Answer answer = softmax_example();
  Workload workload = answer.problem.workload;
  Arch arch = answer.problem.arch;
  for (Component& component : arch.components)
    if (auto* network = std::get_if<Network>(&component.kind)) {
      network->link_bandwidth *= 1e6;
      network->channel_width_bits *= 1'000'000;
      network->router_latency_s = 0;
    }
  const BoundProblem problem = *bind(workload, arch);
  const auto staged = evaluate(problem, answer.mapping, LatencyPolicy::kStaged);
  ASSERT_TRUE(staged);
  double collectives_s = 0;
  for (const CollectiveRow& row : staged->collectives) collectives_s += row.latency_s;
  EXPECT_NEAR(staged->latency_s * 1e9, 128 + 5.5 + 14.08 + .0215 + collectives_s * 1e9, 1e-9);
}

TEST(CollectiveMapping, TheExecutorCountsDistributedSoftmaxAsTheModel) {
  const Answer answer = softmax_example();
  const Execution run = execute(answer.problem.workload, answer.problem.arch, answer.mapping);
  EXPECT_TRUE(run.is_legal());
  EXPECT_EQ(cli::disagreements(answer.problem, answer.cost, run), std::vector<std::string>{});
}

/// Softmax over clusters and cores of any shape, on any networks; sometimes some instances walk m.
class RandomSoftmax {
 public:
  explicit RandomSoftmax(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    const std::int64_t clusters = pick(1, 3), x = pick(2, 3), y = pick(1, 2);
    const bool rows_over_y = y > 1 && pick(0, 1) == 1;
    const bool rows_over_clusters = clusters > 1 && pick(0, 1) == 1;
    const std::int64_t tile_n = pick(1, 2), tile_m = pick(1, 3);
    const std::int64_t n = tile_n * x * (rows_over_y ? 1 : y) * (rows_over_clusters ? 1 : clusters);
    const std::int64_t m = tile_m * (rows_over_y ? y : 1) * (rows_over_clusters ? clusters : 1) * 2;
    std::string loops = fmt::format("  - !Temporal {{rank_variable: m, tile_shape: {}}}\n", m / 2);
    std::int64_t left_m = m / 2, left_n = n;
    std::vector<std::string> over;
    const auto spread = [&](bool rows, std::int64_t fanout, const char* component,
                            const char* name) {
      std::int64_t& left = rows ? left_m : left_n;
      left /= fanout;
      loops += fmt::format(
          "  - !Spatial {{rank_variable: {}, tile_shape: {}, component: {}, name: {}}}\n",
          rows ? "m" : "n", left, component, name);
      if (!rows && fanout > 1) over.emplace_back(name);
    };
    spread(rows_over_clusters, clusters, "Cluster", "cx");
    loops += "  - !Storage {tensors: [C, S], component: GB}\n";
    spread(false, x, "Core", "kx");
    spread(rows_over_y, y, "Core", "ky");
    std::shuffle(over.begin(), over.end(), random_);
    const std::string names = fmt::format("{}", fmt::join(over, ", "));
    return fmt::format(kText, m, n, network("ClusterNet"), clusters, network("CoreNet"), x, y,
                       loops, collective("MX", "max", names), collective("DN", "sum", names));
  }

 private:
  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  std::string network(const char* name) {
    constexpr const char* kTopologies[] = {"mesh", "torus", "ring", "all_to_all", "bus", "tree"};
    return fmt::format(
        "!Network {{name: {}, topology: {}, channel_width: {}, link_bandwidth: {}, "
        "router_latency: {}, queue_latency: {}, hop_energy: {}}}",
        name, kTopologies[random_() % 6], pick(1, 64), pick(1, 9), pick(0, 3), pick(0, 3),
        pick(0, 3));
  }
  std::string collective(const char* tensor, const char* op, const std::string& over) {
    constexpr const char* kAlgorithms[] = {"auto", "recursive_doubling",
                                           "recursive_halving_doubling", "ring", "tree"};
    return fmt::format(
        "!Collective {{type: all_reduce, tensor: {}, op: {}, src: OB, over: [{}], algorithm: {}}}",
        tensor, op, over, kAlgorithms[random_() % 5]);
  }

  static constexpr const char* kText = R"yaml(
workload:
  rank_sizes: {{M: {}, N: {}}}
  bits_per_value: {{All: 8}}
  einsums:
  - "MX[m]   = max(C[m,n])"
  - "EX[m,n] = exp(C[m,n] - MX[m])"
  - "DN[m]   = sum(EX[m,n])"
  - "S[m,n]  = EX[m,n] / DN[m]"
arch:
  nodes:
  - !Memory {{name: DRAM, size: inf, tensors: {{keep: ~Intermediates, may_keep: All}}, actions: [{{name: read, energy: 7, throughput: 3}}, {{name: write, energy: 5, throughput: 2}}]}}
  - {}
  - !Container {{name: Cluster, spatial: [{{name: cx, fanout: {}}}]}}
  - !Memory {{name: GB, size: inf, actions: [{{name: read, energy: 3, throughput: 3}}, {{name: write, energy: 2, throughput: 2}}]}}
  - {}
  - !Container {{name: Core, spatial: [{{name: kx, fanout: {}}}, {{name: ky, fanout: {}}}]}}
  - !Memory {{name: OB, size: inf, actions: [{{name: read, energy: 1, throughput: 9}}, {{name: write, energy: 1, throughput: 9}}]}}
  - !Compute {{name: SIMD, actions: [{{name: compute, energy: 1, throughput: 1}}]}}
mapping:
  nodes:
  - !Storage {{tensors: [C, S], component: DRAM}}
{}  - !Storage {{tensors: [MX, EX, DN], component: OB}}
  - !Sequential
    nodes:
    - !Nested {{nodes: [!Temporal {{rank_variable: n, tile_shape: 1}}, !Temporal {{rank_variable: m, tile_shape: 1}}, !Compute {{einsum: MX, component: SIMD}}]}}
    - {}
    - !Nested {{nodes: [!Temporal {{rank_variable: m, tile_shape: 1}}, !Temporal {{rank_variable: n, tile_shape: 1}}, !Compute {{einsum: EX, component: SIMD}}]}}
    - !Nested {{nodes: [!Temporal {{rank_variable: m, tile_shape: 1}}, !Temporal {{rank_variable: n, tile_shape: 1}}, !Compute {{einsum: DN, component: SIMD}}]}}
    - {}
    - !Nested {{nodes: [!Temporal {{rank_variable: m, tile_shape: 1}}, !Temporal {{rank_variable: n, tile_shape: 1}}, !Compute {{einsum: S, component: SIMD}}]}}
)yaml";
  std::mt19937_64 random_;
};

TEST(CollectiveMapping, RandomSoftmaxesCountAsTheExecutor) {
  const testing::RandomCases cases = testing::random_cases(150, 1);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::string text = RandomSoftmax(cases.seed + static_cast<std::uint64_t>(i)).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", cases.seed + static_cast<std::uint64_t>(i), text));
    const Answer answer = answer_for(load_specs_from_text({{"softmax.yaml", text}}, {}));
    ASSERT_TRUE(answer.cost) << answer.cost.error().front().message;
    const Execution run = execute(answer.problem.workload, answer.problem.arch, answer.mapping);
    ASSERT_TRUE(run.is_legal()) << run.complaints.front().message;
    ASSERT_EQ(cli::disagreements(answer.problem, answer.cost, run), std::vector<std::string>{});
  }
}

/// A mapping without one of its collectives, or with it in the wrong place, is wrong for both.
TEST(CollectiveMapping, WithoutACollectiveModelAndExecutorRefuse) {
  const Answer whole = softmax_example();
  for (const std::size_t removed : {2U, 5U}) {
    Mapping mapping = whole.mapping;
    auto& children = std::get<SplitNode>(mapping.nodes.back().kind).children;
    ASSERT_TRUE(std::holds_alternative<CollectiveNode>(children[removed].front().kind));
    children.erase(children.begin() + static_cast<std::ptrdiff_t>(removed));
    const auto cost = evaluate(whole.problem, mapping, LatencyPolicy::kOverlap);
    ASSERT_FALSE(cost);
    EXPECT_EQ(cost.error().size(), 1U);
    EXPECT_EQ(cost.error().front().kind, ViolationKind::kCollective);
    EXPECT_FALSE(execute(whole.problem.workload, whole.problem.arch, mapping).is_legal());
  }
}

}  // namespace
}  // namespace sluice
