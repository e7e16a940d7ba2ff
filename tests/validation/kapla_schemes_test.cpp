#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sluice/kapla/evaluate.h"
#include "sluice/kapla/scheme_text.h"
#include "sluice/support/csv.h"
#include "support/folders.h"
#include "support/run_program.h"

namespace sluice {
namespace {

using Json = nlohmann::json;

constexpr double kHopJ = 9.76e-12;  // of a word over one link, on all of the machines

/// Published schemes, and which of their hops are known to be those of another partition.
class PublishedSchemes {
 public:
  PublishedSchemes(const std::string& runs, const std::string& schemes)
      : runs_(*kapla::RunTable::read(testing::read_text(runs), runs, true)) {
    std::istringstream lines(testing::read_text(schemes));
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) lines_.push_back(line);
    read_exceptions();
  }

  std::size_t size() const { return lines_.size(); }

  /// Prices every run from its inputs alone, and compares all numbers.
  void compare() const {
    std::vector<std::size_t> of_run;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      of_run.push_back(i);
      const bool ends = i + 1 == lines_.size() || run_of(i + 1) != run_of(i);
      if (!ends) continue;
      compare_run(of_run);
      of_run.clear();
    }
  }

 private:
  void read_exceptions() {
    const std::string path =
        (testing::repository_dir() / "repro" / "kapla" / "exceptions.csv").string();
    const auto table = read_csv(testing::read_text(path), path, {"run", "layer", "column"});
    for (const CsvRow& row : table->rows)
      exceptions_[row.cells[0] + " " + row.cells[1] + " " + row.cells[3]] = std::stod(row.cells[4]);
  }

  std::string run_of(std::size_t i) const { return Json::parse(lines_[i])["run"]; }

  static std::string inputs_of(const std::string& line) {
    Json object = Json::parse(line);
    for (const char* key : {"size", "fetch", "access", "remote_gbuf", "nhops", "node_hops", "ops",
                            "proc_time", "bus_time", "dram_time", "cost"})
      object.erase(key);
    return object.dump();
  }

  void compare_run(const std::vector<std::size_t>& of_run) const {
    std::vector<kapla::Scheme> schemes;
    for (const std::size_t i : of_run)
      schemes.push_back(
          *kapla::read_scheme(inputs_of(lines_[i]), {"schemes", static_cast<int>(i), 0}));
    const auto run = runs_.find(schemes.front().run, {});
    ASSERT_TRUE(run) << to_string(run.error());
    const auto costs = kapla::evaluate_schemes(*run, schemes);
    ASSERT_TRUE(costs) << to_string(costs.error());
    for (std::size_t i = 0; i < of_run.size(); ++i)
      compare_line(Json::parse(lines_[of_run[i]]),
                   Json::parse(kapla::with_cost(lines_[of_run[i]], costs->at(i))));
  }

  void compare_line(const Json& published, const Json& ours) const {
    const std::string line =
        published["run"].get<std::string>() + " " + published["layer"].get<std::string>();
    SCOPED_TRACE(line);
    for (const char* key :
         {"size", "fetch", "access", "remote_gbuf", "ops", "proc_time", "bus_time", "dram_time"})
      EXPECT_EQ(ours[key], published[key]) << key;
    if (published.contains("node_hops")) {
      EXPECT_EQ(ours["node_hops"], published["node_hops"]);
    }
    double other_hops = 0;
    for (std::size_t tensor = 0; tensor < 3; ++tensor) {
      const double said = published["nhops"][tensor];
      const double own = ours["nhops"][tensor];
      const auto known = exceptions_.find(line + " nhops " + "WIO"[tensor]);
      if (known != exceptions_.end() && known->second == said)
        other_hops += said - own;
      else
        EXPECT_EQ(own, said) << "hops of tensor " << tensor;
    }
    const double cost = ours["cost"].get<double>() + kHopJ * other_hops;
    EXPECT_NEAR(cost, published["cost"], 1e-9 * published["cost"].get<double>());
  }

  kapla::RunTable runs_;
  std::vector<std::string> lines_;
  std::map<std::string, double> exceptions_;  ///< published value by run, layer and column
};

TEST(KaplaSchemes, OfTheSampleCostAsPublished) {
  const auto folder = testing::repository_dir() / "repro" / "kapla" / "sample";
  const PublishedSchemes published((folder / "runs.csv").string(),
                                   (folder / "schemes.jsonl").string());
  EXPECT_EQ(published.size(), 146);
  published.compare();
}

TEST(KaplaSchemes, OfTheReferenceDataCostAsPublished) {
  const auto root = testing::reference_data_dir();
  if (!root || !std::filesystem::exists(*root / "kapla")) GTEST_SKIP() << "no reference data";
  const PublishedSchemes published((*root / "kapla" / "results.csv").string(),
                                   (*root / "kapla" / "schemes.jsonl").string());
  EXPECT_EQ(published.size(), 1812);
  published.compare();
}

}  // namespace
}  // namespace sluice
