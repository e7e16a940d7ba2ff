// Row-wise fusion through affine accesses: the fused mapper against every mapping of the same
// space, each priced by the model and run literally, on random chains of one-dimensional
// convolutions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "oracle/executed.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

/// A search; its exception, if any, is a failure that names the case.
tl::expected<MapperResult, NoMapping> search(const char* mapper, const BoundProblem& problem,
                                             const MapperOptions& options) {
  try {
    return run_mapper(*standard_mappers().find(mapper), problem, options, {});
  } catch (const std::exception& broken) {
    ADD_FAILURE() << broken.what();
    return tl::make_unexpected(NoMapping{});
  }
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int from(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

 private:
  std::mt19937_64 engine_;
};

/// The windows of one layer along one dimension: how it reads the layer before, and what for.
struct Window {
  std::string index, kernel_rank, kernel_index;
  int rows = 1;  ///< of the layer before
};

Window random_window(Dice& dice, const std::string& rank, const std::string& kernel_rank,
                     const std::string& in, const std::string& out, int rows) {
  const std::string p = static_cast<char>(std::tolower(rank[0])) + out;
  const std::string r = static_cast<char>(std::tolower(kernel_rank[0])) + out;
  const int kernel = dice.from(1, 3), stride = kernel > 1 && dice.from(1, 3) == 1 ? 2 : 1;
  const int padding = dice.from(0, 3) == 0 ? kernel / 2 : 0;
  return {fmt::format("{}{}:{}{}+{}{}", rank, in, stride == 1 ? "" : "2*", p, r,
                      padding == 0 ? "" : fmt::format("-{}", padding)),
          fmt::format("{}{}: {}, ", kernel_rank, out, kernel), r,
          std::max(1, stride * (rows - 1) + kernel - 2 * padding)};
}

/// A chain of two or three windows over rows, some with strides, padding, channels or a plain
/// Einsum in between; a buffer of some hundred bits. Half of them with few rows, some of these in
/// two dimensions, and few nodes on a buffer of few values: their mappings can be walked.
std::string random_chain(std::uint64_t seed) {
  Dice dice(seed);
  const bool is_small = dice.from(0, 1) == 0;
  const int layers = dice.from(0, 2) == 0 ? 3 : 2;
  std::string ranks, einsums;
  int rows = dice.from(1, 3);  // of the last layer
  rows = rows == 3 && !is_small ? 6 : 2 * std::min(rows, 2);
  const bool is_plane = is_small && layers == 2 && dice.from(0, 2) == 0;
  int columns = 2;
  const std::string q =
      !is_plane && dice.from(0, 2) == 0 ? ",q" : "";  // plain where nothing slides
  if (!q.empty()) ranks += "Q: 2, ";
  const auto place = [&](const std::string& layer) {
    return fmt::format("p{0}{1}", layer, is_plane ? ",q" + layer : q);
  };
  std::vector<std::string> lines;
  for (int layer = layers; layer > 0; --layer) {
    const std::string out = std::to_string(layer), in = std::to_string(layer - 1);
    ranks += fmt::format("P{}: {}, ", out, rows);
    if (is_plane) ranks += fmt::format("Q{}: {}, ", out, columns);
    const bool plain = (layer > 1 || is_small) && layer < layers && dice.from(0, 2) == 0;
    if (plain) {
      lines.push_back(fmt::format("T{0}[{1}] = T{2}[P{2}:p{0}{3}] * W{0}[{1}]", out, place(out), in,
                                  is_plane ? fmt::format(",Q{}:q{}", in, out) : q));
      continue;
    }
    const Window high = random_window(dice, "P", "R", in, out, rows);
    ranks += high.kernel_rank;
    rows = high.rows;
    std::string read = high.index + q, weight = high.kernel_index;
    if (is_plane) {
      const Window wide = random_window(dice, "Q", "S", in, out, columns);
      ranks += wide.kernel_rank;
      columns = wide.rows;
      read += "," + wide.index;
      weight += "," + wide.kernel_index;
    }
    lines.push_back(
        fmt::format("T{}[{}] = T{}[{}] * W{}[{}]", out, place(out), in, read, out, weight));
  }
  ranks += fmt::format("P0: {}", rows);
  if (is_plane) ranks += fmt::format(", Q0: {}", columns);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    einsums += "  - \"" + *line + "\"\n";
  const int fanout = is_small ? 1 : dice.from(1, 2);
  const std::string usage = dice.from(0, 2) == 0 ? ", min_usage: 1" : "";
  return fmt::format(R"(
workload:
  rank_sizes: {{{}}}
  bits_per_value: {{All: 8}}
  einsums:
{}arch:
  nodes:
  - !Memory {{name: Main, size: inf, tensors: {{keep: ~Intermediates, may_keep: All}},
             actions: [{{name: read, energy: 64, throughput: 4}}, {{name: write, energy: 32, throughput: 8}}]}}
  - !Memory {{name: Buffer, size: {}, tensors: {{keep: {}}},
             actions: [{{name: read, energy: 4, throughput: 16}}, {{name: write, energy: 2, throughput: 16}}]}}
  - !Container {{name: PE, spatial: [{{name: x, fanout: {}{}}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 1, throughput: 1}}]}}
)",
                     ranks, einsums,
                     8 * (is_plane   ? dice.from(2, 16)
                          : is_small ? dice.from(1, 8)
                                     : dice.from(3, 24)),
                     is_small ? "Intermediates" : "All", fanout, usage);
}

