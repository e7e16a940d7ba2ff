// `compound` and `fused` where their spaces meet: two searches that share nothing but the model, on
// problems too large for brute force.
#include <gtest/gtest.h>

#include "oracle/compound/agreement_case.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "support/random_cases.h"

namespace sluice {
namespace {

constexpr double kMostPriced = 10'000;  ///< of a complete search by `compound`

struct Found {
  std::optional<Mapping> mapping;
  double value = std::numeric_limits<double>::infinity();  ///< the objective, by the model
  Guarantee guarantee;
  bool is_proven = false;
};

Found found_by(const std::string& mapper, const oracle::AgreementCase& drawn, Objective objective) {
  MapperOptions options;
  options.objectives = {objective};
  options.constraints = drawn.constraints;
  options.imperfect_factors = drawn.imperfect;
  options.max_fused_loops = drawn.max_fused_loops;
  options.max_fused_loops_per_rank = kUnlimitedLoops;  // as in `compound`
  if (mapper == "compound") options.budget_evaluations = kMostPriced;
  const auto answer = run_mapper(*standard_mappers().find(mapper), drawn.problem, options, {});
  Found found;
  found.is_proven =
      answer ? answer->guarantee.kind == GuaranteeKind::kOptimal : answer.error().proven;
  if (!answer) return found;
  found.mapping = answer->mappings.front().mapping;
  found.guarantee = answer->guarantee;
  const auto cost = evaluate(drawn.problem, *found.mapping, LatencyPolicy::kOverlap);
  EXPECT_TRUE(cost.has_value());
  if (cost) found.value = objective_value(objective, *cost);
  return found;
}

/// Whether the root's node holds fewer tensors than there are.
bool stays_on_chip(const oracle::AgreementCase& drawn, const Mapping& mapping) {
  const auto* root = std::get_if<StorageNode>(&mapping.nodes.front().kind);
  return root != nullptr && root->tensors.size() < drawn.problem.workload.tensors.size();
}

/// `tiles`: what the loops around leave of each variable that has some.
bool has_uneven_tiles(const oracle::AgreementCase& drawn, const NodeList& nodes,
                      std::map<RankVariableId, std::int64_t> tiles) {
  const auto walk = [&](RankVariableId variable, std::int64_t tile) {
    const auto [at, is_new] = tiles.try_emplace(variable, 1);
    for (const Einsum& einsum : drawn.problem.workload.einsums)
      for (const VariableRange& range : einsum.iteration_space)
        if (is_new && range.variable == variable) at->second = range.size;
    return std::exchange(at->second, tile) % tile != 0;
  };
  for (const Node& node : nodes) {
    if (const auto* loop = std::get_if<TemporalNode>(&node.kind))
      if (walk(loop->variables.front(), loop->tile_shape)) return true;
    if (const auto* loop = std::get_if<SpatialNode>(&node.kind))
      if (walk(loop->variables.front(), loop->tile_shape)) return true;
    if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children)
        if (has_uneven_tiles(drawn, child, tiles)) return true;
  }
  return false;
}

struct Tally {
  std::int64_t equal = 0;      ///< the same to the last bit, as they must be
  std::int64_t on_chip = 0;    ///< of these, with a tensor that never leaves the chip
  std::int64_t uneven = 0;     ///< of these, with a tile that does not divide the one around it
  std::int64_t contained = 0;  ///< `compound` is not below, and need not be equal
  std::int64_t nothing = 0;    ///< both prove that nothing is legal
  std::int64_t unproven = 0;   ///< `compound` did not search everything: its bound is not above
};

void count_equal(const oracle::AgreementCase& drawn, const Mapping& mapping, Tally* tally) {
  ++tally->equal;
  tally->on_chip += stays_on_chip(drawn, mapping) ? 1 : 0;
  tally->uneven += has_uneven_tiles(drawn, mapping.nodes, {}) ? 1 : 0;
}

void count(const oracle::AgreementCase& drawn, const Found& compound, Tally* tally) {
  if (!compound.is_proven)
    ++tally->unproven;
  else if (!compound.mapping)
    ++tally->nothing;
  else if (!drawn.is_same_space)
    ++tally->contained;
  else
    count_equal(drawn, *compound.mapping, tally);
}

bool agree(const oracle::AgreementCase& drawn, const Found& fused, const Found& compound) {
  if (!fused.is_proven) return false;
  if (!compound.is_proven) return compound.guarantee.bound <= fused.value;
  return drawn.is_same_space ? compound.value == fused.value : compound.value >= fused.value;
}

std::string text_of(const char* name, const oracle::AgreementCase& drawn, const Found& found) {
  return fmt::format(
      "# {}: {}{}\n{}", name, found.value, found.is_proven ? "" : " (not proven)",
      found.mapping ? to_yaml(*found.mapping, drawn.problem.workload, drawn.problem.arch) : "");
}

TEST(CompoundAndFused, AgreeToTheLastBitWhereTheirSpacesMeet) {
  constexpr Objective kObjectives[] = {Objective::kEnergy, Objective::kLatency, Objective::kEdp};
  const testing::RandomCases cases = testing::random_cases(200);
  Tally tally;
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    const oracle::AgreementCase drawn = oracle::random_agreement_case(seed);
    const Objective objective = kObjectives[seed % 3];
    const Found fused = found_by("fused", drawn, objective);
    const Found compound = found_by("compound", drawn, objective);
    ASSERT_TRUE(agree(drawn, fused, compound))
        << "seed " << seed << "\n"
        << text_of("fused", drawn, fused) << text_of("compound", drawn, compound) << drawn.yaml;
    count(drawn, compound, &tally);
  }
  RecordProperty("equal", std::to_string(tally.equal));
  RecordProperty("on_chip", std::to_string(tally.on_chip));
  RecordProperty("uneven", std::to_string(tally.uneven));
  RecordProperty("contained", std::to_string(tally.contained));
  RecordProperty("nothing", std::to_string(tally.nothing));
  RecordProperty("unproven", std::to_string(tally.unproven));
  if (cases.count < 100) return;
  EXPECT_GE(tally.equal, cases.count / 2);
  EXPECT_GE(tally.on_chip, cases.count / 5);
  EXPECT_GE(tally.uneven, cases.count / 50);
  EXPECT_GE(tally.contained, cases.count / 10);
}

}  // namespace
}  // namespace sluice
