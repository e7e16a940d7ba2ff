#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result_document.h"
#include "sluice/mapper/least_costs.h"
#include "sluice/support/diagnostic.h"

namespace sluice::cli {

/// What `sluice bounds` found for one value of the field that it varies.
struct BoundsPoint {
  std::string value;  ///< empty where nothing varies
  double seconds = 0;
  std::optional<LeastCostsOfWorkload> least;
  NoMapping no;  ///< where there is none
};

struct BoundsReport {
  std::string workload, arch;
  std::string varied;  ///< name of the field; empty: none
  std::size_t n_values = 1;
  std::vector<BoundsPoint> points;
  Diagnostics diagnostics;
  bool is_interrupted = false;
};

/// Schema `sluice.bounds/1` (docs/cli.md).
Json bounds_document(const BoundsReport& report);

/// One line for each point: value, then value and bound of each number; empty where there is no
/// mapping.
std::string bounds_csv(const BoundsReport& report);

}  // namespace sluice::cli
