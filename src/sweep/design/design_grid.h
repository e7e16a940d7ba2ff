#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/sweep/design.h"

namespace sluice {

/// One design of the grid.
struct GridDesign {
  std::vector<std::size_t> index;  ///< of its value, per variable
  SweepSettings settings;
  std::vector<Arch> archs;             ///< per workload, without areas
  std::string arch;                    ///< of the first workload, with areas; canonical YAML
  std::vector<std::string> skeletons;  ///< per workload: what stands for all that is not relaxed
  std::optional<double> area_m2;
  double bound = 0;  ///< that no mappings' objective is below, without any search
};

/// The designs of a request with what their specs say, and the workloads they are for.
struct DesignGrid {
  std::vector<GridDesign> designs;
  std::vector<SweepInputs> workloads;  ///< of the first design
};

/// Reads the specs of all designs. At most 10,000 of them.
Result<DesignGrid> design_grid(const DesignRequest& request, const LoadOptions& options);

}  // namespace sluice
