#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hull.h"
#include "mapper/fused/exchange/exchange_space.h"
#include "mapper/fused/price/simple_program.h"

namespace sluice::fused {

struct SearchBound;

/// The fused loops of one class of a template.
struct ClassFusedNumbers {
  const StateTable* table = nullptr;     ///< numbers states by them
  std::vector<std::uint32_t> positions;  ///< of them in an exchange row
};

std::vector<ClassFusedNumbers> number_fused_loops(
    const Template& templ, const std::vector<VariableClass>& classes,
    const std::vector<std::shared_ptr<StateTable>>& tables);

/// Numbers of an exchange row per class; false: some class has no tile shape for it.
bool fused_numbers_of(const std::vector<ClassFusedNumbers>& classes, const std::int64_t* row,
                      std::vector<std::int64_t>* scratch, std::vector<std::uint32_t>* numbers);

/// What tile shapes with given fused loops cost, as far as bounds over their columns tell.
class FusedBound {
 public:
  explicit FusedBound(const SimpleProgram& program);
  /// Whether they can meet every limit and beat the known mapping.
  bool promising(const std::vector<std::uint32_t>& numbers, const SearchBound& bound);
  /// Of fused loops that nothing is known of.
  static constexpr std::uint32_t kAny = ~0U;
  /// What they cost at least; none: they exceed a limit.
  std::optional<EnergyLatency> least(const std::vector<std::uint32_t>& numbers,
                                     const SearchBound& bound);

 private:
  struct Factor {
    std::uint32_t cls, column;
  };
  const SimpleProgram& program_;
  std::vector<std::vector<Factor>> factors_;  // per product
  std::vector<double> least_, most_;          // per product
};

}  // namespace sluice::fused
