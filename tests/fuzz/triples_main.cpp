// sluice_fuzz_triples [--cases N] [--seed S] [--seconds T] [--keep-going]
//                     [--concurrent|--collectives|--regions] [--kinds LIST] [--statistics]
// Compares the analytic model with the executor on random (workload, architecture, mapping)
// triples. At a difference it prints the simplest triple that still shows it, as YAML, and ends
// with status 1.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "sluice/model/evaluate.h"
#include "sluice/referee/execute.h"
#include "triples/triple.h"

namespace {

struct Arguments {
  std::uint64_t cases = 10'000;
  std::uint64_t seed = 1;
  double seconds = std::numeric_limits<double>::infinity();
  bool keep_going = false;   ///< report every difference, unshrunk
  bool print = false;        ///< only print the triples
  bool concurrent = false;   ///< with most of their splits pipelined or parallel
  bool collectives = false;  ///< all of them with collectives
  bool regions = false;      ///< all of them with regions, forwarded tensors or resident nodes
  bool statistics = false;   ///< how many were of each kind
  sluice::triples::Kinds kinds = sluice::triples::kAllKinds;
};

bool* flag_named(const std::string& name, Arguments& arguments) {
  if (name == "--keep-going") return &arguments.keep_going;
  if (name == "--print") return &arguments.print;
  if (name == "--concurrent") return &arguments.concurrent;
  if (name == "--collectives") return &arguments.collectives;
  if (name == "--regions") return &arguments.regions;
  if (name == "--statistics") return &arguments.statistics;
  return nullptr;
}

sluice::triples::Kinds read_kinds(const std::string& list) {
  sluice::triples::Kinds kinds;
  std::istringstream names(list == "none" ? "" : list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto& known = sluice::triples::named_kinds();
    const auto kind = std::find_if(known.begin(), known.end(),
                                   [&](const auto& entry) { return entry.name == name; });
    if (kind == known.end()) {
      fmt::print(stderr, "unknown kind {}\n", name);
      std::exit(2);
    }
    kinds.*kind->drawn = true;
  }
  return kinds;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (bool* flag = flag_named(name, arguments)) {
      *flag = true;
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
    } else if (name == "--kinds") {
      arguments.kinds = read_kinds(value);
    } else {
      fmt::print(stderr, "unknown option {}\n", name);
      std::exit(2);
    }
  }
  return arguments;
}

struct Tally {
  std::uint64_t done = 0, legal = 0, unpriced = 0, refused = 0, differing = 0;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> kinds;  ///< drawn, legal
};

void count_kinds(const sluice::triples::Triple& triple, bool is_legal, Tally& tally) {
  const sluice::triples::Kinds kinds = sluice::triples::kinds_of(triple);
  for (const auto& kind : sluice::triples::named_kinds()) {
    if (!(kinds.*kind.drawn)) continue;
    ++tally.kinds[kind.name].first;
    if (is_legal) ++tally.kinds[kind.name].second;
  }
}

bool is_unpriced(const std::vector<sluice::Violation>& violations) {
  return std::all_of(violations.begin(), violations.end(), [](const sluice::Violation& violation) {
    return violation.kind == sluice::ViolationKind::kUnsupportedNode;
  });
}

void print_run(const sluice::triples::LoadedTriple& triple) {
  const sluice::Execution run =
      sluice::execute(triple.problem.workload, triple.problem.arch, triple.mapping);
  fmt::print("# executed: {}\n", run.is_legal() ? "legal" : run.complaints.front().message);
}

/// One case; false where the two differ.
bool agrees(const Arguments& arguments, std::uint64_t seed, Tally& tally) {
  using namespace sluice::triples;
  const Triple triple = arguments.collectives  ? collective_triple(seed, arguments.kinds)
                        : arguments.concurrent ? concurrent_triple(seed, arguments.kinds)
                        : arguments.regions    ? region_triple(seed, arguments.kinds)
                                               : random_triple(seed, arguments.kinds);
  if (arguments.print) fmt::print("# seed {}\n{}---\n", seed, to_yaml(triple));
  std::string why;
  const auto loaded = load(triple, &why);
  if (!loaded) {
    ++tally.refused;
    return true;
  }
  const auto model = sluice::evaluate(loaded->problem, loaded->mapping);
  if (model) ++tally.legal;
  if (arguments.statistics) count_kinds(triple, model.has_value(), tally);
  if (!model && is_unpriced(model.error())) ++tally.unpriced;
  if (!model && arguments.print) fmt::print("# illegal: {}\n", model.error().front().message);
  if (arguments.print) print_run(*loaded);
  const auto found = differences(*loaded);
  if (found.empty()) return true;
  fmt::print("# seed {}: {}\n", seed, found[0]);
  std::fflush(stdout);
  if (arguments.keep_going) return false;
  const Triple simplest = shrink(triple);
  fmt::print("{}", to_yaml(simplest));
  for (const std::string& line : differences(*load(simplest, nullptr))) fmt::print("# {}\n", line);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Tally tally;
  while (tally.done < arguments.cases && elapsed() < arguments.seconds) {
    if (agrees(arguments, arguments.seed + tally.done++, tally)) continue;
    ++tally.differing;
    if (!arguments.keep_going) break;
  }
  fmt::print(
      "# {} triples from seed {}, {} legal, {} not priced, {} refused by the reader, {:.1f} s: {} "
      "differ\n",
      tally.done, arguments.seed, tally.legal, tally.unpriced, tally.refused, elapsed(),
      tally.differing);
  for (const auto& [kind, count] : tally.kinds)
    fmt::print("# {}: {:.1f} % of all, {:.1f} % of the legal ones\n", kind,
               100.0 * static_cast<double>(count.first) / static_cast<double>(tally.done),
               100.0 * static_cast<double>(count.second) / static_cast<double>(tally.legal));
  return tally.differing == 0 ? 0 : 1;
}
