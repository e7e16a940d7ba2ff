#include "validation/golden_cases.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>

#include "sluice/frontend/load.h"
#include "support/folders.h"

namespace sluice::testing {
namespace fs = std::filesystem;

std::vector<GoldenCase> golden_cases(const std::vector<std::string>& groups,
                                     const std::vector<std::string>& files) {
  std::vector<GoldenCase> cases;
  const auto root = reference_data_dir();
  if (!root) return cases;
  for (const std::string& group : groups) {
    if (!fs::is_directory(*root / group)) continue;
    for (const auto& entry : fs::directory_iterator(*root / group)) {
      const bool complete = std::all_of(files.begin(), files.end(), [&](const std::string& file) {
        return fs::exists(entry.path() / file);
      });
      if (entry.is_directory() && complete)
        cases.push_back({group + "/" + entry.path().filename().string(), entry.path()});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const GoldenCase& a, const GoldenCase& b) { return a.name < b.name; });
  return cases;
}

std::string test_name(const GoldenCase& golden) {
  std::string name = golden.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

nlohmann::json expected_of(const GoldenCase& golden) {
  std::ifstream file(golden.folder / "expected.json");
  return nlohmann::json::parse(file);
}

GoldenSpecs load_golden(const GoldenCase& golden, const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) paths.push_back((golden.folder / file).string());
  auto specs = load_specs(paths, LoadOptions{});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  if (!specs->workload || !specs->arch)
    throw std::runtime_error(golden.name + " lacks a workload or an architecture");
  return {std::move(*specs->workload), std::move(*specs->arch), std::move(specs->mappings)};
}

}  // namespace sluice::testing
