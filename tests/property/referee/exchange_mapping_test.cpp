// Collectives that bring a tensor from one layout to another: the model against the executor.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "report/document/disagreements.h"
#include "sluice/frontend/load.h"
#include "support/folders.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

struct ExchangeAnswer {
  BoundProblem problem;
  Mapping mapping;
  cli::Evaluation cost;
  Execution run;
};

ExchangeAnswer answer_for_exchange(const std::string& text) {
  auto specs = load_specs_from_text({{"exchange.yaml", text}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()) + "\n" + text);
  BoundProblem problem = *bind(*specs->workload, *specs->arch);
  Mapping mapping = specs->mappings.front();
  auto cost = evaluate(problem, mapping);
  Execution run = execute(problem.workload, problem.arch, mapping);
  return {std::move(problem), std::move(mapping), std::move(cost), std::move(run)};
}

/// A matrix product on some instances, and readers of its result on others. Loops over the
/// dimensions of the collective do what its type asks for (docs/collectives.md).
class RandomExchange {
 public:
  explicit RandomExchange(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    type_ = any({"all_reduce", "reduce_scatter", "all_gather", "gather", "broadcast", "scatter",
                 "all_to_all"});
    draw_dimensions();
    draw_loops();
    std::string collective = collective_node();
    if (chance(12)) spoil(collective);
    std::string children = maker() + collective + readers();
    std::string sizes;
    for (const auto& [name, size] : sizes_)
      sizes += fmt::format("{}{}: {}", sizes.empty() ? "" : ", ",
                           static_cast<char>(std::toupper(name)), size);
    std::string above = chance(50) ? "  - !Storage {tensors: [A, V], component: DRAM}\n"
                                     "  - !Storage {tensors: [B, U, W], component: DRAM}\n"
                                   : "  - !Storage {tensors: [A, B, V, U, W], component: DRAM}\n";
    return fmt::format(kText, sizes, pick(0, 1) ? "All: 8" : "C: 16, Other: 8",
                       has_second_ ? "\n  - \"W[m,n] = exp(C[m,n])\"" : "", network("ClusterNet"),
                       fanout("cx"), buffering(), network("CoreNet"), fanout("kx"), fanout("ky"),
                       buffering(), has_second_ ? above : without_w(above), shared_, children);
  }

 private:
  struct Loop {
    std::string dimension;
    char variable;  ///< 0: none
  };

  static std::string without_w(std::string text) {
    text.erase(text.find(", W"), 3);
    return text;
  }

  void draw_dimensions() {
    over_ = {"cx", "kx", "ky"};
    std::shuffle(over_.begin(), over_.end(), random_);
    over_.resize(static_cast<std::size_t>(pick(1, 2)));
    for (const char* name : {"cx", "kx", "ky"}) used_[name] = pick(2, 3);
    sizes_ = {{'m', pick(1, 2)}, {'n', pick(1, 2)}, {'k', pick(1, 2)}, {'l', pick(1, 2)}};
    has_second_ = chance(40);
  }

  bool is_over(const std::string& name) const {
    return std::find(over_.begin(), over_.end(), name) != over_.end();
  }

