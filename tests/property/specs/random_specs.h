#pragma once

#include <random>
#include <string>

#include "sluice/arch/arch.h"
#include "sluice/mapper/constraints.h"
#include "sluice/mapping/mapping.h"
#include "sluice/workload/workload.h"

namespace sluice::testing {

/// Random values of the IRs for round trips: valid as a reader makes them, not meant to be priced.
class RandomSpecs {
 public:
  explicit RandomSpecs(std::uint64_t seed) : random_(seed) {}

  Workload workload();
  Arch arch();
  Mapping mapping(const Workload& workload, const Arch& arch);
  Constraints constraints(const Workload& workload, const Arch& arch);
  /// Text of an expression over the names a, b (numbers), S, T (sets) and p (truth).
  std::string number_expression(int depth);
  std::string truth_expression(int depth);
  std::string set_expression(int depth);

  /// A whole number in low..high.
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <class T>
  const T& any(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  /// A number with many digits, or a round one.
  double number();

 private:
  std::mt19937_64 random_;
};

}  // namespace sluice::testing
