// Cycles measured on the simulated hardware of a real accelerator against those of policy
// `pipeline`: see README.md. The last lines are `gemm_mae_percent …` and `fused_mae_percent …`.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <string>

#include "silicon.h"

namespace sluice::silicon {
namespace {
namespace fs = std::filesystem;

struct Arguments {
  fs::path gemm, fused, output;
  fs::path arrays = fs::path(SLUICE_REPO_DIR) / "repro" / "silicon" / "results" / "scalesim.csv";
  fs::path stalls = fs::path(SLUICE_REPO_DIR) / "repro" / "silicon" / "results" / "stalls.csv";
};

fs::path default_data() {
  if (const char* folder = std::getenv("SLUICE_GOLDEN_DIR")) return fs::path(folder) / "rtl";
  return fs::path(SLUICE_REPO_DIR) / ".." / "shared" / "golden" / "rtl";
}

Arguments parse(int n, char** words) {
  Arguments arguments;
  arguments.gemm = default_data() / "gemm_cycles.csv";
  arguments.fused = default_data() / "fused_gemm_cycles.csv";
  for (int i = 1; i < n; i += 2) {
    const std::string flag = words[i];
    fs::path* into = flag == "--gemm"     ? &arguments.gemm
                     : flag == "--fused"  ? &arguments.fused
                     : flag == "--arrays" ? &arguments.arrays
                     : flag == "--stalls" ? &arguments.stalls
                     : flag == "--output" ? &arguments.output
                                          : nullptr;
    if (!into || i + 1 == n)
      throw std::runtime_error(
          "run [--gemm FILE.csv] [--fused FILE.csv] [--arrays FILE.csv] [--stalls FILE.csv] "
          "[--output DIR]");
    *into = words[i + 1];
  }
  return arguments;
}

void write_table(const Comparison& comparison, std::ostream& out) {
  out << "measured";
  for (const auto& [tool, values] : comparison.predicted) out << "," << tool;
  out << "\n";
  for (std::size_t i = 0; i < comparison.measured.size(); ++i) {
    out << fmt::format("{}", comparison.measured[i]);
    for (const auto& [tool, values] : comparison.predicted) out << fmt::format(",{}", values[i]);
    out << "\n";
  }
}

double report(const std::string& name, const Comparison& comparison, const fs::path& output) {
  fmt::print("{}: {} points\n", name, comparison.measured.size());
  for (const auto& [tool, values] : comparison.predicted) {
    const Error error = error_of(values, comparison.measured);
    fmt::print("  {:15} mean error {:6.3f} %, 95th percentile {:6.3f} %\n", tool,
               error.mean_percent, error.p95_percent);
  }
  if (!output.empty()) {
    fs::create_directories(output);
    std::ofstream table(output / (name + ".csv")), plot(output / (name + ".svg"));
    write_table(comparison, table);
    plot << scatter_plot(comparison, name + ": predicted against measured");
    if (!table || !plot) throw std::runtime_error("cannot write into " + output.string());
  }
  return error_of(comparison.predicted.at("Sluice"), comparison.measured).mean_percent;
}

int run(const Arguments& arguments) {
  const fs::path folder = fs::path(SLUICE_REPO_DIR) / "repro" / "silicon";
  const Comparison gemm = compare_gemm(folder, arguments.gemm);
  const Comparison fused = compare_fused(folder, arguments.fused);
  const Comparison arrays = compare_arrays(folder, arguments.arrays);
  fmt::print("arrays: {} of {} points of SCALE-Sim to the cycle\n", equal_points(arrays),
             arrays.measured.size());
  const Stalls stalls = compare_stalls(folder, arguments.stalls);
  report("stalls_overlap", stalls.running, arguments.output);
  report("stalls_staged", stalls.whole, arguments.output);
  report("stalls_fetched_again", stalls.fetched_again, arguments.output);
  const double gemm_percent = report("gemm", gemm, arguments.output);
  const double fused_percent = report("fused", fused, arguments.output);
  fmt::print("  DRAM words as measured on {} of {} points\n", fused.exact_traffic,
             fused.measured.size());
  fmt::print("gemm_mae_percent {:.4f}\nfused_mae_percent {:.4f}\n", gemm_percent, fused_percent);
  return 0;
}

}  // namespace
}  // namespace sluice::silicon

int main(int n, char** words) {
  try {
    return sluice::silicon::run(sluice::silicon::parse(n, words));
  } catch (const std::exception& mistake) {
    fmt::print(stderr, "error: {}\n", mistake.what());
    return 2;
  }
}