  void draw_loops() {
    const bool rows_first = chance(50);
    for (const char* name : {"cx", "kx", "ky"}) {
      if (!is_over(name)) continue;
      const char slice = rows_first != chance(30) ? 'm' : 'n';
      char from = 0, to = 0;
      if (type_ == "all_reduce" || type_ == "reduce_scatter") from = 'k';
      if (type_ == "all_gather" || type_ == "gather") from = slice;
      if (type_ == "all_reduce" || type_ == "all_gather" || type_ == "broadcast") to = 'l';
      if (type_ == "reduce_scatter" || type_ == "scatter") to = slice;
      if (type_ == "all_to_all") {
        const bool rows = rows_first != chance(10);
        from = rows ? 'm' : 'n';
        to = rows != chance(5) ? 'n' : 'm';
      }
      maker_.push_back({name, from});
      reader_.push_back({name, to});
      for (const char variable : {from, to})
        if (variable) sizes_[variable] *= used_[name];
    }
    if (chance(60)) {  // steps above the split
      shared_ += fmt::format("  - !Temporal {{rank_variable: m, tile_shape: {}}}\n", sizes_['m']);
      steps_ = 2;
    }
    if (!is_over("cx") && chance(40)) {  // groups side by side
      shared_ += fmt::format(
          "  - !Spatial {{rank_variable: m, tile_shape: {}, component: Cluster, name: cx}}\n",
          sizes_['m']);
      if (steps_ > 1) {
        const std::string old = fmt::format("tile_shape: {}}}", sizes_['m']);
        shared_.replace(shared_.find(old), old.size(),
                        fmt::format("tile_shape: {}}}", sizes_['m'] * used_["cx"]));
      }
      steps_ *= used_["cx"];
    }
    tile_ = sizes_;
    sizes_['m'] *= steps_;
  }

  bool any_loop(const std::vector<Loop>& loops, const std::string& prefix) const {
    return std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) {
      return loop.variable && loop.dimension.starts_with(prefix);
    });
  }

  /// The memory below all loops of one side, or further in.
  std::string memory_below(const std::vector<Loop>& loops) {
    return any_loop(loops, "k") || chance(50) ? "OB" : "GB";
  }

  std::string collective_node() {
    src_ = memory_below(maker_);
    dst_ = memory_below(reader_);
    if (chance(30)) src_ = dst_ = any_loop(maker_, "k") || any_loop(reader_, "k") ? "OB" : src_;
    const bool reduces = type_ == "all_reduce" || type_ == "reduce_scatter";
    std::string algorithm = any({"auto", "auto", "ring", "tree", "recursive_halving_doubling",
                                 "recursive_doubling", "direct", "per_dimension", "greedy_tree"});
    return fmt::format(
        "    - !Collective {{type: {}, tensor: C, {}src: {}, dst: {}, over: [{}], algorithm: "
        "{}}}\n",
        type_, reduces ? "op: sum, " : "", src_, dst_, fmt::join(over_, ", "), algorithm);
  }

  /// Something that is likely to be wrong.
  void spoil(std::string& collective) {
    const auto replace = [&](const std::string& old, const std::string& by) {
      const std::size_t at = collective.find(old);
      if (at != std::string::npos) collective.replace(at, old.size(), by);
    };
    switch (pick(0, 4)) {
      case 0:
        collective.clear();
        break;
      case 1:
        replace("op: sum, ", "");
        replace("type: " + type_,
                "type: " + any({"gather", "all_gather", "broadcast", "scatter", "all_to_all"}));
        break;
      case 2:
        for (const char* name : {"cx", "kx", "ky"})
          if (!is_over(name)) replace("over: [" + over_.front(), std::string("over: [") + name);
        break;
      case 3:
        replace("src: " + src_, "src: " + dst_);
        break;
      default:
        replace("dst: " + dst_, "dst: " + src_);
        break;
    }
  }

  /// Spatial loops, the tensor's node among them, then single points.
  std::string nest(std::vector<Loop> loops, const std::string& memory, std::vector<char> variables,
                   const std::string& einsum, const std::string& indent) {
    std::map<char, std::int64_t> left = tile_;
    std::string text;
    const auto add_loops = [&](const std::string& prefix, const std::string& component) {
      for (const Loop& loop : loops) {
        if (!loop.variable || !loop.dimension.starts_with(prefix)) continue;
        left[loop.variable] /= used_[loop.dimension];
        text += fmt::format(
            "{}- !Spatial {{rank_variable: {}, tile_shape: {}, component: {}, name: {}}}\n", indent,
            loop.variable, left[loop.variable], component, loop.dimension);
      }
    };
    std::shuffle(loops.begin(), loops.end(), random_);
    add_loops("c", "Cluster");
    if (memory == "GB") text += indent + "- !Storage {tensors: [C], component: GB}\n";
    add_loops("k", "Core");
    if (memory == "OB") text += indent + "- !Storage {tensors: [C], component: OB}\n";
    std::shuffle(variables.begin(), variables.end(), random_);
    for (char variable : variables)
      text += fmt::format("{}- !Temporal {{rank_variable: {}, tile_shape: 1}}\n", indent, variable);
    return text + fmt::format("{}- !Compute {{einsum: {}, component: SIMD}}\n", indent, einsum);
  }

  std::string maker() {
    return "    - !Nested\n      nodes:\n" + nest(maker_, src_, {'m', 'n', 'k'}, "C", "      ");
  }

  std::string readers() {
    const std::string first =
        "    - !Nested\n      nodes:\n" + nest(reader_, dst_, {'m', 'n', 'l'}, "U", "      ");
    if (!has_second_) return first;
    const bool copies = type_ == "all_reduce" || type_ == "all_gather" || type_ == "broadcast";
    if (type_ == "gather" && chance(50))  // one node for both
      return fmt::format(
                 "    - !Nested\n      nodes:\n      - !Storage {{tensors: [C], component: {}}}\n"
                 "      - !Sequential\n        nodes:\n        - !Nested\n          nodes:\n",
                 dst_) +
             nest({}, "", {'m', 'n', 'l'}, "U", "          ") +
             "        - !Nested\n          nodes:\n" + nest({}, "", {'m', 'n'}, "W", "          ");
    const std::string second =
        "    - !Nested\n      nodes:\n" +
        nest(copies ? std::vector<Loop>{} : reader_, dst_, {'m', 'n'}, "W", "      ");
    return chance(50) ? first + second : second + first;
  }

  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  std::string any(std::vector<const char*> values) { return values[random_() % values.size()]; }
  std::int64_t fanout(const std::string& name) { return used_[name] + (chance(30) ? 1 : 0); }
  const char* buffering() { return chance(25) ? "double" : "single"; }
  std::string network(const char* name) {
    return fmt::format(
        "!Network {{name: {}, topology: {}, channel_width: {}, link_bandwidth: {}, "
        "router_latency: {}, queue_latency: {}, hop_energy: {}}}",
        name, any({"mesh", "torus", "ring", "all_to_all", "all_to_all", "bus", "tree"}),
        pick(1, 64), pick(1, 9), pick(0, 3), pick(0, 3), pick(0, 3));
  }

  static constexpr const char* kText = R"yaml(
