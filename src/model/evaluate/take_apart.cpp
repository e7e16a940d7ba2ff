#include "model/evaluate/take_apart.h"

#include "model/tree/finish_nests.h"
#include "model/tree/flatten.h"
#include "model/tree/regions.h"
#include "model/tree/row_tiles.h"

namespace sluice {

FlatTree take_apart(const BoundProblem& problem, const Mapping& mapping, ViolationReport& report) {
  FlatTree tree = flatten(problem, mapping, report);
  find_regions(problem, tree, report);
  derive_row_tiles(problem, tree, report);
  finish_nests(problem, tree, report);
  return tree;
}

}  // namespace sluice
