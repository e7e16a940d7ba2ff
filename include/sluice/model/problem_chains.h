#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/einsum_chains.h"

namespace sluice {

/// Lower bounds of all mappings of a workload that run one Einsum at a time under the policy
/// `overlap`, with perfect factors and no incremental nodes: the chains of all Einsums (see
/// EinsumChains), compulsory traffic, and leakage, each Einsum spread in the way that is best for
/// the whole. They tell what energy and time cost each other, as narrow loops leave lanes idle that
/// others would keep busy at more energy.
class ProblemChains {
 public:
  enum class Goal : std::uint8_t { kEnergy, kEdp };

  /// `problem` must outlive it.
  ProblemChains(const BoundProblem& problem, Goal goal);
  ProblemChains(const ProblemChains&) = delete;
  ProblemChains& operator=(const ProblemChains&) = delete;
  ~ProblemChains();

  /// No mapping's energy or EDP is below it (J, J·s).
  double bound() const { return bound_; }
  /// Raises the bound by a small step, or finds a chain that may cost less than `limit`: false
  /// where no more is known, or the bound has reached it.
  bool refine(double limit);
  /// Of a workload of one Einsum, a way to run it, if refine() has found one that no earlier call
  /// has told. It may cost a little more than its bound.
  std::optional<Chain> next_chain();

 private:
  struct Part;
  struct Choice;
  std::vector<Choice> cheapest();
  double value(double energy_j, double seconds) const;
  struct Next {
    std::optional<std::size_t> spread;  ///< that is not refined, the cheapest of these
    double price = std::numeric_limits<double>::infinity();  ///< of it, at least
    double bound = std::numeric_limits<double>::infinity();  ///< of all
  };
  Next next_of_one() const;
  bool refine_one(double limit);

  const BoundProblem& problem_;
  Goal goal_;
  CostBounds traffic_;  ///< of the outermost memory alone
  double leak_w_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;  ///< one for all Einsums that are equal
  double bound_ = 0;
  std::optional<std::size_t> untold_;
};

}  // namespace sluice
