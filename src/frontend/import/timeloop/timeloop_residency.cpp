#include "frontend/import/timeloop/timeloop_residency.h"

#include <algorithm>

#include "sluice/model/evaluate.h"

namespace sluice::timeloop {

std::vector<Unpriced> unpriced_nodes(const std::vector<NamedText>& texts) {
  const Result<sluice::Specs> specs = load_specs_from_text(texts, {});
  if (!specs || !specs->workload || !specs->arch || specs->mappings.empty()) return {};
  const auto problem = bind(*specs->workload, *specs->arch);
  if (!problem) return {};
  const auto cost = evaluate(*problem, specs->mappings.front());
  std::vector<Unpriced> unpriced;
  if (cost) return unpriced;
  for (const Violation& violation : cost.error()) {
    if (violation.kind != ViolationKind::kUnsupportedNode || !violation.component) continue;
    for (const TensorId tensor : violation.tensors)
      unpriced.push_back({(*specs->arch)[*violation.component].name,
                          (*specs->workload)[tensor].name, violation.message});
  }
  return unpriced;
}

}  // namespace sluice::timeloop