workload:
  rank_sizes: {{{}}}
  bits_per_value: {{{}}}
  einsums:
  - "C[m,n] = A[m,k] * B[k,n]"
  - "U[m,l] = C[m,n] * V[n,l]"{}
arch:
  nodes:
  - !Memory {{name: DRAM, size: inf, actions: [{{name: read, energy: 7, throughput: 3}}, {{name: write, energy: 5, throughput: 2}}]}}
  - {}
  - !Container {{name: Cluster, spatial: [{{name: cx, fanout: {}}}]}}
  - !Memory {{name: GB, size: inf, buffering: {}, actions: [{{name: read, energy: 3, throughput: 3}}, {{name: write, energy: 2, throughput: 2}}]}}
  - {}
  - !Container {{name: Core, spatial: [{{name: kx, fanout: {}}}, {{name: ky, fanout: {}}}]}}
  - !Memory {{name: OB, size: inf, buffering: {}, actions: [{{name: read, energy: 1, throughput: 9}}, {{name: write, energy: 1, throughput: 9}}]}}
  - !Compute {{name: SIMD, actions: [{{name: compute, energy: 1, throughput: 1}}]}}
mapping:
  nodes:
{}{}  - !Sequential
    nodes:
{})yaml";

  std::mt19937_64 random_;
  std::string type_, src_, dst_, shared_;
  std::vector<std::string> over_;
  std::map<std::string, std::int64_t> used_;
  std::map<char, std::int64_t> sizes_, tile_;
  std::vector<Loop> maker_, reader_;
  std::int64_t steps_ = 1;
  bool has_second_ = false;
};

