#include "report/document/result_document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "small_result.h"

namespace sluice::cli {
namespace {

using testing::small_result;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

using Keys = std::vector<std::string>;

TEST(ResultDocument, HasTheKeysOfItsSchema) {
  const Json document = to_document(small_result());
  EXPECT_EQ(keys_of(document),
            (Keys{"schema", "sluice", "command", "status", "workload", "arch", "mapper",
                  "objective", "latency_policy", "seed", "options", "guarantee", "mappings",
                  "machine", "sources", "search", "diagnostics"}));
  EXPECT_EQ(document["schema"], "sluice.result/1");
  EXPECT_EQ(keys_of(document["guarantee"]),
            (Keys{"kind", "space", "leaves_out", "orders_explored", "orders_wanted", "epsilon",
                  "bound", "found_over_bound"}));
  EXPECT_EQ(keys_of(document["search"]),
            (Keys{"seconds", "threads", "mappings_considered", "mappings_evaluated",
                  "pmappings_kept", "convergence", "ended_by", "peak_rss_bytes"}));
  EXPECT_EQ(keys_of(document["mappings"][0]),
            (Keys{"energy_j",       "latency_s",  "latency_cycles",      "breakdown",
                  "edp_js",         "area_m2",    "leak_energy_j",       "efficiency",
                  "energy",         "latency",    "collectives",         "collective_latency",
                  "occupancy",      "bounds",     "fusion_groups",       "unpriced_merge_values",
                  "padding_values", "node_sizes", "occupancy_over_time", "mapping"}));
}

TEST(ResultDocument, SaysHowFarAGapIs) {
  RunResult result = small_result();
  result.guarantee->kind = GuaranteeKind::kGap;
  result.guarantee->bound = 0.75;  // 3 J × 0.25 s
  const Json guarantee = to_document(result)["guarantee"];
  EXPECT_EQ(guarantee["kind"], "gap");
  EXPECT_EQ(guarantee["bound"], 0.75);
  EXPECT_EQ(guarantee["found_over_bound"], 2.5);  // 3.75 J × 0.5 s over it
  EXPECT_TRUE(to_document(small_result())["guarantee"]["bound"].is_null());
}

TEST(ResultDocument, WritesRowsWithNames) {
  const Json mapping = to_document(small_result())["mappings"][0];
  EXPECT_EQ(mapping["energy"][0].dump(),
            R"({"component":"DRAM","einsum":"Mul","tensor":"A","action":"read","count":8.0,)"
            R"("bits":64.0,"actions":64.0,"energy_j":2.0})");
  EXPECT_EQ(mapping["latency"][1].dump(),
            R"({"einsum":"Mul","component":"MAC","latency_s":0.125})");
  EXPECT_EQ(mapping["fusion_groups"].dump(), R"([["Mul"]])");
}

TEST(ResultDocument, IsNullWhereAValueDoesNotApply) {
  const Json mapping = to_document(small_result())["mappings"][0];
  EXPECT_TRUE(mapping["latency_cycles"].is_null());
  EXPECT_TRUE(mapping["energy"][2]["bits"].is_null());    // compute has no bits
  EXPECT_TRUE(mapping["energy"][3]["tensor"].is_null());  // leakage has no tensor
  EXPECT_TRUE(mapping["energy"][3]["count"].is_null());
  EXPECT_TRUE(mapping["occupancy"][0]["capacity_bits"].is_null());  // DRAM has no limit
}

TEST(ResultDocument, WritesNumbersThatReadBackToTheSameBits) {
  RunResult result = small_result();
  for (const double value : {0.1 + 0.2, 1.0 / 3, 22.154125469613824, 5e-324, 1.7e308}) {
    result.outcomes[0].cost->energy_j = value;
    const Json document = Json::parse(document_text(to_document(result)));
    EXPECT_EQ(document["mappings"][0]["energy_j"].get<double>(), value);
  }
}

TEST(ResultDocument, WritesTheMappingAsAStructure) {
  const Json nodes = to_document(small_result())["mappings"][0]["mapping"]["nodes"];
  EXPECT_EQ(nodes[0].dump(), R"({"node":"Storage","tensors":["A","Z"],"component":"DRAM"})");
  EXPECT_EQ(nodes[1].dump(), R"({"node":"Temporal","rank_variable":"m","tile_shape":1})");
  EXPECT_EQ(nodes[2].dump(), R"({"node":"Compute","einsum":"Mul","component":"MAC"})");
}

TEST(ResultDocument, ListsEveryViolationOfAnIllegalMapping) {
  RunResult result = small_result();
  Violation violation;
  violation.kind = ViolationKind::kCapacity;
  violation.message = "Buffer holds 80 bits, 16 too many";
  violation.component = ComponentId(1);
  violation.tensors = {TensorId(0)};
  violation.excess_bits = 16;
  result.outcomes[0].cost = tl::make_unexpected(std::vector<Violation>(2, violation));
  result.status = RunStatus::kIllegal;
  const Json document = to_document(result);
  EXPECT_EQ(document["status"], "illegal");
  EXPECT_EQ(document["mappings"][0]["violations"].size(), 2u);
  EXPECT_EQ(document["mappings"][0]["violations"][0].dump(),
            R"({"kind":"capacity","message":"Buffer holds 80 bits, 16 too many",)"
            R"("component":"Buffer","einsum":null,"tensors":["A"],"excess_bits":16.0,)"
            R"("node_path":[],"file":null,"line":null,"column":null})");
}

TEST(ResultDocument, SaysWhyThereIsNoMapping) {
  RunResult result = small_result();
  result.outcomes.clear();
  result.guarantee.reset();
  result.status = RunStatus::kNoMapping;
  result.no_mapping = NoMapping{"A does not fit", "make Buffer larger", ComponentId(1),
                                std::nullopt,     {TensorId(0)},        16};
  const Json document = to_document(result);
  EXPECT_EQ(document["status"], "no_mapping");
  EXPECT_EQ(document["reason"]["component"], "Buffer");
  EXPECT_EQ(document["reason"]["nearest_relaxation"], "make Buffer larger");
  EXPECT_TRUE(document["mappings"].empty());
}

TEST(ResultDocument, SurvivesTextThatIsNoUtf8) {
  RunResult result = small_result();
  result.problem->workload.name = "\xff";
  EXPECT_NO_THROW(document_text(to_document(result)));
}

}  // namespace
}  // namespace sluice::cli
