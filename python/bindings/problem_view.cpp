#include "problem_view.h"

#include <nanobind/nanobind.h>

#include <nlohmann/json.hpp>

#include "cli/commands/constrained.h"
#include "cli/io/failure.h"
#include "description.h"
#include "report/document/result_document.h"
#include "sluice/model/evaluate.h"

namespace sluice::python {
namespace nb = nanobind;

template <class Call>
auto ProblemView::raising(Call call) {
  if (raised_ == nullptr) return call();
  const std::lock_guard lock(pricing_);
  auto answer = call();
  if (raised_->happened()) {
    const nb::gil_scoped_acquire acquire;
    raised_->raise_again();
  }
  return answer;
}

Mapping ProblemView::read(const std::string& json) {
  const std::lock_guard lock(mutex_);
  try {
    return reader_.read(json);
  } catch (const std::runtime_error& error) {
    throw cli::Failure(cli::ExitCode::kBadInput, error.what());
  }
}

tl::expected<Cost, std::vector<Violation>> ProblemView::price(const Mapping& mapping) const {
  return cli::evaluate_constrained(*problem_, mapping, policy_, constraints_);
}

std::string ProblemView::evaluate(const std::string& json) {
  Mapping mapping = read(json);
  auto cost = raising([&] { return price(mapping); });
  return cli::outcome_to_json({std::move(mapping), std::move(cost)}, *problem_).dump();
}

std::optional<std::pair<double, double>> ProblemView::totals(const std::string& json) {
  const Mapping mapping = read(json);
  const auto totals = raising([&] { return evaluate_totals(*problem_, mapping, policy_); });
  if (!totals || !cli::constraint_faults(*problem_, mapping, constraints_).empty())
    return std::nullopt;
  return std::pair(totals->energy_j, totals->latency_s);
}

std::string ProblemView::description() const {
  return description_of(problem_->workload, problem_->arch, &*problem_).dump();
}

std::string ProblemView::tree(const std::string& json) { return tree_of(read(json), *problem_); }

}  // namespace sluice::python
