// docs/networks.md, the example of AlexNet's first segment: its numbers are the program's, and all
// that the program counts of conv1_a stands there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "support/folders.h"
#include "support/run_program.h"

namespace sluice {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

/// The section of the page, with numbers like 12,203,520.
std::string section() {
  const std::string page =
      testing::read_text((testing::repository_dir() / "docs" / "networks.md").string());
  const std::size_t begin = page.find("## Example: AlexNet's first segment");
  return page.substr(begin, page.find("\n## ", begin) - begin);
}

/// Layers of the first segment, priced.
std::map<std::string, Json> priced() {
  const auto sample = testing::repository_dir() / "repro" / "kapla" / "sample";
  const testing::ProgramRun run = testing::run_sluice({"evaluate", "--compat", "kapla", "--runs",
                                                       (sample / "runs.csv").string(), "--schemes",
                                                       (sample / "schemes.jsonl").string()});
  std::map<std::string, Json> layers;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    Json layer = Json::parse(line);
    if (layer["run"] == "inf_alex_net_b64" && layer["seq"][0] == 0)
      layers.emplace(layer["layer"].get<std::string>(), layer);
  }
  return layers;
}

std::string with_commas(double number) {
  std::string text = fmt::format("{}", std::llround(number));
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

void collect(const Json& value, std::set<std::string>& numbers) {
  if (value.is_number()) numbers.insert(with_commas(value.get<double>()));
  if (value.is_structured())
    for (const Json& inner : value) collect(inner, numbers);
}

TEST(NetworksPage, HasAllNumbersOfTheFirstLayer) {
  const std::string text = section();
  const Json conv1 = priced().at("conv1_a");
  std::set<std::string> numbers;
  for (const char* key :
       {"remote_gbuf", "nhops", "node_hops", "ops", "proc_time", "bus_time", "dram_time"})
    collect(conv1[key], numbers);
  for (const std::size_t memory : {0, 1, 2}) collect(conv1["access"][memory], numbers);
  numbers.erase("0");
  for (const std::string& number : numbers) EXPECT_THAT(text, HasSubstr(number));
  EXPECT_THAT(text, HasSubstr(fmt::format("{:.2f} mJ", conv1["cost"].get<double>() * 1e3)));
}

// Numbers of five digits and more are counts of some layer of the segment, what conv1_a moves over
// DRAM's bus in all, or its links to memory alone.
TEST(NetworksPage, HasNoNumberThatNobodyCounts) {
  const std::map<std::string, Json> layers = priced();
  std::set<std::string> numbers;
  for (const auto& [name, layer] : layers) collect(layer, numbers);
  const Json& conv1 = layers.at("conv1_a");
  const Json& dram = conv1["access"][0];
  numbers.insert(with_commas(dram[0].get<double>() + dram[1].get<double>()));
  numbers.insert(with_commas(conv1["nhops"][1].get<double>() - conv1["node_hops"].get<double>()));
  const std::string text = section();
  const std::regex long_number("[0-9]{2,3}(,[0-9]{3})+|[0-9](,[0-9]{3}){2,}");
  int n_numbers = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), long_number), end; at != end; ++at) {
    ++n_numbers;
    EXPECT_EQ(numbers.count(at->str()), 1U) << at->str();
  }
  EXPECT_GT(n_numbers, 20);
}

}  // namespace
}  // namespace sluice
