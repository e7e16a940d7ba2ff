#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/einsum_chains.h"

namespace sluice {

/// Whether Einsums exchange tensors in the outermost memory alone, as its rules ask: each runs as
/// if there were no others.
bool exchange_outermost(const BoundProblem& problem);

/// Lower bounds of all mappings of a workload that run one Einsum at a time under the policy
/// `overlap`, with perfect factors and no incremental nodes: the chains of all Einsums (see
/// EinsumChains), compulsory traffic, and leakage, each Einsum spread in the way that is best for
/// the whole. They tell what energy and time cost each other, as narrow loops leave lanes idle that
/// others would keep busy at more energy.
class ProblemChains {
 public:
  enum class Goal : std::uint8_t { kEnergy, kEdp };

  /// `problem` must outlive it. `counted`: with kWhole, of mappings whose Einsums share no node of
  /// a tensor but the first, and pass on no rows. `cancel` ends it, which then knows nothing; may
  /// be null. `most_spreads`: of EinsumChains.
  ProblemChains(const BoundProblem& problem, Goal goal, Counted counted,
                const std::atomic<bool>* cancel, std::size_t most_spreads = kMostSpreads);
  ProblemChains(const ProblemChains&) = delete;
  ProblemChains& operator=(const ProblemChains&) = delete;
  ~ProblemChains();

  /// No mapping's energy or EDP is below it (J, J·s).
  double bound() const { return bound_; }
  using Parallel = EinsumChains::Parallel;
  /// Raises the bound by a small step, or finds chains that may cost less than `limit`: false where
  /// no more is known, or the bound has reached it. What it does depends on the limits alone.
  /// `cancel` ends it; may be null.
  bool refine(double limit, const Parallel& parallel, const std::atomic<bool>* cancel);
  /// States that the bound covers (see EinsumChains).
  double n_states() const;
  /// Whether chains know all that the Einsums cost, which exchange tensors in the outermost memory
  /// alone.
  bool are_apart() const { return are_apart_; }
  /// Of each Einsum the chain that the bound stands for, or another one as long as that is not
  /// known; empty where an Einsum has none, or an earlier call has told the same. Together they may
  /// cost a little more.
  std::vector<Chain> cheapest_chains();
  /// Of a workload of one Einsum, a way to run it, if refine() has found one that no earlier call
  /// has told. It may cost a little more than its bound.
  std::optional<Chain> next_chain();

 private:
  struct Part;
  struct Choice;
  std::vector<Choice> cheapest();
  double value(double energy_j, double seconds) const;
  double all_seconds(double seconds) const;
  double all_energy(double energy_j, double seconds) const;
  std::optional<Chain> renamed(Chain chain, EinsumId from, EinsumId to) const;
  double price_of_one(std::size_t spread) const;
  std::vector<Choice> open_choices(const std::atomic<bool>* cancel);
  bool refine_one(double limit, const Parallel& parallel, const std::atomic<bool>* cancel);

  const BoundProblem& problem_;
  Goal goal_;
  double traffic_s_;      ///< that the outermost memory is busy at least
  double traffic_j_ = 0;  ///< of its traffic, what parts do not count
  double leak_w_ = 0;
  double per_s_ = 0;  ///< what a second is worth (J)
  bool are_apart_;
  std::vector<std::unique_ptr<Part>> parts_;  ///< one for all Einsums that are equal
  std::vector<std::size_t> part_of_;          ///< per Einsum
  double bound_ = 0;
  std::vector<std::size_t> untold_;               ///< spreads with chains, the next one last
  std::vector<std::optional<std::size_t>> told_;  ///< of cheapest_chains(): spreads, per part
};

}  // namespace sluice
