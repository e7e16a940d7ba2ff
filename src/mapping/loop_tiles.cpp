#include "mapping/loop_tiles.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

/// Place in an Einsum's iteration space of the first of a loop's variables that it uses.
std::size_t walked_by(const Einsum& einsum, const std::vector<RankVariableId>& variables) {
  for (RankVariableId variable : variables)
    for (std::size_t v = 0; v < einsum.iteration_space.size(); ++v)
      if (einsum.iteration_space[v].variable == variable) return v;
  return kNowhere;
}

/// Einsums of whose output some other one reads a window, or one whose own output is read so.
std::vector<char> makers_of_windows(const Workload& workload) {
  std::vector<char> read_in_windows(workload.tensors.size(), 0);
  bool any = false;
  for (const Einsum& einsum : workload.einsums)
    for (const TensorAccess& access : einsum.accesses)
      for (const AffineExpression& index : access.projection)
        if (!access.is_output && index.is_window()) {
          read_in_windows[access.tensor.index()] = 1;
          any = true;
        }
  if (!any) return {};
  std::vector<char> makers(workload.einsums.size(), 0);
  for (std::size_t e = workload.einsums.size(); e-- > 0;) {
    const Einsum& einsum = workload.einsums[e];
    makers[e] = read_in_windows[einsum.output().tensor.index()];
    if (makers[e] == 0) continue;
    for (const TensorAccess& access : einsum.accesses)
      if (!access.is_output) read_in_windows[access.tensor.index()] = 1;
  }
  return makers;
}

/// Rows of an intermediate that a reader's tile needs from the first that is made: up to the
/// largest index. `made`: of its maker. `tiles`: per place in the reader's iteration space.
std::int64_t rows_needed(const Einsum& reader, const AffineExpression& index,
                         const TileSizes* tiles, const VariableRange& made) {
  std::int64_t highest = index.constant;
  for (const AffineTerm& term : index.terms) {
    for (std::size_t v = 0; v < reader.iteration_space.size(); ++v) {
      const VariableRange& range = reader.iteration_space[v];
      if (range.variable != term.variable) continue;
      highest += term.coefficient * range.minimum;
      if (term.coefficient > 0) highest += term.coefficient * (tiles[v].start - 1);
    }
  }
  return std::clamp<std::int64_t>(highest + 1 - made.minimum, 1, made.size);
}

}  // namespace

LoopTiles::LoopTiles(const Workload& workload)
    : workload_(&workload), has_windows_(makers_of_windows(workload)) {
  begin_.reserve(workload.einsums.size());
  for (const Einsum& einsum : workload.einsums) {
    begin_.push_back(tiles_.size());
    for (const VariableRange& range : einsum.iteration_space) tiles_.push_back({range.size, 0});
  }
}

bool LoopTiles::enter(const LoopShape& loop, std::span<const EinsumId> below) {
  // With windows a stated first tile is the maker's, which follows from the reader's anyway.
  if (loop.first_tile > 0 && !has_windows_.empty()) {
    const std::vector<TileSizes> before = saved(below);
    const bool one_step = enter({loop.variables, loop.tile_shape, 0}, below);
    if (found_windows_) return one_step;
    restore(below, before);
  }
  bool one_step = true;
  found_windows_ = false;
  walkers_.clear();
  for (std::size_t i = below.size(); i-- > 0;) {
    Walker walker{below[i], walked_by((*workload_)[below[i]], loop.variables), 1,
                  std::max<std::int64_t>(loop.tile_shape, 1), false};
    if (walker.variable == kNowhere) continue;
    if (has_windows_.empty() || !has_windows_[walker.einsum.index()] || !follow_readers(walker))
      walker.steps =
          tiles_of(walker.einsum)[walker.variable].enter(loop.tile_shape, loop.first_tile, false);
    one_step &= walker.steps == 1;
    walkers_.push_back(walker);
  }
  return walkers_.empty() ? unused_loop_has_one_step(loop) : one_step;
}

std::int64_t LoopTiles::steps() const {
  std::int64_t most = 1;
  for (const Walker& walker : walkers_) most = std::max(most, walker.steps);
  return most;
}

std::vector<TileSizes> LoopTiles::saved(std::span<const EinsumId> einsums) const {
  std::vector<TileSizes> result;
  for (EinsumId einsum : einsums) {
    const TileSizes* own = tiles_.data() + begin_[einsum.index()];
    result.insert(result.end(), own, own + (*workload_)[einsum].iteration_space.size());
  }
  return result;
}

void LoopTiles::restore(std::span<const EinsumId> einsums, const std::vector<TileSizes>& saved) {
  auto next = saved.begin();
  for (EinsumId einsum : einsums) {
    const auto n = static_cast<std::ptrdiff_t>((*workload_)[einsum].iteration_space.size());
    std::copy(next, next + n, tiles_of(einsum));
    next += n;
  }
}

bool LoopTiles::unused_loop_has_one_step(const LoopShape& loop) const {
  const std::int64_t largest = std::max(loop.tile_shape, loop.first_tile);
  for (const Einsum& einsum : workload_->einsums)
    for (const VariableRange& range : einsum.iteration_space)
      for (RankVariableId variable : loop.variables)
        if (range.variable == variable && largest < range.size) return false;
  return true;
}

/// False if nobody takes what the maker makes along the loop in rows.
bool LoopTiles::follow_readers(Walker& maker) {
  const TensorAccess& output = (*workload_)[maker.einsum].output();
  const VariableRange& made = (*workload_)[maker.einsum].iteration_space[maker.variable];
  std::int64_t first = 0, later = 0;
  for (const Walker& walker : walkers_) {
    const Einsum& reader = (*workload_)[walker.einsum];
    const RankVariableId used = reader.iteration_space[walker.variable].variable;
    for (const TensorAccess& access : reader.accesses) {
      if (access.is_output || access.tensor != output.tensor) continue;
      for (std::size_t r = 0; r < access.projection.size(); ++r) {
        const AffineExpression& index = access.projection[r];
        const AffineExpression& written = output.projection[r];
        if (!(index.is_window() || walker.follows) || index.coefficient_of(used) == 0 ||
            !written.is_plain_variable() || written.terms[0].variable != made.variable)
          continue;
        const std::int64_t next = index.coefficient_of(used) * walker.later;
        first = std::max(first, rows_needed(reader, index, tiles_of(walker.einsum), made));
        later = std::max(later, std::min(next, made.size));
      }
    }
  }
  if (first == 0) return false;
  found_windows_ = maker.follows = true;
  maker.later = later;
  maker.steps = tiles_of(maker.einsum)[maker.variable].enter(later, first, true);
  return true;
}

std::int64_t TileSizes::enter(std::int64_t tile, std::int64_t first, bool sweeps) {
  tile = std::max<std::int64_t>(tile, 1);
  std::int64_t steps = 1;
  const auto run = [&](std::int64_t size, bool has_first) {
    const std::int64_t begin = has_first ? std::min(first, size) : 0;
    steps = std::max(steps, (begin > 0 ? 1 : 0) + ceil_divide(size - begin, tile));
    return std::pair(begin, std::min(tile, size - begin));
  };
  const auto [first_of_start, rest_of_start] = run(start, first > 0);
  const auto [first_of_later, rest_of_later] = run(later, first > 0 && !sweeps);
  if (sweeps && first > 0) {
    start = first_of_start;
    later = std::max(rest_of_start, rest_of_later);
  } else {
    start = std::max(first_of_start, rest_of_start);
    later = std::max(first_of_later, rest_of_later);
  }
  return steps;
}

}  // namespace sluice