ExchangeAnswer example() {
  auto specs = load_specs(
      {(testing::repository_dir() / "tests/golden/examples/5_gathered_softmax.yaml").string()}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  BoundProblem problem = *bind(*specs->workload, *specs->arch);
  auto cost = evaluate(problem, specs->mappings.front());
  Execution run = execute(problem.workload, problem.arch, specs->mappings.front());
  return {std::move(problem), specs->mappings.front(), std::move(cost), std::move(run)};
}

/// Counts of C in the Einsum that makes it.
std::int64_t count_of(const ExchangeAnswer& answer, const std::string& component,
                      const std::string& action) {
  for (const CountRow& row : answer.run.counts)
    if (answer.problem.arch[row.component].name == component && row.action == action &&
        answer.problem.workload[row.einsum].name == "C" && row.tensor &&
        answer.problem.workload[*row.tensor].name == "C")
      return row.count;
  return 0;
}

// In each of the 2 steps of m, 4 cores hold 2 rows × 4 columns of C, 8 values of 16 bits. The tree
// brings 8 from core 1 to core 0 of each cluster, then 16 from cluster 1 to cluster 0: 32 values.
// OB: 64 · 8 values added up, first sights free: 448 reads, and 2 · 32 sent; GB of cluster 0 gets
// 64.
TEST(ExchangeMapping, TheGatherOfASoftmaxByHand) {
  const ExchangeAnswer answer = example();
  ASSERT_TRUE(answer.run.is_legal()) << answer.run.complaints.front().message;
  EXPECT_EQ(cli::disagreements(answer.problem, answer.cost, answer.run),
            std::vector<std::string>{});
  EXPECT_EQ(answer.run.numbers.compared, 64 + 4 + 64 + 4 + 64);
  EXPECT_EQ(answer.run.numbers.differing, 0);
  EXPECT_EQ(count_of(answer, "OB", "read"), 64 * 8 - 64 + 64);
  EXPECT_EQ(count_of(answer, "OB", "write"), 64 * 8);
  EXPECT_EQ(count_of(answer, "GB", "write"), 64);
  std::map<std::string, NetworkCount> networks;
  for (const NetworkCount& row : answer.run.networks)
    if (!row.implicit) networks.emplace(answer.problem.arch[row.component].name, row);
  ASSERT_EQ(networks.size(), 2U);
  EXPECT_EQ(networks.at("CoreMesh").volume_bits, 2 * 2 * 8 * 16);
  EXPECT_EQ(networks.at("CoreMesh").bit_hops, 2 * 2 * 8 * 16);
  EXPECT_EQ(networks.at("CoreMesh").latency_hops, 2);
  EXPECT_EQ(networks.at("ClusterMesh").volume_bits, 2 * 16 * 16);
  EXPECT_EQ(networks.at("ClusterMesh").latency_hops, 2);
  // GB of a cluster: 2 × 8 values of A and 8 × 8 of B while C is made; 32 values of C, 32 of EX and
  // 2 of MX later. OB of a core: its 8 values of C.
  EXPECT_EQ(answer.run.occupancy[1].peak_bits, (16 + 64) * 16);
  EXPECT_EQ(answer.run.occupancy[2].peak_bits, 8 * 16);
}

TEST(ExchangeMapping, WithoutTheGatherTheReadersHaveNothing) {
  const ExchangeAnswer whole = example();
  Mapping mapping = whole.mapping;
  auto& children = std::get<SplitNode>(mapping.nodes.back().kind).children;
  ASSERT_TRUE(std::holds_alternative<CollectiveNode>(children[1].front().kind));
  children.erase(children.begin() + 1);
  EXPECT_FALSE(evaluate(whole.problem, mapping));
  EXPECT_FALSE(execute(whole.problem.workload, whole.problem.arch, mapping).is_legal());
}

// Two readers that want other slices: the same collective cannot bring both of them what they read.
TEST(ExchangeMapping, ReadersWithOtherSlicesAreRefused) {
  const std::string text = R"yaml(
workload:
  rank_sizes: {M: 6, N: 1, K: 1}
  bits_per_value: {All: 8}
  einsums: ["C[m,n] = A[m,k] * B[k,n]", "U[m,n] = exp(C[m,n])", "W[m,n] = exp(C[m,n])"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 7, throughput: 3}, {name: write, energy: 5, throughput: 2}]}
  - !Network {name: Net, topology: mesh, channel_width: 8, link_bandwidth: 8, router_latency: 1, queue_latency: 1, hop_energy: 1}
  - !Container {name: Core, spatial: [{name: kx, fanout: 3}, {name: ky, fanout: 2}]}
  - !Memory {name: OB, size: inf, actions: [{name: read, energy: 3, throughput: 3}, {name: write, energy: 2, throughput: 2}]}
  - !Compute {name: SIMD, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, B, U, W], component: DRAM}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Storage {tensors: [C], component: OB}
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Compute {einsum: C, component: SIMD}
    - !Collective {type: scatter, tensor: C, src: OB, dst: OB, over: [kx, ky], algorithm: tree}
    - !Nested
      nodes:
      - !Spatial {rank_variable: m, tile_shape: 2, component: Core, name: kx}
      - !Spatial {rank_variable: m, tile_shape: 1, component: Core, name: ky}
      - !Storage {tensors: [C], component: OB}
      - !Compute {einsum: U, component: SIMD}
    - !Nested
      nodes:
