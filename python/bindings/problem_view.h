#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "raised.h"
#include "report/document/mapping_lines.h"
#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"
#include "sluice/model/latency_policy.h"
#include "sluice/model/violation.h"

namespace sluice::python {

/// A workload on an architecture, as Python code prices mappings of it. Keeps a copy.
class ProblemView {
 public:
  /// `constraints`: a mapping that breaks one is illegal. `raised`: of a policy in Python, whose
  /// exceptions come out of the call that it was asked in; null where somebody else looks at them.
  ProblemView(BoundProblem problem, LatencyPolicy policy, std::optional<Constraints> constraints,
              std::shared_ptr<Raised> raised = nullptr)
      : problem_(std::make_shared<const BoundProblem>(std::move(problem))),
        policy_(policy),
        constraints_(std::move(constraints)),
        raised_(std::move(raised)),
        reader_(problem_->workload, problem_->arch) {}

  /// The mapping of a JSON text as in result documents. Throws cli::Failure.
  Mapping read(const std::string& json);
  /// What it costs, or why it is illegal.
  tl::expected<Cost, std::vector<Violation>> price(const Mapping& mapping) const;
  /// An entry of `mappings` of a result document: costs, or violations.
  std::string evaluate(const std::string& json);
  /// Energy (J) and latency (s); nothing for an illegal mapping.
  std::optional<std::pair<double, double>> totals(const std::string& json);
  std::string description() const;
  std::string tree(const std::string& json);

  const BoundProblem& problem() const { return *problem_; }

 private:
  /// Runs `call`, then raises what the policy in Python raised meanwhile. Without the interpreter's
  /// lock.
  template <class Call>
  auto raising(Call call);

  std::shared_ptr<const BoundProblem> problem_;
  LatencyPolicy policy_;
  std::optional<Constraints> constraints_;
  std::shared_ptr<Raised> raised_;
  std::recursive_mutex
      pricing_;       ///< with `raised_`: it knows one exception; policies may ask again
  std::mutex mutex_;  ///< the reader remembers what it has read
  cli::MappingLines reader_;
};

}  // namespace sluice::python
