#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sluice/model/evaluate.h"

namespace sluice::silicon {

/// One row of a file of measurements, by column.
using Row = std::map<std::string, double>;

/// Rows of a CSV file with a line of column names, without the column `text`. Throws
/// std::runtime_error.
std::vector<Row> read_csv(const std::filesystem::path& file, const std::string& text = {});

/// What Sluice says of one measured point.
struct Prediction {
  double cycles = 0;
  double words_in = 0, words_out = 0;  ///< moved from DRAM to the buffer, and back
};

/// Prices a row's point with a spec file of this folder: every column that is a variable of the
/// spec sets it. Throws std::runtime_error with what is wrong.
Prediction predict(const std::filesystem::path& spec, const Row& row,
                   const std::vector<std::string>& variables,
                   LatencyPolicy policy = LatencyPolicy::kPipeline);

/// Points of one kind: what was measured, and what each tool says.
struct Comparison {
  std::vector<double> measured;
  std::map<std::string, std::vector<double>> predicted;  ///< by tool
  std::size_t exact_traffic = 0;  ///< points whose DRAM words are those measured; where measured
};

Comparison compare_gemm(const std::filesystem::path& folder, const std::filesystem::path& csv);
Comparison compare_fused(const std::filesystem::path& folder, const std::filesystem::path& csv);
/// Compute cycles of SCALE-Sim: every layer, dataflow and size of the array.
Comparison compare_arrays(const std::filesystem::path& folder, const std::filesystem::path& csv);

/// Cycles of SCALE-Sim with its memories, each wait counted once: from its first cycle to its last
/// one beside `overlap`, with the first fills and the last drains beside `staged`; where it fetches
/// operands again that the mapping keeps, beside `overlap` with its reads through the same port.
struct Stalls {
  Comparison running, whole, fetched_again;
};
Stalls compare_stalls(const std::filesystem::path& folder, const std::filesystem::path& csv);

/// Points whose cycles are those measured, to the cycle.
std::size_t equal_points(const Comparison& comparison);

/// Mean and 95th percentile of |predicted − measured| / measured, in percent.
struct Error {
  double mean_percent = 0, p95_percent = 0;
};
Error error_of(const std::vector<double>& predicted, const std::vector<double>& measured);

/// Predicted against measured cycles of every tool, both axes logarithmic, as an SVG picture.
std::string scatter_plot(const Comparison& comparison, const std::string& title);

}  // namespace sluice::silicon
