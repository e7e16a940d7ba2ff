// docs/how-sluice-counts.md, number by number: the page's own arithmetic, the model and the
// executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "sluice/frontend/load.h"
#include "sluice/model/evaluate.h"
#include "sluice/referee/execute.h"
#include "sluice/support/expression.h"
#include "support/folders.h"

namespace sluice {
namespace {

struct Page {
  std::string specs;                            ///< the first block of YAML
  std::vector<std::vector<std::string>> cells;  ///< of the rows of all tables

  explicit Page(const std::filesystem::path& file) {
    std::ifstream text(file);
    bool in_block = false, seen = false;
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("```")) {
        in_block = line == "```yaml" && !seen;
        seen = seen || in_block;
      } else if (in_block) {
        specs += line + "\n";
      } else if (line.starts_with("| ") || line.starts_with("|-")) {
        cells.push_back(cells_of(line));
      }
    }
  }

  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> found;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) {
      const auto begin = cell.find_first_not_of(" `"), end = cell.find_last_not_of(" `");
      found.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    }
    return found;
  }

  /// Rows of the table whose heading starts with a cell.
  std::vector<std::vector<std::string>> table(const std::string& heading) const {
    std::vector<std::vector<std::string>> rows;
    const auto begin = std::find_if(cells.begin(), cells.end(),
                                    [&](const auto& row) { return row[0] == heading; });
    for (auto row = begin + 2; row < cells.end(); ++row) {
      if (row + 1 != cells.end() && (*(row + 1))[0].starts_with("---")) break;
      rows.push_back(*row);
    }
    return rows;
  }
};

double by_hand(const std::string& arithmetic) {
  const auto value = Expression::parse(arithmetic)->evaluate({});
  return std::get<double>(*value);
}

struct HowSluiceCounts : ::testing::Test {
  Page page{testing::repository_dir() / "docs" / "how-sluice-counts.md"};
  Specs specs = load(page.specs);
  BoundProblem problem = bind(*specs.workload, *specs.arch).value();
  Cost cost = evaluate(problem, specs.mappings.at(0)).value();
  Execution executed = execute(*specs.workload, *specs.arch, specs.mappings.at(0), {});

  static Specs load(const std::string& text) {
    auto specs = load_specs_from_text({{"page.yaml", text}}, {});
    if (!specs) throw std::runtime_error(to_string(specs.error()[0]));
    return std::move(*specs);
  }
  std::string name_of(const std::optional<TensorId>& tensor) const {
    return tensor ? problem.workload[*tensor].name : "";
  }
};

using CountsByName = std::map<std::vector<std::string>, double>;

TEST_F(HowSluiceCounts, EveryCountIsThatOfModelAndExecutor) {
  CountsByName written, modelled, run;
  for (const auto& row : page.table("memory")) {
    EXPECT_EQ(by_hand(row[3]), std::stod(row[4])) << row[3];
    written[{row[0], row[1], row[2]}] = std::stod(row[4]);
  }
  for (const EnergyRow& row : cost.energy)
    if (row.count.value_or(0) > 0)
      modelled[{problem.arch[row.component].name, name_of(row.tensor), row.action}] += *row.count;
  for (const CountRow& row : executed.counts)
    run[{problem.arch[row.component].name, name_of(row.tensor), row.action}] +=
        static_cast<double>(row.count);
  EXPECT_EQ(written.size(), 10U);
  EXPECT_EQ(modelled, written);
  EXPECT_EQ(run, written);
  EXPECT_TRUE(executed.is_legal());
  EXPECT_EQ(executed.numbers.exact, executed.numbers.compared);
}

TEST_F(HowSluiceCounts, EveryPriceIsThatOfTheModel) {
  std::map<std::string, double> written, modelled;
  for (const auto& row : page.table("what")) {
    EXPECT_EQ(by_hand(row[1]), std::stod(row[2])) << row[1];
    written[row[0]] = std::stod(row[2]);
  }
  constexpr double kPicojoules = 1e12;
  for (const EnergyRow& row : cost.energy)
    modelled["energy of " + problem.arch[row.component].name + " (pJ)"] +=
        row.energy_j * kPicojoules;
  modelled["energy (pJ)"] = cost.energy_j * kPicojoules;
  for (const LatencyRow& row : cost.latency)
    modelled["cycles of " + problem.arch[row.component].name] =
        row.latency_s * *problem.arch.clock_hz;
  modelled["cycles"] = *cost.latency_cycles;
  for (const OccupancyRow& row : cost.occupancy)
    modelled["bits in " + problem.arch[row.component].name] = row.peak_bits;
  ASSERT_EQ(modelled.size(), written.size());
  for (const auto& [what, number] : written)
    EXPECT_NEAR(modelled.at(what), number, 1e-9 * number) << what;
  for (const PeakOccupancy& row : executed.occupancy)
    EXPECT_EQ(row.peak_bits, written.at("bits in " + problem.arch[row.component].name));
}

}  // namespace
}  // namespace sluice
