// Compares the fused mapper with the brute-force referee; see kHelp.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mapper/space/template.h"
#include "oracle/compare.h"
#include "oracle/compound/compound_compare.h"
#include "sluice/frontend/load.h"
#include "sluice/mapper/options_table.h"
#include "sluice/mapper/registry.h"

namespace {

constexpr const char* kHelp =
    R"(sluice_fuzz: a mapper against brute force on random problems: `fused`, or `compound`.
At the first difference it prints the simplest problem that still shows it, as YAML, and ends with
status 1.
  --cases N         how many problems (default 1000)
  --seed S          the first one; the others follow (default 1)
  --seconds T       stop after so long
  --evaluations E   size of the problems: at most so many mappings priced (default 4000); the same
                    seed with another E is another problem
  --extras LIST     which kinds of special input to draw, of those below, or none (default: all)
  --compound        the mapper `compound` on small cascades on clusters and cores (of the options, it
                    knows --cases, --seed, --seconds, --evaluations, --print and
                    --keep-going)
  --templates N     leave problems out that have more templates of an Einsum (default: inf); the
                    mapper alone takes a minute for a hundred thousand
  --occupancy       compare the fronts with peak occupancies too
  --keep-going      report every difference, not made simpler
  --print           print each problem before it is compared
  --execute N       run N mappings of each problem literally and compare them with the model
  --problem FILE    one problem from a spec file (workload, arch, mapper) instead
Kinds of special input:
)";

std::string help() {
  std::string text = kHelp;
  for (const auto& extra : sluice::oracle::named_extras())
    text += fmt::format("  {}\n", extra.name);
  return text;
}

struct Arguments {
  std::uint64_t cases = 1000;
  std::uint64_t seed = 1;
  double seconds = std::numeric_limits<double>::infinity();
  bool keep_going = false;
  bool occupancy = false;
  bool compound = false;
  bool print = false;
  std::size_t templates = std::numeric_limits<std::size_t>::max();
  sluice::oracle::Extras extras = sluice::oracle::kAllExtras;
  std::string problem;
  sluice::oracle::EnumerationLimits limits = {.max_nests = 60'000, .max_evaluations = 4'000};
};

[[noreturn]] void refuse(const std::string& message) {
  fmt::print(stderr, "{}\n{}", message, help());
  std::exit(2);
}

sluice::oracle::Extras read_extras(const std::string& list) {
  sluice::oracle::Extras extras;
  std::istringstream names(list == "none" ? "" : list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto& extras_known = sluice::oracle::named_extras();
    const auto known = std::find_if(extras_known.begin(), extras_known.end(),
                                    [&](const auto& extra) { return extra.name == name; });
    if (known == extras_known.end()) refuse("unknown kind of input " + name);
    extras.*known->drawn = true;
  }
  return extras;
}

void read_switch(Arguments& arguments, const std::string& name) {
  if (name == "--keep-going") {
    arguments.keep_going = true;
  } else if (name == "--occupancy") {
    arguments.occupancy = true;
  } else if (name == "--compound") {
    arguments.compound = true;
  } else if (name == "--print") {
    arguments.print = true;
  } else {
    fmt::print("{}", help());
    std::exit(0);
  }
}

void read_value(Arguments& arguments, const std::string& name, const std::string& value) {
  try {
    if (name == "--cases") {
      arguments.cases = std::stoull(value);
    } else if (name == "--seed") {
      arguments.seed = std::stoull(value);
    } else if (name == "--seconds") {
      arguments.seconds = std::stod(value);
    } else if (name == "--templates") {
      arguments.templates = std::stoull(value);
    } else if (name == "--execute") {
      arguments.limits.executions = std::stoll(value);
    } else if (name == "--extras") {
      arguments.extras = read_extras(value);
    } else if (name == "--problem") {
      arguments.problem = value;
    } else if (name == "--evaluations") {
      arguments.limits.max_evaluations = std::stoll(value);
      arguments.limits.max_nests = 20 * arguments.limits.max_evaluations;
    } else {
      refuse("unknown option " + name);
    }
  } catch (const std::logic_error&) {
    refuse(name + " needs a number, not " + value);
  }
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool is_switch = name == "--keep-going" || name == "--occupancy" ||
                           name == "--compound" || name == "--print" || name == "--help" ||
                           name == "-h";
    if (is_switch) {
      read_switch(arguments, name);
    } else if (i + 1 == argc) {
      refuse(name + " needs a value, or is not known");
    } else {
      read_value(arguments, name, argv[++i]);
    }
  }
  return arguments;
}

