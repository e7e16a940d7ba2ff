#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/support/diagnostic.h"

namespace sluice::kapla {

/// A dimension with a number: an extent, a shift or a step.
struct DimNumber {
  std::string dim;
  std::int64_t number = 1;
  friend bool operator==(const DimNumber&, const DimNumber&) = default;
};

/// Where a directive was read; no part of its value.
struct DirectivePlace {
  int line = 0;  ///< 0: it was not read from a text
  int column = 0;
  friend bool operator==(const DirectivePlace&, const DirectivePlace&) { return true; }
};

/// `tensor{NAME}(dim=extent, …[, sharers][, mark…])`: what one buffer holds. With sharers it holds
/// one of so many parts, and the others go round. When the box moves, what was not in it is
/// fetched; marks say otherwise.
struct TensorDirective {
  std::string name;
  std::vector<DimNumber> extents;
  std::int64_t sharers = 1;
  bool whole = false;       ///< all of it is fetched in each iteration of the loops outside
  bool sliding = false;     ///< with `whole`: but for one loop that brings new rows alone
  bool persistent = false;  ///< it stays for the whole run
  bool resident = false;    ///< filled once in each run of a pipeline
  DirectivePlace place;
  friend bool operator==(const TensorDirective&, const TensorDirective&) = default;
};

/// `stack(dim+=shift, …, count)`: so many buffers beside each other, each with boxes displaced by
/// the shifts; without a dim they hold the same. Nearest neighbours first. `stack{columns}(…)`
/// names the spatial dimension.
struct StackDirective {
  std::vector<DimNumber> shifts;
  std::int64_t count = 1;
  std::string dimension;  ///< empty: the nearest one with room
  DirectivePlace place;
  friend bool operator==(const StackDirective&, const StackDirective&) = default;
};

/// `update(dim+=step, …)`: a loop in time that displaces the boxes of all buffers. Innermost first.
struct UpdateDirective {
  std::vector<DimNumber> steps;
  DirectivePlace place;
  friend bool operator==(const UpdateDirective&, const UpdateDirective&) = default;
};

/// The buffers of one level of memory: `REGF`, `GBUF`. Further levels of a memory, outside the
/// first, are `REGF.2`, `REGF.3`.
struct LevelDirectives {
  std::string name;
  std::vector<TensorDirective> tensors;
  std::vector<StackDirective> stacks;
  std::vector<UpdateDirective> updates;
  DirectivePlace place;
  friend bool operator==(const LevelDirectives&, const LevelDirectives&) = default;
};

/// A layer's mapping, innermost level first.
struct LayerDirectives {
  std::string name;
  std::vector<LevelDirectives> levels;
  DirectivePlace place;
  friend bool operator==(const LayerDirectives&, const LayerDirectives&) = default;
};

/// The level of that name; null where there is none.
const LevelDirectives* find_level(const LayerDirectives& layer, const std::string& name);
/// A tensor's extent along a dim; nothing where the level has no such tensor or dim.
std::optional<std::int64_t> extent_of(const LevelDirectives& level, const std::string& tensor,
                                      const std::string& dim);

/// Reads layers, each its name and its levels, each its name, tensors, stacks and updates:
///
///     conv2_a
///       REGF
///         tensor{W}(C=3, K=1, R=5, S=1)
///         stack(Yi+=1, Yo+=1, 7)
///         update(Xi+=1, Xo+=1)
///
/// `#` begins a comment. All mistakes carry line and column.
Result<std::vector<LayerDirectives>> parse_directives(const std::string& text,
                                                      const std::string& file);

/// The text that reads back to the same layers.
std::string to_text(const std::vector<LayerDirectives>& layers);

}  // namespace sluice::kapla
