// What a user of the library does: specs from files, the four kinds of extensions from outside, and
// the numbers that they must lead to. Prints the result document of the search.
#include <sluice/frontend/load.h>
#include <sluice/mapper/run_mapper.h>
#include <sluice/model/evaluate.h>
#include <sluice/referee/execute.h>
#include <sluice/report/result_document.h>
#include <sluice/support/version.h>

#include <cmath>
#include <iostream>

#include "doubled.h"
#include "one_buffer.h"
#include "register_file.h"
#include "star.h"

namespace {

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::cerr << "failed: " << what << '\n';
}

void expect_equal(double found, double wanted, const std::string& what) {
  if (std::abs(found - wanted) <= 1e-12 * std::abs(wanted)) return;
  ++failures;
  std::cerr << "failed: " << what << " is " << found << ", not " << wanted << '\n';
}

sluice::LoadOptions load_options() {
  sluice::LoadOptions options;
  options.library_dirs = {LIBRARY_DIR};
  options.component_classes.emplace<RegisterFile>();
  options.collective_algorithms.emplace<Star>();
  return options;
}

sluice::Specs load(const std::string& folder) {
  auto specs = sluice::load_specs(
      {folder + "/workload.yaml", folder + "/machine.yaml", folder + "/mapping.yaml"},
      load_options());
  if (specs) return *specs;
  std::cerr << to_string(specs.error());
  std::exit(1);
}

sluice::Cost cost_of(const sluice::BoundProblem& problem, const sluice::Mapping& mapping,
                     const sluice::LatencyPolicy& policy) {
  auto cost = sluice::evaluate(problem, mapping, policy);
  if (cost) return *cost;
  for (const sluice::Violation& violation : cost.error()) std::cerr << violation.message << '\n';
  std::exit(1);
}

/// 128 B are 1024 bit, the root of which is 32; two ports: 64 fJ/bit.
void check_component_class(const sluice::Specs& specs) {
  for (const sluice::Component& component : specs.arch->components) {
    if (component.name != "RF") continue;
    expect_equal(component.actions.at(0).energy_j, 64e-15, "a read of RF");
    expect_equal(*component.area_m2, 1024e-12, "the area of RF");
  }
  expect(specs.sources.at(0).source ==
             "RegisterFile(size 1024 bit, ports 2): an example: 1 fJ/bit × √(bits) × ports",
         "the source of RF's numbers, " + specs.sources.at(0).source);
}

/// Two rows at a time, 2 values each in every core. A message of 2 values, 16 bit: three go to core
/// 0 over 1 + 2 + 3 links, and three back; twice, for four rows.
void check_collective(const sluice::BoundProblem& problem, const sluice::Mapping& mapping) {
  const sluice::Cost cost = cost_of(problem, mapping, sluice::LatencyPolicy::kOverlap);
  expect(cost.collectives.size() == 1 && cost.collectives[0].algorithm == "star", "one star");
  expect_equal(cost.collectives[0].combined_values, 2 * 3 * 2, "combined values");
  for (const sluice::NetworkRow& row : cost.networks) {
    if (row.implicit) continue;
    expect_equal(row.volume_bits, 2 * (3 + 3) * 16, "bits that the star sends");
    expect_equal(row.bit_hops, 2 * (6 + 6) * 16, "bits times links");
    expect_equal(row.latency_hops, 2 * (3 + 3), "links one after the other");
  }
}

void check_policy(const sluice::BoundProblem& problem, const sluice::Mapping& mapping,
                  const sluice::LatencyPolicy& doubled) {
  const sluice::Cost once = cost_of(problem, mapping, sluice::LatencyPolicy::kOverlap);
  const sluice::Cost twice = cost_of(problem, mapping, doubled);
  expect(once.latency_s > 0, "a latency");
  expect_equal(twice.latency_s, 2 * once.latency_s, "the doubled latency");
  expect_equal(twice.energy_j, once.energy_j, "the energy, which nothing leaks");
  expect(twice.breakdown.size() == 2 && twice.breakdown[1].name == "waiting", "what it waits");
}

