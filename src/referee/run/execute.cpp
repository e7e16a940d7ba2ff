#include "sluice/referee/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plain_evaluation.h"
#include "referee/machine/machine.h"
#include "referee/program/structure.h"
#include "sluice/referee/collective_run.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Every element that an Einsum makes against its definition. Sums may be added up in another
/// order: a difference of 1e-9 of their terms' magnitude is rounding. What is made of rounded
/// values may differ by more (of x - y it is the rounding of x): it is what these values make.
void check_numbers(const Workload& workload, const referee::PointMap& points,
                   const referee::Machine& machine, referee::PlainEvaluation& plain,
                   NumericCheck& check, referee::Complaints& complaints) {
  constexpr double kRounding = 1e-9;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const referee::Results& results = machine.results(TensorId(t));
    for (referee::Element element = 0; element < results.size(); ++element) {
      if (!results.knows(element)) continue;
      const referee::Cell& cell = results.at(element);
      const double truth = plain.value(TensorId(t), element);
      ++check.compared;
      if (cell.is_made && same_number(cell.value, truth)) {
        ++check.exact;
        continue;
      }
      double error = std::fabs(cell.value - truth) /
                     std::max(plain.magnitude(TensorId(t), element), std::fabs(truth));
      if (cell.is_made && !(error <= kRounding) && plain.has_one_maker(TensorId(t))) {
        const auto remade =
            plain.remade(TensorId(t), element, [&](TensorId of, referee::Element one) {
              const referee::Results& made = machine.results(of);
              return made.knows(one) && made.at(one).is_made ? made.at(one).value
                                                             : plain.value(of, one);
            });
        error = same_number(cell.value, remade.value)
                    ? 0
                    : std::fabs(cell.value - remade.value) /
                          std::max(remade.magnitude, std::fabs(remade.value));
      }
      if (cell.is_made && error <= kRounding) {
        check.largest_relative_error = std::max(check.largest_relative_error, error);
        continue;
      }
      ++check.differing;
      complaints.add(ComplaintKind::kWrongNumber,
                     cell.is_made
                         ? fmt::format("{} is {}; the plain evaluation gives {}.",
                                       points.name(TensorId(t), element), cell.value, truth)
                         : fmt::format("{} is never made.", points.name(TensorId(t), element)));
    }
  }
}

/// What the run made; inputs and first slices of states as they are by definition.
TensorValues values_of(const Workload& workload, const referee::PointMap& points,
                       const referee::Machine& machine, referee::PlainEvaluation& plain) {
  TensorValues values;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const TensorId tensor(t);
    const referee::Results& results = machine.results(tensor);
    for (referee::Element element : referee::whole_tensor(workload, points, tensor)) {
      const referee::Cell& made = results.at(element);
      const bool is_there = made.is_made;
      values[tensor].push_back(is_there                         ? made.value
                               : plain.is_made(tensor, element) ? std::nan("")
                                                                : plain.value(tensor, element));
    }
  }
  return values;
}

void collect_computes(const NodeList& nodes, std::vector<ComputeNode>* computes) {
  for (const Node& node : nodes) {
    if (const auto* compute = std::get_if<ComputeNode>(&node.kind)) computes->push_back(*compute);
    if (const auto* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) collect_computes(child, computes);
  }
}

/// A memory's smallest capacity (it may depend on an Einsum's tensors) over the Einsums whose
/// computes stand below it.
double capacity(const Arch& arch, const std::vector<ComputeNode>& computes, referee::Facts& facts,
                ComponentId memory) {
  double bits = std::numeric_limits<double>::infinity();
  for (const ComputeNode& compute : computes) {
    const std::vector<ComponentId> path = path_to(arch, compute.component);
    if (std::find(path.begin(), path.end(), memory) != path.end())
      bits = std::min(bits, facts.capacity_bits(compute.einsum, memory));
  }
  return bits;
}

void add_occupancy(const Mapping& mapping, const Arch& arch, const referee::Machine& machine,
                   referee::Facts& facts, Execution& execution, referee::Complaints& complaints) {
  const bool is_legal = complaints.empty();
  std::vector<ComputeNode> computes;
  collect_computes(mapping.nodes, &computes);
  for (std::size_t c = 0; c < arch.components.size(); ++c) {
    const ComponentId memory(c);
    if (!arch[memory].is_memory()) continue;
    const auto [peak, is_balanced] = machine.reservations().usage(memory);
    SLUICE_CHECK(!is_legal || is_balanced, "a legal mapping releases what it has not reserved");
    const double bits = capacity(arch, computes, facts, memory);
    execution.occupancy.push_back({memory, peak, bits, !machine.has_uneven_parts()});
    if (peak > bits)
      complaints.add(ComplaintKind::kCapacity,
                     fmt::format("{} holds {} bits; the mapping needs {}, {} too many.",
                                 arch[memory].name, bits, peak, peak - bits));
  }
}

