#include "sluice/kapla/scheme_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sluice::kapla {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLine = R"({"run": "r", "layer": "fc1", "seq": [0, 0, 0], "nodes": 1,
 "part_order": [0, 1, 2, 3], "part_dims": [[1, 1], [1, 1], [1, 1], [1, 1]],
 "tvals": [[1, 1, 1], [1, 2, 1], [1, 1, 4.0]], "orders": [[0, 1, 2], [0, 1, 2]],
 "unit_size": [[2, 3.5, 4], [1, 1, 1]], "is_dram": [true, false], "cost": 7, "mine": "kept"})";

nlohmann::json object() { return nlohmann::json::parse(kLine); }

std::string mistake(const nlohmann::json& object) {
  const auto scheme = read_scheme(object.dump(), {"s.jsonl", 3, 0});
  return scheme ? "" : to_string(scheme.error());
}

TEST(SchemeText, ReadsInputsOnly) {
  const auto scheme = read_scheme(kLine, {"s.jsonl", 3, 0});
  ASSERT_TRUE(scheme) << to_string(scheme.error());
  EXPECT_EQ(scheme->layer, "fc1");
  EXPECT_EQ(scheme->blocking[2][kSamples], 4);
  EXPECT_EQ(scheme->unit_size[0][kInput], 3.5);
  EXPECT_FALSE(scheme->destination_is_dram);
  EXPECT_FALSE(scheme->directives);
}

TEST(SchemeText, WritesCostsIntoTheLineItRead) {
  SchemeCost cost;
  cost.energy_j = 0.25;
  cost.fetch[0] = {1, 2, 3};
  const auto written = nlohmann::json::parse(with_cost(kLine, cost));
  EXPECT_EQ(written["cost"], 0.25);
  EXPECT_EQ(written["fetch"], nlohmann::json::parse("[[1, 2, 3], [0, 0, 0]]"));
  EXPECT_EQ(written["mine"], "kept");
}

TEST(SchemeText, NamesAMissingKey) {
  for (const char* key : {"run", "layer", "seq", "nodes", "part_order", "part_dims", "tvals",
                          "orders", "unit_size", "is_dram"}) {
    nlohmann::json without = object();
    without.erase(key);
    EXPECT_EQ(mistake(without), fmt::format("s.jsonl:3: error: the scheme has no `{}`\n", key));
  }
}

TEST(SchemeText, SaysWhereItIsNoJson) {
  const auto scheme = read_scheme(R"({"run": r})", {"s.jsonl", 3, 0});
  ASSERT_FALSE(scheme);
  EXPECT_THAT(to_string(scheme.error()), HasSubstr("s.jsonl:3:9: error: this is no JSON"));
}

TEST(SchemeText, SaysWhichValueIsOfAnotherKind) {
  const auto with = [](const char* key, const char* value) {
    nlohmann::json changed = object();
    changed[key] = nlohmann::json::parse(value);
    return mistake(changed);
  };
  EXPECT_THAT(with("nodes", "1.5"), HasSubstr("`nodes` has 1.5; it must be a whole number"));
  EXPECT_THAT(with("seq", "[0, 0]"), HasSubstr("`seq` has [0,0]; it must be a list of 3"));
  EXPECT_THAT(with("part_order", "[0, 1, 1, 3]"),
              HasSubstr("`part_order` must have 0, 1, 2 and 3 once"));
  EXPECT_THAT(with("is_dram", "[1, 0]"), HasSubstr("`is_dram` must be a list of true and false"));
  EXPECT_THAT(with("tvals", "[[1, 1, 1], [1, 1, 1], [1, 1, \"a\"]]"),
              HasSubstr("`tvals` has \"a\"; it must be a number"));
  EXPECT_THAT(with("directives", "{\"GBUF\": {}}"), HasSubstr("`directives` have no `REGF`"));
}

constexpr const char* kRuns = "name,solver,net,batch,mapping,hw,note\n";

std::string run_mistake(const std::string& row, const std::string& name = "r") {
  const auto table = RunTable::read(kRuns + row, "runs.csv", true);
  if (!table) return to_string(table.error());
  const auto run = table->find(name, {"s.jsonl", 7, 0});
  return run ? "" : to_string(run.error());
}

TEST(RunTable, FindsNetworkAndMachineOfARun) {
  const auto table = RunTable::read(
      std::string(kRuns) + "r,KAPLA,mlp_s,8,eyeriss,multi_node.json,x\n", "runs.csv", true);
  ASSERT_TRUE(table);
  const auto run = table->find("r", {});
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_EQ(run->network.layers.size(), 4);
  EXPECT_EQ(run->machine.grid, (Extent{16, 16}));
  EXPECT_TRUE(run->compatibility.window_unit_time);
}

TEST(RunTable, SaysWhatIsWrongWithARun) {
  EXPECT_THAT(run_mistake("r1,KAPLA,mlp_s,8,eyeriss,multi_node.json,\n"),
              HasSubstr("s.jsonl:7: error: no row of the runs is named `r`"));
  EXPECT_THAT(run_mistake("r,KAPLA,mlps,8,eyeriss,multi_node.json,\n"),
              HasSubstr("runs.csv:2: error: there is no network `mlps`"));
  EXPECT_THAT(run_mistake("r,KAPLA,mlp_s,0,eyeriss,multi_node.json,\n"),
              HasSubstr("runs.csv:2: error: `batch` is `0`"));
  EXPECT_THAT(run_mistake("r,KAPLA,mlp_s,8,tpu,multi_node.json,\n"),
              HasSubstr("`mapping` is `tpu`"));
  EXPECT_THAT(run_mistake("r,KAPLA,mlp_s,8,eyeriss,multi_nod.json,\n"),
              HasSubstr("did you mean `multi_node.json`?"));
  EXPECT_THAT(run_mistake("r,KAPLA,mlp_s,8,eyeriss\n"),
              HasSubstr("runs.csv:2: error: this row has 5"));
  EXPECT_THAT(run_mistake("r,a,b,1,c,d,\nr,a,b,1,c,d,\n"),
              HasSubstr("runs.csv:3: error: a second run is named `r`"));
}

}  // namespace
}  // namespace sluice::kapla
