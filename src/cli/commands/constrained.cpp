#include "constrained.h"

#include <fmt/format.h>

#include <utility>

#include "mapper/request/constraint_check.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/failed.h"

namespace sluice::cli {

namespace {

/// Whether the node stands in the list or below; then `path` leads to it.
bool find_node(const NodeList& nodes, const Node* node, std::vector<std::size_t>* path) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    path->push_back(i);
    if (&nodes[i] == node) return true;
    if (const auto* split = std::get_if<SplitNode>(&nodes[i].kind))
      for (std::size_t c = 0; c < split->children.size(); ++c) {
        path->push_back(c);
        if (find_node(split->children[c], node, path)) return true;
        path->pop_back();
      }
    path->pop_back();
  }
  return false;
}

Violation violation_of(const BrokenConstraint& broken, const Mapping& mapping) {
  Violation violation{};
  violation.kind = ViolationKind::kConstraint;
  violation.message = fmt::format("The mapping breaks the constraint {}{}{}.", broken.name,
                                  broken.reason.empty() ? "" : ": ", broken.reason);
  violation.component = broken.component;
  violation.einsum = broken.einsum;
  if (broken.tensor) violation.tensors = {*broken.tensor};
  if (broken.node != nullptr) find_node(mapping.nodes, broken.node, &violation.node_path);
  return violation;
}

}  // namespace

std::vector<Violation> constraint_faults(const BoundProblem& problem, const Mapping& mapping,
                                         const std::optional<Constraints>& constraints) {
  std::vector<Violation> violations;
  if (!constraints) return violations;
  for (const BrokenConstraint& broken : broken_constraints(*constraints, problem, mapping))
    violations.push_back(violation_of(broken, mapping));
  return violations;
}

tl::expected<Cost, std::vector<Violation>> evaluate_constrained(
    const BoundProblem& problem, const Mapping& mapping, LatencyPolicy policy,
    const std::optional<Constraints>& constraints) {
  auto cost = evaluate(problem, mapping, policy);
  if (!cost) return cost;
  auto broken = constraint_faults(problem, mapping, constraints);
  if (!broken.empty()) return tl::make_unexpected(std::move(broken));
  return cost;
}

Diagnostic mistake_at(const Specs& specs, std::size_t mapping, const Violation& violation,
                      std::string message) {
  Diagnostic mistake = error_without_place(std::move(message));
  const NodePlace* place =
      place_of(specs.mappings[mapping], specs.mapping_places[mapping], violation.node_path);
  if (place == nullptr) return mistake;
  mistake.location = place->location;
  mistake.source_line = place->source_line;
  return mistake;
}

}  // namespace sluice::cli
