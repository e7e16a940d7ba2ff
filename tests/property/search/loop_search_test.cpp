// The search of one template loop by loop: every tile shape of every template, one by one, finds
// nothing better, and the trees over which it goes say what is below their nodes.
#include "mapper/fused/tiles/loop_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mapper/space/template_lists.h"
#include "oracle/compare.h"
#include "support/random_cases.h"

namespace sluice::fused {
namespace {

using RowKind = SimpleProgram::RowKind;

/// The templates of the first Einsum of a random problem, alone, with no memory followed.
class CompiledCase {
 public:
  explicit CompiledCase(std::uint64_t seed)
      : drawn_(oracle::random_case(seed, {.max_nests = 2'000, .max_evaluations = 50},
                                   oracle::kAllExtras)),
        unlimited_(drawn_.problem.arch.components.size(), false) {
    shapes_.push_back(make_einsum_shape(drawn_.problem, EinsumId(0)));
    lists_ = TemplateLists(drawn_.problem, shapes_, drawn_.options);
    TileSearchContext context{};
    context.problem = &drawn_.problem;
    context.shape = shapes_.data();
    context.options = &drawn_.options;
    context.constraints = &drawn_.options.constraints;
    context.tracked = &tracked_;
    context.unlimited = &unlimited_;
    context.any_exchange = true;
    for (const Template& templ : lists_[0])
      compiled_.push_back(compile_template(context, templ, &tables_));
    number_columns(compiled_);
  }

  const std::vector<CompiledTemplate>& templates() const { return compiled_; }
  const BoundEinsum& einsum() const { return drawn_.problem[EinsumId(0)]; }

 private:
  oracle::RandomCase drawn_;
  std::vector<EinsumShape> shapes_;
  TemplateLists lists_;
  std::vector<TrackedMemory> tracked_;
  std::vector<bool> unlimited_;
  StateTables tables_;
  std::vector<CompiledTemplate> compiled_;
};

/// Energy and latency of a tile shape; none where it exceeds a limit.
std::optional<EnergyLatency> cost_of(const SimpleProgram& program,
                                     const std::vector<std::uint32_t>& states) {
  EnergyLatency cost;
  for (const SimpleProgram::SimpleRow& row : program.rows) {
    double sum = row.constant;
    for (const RowTerm& term : row.terms) {
      double product = term.coefficient;
      for (std::size_t c = 0; c < states.size(); ++c)
        if (const std::int32_t k = program.products[term.monomial].column[c]; k >= 0)
          product *= program.columns[c][static_cast<std::size_t>(k)]->values[states[c]];
      sum += product;
    }
    if (row.kind == RowKind::kLimit && sum > row.limit) return std::nullopt;
    if (row.kind == RowKind::kEnergy) cost.energy = sum;
    if (row.kind == RowKind::kLatency) cost.latency = std::max(cost.latency, sum);
  }
  cost.energy += program.leak_w * cost.latency;
  return cost;
}

/// Calls `take` with every tile shape of a template, as states per class.
template <class Take>
void for_each_shape(const CompiledTemplate& compiled, const Take& take) {
  std::vector<std::uint32_t> states(compiled.tables.size(), 0);
  for (;;) {
    take(states);
    std::size_t c = 0;
    while (c < states.size() && ++states[c] == compiled.tables[c]->states.size()) states[c++] = 0;
    if (c == states.size()) return;
  }
}

LoopSearchRequest request_of(const CompiledTemplate& compiled, const BoundEinsum& einsum,
                             const SearchBound& bound) {
  LoopSearchRequest request;
  request.classes = &compiled.classes;
  request.tables = &compiled.tables;
  request.program = &compiled.program;
  request.bound = bound;
  request.fanouts = fanouts_of(einsum);
  return request;
}

/// Two searches at once, from the beginning and with what is worth going on with.
std::vector<LoopSearchResult> searched(const CompiledTemplate& compiled, const BoundEinsum& einsum,
                                       const SearchBound& bound) {
  LoopSearchRequest request = request_of(compiled, einsum, bound);
  std::vector<LoopSearchResult> results{search_loops(request)};
  const auto starts = find_starts(request);
  request.starts = &*starts;
  results.push_back(search_loops(request));
  EXPECT_EQ(results[0].found, results[1].found);
  if (results[0].found) {
    EXPECT_EQ(results[0].states, results[1].states);
    EXPECT_LE(starts->bound * (1 - 1e-12),
              objective_value(bound.objective, results[0].cost.energy, results[0].cost.latency));
  }
  return results;
}

void expect_least(const CompiledTemplate& compiled, const BoundEinsum& einsum, Objective objective,
                  std::uint64_t seed) {
  double least = std::numeric_limits<double>::infinity();
  for_each_shape(compiled, [&](const std::vector<std::uint32_t>& states) {
    if (const auto cost = cost_of(compiled.program, states))
      least = std::min(least, objective_value(objective, cost->energy, cost->latency));
  });
  SearchBound bound{.objective = objective};
  std::vector<LoopSearchResult> results = searched(compiled, einsum, bound);
  ASSERT_EQ(results.front().found, std::isfinite(least)) << "seed " << seed;
  if (!results.front().found) return;
  bound.tighten(least);
  for (const LoopSearchResult& found : searched(compiled, einsum, bound)) results.push_back(found);
  LoopSearchRequest narrow = request_of(compiled, einsum, {.objective = objective});
  narrow.beam = 1'000'000;  // drops nothing
  results.push_back(search_loops(narrow));
  for (const LoopSearchResult& found : results) {
    ASSERT_TRUE(found.found) << "seed " << seed;
    const auto cost = cost_of(compiled.program, found.states);
    ASSERT_TRUE(cost.has_value()) << "seed " << seed;
    EXPECT_NEAR(objective_value(objective, cost->energy, cost->latency), least, 1e-12 * least)
        << "seed " << seed;
    EXPECT_NEAR(found.cost.energy, cost->energy, 1e-12 * cost->energy) << "seed " << seed;
    EXPECT_NEAR(found.cost.latency, cost->latency, 1e-12 * cost->latency) << "seed " << seed;
  }
  if (least == 0) return;
  bound = {.active = true, .objective = objective, .limit = least * (1 - 1e-6)};
  EXPECT_FALSE(searched(compiled, einsum, bound).front().found) << "seed " << seed;
}

TEST(LoopSearch, FindsWhatNoTileShapeOfATemplateIsBelow) {
  constexpr double kMostShapes = 20'000;
  const testing::RandomCases cases = testing::random_cases(60);
  int compared = 0;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const CompiledCase drawn(seed);
    int of_case = 0;
    for (const CompiledTemplate& compiled : drawn.templates()) {
      if (compiled.considered == 0 || compiled.considered > kMostShapes ||
          !compiled.program.feasible || !compiled.program.monotone)
        continue;
      for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp})
        expect_least(compiled, drawn.einsum(), objective, seed);
      if (::testing::Test::HasFatalFailure() || ++of_case == 10) break;
    }
    compared += of_case;
  }
  EXPECT_GT(compared, cases.count / 2);
}