FIRST      - !Storage {tensors: [C], component: OB}
      - !Compute {einsum: W, component: SIMD}
)yaml";
  const auto with = [&](const std::string& loops) {
    std::string whole = text;
    whole.replace(whole.find("FIRST"), 5, loops);
    return answer_for_exchange(whole);
  };
  const ExchangeAnswer same = with(
      "      - !Spatial {rank_variable: m, tile_shape: 2, component: Core, name: kx}\n"
      "      - !Spatial {rank_variable: m, tile_shape: 1, component: Core, name: ky}\n");
  ASSERT_TRUE(same.run.is_legal()) << same.run.complaints.front().message;
  EXPECT_EQ(cli::disagreements(same.problem, same.cost, same.run), std::vector<std::string>{});
  const ExchangeAnswer other = with(
      "      - !Spatial {rank_variable: m, tile_shape: 3, component: Core, name: ky}\n"
      "      - !Spatial {rank_variable: m, tile_shape: 1, component: Core, name: kx}\n");
  EXPECT_FALSE(other.run.is_legal());
  ASSERT_FALSE(other.cost);
  EXPECT_THAT(other.cost.error().front().message, ::testing::HasSubstr("slice it differently"));
}

TEST(ExchangeMapping, RandomOnesOfAllTypesCountAsTheModel) {
  const testing::RandomCases cases = testing::random_cases(700);
  std::map<std::string, int> legal;
  int n_legal = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const std::string text = RandomExchange(seed).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const ExchangeAnswer answer = answer_for_exchange(text);
    if (answer.cost) {
      const std::size_t type = text.find("type: ", text.find("!Collective")) + 6;
      ASSERT_NE(text.find("!Collective"), std::string::npos);
      ++legal[text.substr(type, text.find(',', type) - type)];
      ++n_legal;
    }
    ASSERT_EQ(cli::disagreements(answer.problem, answer.cost, answer.run),
              std::vector<std::string>{});
    ASSERT_EQ(answer.cost.has_value(), answer.run.is_legal());
  }
  if (cases.count < 200) return;
  EXPECT_LT(n_legal, cases.count);
  EXPECT_GT(n_legal, cases.count / 2);
  EXPECT_EQ(legal.size(), 7U);
}

}  // namespace
}  // namespace sluice