/// The mapping found computes what the workload says; one with a star cannot be executed.
void check_execution(const sluice::BoundProblem& problem, const sluice::Mapping& found,
                     const sluice::Mapping& with_star) {
  const sluice::Execution run = sluice::execute(problem.workload, problem.arch, found);
  expect(run.is_legal(), "the run of the mapping found");
  expect(run.numbers.compared == 4 + 4 * 8 && run.numbers.differing == 0, "its numbers");
  const sluice::Execution star = sluice::execute(problem.workload, problem.arch, with_star);
  expect(star.is_unsupported(), "what the executor says of a star");
}

sluice::MapperResult search(const sluice::BoundProblem& problem,
                            const sluice::MapperOptions& options,
                            const sluice::MapperRegistry& mappers) {
  auto result = sluice::run_mapper(*mappers.find(options.mapper), problem, options, {}, mappers);
  if (result) return *result;
  std::cerr << result.error().reason << '\n';
  std::exit(1);
}

/// Rows are the better outer loop. 32 + 32 operations of 1 ns, twice as long under this policy.
/// DRAM: C for both Einsums, MX there and back, EX: 32 + 32 + 4 + 4 + 32 values of 8 bit, 1 pJ/bit.
/// RF, 64 fJ/bit: C in and out; MX read and written at each step: 4 · 32; then C in and out, MX in
/// and read at each step, EX in and out: 64 + 4 + 32 + 64. SIMD: 64 pJ.
void check_one_buffer(const sluice::MapperResult& found) {
  expect(found.search.mappings_evaluated == 2, "two outer loops");
  expect(found.guarantee.kind == sluice::GuaranteeKind::kNone, "no proof");
  const sluice::Cost& cost = found.mappings.at(0).cost;
  expect_equal(cost.latency_s, 2 * 64e-9, "the latency of one_buffer's mapping");
  expect_equal(cost.energy_j, 104 * 8 * 1e-12 + (128 + 164) * 8 * 64e-15 + 64e-12, "its energy");
}

/// `random` searches under any policy; `fused` refuses one that it does not know, and says who
/// does.
void check_standard_mappers(const sluice::BoundProblem& problem, sluice::MapperOptions options,
                            const sluice::MapperRegistry& mappers) {
  options.mapper = "random";
  options.budget_evaluations = 100;
  const sluice::Cost drawn = search(problem, options, mappers).mappings.at(0).cost;
  expect(drawn.breakdown.size() == 2 && drawn.breakdown[1].name == "waiting", "its policy");
  const auto refused = sluice::run_mapper(*mappers.find("fused"), problem, options, {}, mappers);
  expect(!refused && refused.error().nearest_relaxation.find("one_buffer") != std::string::npos,
         "fused refuses, and names one_buffer");
}

}  // namespace

int main(int, char** argv) {
  std::cerr << "consumer of sluice " << sluice::version() << '\n';
  const sluice::Specs specs = load(argv[1]);
  check_component_class(specs);
  const auto problem =
      sluice::bind(*specs.workload, *specs.arch, load_options().collective_algorithms);
  const sluice::Mapping& given = specs.mappings.at(0);
  check_collective(*problem, given);

  sluice::MapperRegistry mappers = sluice::standard_mappers();
  mappers.emplace<outside::OneBuffer>();
  sluice::MapperOptions options;
  options.mapper = "one_buffer";
  options.policies.emplace<Doubled>();
  options.policy = *options.policies.find("doubled");
  check_policy(*problem, given, options.policy);

  sluice::MapperResult found = search(*problem, options, mappers);
  check_one_buffer(found);
  check_execution(*problem, found.mappings.at(0).mapping, given);
  check_standard_mappers(*problem, options, mappers);

  sluice::RunResult result;
  result.command = "map";
  result.problem = *problem;
  result.sources = specs.sources;
  result.latency = options.policy;
  result.outcomes.push_back({found.mappings.at(0).mapping, found.mappings.at(0).cost});
  result.search = found.search;
  std::cout << document_text(result);
  return failures == 0 ? 0 : 1;
}
