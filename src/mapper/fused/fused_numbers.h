#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exchange_space.h"
#include "key_hash.h"
#include "loop_classes.h"
#include "simple_program.h"

namespace sluice::fused {

struct SearchBound;

/// The fused loops of one class: its states numbered by their fused trip counts, and what each
/// number can make of the program's columns at least and at most.
struct ClassFusedNumbers {
  std::vector<std::uint32_t> positions;  ///< of the class's fused loops in an exchange row
  std::unordered_map<std::vector<std::int64_t>, std::uint32_t, KeyHash> number;  ///< of trip counts
  std::vector<std::uint32_t> of_state;
  std::vector<double> low, high;  ///< per number and column
};

std::vector<ClassFusedNumbers> number_fused_loops(const Template& templ,
                                                  const std::vector<VariableClass>& classes,
                                                  const std::vector<ClassStates>& states,
                                                  const SimpleProgram& program);

/// Numbers of an exchange row per class; false: some class has no tile shape for it.

bool fused_numbers_of(const std::vector<ClassFusedNumbers>& classes, const std::int64_t* row,
                      std::vector<std::int64_t>* scratch, std::vector<std::uint32_t>* numbers);

/// Whether tile shapes with given fused loops can meet every limit and beat the known mapping, as
/// far as bounds over their columns tell.
class FusedBound {
 public:
  FusedBound(const SimpleProgram& program, const std::vector<ClassFusedNumbers>& classes);
  bool promising(const std::vector<std::uint32_t>& numbers, const SearchBound& bound);

 private:
  struct Factor {
    std::uint32_t cls, column;
  };
  const SimpleProgram& program_;
  const std::vector<ClassFusedNumbers>& classes_;
  std::vector<std::vector<Factor>> factors_;  // per product
  std::vector<double> least_, most_;          // per product
};

}  // namespace sluice::fused
