#include "problem_view.h"

#include <nlohmann/json.hpp>

#include "description.h"
#include "report/document/result_document.h"
#include "sluice/model/evaluate.h"

namespace sluice::python {

Mapping ProblemView::read(const std::string& json) {
  const std::lock_guard lock(mutex_);
  return reader_.read(json);
}

std::string ProblemView::evaluate(const std::string& json) {
  Mapping mapping = read(json);
  auto cost = sluice::evaluate(*problem_, mapping, policy_);
  return cli::outcome_to_json({std::move(mapping), std::move(cost)}, *problem_).dump();
}

std::optional<std::pair<double, double>> ProblemView::totals(const std::string& json) {
  const auto totals = evaluate_totals(*problem_, read(json), policy_);
  if (!totals) return std::nullopt;
  return std::pair(totals->energy_j, totals->latency_s);
}

std::string ProblemView::description() const {
  return description_of(problem_->workload, problem_->arch, &*problem_).dump();
}

std::string ProblemView::tree(const std::string& json) { return tree_of(read(json), *problem_); }

}  // namespace sluice::python
