#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sluice/model/cost.h"
#include "triples/triple.h"

namespace sluice::triples {

/// A model with one mistake: it misreads its input (`before`), or miscounts (`after`). Seen from
/// outside, this is what a mistake in its code looks like.
struct BrokenModel {
  std::string name;  ///< what it gets wrong, a sentence without its subject
  std::function<void(Workload&, Arch&, Mapping&)> before;  ///< may be empty
  std::function<void(const BoundProblem&, Cost&)> after;   ///< may be empty
};

const std::vector<BrokenModel>& broken_models();

/// Where the broken model and the executor differ on a triple.
std::vector<std::string> differences(const LoadedTriple& triple, const BrokenModel& model);

}  // namespace sluice::triples
