#include "cli/commands/search_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sluice/frontend/load.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/registry.h"
#include "sluice/model/evaluate.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kProblem = R"yaml(workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums:
  - "Z[m] = exp(A[m])"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping:
  nodes:
  - !Storage {tensors: [A, Z], component: Main}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Compute {einsum: Z, component: MAC}
)yaml";

constexpr const char* kTwoComputes = R"yaml(workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums:
  - "Z[m] = exp(A[m])"
  - "Y[m] = exp(B[m])"
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1000000}, {name: write, energy: 1, throughput: 1000000}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
  - !Compute {name: Other, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

class SearchWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "sluice_search_watch";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const auto specs = load_specs_from_text({{"problem.yaml", kProblem}}, {});
    ASSERT_TRUE(specs.has_value());
    result_.command = "map";
    result_.problem = *bind(*specs->workload, *specs->arch);
    result_.options = MapperOptions{};
    mapped_.mapping = specs->mappings.front();
    mapped_.cost = *evaluate(*result_.problem, mapped_.mapping);
    edp_ = objective_value(Objective::kEdp, mapped_.cost);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static const Mapper& fused() { return *standard_mappers().find("fused"); }

  OutputArguments output() const {
    OutputArguments arguments;
    arguments.folder = folder_.string();
    return arguments;
  }

  /// The document, once there is one; null where none comes within two seconds.
  nlohmann::json document() const {
    for (int i = 0; i < 200; ++i) {
      if (std::ifstream in(folder_ / "result.json"); in) return nlohmann::json::parse(in);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return nullptr;
  }

  fs::path folder_;
  std::ostringstream out_, err_;
  Console console_{out_, err_};
  RunResult result_;
  MappedResult mapped_;
  double edp_ = 0;
};

TEST_F(SearchWatchTest, TheFolderHoldsTheBestSoFarWhileTheSearchGoesOn) {
  ProgressLine progress(console_, ProgressStyle::kNone);
  SearchWatch watch(fused(), result_, output(), std::nullopt, &progress);
  watch.incumbent()->offer(edp_, mapped_);
  const nlohmann::json written = document();
  EXPECT_EQ(written["status"], "interrupted");
  EXPECT_EQ(written["guarantee"]["kind"], "gap");
  ASSERT_EQ(written["mappings"].size(), 1u);
  EXPECT_EQ(written["mappings"][0]["edp_js"], edp_);
  EXPECT_TRUE(fs::exists(folder_ / "mapping.yaml"));
  watch.finish();
}

TEST_F(SearchWatchTest, TheFolderHoldsTheBoundThatIsKnown) {
  mapped_.cost.energy_j *= 10;
  const auto bound_is = [&](double bound) {
    for (int i = 0; i < 200; ++i) {
      const nlohmann::json written = document();
      if (!written.is_null() && written["guarantee"]["bound"] == bound) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  ProgressLine progress(console_, ProgressStyle::kNone);
  {
    SearchWatch watch(fused(), result_, output(), std::nullopt, &progress);
    watch.incumbent()->offer(10 * edp_, mapped_);
    watch.take_bound(5 * edp_);
    EXPECT_TRUE(bound_is(5 * edp_));
    watch.take_bound(6 * edp_);
    EXPECT_TRUE(bound_is(6 * edp_));
    watch.finish();
  }
  SearchWatch watch(fused(), result_, output(), 10 * edp_, &progress);
  watch.go_on_from(10 * edp_, mapped_);
  EXPECT_EQ(watch.incumbent()->objective(), 10 * edp_);
  watch.take_bound(7 * edp_);  // no better mapping is found
  EXPECT_TRUE(bound_is(7 * edp_));
  watch.finish();
}

// A file that is written takes the place of the one before.
TEST_F(SearchWatchTest, WritesTheSpecsOnce) {
  ProgressLine progress(console_, ProgressStyle::kNone);
  result_.specs_text = "specs";
  SearchWatch watch(fused(), result_, output(), std::nullopt, &progress);
  watch.incumbent()->offer(edp_, mapped_);
  ASSERT_FALSE(document().is_null());
  fs::create_hard_link(folder_ / "specs.yaml", folder_ / "first");
  fs::create_hard_link(folder_ / "result.json", folder_ / "first_result");
  watch.incumbent()->offer(edp_ / 2, mapped_);
  for (int i = 0; i < 200 && fs::equivalent(folder_ / "result.json", folder_ / "first_result"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  watch.finish();
  EXPECT_FALSE(fs::equivalent(folder_ / "result.json", folder_ / "first_result"));
  EXPECT_TRUE(fs::equivalent(folder_ / "specs.yaml", folder_ / "first"));
}

// A mapper that runs Einsums side by side may be faster than their times one after another.
TEST_F(SearchWatchTest, TheFirstBoundIsThatOfTheMappersSpace) {
  const auto specs = load_specs_from_text({{"problem.yaml", kTwoComputes}}, {});
  ASSERT_TRUE(specs.has_value());
  result_.problem = *bind(*specs->workload, *specs->arch);
  result_.options->objectives = {Objective::kLatency};
  const double in_turn = objective_bound(Objective::kLatency, result_.problem->bounds);
  const double side_by_side =
      objective_bound(Objective::kLatency, concurrent_bounds(*result_.problem));
  ASSERT_LT(side_by_side, in_turn);
  for (const char* name : {"fused", "compound"}) {
    err_.str("");
    ProgressLine progress(console_, ProgressStyle::kJson);
    SearchWatch watch(*standard_mappers().find(name), result_, {}, std::nullopt, &progress);
    watch.show("searching", 0.1);
    watch.finish();
    EXPECT_EQ(nlohmann::json::parse(err_.str().substr(0, err_.str().find('\n')))["bound"],
              std::string(name) == "fused" ? in_turn : side_by_side)
        << err_.str();
  }
}

TEST_F(SearchWatchTest, LeavesTheBetterMappingOfAnEarlierSearchAlone) {
  ProgressLine progress(console_, ProgressStyle::kNone);
  {
    SearchWatch watch(fused(), result_, output(), edp_ / 2, &progress);
    watch.incumbent()->offer(edp_, mapped_);
    watch.finish();
  }
  EXPECT_FALSE(fs::exists(folder_ / "result.json"));
}

TEST_F(SearchWatchTest, TheProgressLineSaysHowGoodTheBestIs) {
  console_.ascii = true;
  ProgressLine progress(console_, ProgressStyle::kPlain);
  SearchWatch watch(fused(), result_, {}, std::nullopt, &progress);
  watch.show("searching", 0.1);
  watch.incumbent()->offer(edp_, mapped_);
  watch.show("searching", 0.3);
  watch.finish();
  EXPECT_THAT(err_.str(), StartsWith("progress: starting 0 %, no mapping yet, 0.0 s\n"
                                     "progress: searching 10 %, no mapping yet, 0.0 s\n"
                                     "progress: searching 30 %, best "));
  EXPECT_THAT(err_.str(), HasSubstr("J*s, "));
  EXPECT_THAT(err_.str(), HasSubstr(" times the lower bound, 0.0 s\n"));
}

TEST_F(SearchWatchTest, JsonProgressHasEveryMappingAndEveryBoundAtOnce) {
  ProgressLine progress(console_, ProgressStyle::kJson);
  SearchWatch watch(fused(), result_, {}, std::nullopt, &progress);
  watch.show("searching", 0.1);
  watch.incumbent()->offer(4 * edp_, mapped_);
  watch.show("searching", 0.3);  // nothing new
  watch.take_bound(2 * edp_);
  watch.take_bound(1.5 * edp_);  // less than is known
  watch.finish();
  std::istringstream lines(err_.str());
  std::vector<nlohmann::json> seen;
  for (std::string line; std::getline(lines, line);) seen.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(seen.size(), 4u) << err_.str();
  EXPECT_EQ(seen[0]["phase"], "starting");
  EXPECT_TRUE(seen[1]["objective"].is_null());
  EXPECT_EQ(seen[1]["phase"], "searching");
  EXPECT_EQ(seen[2]["objective"], 4 * edp_);
  EXPECT_EQ(seen[3]["bound"], 2 * edp_);
  EXPECT_EQ(seen[3]["found_over_bound"], 2);
}

TEST_F(SearchWatchTest, TheProgressLineShowsWhatIsFoundWhereTheSearchItselfSaysNothing) {
  ProgressLine progress(console_, ProgressStyle::kPlain);
  SearchWatch watch(fused(), result_, {}, std::nullopt, &progress);
  watch.incumbent()->offer(edp_, mapped_);
  std::this_thread::sleep_for(std::chrono::milliseconds(1600));  // a second, and a tick
  watch.finish();
  EXPECT_THAT(err_.str(), HasSubstr("progress: starting 0 %, best "));
}

TEST_F(SearchWatchTest, SaysWhatWentWrongWithTheFolder) {
  fs::remove_all(folder_);
  std::ofstream(folder_) << "a file where the folder should be";
  ProgressLine progress(console_, ProgressStyle::kNone);
  SearchWatch watch(fused(), result_, output(), std::nullopt, &progress);
  watch.incumbent()->offer(edp_, mapped_);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_ANY_THROW(watch.finish());
}

}  // namespace
}  // namespace sluice::cli