using Shares = std::map<std::string, std::uint64_t>;  ///< cases of each kind

void print(std::uint64_t seed, const std::string& problem) {
  fmt::print("# seed {}\n{}---\n", seed, problem);
  std::fflush(stdout);
}

/// What is wrong with mappings of the space, whatever the mapper says.
std::vector<std::string> faults_of(const sluice::oracle::Enumeration& truth) {
  std::vector<std::string> faults;
  for (const std::string& refusal : truth.refusals)
    faults.push_back("evaluate refuses a mapping of the space: " + refusal);
  for (const std::string& report : truth.non_additive)
    faults.push_back("a price is not the sum of its Einsums': " + report);
  faults.insert(faults.end(), truth.executed_otherwise.begin(), truth.executed_otherwise.end());
  return faults;
}

/// Whether an Einsum has more templates than so many.
bool has_more_templates(const sluice::oracle::RandomCase& drawn, std::size_t most) {
  using namespace sluice::fused;
  if (most == std::numeric_limits<std::size_t>::max()) return false;
  for (std::size_t e = 0; e < drawn.problem.einsums.size(); ++e) {
    const EinsumShape shape = make_einsum_shape(drawn.problem, sluice::EinsumId(e));
    TemplateLimits limits;
    limits.cap = most + 1;
    if (enumerate_templates(drawn.problem, shape, drawn.options, drawn.options.constraints, limits)
            .size() > most)
      return true;
  }
  return false;
}

/// One random case; true where the mapper and the referee agree.
bool agrees(const sluice::Mapper& mapper, const Arguments& arguments, std::uint64_t seed,
            std::int64_t* full_mappings, Shares& shares, std::uint64_t* left_out) {
  using namespace sluice::oracle;
  RandomCase drawn = random_case(seed, arguments.limits, arguments.extras);
  drawn.options.resource_usage = arguments.occupancy;
  if (arguments.print) print(seed, to_yaml(drawn.spec));
  if (has_more_templates(drawn, arguments.templates)) {
    ++*left_out;
    return true;
  }
  *full_mappings += drawn.truth.full_mappings;
  const Extras extras = extras_of(drawn.spec);
  for (const auto& extra : named_extras()) shares[extra.name] += extras.*extra.drawn ? 1 : 0;
  const auto faults = faults_of(drawn.truth);
  for (const std::string& fault : faults)
    fmt::print(
        "# seed {}: {}\n", seed,
        arguments.keep_going ? fault.substr(0, fault.find('\n')) : fault + to_yaml(drawn.spec));
  const auto found = difference(mapper, drawn.problem, drawn.options, drawn.truth, seed);
  if (!found) return faults.empty();
  const std::size_t end_of_first = found->find('\n');
  const std::size_t end_of_second =
      end_of_first == std::string::npos ? end_of_first : found->find('\n', end_of_first + 1);
  std::string title = found->substr(0, end_of_second);
  std::replace(title.begin(), title.end(), '\n', ' ');
  fmt::print("# seed {}: {}\n", seed, title);
  if (arguments.keep_going) return false;
  fmt::print("{}# {}\n# made simpler:\n", to_yaml(drawn.spec), *found);
  std::fflush(stdout);
  const auto simplest = shrink(mapper, drawn.spec, *found, arguments.limits, seed);
  fmt::print("{}# {}\n", to_yaml(simplest.spec), simplest.difference);
  return false;
}

