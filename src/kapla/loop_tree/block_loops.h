#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/kapla/directives.h"

namespace sluice::kapla {

/// A stack or an update of one variable: a loop with tiles of `tile`.
struct BlockLoop {
  std::size_t variable = 0;
  std::int64_t tile = 1;
  std::int64_t count = 1;  ///< buffers of a stack
  bool is_stack = false;
  std::string dimension;  ///< of a stack, if it is named
  DirectivePlace place;
};

/// Updates and stacks, both outermost first, in one nest: whether each loop is a stack. Stacks
/// stand as far in as they can: above an update of their variable with a smaller tile.
std::vector<bool> nest_order(const std::vector<BlockLoop>& updates,
                             const std::vector<BlockLoop>& stacks);

/// A mistake in how the loops of one variable cover its extent.
struct CoverMistake {
  DirectivePlace place;
  std::string message;
};

/// The loops of one variable between two levels: `inside` is the extent of the box within,
/// `outside` that of the box around. Updates that have nothing to do, as stacks cover all, are
/// taken out. The boxes must touch each other: a step larger than what it moves leaves gaps, a
/// smaller one overlaps. `place`: of the box within.
std::optional<CoverMistake> check_cover(std::vector<BlockLoop>& loops, std::int64_t inside,
                                        std::int64_t outside, const std::string& dim,
                                        DirectivePlace place);

}  // namespace sluice::kapla
