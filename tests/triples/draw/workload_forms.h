#pragma once

#include <string>
#include <vector>

namespace sluice::triples {

struct WorkloadForm {
  std::vector<std::string> einsums;  ///< the name of each is its output
  std::vector<std::string> ranks;    ///< that have a size of their own
  std::vector<std::string> bounds;
  int weight = 1;
  int collective_weight = 1;  ///< among those that collectives are drawn for
  int region_weight = 0;      ///< the same of regions, beside those of collectives
};

const std::vector<WorkloadForm>& plain_forms();

/// Whose outputs are windows: transposed convolutions, adjoints, overlapping sums.
const std::vector<WorkloadForm>& windowed_forms();

/// With five to seven variables in one Einsum.
const std::vector<WorkloadForm>& many_loops_forms();

/// Of which all tensors may live outside the steps.
const std::vector<WorkloadForm>& cycle_forms();

/// With a variable that indexes everything: a port of the outermost memory is a part of it.
const std::vector<WorkloadForm>& common_variable_forms();

/// Einsums that make disjoint boxes of one tensor, and who reads it.
const std::vector<WorkloadForm>& parts_forms();

}  // namespace sluice::triples