void add_counts(const Workload& workload, const referee::Machine& machine, Execution& execution) {
  for (const auto& [what, count] : machine.counts().rows()) {
    const auto& [einsum, component, tensor, action] = what;
    const std::int64_t times = workload.n_instances * workload[einsum].n_instances;
    if (count.count > 0)
      execution.counts.push_back({einsum, component, tensor, action, count.count * times,
                                  count.bits * static_cast<double>(times)});
  }
}

std::vector<ComponentUse> uses_of(const referee::Program& program,
                                  const std::vector<NetworkCount>& networks) {
  std::set<ComponentUse> uses;
  for (const auto& [einsum, path] : program.paths) {
    uses.insert({einsum, path.compute});
    for (const auto& [tensor, links] : path.links)
      for (const referee::Link& link : links) uses.insert({einsum, link.storage->component});
  }
  for (const NetworkCount& network : networks)
    if (network.volume_bits > 0) uses.insert({network.einsum, network.component});
  return {uses.begin(), uses.end()};
}

}  // namespace

std::string complaint_name(ComplaintKind kind) {
  switch (kind) {
    case ComplaintKind::kUnsupported:
      return "unsupported";
    case ComplaintKind::kStructure:
      return "structure";
    case ComplaintKind::kCoverage:
      return "coverage";
    case ComplaintKind::kRecomputation:
      return "recomputation";
    case ComplaintKind::kAbsentValue:
      return "absent_value";
    case ComplaintKind::kCapacity:
      return "capacity";
    case ComplaintKind::kWrongNumber:
      return "wrong_number";
  }
  return "";
}

namespace {

std::int64_t points_of(const Workload& workload) {
  std::int64_t total = 0;
  for (const Einsum& einsum : workload.einsums) {
    std::int64_t points = 1;
    for (const VariableRange& range : einsum.iteration_space) points *= range.size;
    total += points;
  }
  return total;
}

/// Walks the program, and compares the numbers with their definition.
void run(const Workload& workload, const Arch& arch, const Mapping& mapping,
         const ExecutionOptions& options, const referee::Program& program, referee::Facts& facts,
         referee::Complaints& complaints, Execution& execution) {
  referee::Watch watch(options);
  watch.begin("walking the loops", points_of(workload));
  const referee::PointMap points(workload);
  const referee::InputNumbers inputs(workload, points, options.seed, options.inputs);
  referee::Machine machine(workload, arch, program, points, inputs, facts, options, watch,
                           complaints);
  machine.run();
  add_counts(workload, machine, execution);
  execution.networks = machine.network_counts();
  execution.instances = machine.instances();
  execution.uses = uses_of(program, execution.networks);
  add_occupancy(mapping, arch, machine, facts, execution, complaints);
  execution.merge_values = machine.merge_values();
  execution.padding_values = machine.padding_values();
  execution.compute_steps = machine.compute_steps();
  watch.begin("checking the numbers", points_of(workload));
  referee::PlainEvaluation plain(workload, points, inputs, watch);
  if (complaints.list().empty() || !complaints.has(ComplaintKind::kCoverage))
    check_numbers(workload, points, machine, plain, execution.numbers, complaints);
  if (options.record_values) execution.values = values_of(workload, points, machine, plain);
}

/// An algorithm from outside says how many messages it sends, not what is in them.
void check_algorithms(const Mapping& mapping, referee::Complaints& complaints) {
  referee::for_each_node(mapping.nodes, [&](const Node& node) {
    const auto* collective = std::get_if<CollectiveNode>(&node.kind);
    if (collective == nullptr || collective->algorithm == "auto" ||
        referee::knows_algorithm(collective->algorithm))
      return;
    complaints.add(
        ComplaintKind::kUnsupported,
        "The collective algorithm " + collective->algorithm + " is not one that can be executed.");
  });
}

}  // namespace

Execution execute(const Workload& workload, const Arch& arch, const Mapping& mapping,
                  const ExecutionOptions& options) {
  Execution execution;
  referee::Complaints complaints;
  referee::check_supported(workload, mapping, complaints);
  check_algorithms(mapping, complaints);
  if (const auto why = too_large_to_execute(workload, options.max_bytes))
    complaints.add(ComplaintKind::kUnsupported, *why);
  execution.complaints = complaints.list();
  if (!complaints.empty()) return execution;
  const referee::Program program = referee::make_program(workload, arch, mapping);
  referee::Facts facts(workload, arch);
  referee::check_structure(workload, arch, mapping, program, facts, complaints);
  execution.complaints = complaints.list();
  if (!complaints.empty()) return execution;

  try {
    run(workload, arch, mapping, options, program, facts, complaints, execution);
  } catch (const referee::Cancelled&) {
    execution = Execution{};
    execution.cancelled = true;
    return execution;
  }
  execution.complaints = complaints.list();
  return execution;
}

}  // namespace sluice
