#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "report/document/mapping_lines.h"
#include "sluice/model/binding.h"
#include "sluice/model/latency_policy.h"

namespace sluice::python {

/// A workload on an architecture, as Python code prices mappings of it. Keeps a copy.
class ProblemView {
 public:
  ProblemView(BoundProblem problem, LatencyPolicy policy)
      : problem_(std::make_shared<const BoundProblem>(std::move(problem))),
        policy_(policy),
        reader_(problem_->workload, problem_->arch) {}

  /// The mapping of a JSON text as in result documents. Throws std::runtime_error.
  Mapping read(const std::string& json);
  /// An entry of `mappings` of a result document: costs, or violations.
  std::string evaluate(const std::string& json);
  /// Energy (J) and latency (s); nothing for an illegal mapping.
  std::optional<std::pair<double, double>> totals(const std::string& json);
  std::string description() const;
  std::string tree(const std::string& json);

  const BoundProblem& problem() const { return *problem_; }

 private:
  std::shared_ptr<const BoundProblem> problem_;
  LatencyPolicy policy_;
  std::mutex mutex_;  ///< the reader remembers what it has read
  cli::MappingLines reader_;
};

}  // namespace sluice::python
