#include <fmt/format.h>

#include <algorithm>

#include "onnx_graph/cascade/formulas.h"
#include "onnx_graph/operators/joins.h"
#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

Shape gathered_shape(const Shape& data, const Shape& indices, std::size_t axis) {
  Shape shape(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  return shape;
}

/// The places that these indices are, counted from the front.
std::vector<std::int64_t> places_of(NodeContext& context, std::vector<std::int64_t> indices,
                                    std::int64_t size) {
  for (std::int64_t& place : indices) {
    if (place < -size || place >= size)
      context.fail(fmt::format("its index {} is not below the size {}", place, size));
    if (place < 0) place += size;
  }
  return indices;
}

/// Nothing where the indices are not known, or too irregular.
std::optional<View> gathered_known(NodeContext& context, std::size_t axis) {
  const auto indices = context.known_integers(1);
  const Value data = context.in(0);
  if (!indices || indices->empty()) return std::nullopt;
  const std::vector<Run> runs = runs_of(places_of(context, *indices, data.shape[axis]));
  if (runs.size() > kMostRuns) return std::nullopt;
  return context.reshape(gathered(context, context.view(0), axis, runs, data.type),
                         gathered_shape(data.shape, context.in(1).shape, axis), data.type);
}

/// Which rows are read is not known before the run, or not written down: as many as there are
/// indices, from the first on. Each index and each value that is fetched is read once, each value
/// is moved by the vector unit.
void gather(NodeContext& context) {
  const Value data = context.in(0);
  const std::size_t axis = context.axis(context.integer("axis", 0), data.shape.size());
  if (const auto view = gathered_known(context, axis))
    return context.set(0, *view, data.type, data.is_nonnegative);
  context.approximate(
      context.known_integers(1)
          ? fmt::format("its indices are more than {} runs at equal distances: the first rows "
                        "stand for those that it reads",
                        kMostRuns)
          : "which rows it reads is not known before the run: the first ones stand for them");
  const Shape& indices = context.in(1).shape;
  const std::int64_t n = volume(indices), size = data.shape[axis];
  View rows = context.view(0);
  if (n <= size) {
    rows = context.slice(rows, axis, 0, 1, n, data.type);
  } else {  // more than there are rows: one stands for all
    rows = context.slice(rows, axis, 0, 1, 1, data.type);
    repeat(rows, axis, n);
  }
  rows = context.reshape(rows, gathered_shape(data.shape, indices, axis), data.type);
  std::vector<View> views = {rows};
  if (!context.in(1).constant) {
    View places = context.view(1);
    for (std::size_t d = axis + 1; d < data.shape.size(); ++d) places.dimensions.emplace_back();
    views.push_back(std::move(places));
  }
  context.set(0,
              context.pointwise(
                  views, context.output_name(), data.type,
                  [](const auto& x) { return x.size() > 1 ? x[0] + x[1] * number(0) : x[0]; }),
              data.type, data.is_nonnegative);
}

Shape indices_shape(NodeContext& context) { return context.in(1).shape; }

void gather_elements(NodeContext& context) {
  context.approximate("which values it reads is not known before the run");
  price_per_element(context, {indices_shape(context)});
}

/// Where the values that known indices name begin, were the dimensions of the batch and all that
/// they index one.
std::optional<std::vector<Run>> known_runs(NodeContext& context, std::size_t batch,
                                           std::size_t n_indexed) {
  const auto indices = context.known_integers(1);
  if (!indices || indices->empty()) return std::nullopt;
  const Shape data = context.in(0).shape;
  std::int64_t n_batches = 1;
  for (std::size_t d = 0; d < batch; ++d) n_batches *= data[d];
  const std::size_t of_batch = indices->size() / static_cast<std::size_t>(n_batches);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < indices->size(); i += n_indexed) {
    auto place = static_cast<std::int64_t>(i / of_batch);
    for (std::size_t d = batch; d < batch + n_indexed; ++d)
      place = place * data[d] + places_of(context, {indices->at(i + d - batch)}, data[d])[0];
    places.push_back(place);
  }
  auto runs = runs_of(places);
  if (runs.size() > kMostRuns) return std::nullopt;
  return runs;
}

void gather_nd(NodeContext& context) {
  const Value input = context.in(0);
  const Shape data = input.shape, indices = context.in(1).shape;
  const std::int64_t batch = context.integer("batch_dims", 0);
  if (indices.empty() || indices.back() < 1 || batch < 0 ||
      indices.back() + batch > static_cast<std::int64_t>(data.size()) ||
      batch >= static_cast<std::int64_t>(indices.size()) ||
      !std::equal(data.begin(), data.begin() + batch, indices.begin()))
    context.fail("its indices do not fit its data");
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + batch + indices.back(), data.end());
  const auto runs = known_runs(context, static_cast<std::size_t>(batch),
                               static_cast<std::size_t>(indices.back()));
  if (!runs) {
    context.approximate(context.known_integers(1)
                            ? "the values that it reads stand for those that it names"
                            : "which values it reads is not known before the run");
    return price_per_element(context, {shape});
  }
  const auto block = data.begin() + batch + indices.back();
  Shape flat(block, data.end());
  flat.insert(flat.begin(), volume(Shape(data.begin(), block)));
  const View view = context.reshape(context.view(0), flat, input.type);
  context.set(0, context.reshape(gathered(context, view, 0, *runs, input.type), shape, input.type),
              input.type, input.is_nonnegative);
}

void scatter(NodeContext& context) {
  context.approximate("which values it writes is not known before the run");
  price_per_element(context, {context.in(0).shape});
}

/// Keeps one triangle: a product with ones and zeros that are made before the run.
void triangle(NodeContext& context) {
  context.approximate("all values are moved, those outside the triangle too");
  const ElementType type = context.in(0).type;
  context.set(0, context.pointwise({context.view(0)}, context.output_name(), type, first_of), type,
              context.in(0).is_nonnegative);
}

void one_hot(NodeContext& context) {
  context.approximate("a row of ones and zeros for each index is priced as copies");
  const Shape indices = context.in(0).shape;
  const std::int64_t depth = context.integers(1).at(0);
  if (depth < 1) context.fail("its depth must be at least 1");
  const std::size_t axis = context.axis(context.integer("axis", -1), indices.size() + 1);
  View view = context.view(0);
  view.dimensions.insert(view.dimensions.begin() + static_cast<std::ptrdiff_t>(axis), Digits{});
  repeat(view, axis, depth);
  const ElementType type = context.in(2).type;
  context.set(0, context.pointwise({view}, context.output_name(), type, first_of), type);
}

}  // namespace

void add_gathers(OperatorTable& table) {
  table["Gather"] = gather;
  table["GatherElements"] = gather_elements;
  table["GatherND"] = gather_nd;
  table["ScatterElements"] = table["ScatterND"] = table["Scatter"] = table["TensorScatter"] =
      scatter;
  table["Trilu"] = triangle;
  table["OneHot"] = one_hot;
}

}  // namespace sluice::onnx_graph
