#include <fmt/format.h>

#include <numeric>

#include "array_copies.h"
#include "row_stationary.h"
#include "sluice/support/checked.h"
#include "solver_passes.h"

namespace sluice::kapla {
namespace {

/// Rows that the array takes at once, and how many folds that makes of all.
struct RowSet {
  std::int64_t rows = 1;
  std::int64_t folds = 1;
};

/// Whether the folds can be divided among the nodes in some direction.
bool shares_a_factor(std::int64_t folds, const Extent& nodes) {
  return std::gcd(folds, nodes.h) > 1 || std::gcd(folds, nodes.w) > 1;
}

/// The rows of all folds as equal as can be. A convolution takes somewhat fewer (more than 85 %)
/// where only that makes folds which the nodes can share.
RowSet row_set(const LayerShape& layer, std::int64_t rows, std::int64_t array_width,
               const Extent& nodes) {
  RowSet set;
  set.folds = rows > array_width ? ceil_divide(rows, array_width) : 1;
  set.rows = ceil_divide(rows, set.folds);
  if (layer.rule == ChannelRule::kLocal) return set;
  const std::int64_t widest = set.rows;
  const std::int64_t folds = ceil_divide(rows, widest);
  if (folds > 1 && !shares_a_factor(folds, nodes)) {
    for (std::int64_t fewer = widest - 1;
         static_cast<double>(fewer) > static_cast<double>(widest) * 0.85; --fewer)
      if (shares_a_factor(ceil_divide(rows, fewer), nodes)) {
        set.rows = fewer;
        break;
      }
  }
  if (!layer.is_gradient) set.folds = ceil_divide(rows, set.rows);
  return set;
}

/// Steps over folds of rows in the loops above the global buffer: those of the samples are the
/// rest.
tl::expected<std::int64_t, std::string> row_steps(const PassQuestion& question,
                                                  std::int64_t rows_of_a_node) {
  const bool is_gradient = question.layer.is_gradient;
  const std::string dim = is_gradient ? "Yi" : "Yo";
  const LevelDirectives* buffer = find_level(question.scheme.directives->layer, "GBUF");
  const auto rows =
      buffer == nullptr ? std::nullopt : extent_of(*buffer, is_gradient ? "I" : "O", dim);
  if (!rows || *rows < 1)
    return tl::unexpected(
        fmt::format("the directives do not say how many rows ({}) the global buffer holds", dim));
  const std::int64_t steps = ceil_divide(rows_of_a_node, *rows);
  const std::int64_t all = question.scheme.blocking[0][kSamples];
  if (all % steps == 0) return steps;
  return tl::unexpected(fmt::format(
      "{} steps over rows of {} do not divide the {} steps of `tvals`", steps, dim, all));
}

}  // namespace

PassAnswer solved_row_stationary(const PassQuestion& question) {
  const LayerShape& layer = question.layer;
  const Compatibility& compatibility = question.run.compatibility;
  const Extent array = question.run.machine.array;
  const std::int64_t rows = layer.slid().w;
  const RowSet set = row_set(layer, rows, array.w, question.region);
  const std::int64_t nodes = question.scheme.partition.parts[kByPlane].size();
  const std::int64_t rows_of_a_node = ceil_divide(rows, nodes);
  const auto steps = row_steps(question, rows_of_a_node);
  if (!steps) return tl::unexpected(steps.error());

  RowStationaryUnit unit;
  unit.rows = ceil_divide(rows_of_a_node, *steps);
  unit.columns = layer.slid().h;
  unit.window = {layer.window.w, layer.window.h};
  unit.fold = {folds_of({unit.window.h, 1}, array).fold.h, ceil_divide(set.folds, *steps * nodes)};
  const auto copies = copies_of(question, set.rows);
  if (!copies) return tl::unexpected(copies.error());
  unit.copies = *copies;
  UnitPass pass = row_stationary_pass(layer, unit, compatibility.window_unit_time);
  const bool exchanged =
      layer.rule != ChannelRule::kDepthwise || !compatibility.depthwise_backward_unswapped;
  if (layer.is_gradient && exchanged) {
    exchange_input_and_output(pass);
    std::swap(pass.reusable[kInput], pass.reusable[kOutput]);
  }
  return pass;
}

}  // namespace sluice::kapla
