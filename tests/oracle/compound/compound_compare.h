#pragma once

#include <optional>
#include <string>

#include "oracle/compound/compound_case.h"
#include "sluice/mapper/mapper.h"

namespace sluice::oracle {

/// What a mapper said of the searches that were compared.
struct CompoundTally {
  int optimal = 0;  ///< with guarantee `optimal`
  int gap = 0;      ///< with guarantee `gap`
  int nothing = 0;  ///< no mapping, proven
};

/// Runs a mapper on a case and compares it with brute force: `optimal` is the same objective,
/// `gap` is a bound below it and a mapping not below it, no mapping is said and proven where there
/// is none; what it found is legal, in the bounds of `keep`, and costs what it says. What differs,
/// with the mappings as YAML, or nothing.
std::optional<std::string> compound_difference(const Mapper& mapper, const CompoundCase& drawn,
                                               Objective objective, CompoundTally& tally);

/// The same for every objective: the first difference.
std::optional<std::string> compound_difference(const Mapper& mapper, const CompoundCase& drawn,
                                               CompoundTally& tally);

}  // namespace sluice::oracle
