#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "loop_classes.h"
#include "mapper/common/key_hash.h"

namespace sluice::fused {

/// One factor of monomials for every state of a class.
struct Column {
  std::vector<double> values;  ///< per state
  double minimum = 0, maximum = 0;
  std::vector<double> low, high;  ///< extremes per fused number (StateTable)
};

/// The states of one class, numbered by the trip counts of their fused loops, with the columns
/// computed over them so far. Classes of different templates that have the same loops share one.
struct StateTable {
  ClassStates states;
  std::unordered_map<std::vector<std::int64_t>, std::uint32_t, KeyHash> fused_number;
  std::vector<std::uint32_t> fused_of_state;

  /// The column of given values; equal columns are one.
  const Column* add_column(std::vector<double> values);

  /// Columns by what they depend on (Tabulator::signature, loops counted within the class).
  std::map<std::vector<std::int64_t>, const Column*> by_signature;

 private:
  std::deque<Column> columns_;
  std::unordered_multimap<std::uint64_t, const Column*> by_hash_;
};

/// The state tables of all templates of one Einsum; not for several threads at once.
class StateTables {
 public:
  std::shared_ptr<StateTable> table_of(const EinsumShape& shape, const VariableClass& cls,
                                       const ClassLimits& limits);

 private:
  std::map<std::vector<std::int64_t>, std::shared_ptr<StateTable>> tables_;
};

}  // namespace sluice::fused