/// One random case of the compound space; true where the mapper and the referee agree.
bool agrees_on_compound(const sluice::Mapper& mapper, const Arguments& arguments,
                        std::uint64_t seed, std::int64_t* mappings,
                        sluice::oracle::CompoundTally& tally) {
  using namespace sluice::oracle;
  const CompoundCase drawn = random_compound_case(seed, arguments.limits.max_evaluations);
  *mappings += drawn.truth.mappings;
  if (arguments.print) print(seed, drawn.yaml);
  const auto found = compound_difference(mapper, drawn, tally);
  if (!found) return true;
  fmt::print(
      "# seed {}: {}\n", seed,
      arguments.keep_going ? found->substr(0, found->find('\n')) : *found + "\n" + drawn.yaml);
  return false;
}

template <class T>
T value_of(sluice::Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}", to_string(result.error()));
  std::exit(2);
}

/// The problem of a file: exit status 1 where the mapper and the referee differ.
int compare_file(const sluice::Mapper& mapper, const Arguments& arguments) {
  using namespace sluice;
  const Specs specs = value_of(load_specs({arguments.problem}, {}));
  if (!specs.workload || !specs.arch) refuse("a problem needs a workload and an arch");
  MapperOptions options;
  options.resource_usage = arguments.occupancy;
  for (const auto& [name, text] : specs.mapper_options) {
    const MapperOption* option = find_mapper_option(name);
    if (!option || !option->set(options, text)) refuse("unknown option in the file: " + name);
  }
  const BoundProblem problem = value_of(bind(*specs.workload, *specs.arch));
  if (specs.constraints) options.constraints = *specs.constraints;
  const oracle::Enumeration truth = oracle::enumerate(problem, options, arguments.limits);
  if (truth.exceeded) refuse("more mappings than --evaluations allows");
  const auto faults = faults_of(truth);
  for (const std::string& fault : faults) fmt::print("# {}\n", fault);
  for (std::uint64_t variation = 0; variation < oracle::number_of_variations(); ++variation) {
    const auto found = oracle::difference(mapper, problem, options, truth, variation);
    if (!found) continue;
    fmt::print("# {}\n", *found);
    return 1;
  }
  fmt::print("# {} full mappings, {} valid: {}\n", truth.full_mappings, truth.valid_mappings,
             truth.best_edp ? fmt::format("best EDP {} J {} s", truth.best_edp->point.energy_j,
                                          truth.best_edp->point.latency_s)
                            : "nothing is legal");
  return faults.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const sluice::Mapper* mapper =
      sluice::standard_mappers().find(arguments.compound ? "compound" : "fused");
  if (mapper == nullptr) refuse("this build has no such mapper");
  if (!arguments.problem.empty()) return compare_file(*mapper, arguments);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t done = 0;
  std::uint64_t differing = 0;
  std::uint64_t left_out = 0;
  std::int64_t full_mappings = 0;
  sluice::oracle::CompoundTally tally;
  Shares shares;
  while (done < arguments.cases && elapsed() < arguments.seconds) {
    const std::uint64_t seed = arguments.seed + done++;
    if (arguments.compound ? agrees_on_compound(*mapper, arguments, seed, &full_mappings, tally)
                           : agrees(*mapper, arguments, seed, &full_mappings, shares, &left_out))
      continue;
    ++differing;
    std::fflush(stdout);
    if (!arguments.keep_going) break;
  }
  fmt::print("# {} cases from seed {}, {} full mappings, {:.0f} s: {} differ\n", done - left_out,
             arguments.seed, full_mappings, elapsed(), differing);
  if (left_out > 0)
    fmt::print("# {} more have more than {} templates of an Einsum: left out\n", left_out,
               arguments.templates);
  for (const auto& [kind, cases] : shares)
    if (cases > 0)
      fmt::print("# {}: {:.1f} %\n", kind,
                 100.0 * static_cast<double>(cases) / static_cast<double>(done));
  if (arguments.compound)
    fmt::print("# searches: {} optimal, {} gap, {} proven to have no mapping\n", tally.optimal,
               tally.gap, tally.nothing);
  return differing == 0 ? 0 : 1;
}
