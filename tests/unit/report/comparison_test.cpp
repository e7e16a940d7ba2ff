#include "sluice/report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/document/tree_lines.h"
#include "report/text/comparison_text.h"
#include "small_result.h"

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// As small_result, with a DRAM that reads for 4 J instead of 2 J, and another tile.
RunResult other_result() {
  RunResult result = testing::small_result();
  result.options->objectives = {Objective::kLatency};
  Cost& cost = *result.outcomes.front().cost;
  cost.energy.front().energy_j = 4;
  cost.energy_j += 2;
  std::get<TemporalNode>(result.outcomes.front().mapping.nodes[1].kind).tile_shape = 2;
  return result;
}

std::string marks(const std::vector<TreeLine>& lines) {
  std::string text;
  for (const TreeLine& line : lines) text += line.mark;
  return text;
}

const ComparedTable& table(const ResultComparison& comparison, const std::string& name) {
  for (const ComparedTable& table : comparison.tables)
    if (table.name == name) return table;
  throw std::out_of_range(name);
}

TEST(Comparison, HasTheRowsThatDiffer) {
  const auto found = compare_results(
      {{"a", document_text(testing::small_result())}, {"b", document_text(other_result())}});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->names, ElementsAre("a", "b"));
  ASSERT_EQ(found->requests.size(), 1u);
  EXPECT_EQ(found->requests[0].name, "objective");
  const ComparedTable& energy = table(*found, "energy_by_component");
  ASSERT_EQ(energy.rows.size(), 1u);  // DRAM: 2 + 1 + 0.25 J, and 2 J more; MAC is equal
  EXPECT_THAT(energy.rows[0].values, ElementsAre(3.25, 5.25));
  EXPECT_EQ(energy.n_equal, 1u);
  EXPECT_TRUE(table(*found, "latency_by_einsum").rows.empty());
  EXPECT_EQ(marks(found->trees.at(0)), " -+ ");
}

TEST(Comparison, KnowsNoSumOfWhatIsUnknown) {
  RunResult unknown = testing::small_result();
  Cost& cost = *unknown.outcomes.front().cost;
  cost.energy.front().energy_j = std::numeric_limits<double>::quiet_NaN();
  cost.energy_j = std::numeric_limits<double>::quiet_NaN();
  const auto found = compare_results(
      {{"a", document_text(testing::small_result())}, {"b", document_text(unknown)}});
  ASSERT_TRUE(found);
  const ComparedTable& energy = table(*found, "energy_by_component");
  ASSERT_EQ(energy.rows.size(), 1u);  // DRAM, of which b knows 1.25 J only
  EXPECT_THAT(energy.rows[0].values, ElementsAre(3.25, std::nullopt));
}

TEST(Comparison, TellsUnitsOfWhatDiffersInTheMachine) {
  const auto reading_for = [](double joules) {
    RunResult result = testing::small_result();
    Action read;
    read.name = "read";
    read.energy_j = joules;
    result.problem->arch.components.front().actions = {read};
    return document_text(result);
  };
  const auto found = compare_results({{"a", reading_for(1e-12)}, {"b", reading_for(2e-12)}});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->requests.size(), 1u);
  EXPECT_EQ(found->requests[0].name, "DRAM read energy (J)");
  EXPECT_THAT(found->requests[0].texts, ElementsAre("1e-12", "2e-12"));
}

TEST(Comparison, IsATextWithTheNamesOfFiles) {
  const Console console{std::cout, std::cerr};
  const auto found = compare_results({{"a.json", document_text(testing::small_result())},
                                      {"b.json", document_text(other_result())}});
  const std::string text = comparison_text(console, *found);
  EXPECT_THAT(text, HasSubstr("a.json"));
  EXPECT_THAT(text, HasSubstr("×1.62"));  // 5.25 / 3.25
  EXPECT_THAT(text, HasSubstr("- for m of 1\n+ for m of 2\n"));
}

TEST(Comparison, RefusesWhatIsNoResult) {
  const std::string good = document_text(testing::small_result());
  const auto message = [&](const std::string& text) {
    const auto found = compare_results({{"good", good}, {"bad", text}});
    return found ? "" : found.error().front().message;
  };
  EXPECT_EQ(message("{"), "this is no result document");
  EXPECT_EQ(message(R"({"schema": "sluice.bounds/1"})"),
            "this is a document of the schema sluice.bounds/1");
  EXPECT_EQ(message(R"({"schema": "sluice.result/1", "status": "no_mapping", "mappings": []})"),
            "this result has no mapping with a price (status no_mapping)");
  EXPECT_THAT(
      message(R"({"schema": "sluice.result/1", "mappings": [{"energy_j": 1, "efficiency": 3}]})"),
      HasSubstr("damaged"));
  EXPECT_FALSE(compare_results({{"one", good}}));
}

TEST(TreeLines, AreMarkedAsFewAsPossible) {
  EXPECT_EQ(marks(changed_lines({"a", "b", "c", "d"}, {"a", "c", "x", "d"})), " - + ");
  EXPECT_TRUE(changed_lines({"a"}, {"a"}).empty());
  EXPECT_EQ(marks(changed_lines({}, {"a"})), "+");
}

}  // namespace
}  // namespace sluice::cli
