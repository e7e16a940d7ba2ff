#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

/// Lines of cells, the columns aligned. `sides`: `l` or `r` for each column. A line with fewer
/// cells than columns ends in a remark, which is not aligned and takes the place of the rest.
std::string text_table(const std::string& sides,
                       const std::vector<std::vector<std::string>>& lines);

}  // namespace sluice::cli
