// sluice_fuzz [--cases N] [--seed S] [--seconds T] [--evaluations E] [--keep-going] [--occupancy]
// Compares the fused mapper with the brute-force referee on random problems. At the first
// difference it prints the simplest problem that still shows it, as YAML, and ends with status 1.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "oracle/compare.h"
#include "sluice/mapper/registry.h"

namespace {

struct Arguments {
  std::uint64_t cases = 1000;
  std::uint64_t seed = 1;
  double seconds = std::numeric_limits<double>::infinity();
  bool keep_going = false;  ///< report every difference, unshrunk
  bool occupancy = false;   ///< compare the fronts with peak occupancies too
  sluice::oracle::EnumerationLimits limits = {.max_nests = 60'000, .max_evaluations = 4'000};
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--keep-going" || name == "--occupancy") {
      (name == "--keep-going" ? arguments.keep_going : arguments.occupancy) = true;
      continue;
    }
    if (i + 1 == argc) {
      fmt::print(stderr, "{} needs a value\n", name);
      std::exit(2);
    }
    const std::string value = argv[++i];
    if (name == "--cases") {
      arguments.cases = std::stoull(value);
    } else if (name == "--seed") {
      arguments.seed = std::stoull(value);
    } else if (name == "--seconds") {
      arguments.seconds = std::stod(value);
    } else if (name == "--evaluations") {
      arguments.limits.max_evaluations = std::stoll(value);
      arguments.limits.max_nests = 20 * arguments.limits.max_evaluations;
    } else {
      fmt::print(stderr, "unknown option {}\n", name);
      std::exit(2);
    }
  }
  return arguments;
}

/// One case; true where the mapper and the referee agree.
bool agrees(const sluice::Mapper& mapper, const Arguments& arguments, std::uint64_t seed,
            std::int64_t* full_mappings) {
  using namespace sluice::oracle;
  RandomCase drawn = random_case(seed, arguments.limits);
  drawn.options.resource_usage = arguments.occupancy;
  *full_mappings += drawn.truth.full_mappings;
  const auto found = difference(mapper, drawn.problem, drawn.options, drawn.truth, seed);
  if (!found) return true;
  fmt::print("# seed {}: {}\n", seed, found->substr(0, found->find('\n')));
  if (arguments.keep_going) return false;
  std::fflush(stdout);
  const auto simplest = shrink(mapper, drawn.spec, *found, arguments.limits, seed);
  fmt::print("{}# {}\n", to_yaml(simplest.spec), simplest.difference);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const sluice::Mapper* mapper = sluice::find_mapper("fused");
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t done = 0;
  std::uint64_t differing = 0;
  std::int64_t full_mappings = 0;
  while (done < arguments.cases && elapsed() < arguments.seconds) {
    const std::uint64_t seed = arguments.seed + done++;
    if (agrees(*mapper, arguments, seed, &full_mappings)) continue;
    ++differing;
    std::fflush(stdout);
    if (!arguments.keep_going) break;
  }
  fmt::print("# {} cases from seed {}, {} full mappings, {:.0f} s: {} differ\n", done,
             arguments.seed, full_mappings, elapsed(), differing);
  return differing == 0 ? 0 : 1;
}