TEST(RowFusion, FindsTheBestOfAllMappingsAndRunsAsTheModelSays) {
  const testing::RandomCases cases = testing::random_cases(90);
  int compared = 0, better = 0, n_planes = 0, n_equal_planes = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const std::string text = random_chain(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const auto specs = load_specs_from_text({{"chain.yaml", text}}, {});
    ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
    const auto problem = bind(*specs->workload, *specs->arch);
    ASSERT_TRUE(problem.has_value());
    MapperOptions options;
    const Objective objective = objective_table()[seed % objective_table().size()].objective;
    options.objectives = {objective};
    const auto without = search("fused", *problem, options);
    options.row_fusion = true;
    const auto fused = search("fused", *problem, options);
    if (without) {
      ASSERT_TRUE(fused.has_value());
      const double before = objective_value(objective, without->mappings.front().cost);
      const double now = objective_value(objective, fused->mappings.front().cost);
      EXPECT_LE(now, before);
      better += now < before;
    }
    if (fused) {
      const MappedResult& best = fused->mappings.front();
      EXPECT_EQ(oracle::executed_otherwise(*problem, best.mapping, best.cost), std::nullopt);
    }
    options.budget_evaluations = 4000;
    const auto all = search("exhaustive", *problem, options);
    const bool complete = all ? all->guarantee.kind == GuaranteeKind::kOptimal : all.error().proven;
    if (!complete) continue;
    ++compared;
    ASSERT_EQ(all.has_value(), fused.has_value());
    if (!all) continue;
    const double least = objective_value(objective, all->mappings.front().cost);
    const double found = objective_value(objective, fused->mappings.front().cost);
    // Of windows in two dimensions `fused` has what one of them alone passes on.
    EXPECT_LE(least, found);
    const bool is_plane = text.find("Q0:") != std::string::npos;
    if (!is_plane) EXPECT_EQ(least, found);
    n_planes += is_plane;
    n_equal_planes += is_plane && least == found;
  }
  // Of 100 draws about 50 are small enough to be walked whole, and 35 better with rows.
  RecordProperty("compared", compared);
  RecordProperty("better", better);
  EXPECT_GE(compared, cases.count / 3);
  EXPECT_GE(n_equal_planes * 10, n_planes * 9);
  EXPECT_GE(better, cases.count / 10);
}

TEST(RowFusion, TilesOfTrillionsOfValuesAreNoRows) {
  const auto specs = load_specs_from_text({{"large.yaml", R"(
workload:
  rank_sizes: {M: 4398046511104, K: 2, N: 2, J: 2}
  bits_per_value: {All: 8}
  einsums:
  - "B[m,n] = A[m,k] * W[k,n]"
  - "C[m,j] = B[m,n] * V[n,j]"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 64, throughput: 4}, {name: write, energy: 32, throughput: 8}]}
  - !Memory {name: Buffer, size: 35184372088832, tensors: {keep: All},
             actions: [{name: read, energy: 4, throughput: 16}, {name: write, energy: 2, throughput: 16}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)"}},
                                          {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  const auto problem = bind(*specs->workload, *specs->arch);
  ASSERT_TRUE(problem.has_value());
  EXPECT_TRUE(search("fused", *problem, {}).has_value());
}

}  // namespace
}  // namespace sluice
