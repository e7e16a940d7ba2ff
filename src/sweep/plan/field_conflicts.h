#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sluice/sweep/sweep.h"

namespace sluice {

/// What is wrong where a field is given twice: two that vary have one name, or one has a value for
/// all points that no point takes. (Points of a list, and those that are drawn, may have values of
/// their own.)
Diagnostics repeated_fields(const SweepRequest& request);

/// The same of fields of a grid alone.
Diagnostics repeated_fields(const std::vector<VariedField>& fields, const SweepSettings& settings);

/// A variable that changes nothing where a field by its path is given, too, and would without it:
/// `N` beside `workload.rank_sizes.N`. Every row of such a sweep would have a wrong label.
/// `first`, `last`: settings of two points, with the same names; one of the two fields is in
/// `varied`. Of `request` only options and energies count.
std::optional<Diagnostic> hidden_field(const SweepRequest& request,
                                       const std::vector<std::string>& files,
                                       const SweepSettings& first, const SweepSettings& last,
                                       const std::set<std::string>& varied,
                                       const LoadOptions& options);

}  // namespace sluice
