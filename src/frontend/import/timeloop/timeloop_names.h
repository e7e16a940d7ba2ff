#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontend/import/timeloop/timeloop.h"
#include "sluice/support/expression.h"

namespace sluice::timeloop {

/// How the workload calls the dimensions of a problem: rank variables in small letters, ranks in
/// capital ones.
struct Names {
  explicit Names(const Problem& problem);
  std::string unused_rank(std::string name);

  std::vector<std::string> variables, ranks;  ///< by dimension

 private:
  std::set<std::string> taken_;
};

/// The memory that stands for links between the instances of a fanout.
std::string links_name(const Level& fanout);

}  // namespace sluice::timeloop
