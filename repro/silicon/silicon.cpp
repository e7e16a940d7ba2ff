#include "silicon.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "sluice/frontend/load.h"

namespace sluice::silicon {
namespace {

constexpr double kBitsPerWord = 16;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    while (!cell.empty() && (cell.back() == '\r' || cell.back() == ' ')) cell.pop_back();
    cells.push_back(cell);
  }
  return cells;
}

template <class Mistakes>
[[noreturn]] void fail(const std::string& what, const Mistakes& mistakes) {
  std::string text = what;
  for (const auto& mistake : mistakes) text += "\n" + mistake.message;
  throw std::runtime_error(text);
}

/// Values of one action of the outermost memories: those that hold what comes from outside.
double words(const Cost& cost, const Arch& arch, const std::string& action) {
  double count = 0;
  for (const EnergyRow& row : cost.energy)
    if (arch[row.component].name.find("DRAM") != std::string::npos && row.action == action)
      count += row.count.value_or(0);
  return count;
}

double value(const Row& row, const std::string& column) {
  const auto found = row.find(column);
  if (found == row.end()) throw std::runtime_error("the file has no column " + column);
  return found->second;
}

/// A column that a file may lack.
void add_peer(const Row& row, const std::string& column, const std::string& tool,
              Comparison& comparison) {
  const auto found = row.find(column);
  if (found != row.end()) comparison.predicted[tool].push_back(found->second);
}

}  // namespace

std::vector<Row> read_csv(const std::filesystem::path& file, const std::string& text) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> columns = cells_of(line);
  std::vector<Row> rows;
  while (std::getline(stream, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) continue;
    if (cells.size() != columns.size())
      throw std::runtime_error(file.string() + ": a row has another number of cells: " + line);
    Row& row = rows.emplace_back();
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (columns[c] != text) row[columns[c]] = std::stod(cells[c]);
  }
  if (rows.empty()) throw std::runtime_error(file.string() + " has no rows");
  return rows;
}

Prediction predict(const std::filesystem::path& spec, const Row& row,
                   const std::vector<std::string>& variables, LatencyPolicy policy) {
  LoadOptions options;
  for (const std::string& variable : variables)
    options.variables[variable] = std::to_string(std::llround(value(row, variable)));
  const auto specs = load_specs({spec.string()}, options);
  if (!specs) fail("cannot read " + spec.string(), specs.error());
  const auto problem = bind(*specs->workload, *specs->arch);
  if (!problem) fail("cannot bind " + spec.string(), problem.error());
  const auto cost = evaluate(*problem, specs->mappings.at(0), policy);
  if (!cost) fail("an illegal mapping of " + spec.string(), cost.error());
  const Arch& arch = *specs->arch;
  return {cost->latency_cycles.value(), words(*cost, arch, "read"), words(*cost, arch, "write")};
}

Comparison compare_gemm(const std::filesystem::path& folder, const std::filesystem::path& csv) {
  Comparison comparison;
  for (const Row& row : read_csv(csv)) {
    comparison.measured.push_back(value(row, "rtl_cycles"));
    comparison.predicted["Sluice"].push_back(
        predict(folder / "gemm.yaml", row, {"M", "N", "K", "mM", "mN", "mK"}).cycles);
    add_peer(row, "timeloop_v303_cycles", "Timeloop 3.0.3", comparison);
    add_peer(row, "tileflow_cycles", "TileFlow", comparison);
  }
  return comparison;
}

Comparison compare_fused(const std::filesystem::path& folder, const std::filesystem::path& csv) {
  Comparison comparison;
  for (const Row& row : read_csv(csv)) {
    const Prediction prediction =
        predict(folder / "fused.yaml", row, {"M", "N", "K", "L", "KM", "LM", "MM"});
    comparison.measured.push_back(value(row, "rtl_cycles"));
    comparison.predicted["Sluice"].push_back(prediction.cycles);
    add_peer(row, "tileflow_cycle", "TileFlow", comparison);
    const bool exact = prediction.words_in == value(row, "rtl_mem_to_buf") / kBitsPerWord &&
                       prediction.words_out == value(row, "rtl_buf_to_mem") / kBitsPerWord;
    comparison.exact_traffic += exact ? 1 : 0;
  }
  return comparison;
}

Comparison compare_arrays(const std::filesystem::path& folder, const std::filesystem::path& csv) {
  static constexpr const char* kFlows[] = {"os", "ws", "is"};  // FLOW 0, 1, 2 of the spec
  Comparison comparison;
  for (Row row : read_csv(csv, "layer"))
    for (int flow = 0; flow < 3; ++flow)
      for (const int size : {8, 16, 32, 64, 128}) {
        row["FLOW"] = flow;
        row["SIZE"] = size;
        comparison.measured.push_back(
            value(row, std::string(kFlows[flow]) + "_" + std::to_string(size)));
        comparison.predicted["Sluice"].push_back(
            predict(folder / "arrays.yaml", row, {"FLOW", "SIZE", "M", "N", "K"}).cycles);
      }
  return comparison;
}

Stalls compare_stalls(const std::filesystem::path& folder, const std::filesystem::path& csv) {
  static constexpr double kArray = 2 * 32 * 32;  // values of folds that SCALE-Sim fills up
  const std::vector<std::string> variables{"FLOW", "M", "N", "K", "KB", "WORDS"};
  Stalls stalls;
  const auto add = [](double measured, double predicted, Comparison& to) {
    to.measured.push_back(measured);
    to.predicted["Sluice"].push_back(predicted);
  };
  for (const Row& row : read_csv(csv, "layer")) {
    const auto priced = [&](LatencyPolicy policy) {
      return predict(folder / "stalls.yaml", row, variables, policy);
    };
    const double running = value(row, "cycles") + value(row, "once");
    const double whole = running + value(row, "before") + value(row, "after");
    const Prediction overlap = priced(LatencyPolicy::kOverlap);
    const double half = value(row, "KB") * 1024 / 2;  // it always fetches so many
    if (value(row, "reads") > overlap.words_in + half + kArray) {
      const double by_port = value(row, "reads") / value(row, "WORDS");
      add(running, std::max(overlap.cycles, by_port), stalls.fetched_again);
      continue;
    }
    add(running, overlap.cycles, stalls.running);
    add(whole, priced(LatencyPolicy::kStaged).cycles, stalls.whole);
  }
  return stalls;
}

std::size_t equal_points(const Comparison& comparison) {
  const std::vector<double>& predicted = comparison.predicted.at("Sluice");
  std::size_t equal = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    equal += std::llround(predicted[i]) == std::llround(comparison.measured[i]) ? 1 : 0;
  return equal;
}

Error error_of(const std::vector<double>& predicted, const std::vector<double>& measured) {
  std::vector<double> errors;
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    errors.push_back(100 * std::abs(predicted[i] - measured[i]) / measured[i]);
    sum += errors.back();
  }
  std::sort(errors.begin(), errors.end());
  const auto place = static_cast<std::size_t>(0.95 * static_cast<double>(errors.size()));
  return {sum / static_cast<double>(errors.size()), errors[std::min(place, errors.size() - 1)]};
}

}  // namespace sluice::silicon
