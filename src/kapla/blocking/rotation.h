#pragma once

#include <utility>
#include <vector>

#include "sharing.h"

namespace sluice::kapla {

/// The loops between global buffer and registers, from outside in: some may be cut in two, so that
/// what is outside goes from node to node; the innermost ones, which decide how often registers are
/// filled, stay as they are.
struct CutLoops {
  std::vector<std::pair<Loop, std::int64_t>> steps;
};

/// All cuts and orders, in the order in which they are tried.
std::vector<CutLoops> cuts_of(const LayerShape& layer, const Scheme& scheme);

/// Words × links between nodes for each tensor under one of the cuts.
class Rotation {
 public:
  explicit Rotation(const SharingQuestion& question);

  /// First what goes round, then wide fetches; their sums are compared in this order.
  struct Hops {
    PerOperand<double> round{};
    PerOperand<double> wide{};
    double all() const;
    PerOperand<double> of_each() const;
  };
  Hops hops(const PerOperand<std::int64_t>& holders, const CutLoops& loops) const;

 private:
  std::int64_t rounds(Operand operand, std::int64_t holders, const CutLoops& loops,
                      std::size_t outermost) const;
  double wide_times(Operand operand, std::int64_t rounds, std::int64_t units) const;

  const SharingQuestion& question_;
  PerOperand<double> words_{};  ///< of each tensor in all groups together
  PerOperand<std::int64_t> independent_above_{};
};

}  // namespace sluice::kapla