/// The states below a node, in the order of their trip counts.
void collect(const StateTrie& trie, std::uint32_t node, std::vector<std::uint32_t>* states) {
  const StateTrie::Node& own = trie.nodes()[node];
  if (own.n == 0) states->push_back(own.state);
  for (std::uint32_t c = own.first; c < own.first + own.n; ++c) collect(trie, c, states);
}

void expect_columns_of_tree(const CompiledTemplate& compiled, std::size_t cls) {
  StateTable& table = *compiled.tables[cls];
  std::vector<std::uint32_t> order(compiled.classes[cls].loops.size());
  for (std::uint32_t l = 0; l < order.size(); ++l) order[l] = l;
  StateTrie& trie = table.trie(order);
  for (const Column* column : compiled.program.columns[cls]) {
    const TrieColumn& own = trie.column(*column);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> alike;  // a node of each kind
    for (std::uint32_t node = 0; node < trie.nodes().size(); ++node) {
      std::vector<std::uint32_t> states, others;
      collect(trie, node, &states);
      double least = std::numeric_limits<double>::infinity(), most = 0;
      for (const std::uint32_t state : states) {
        least = std::min(least, column->values[state]);
        most = std::max(most, column->values[state]);
      }
      ASSERT_EQ(own.least(node), least);
      ASSERT_EQ(own.most(node), most);
      ASSERT_EQ(own.shape(node) == TrieColumn::kConstant, least == most);
      const std::uint32_t other =
          alike.try_emplace({trie.structure(node), own.shape(node)}, node).first->second;
      if (most == 0) continue;
      collect(trie, other, &others);
      ASSERT_EQ(others.size(), states.size());
      for (std::size_t s = 0; s < states.size(); ++s)
        ASSERT_NEAR(column->values[states[s]] * own.most(other),
                    column->values[others[s]] * own.most(node),
                    1e-12 * own.most(other) * own.most(node));
    }
  }
}

TEST(StateTrie, KnowsWhatIsBelowItsNodes) {
  const testing::RandomCases cases = testing::random_cases(20);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const CompiledCase drawn(cases.seed + static_cast<std::uint64_t>(i));
    if (drawn.templates().empty()) continue;
    const CompiledTemplate& compiled = drawn.templates().back();
    if (compiled.considered == 0) continue;
    for (std::size_t cls = 0; cls < compiled.classes.size(); ++cls) {
      if (compiled.tables[cls]->states.size() > 500) continue;
      expect_columns_of_tree(compiled, cls);
      if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << cases.seed << " + " << i;
    }
  }
}

}  // namespace
}  // namespace sluice::fused
