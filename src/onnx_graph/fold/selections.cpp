#include "onnx_graph/fold/selections.h"

#include <algorithm>
#include <utility>

#include "onnx_graph/fold/fold.h"
#include "sluice/support/checked.h"

namespace sluice::onnx_graph {
namespace {

std::int64_t count_between(const Shape& shape, std::size_t begin, std::size_t end) {
  return count_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                        shape.begin() + static_cast<std::ptrdiff_t>(end)));
}

/// The index counted from the front.
std::optional<std::int64_t> index_below(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) return std::nullopt;
  return index < 0 ? index + size : index;
}

/// Around an axis: how many values each step of it and all of it move on.
struct Strides {
  std::int64_t step, all;
};

Strides strides_of(const Shape& shape, std::size_t axis) {
  const std::int64_t step = count_between(shape, axis + 1, shape.size());
  return {step, step * shape[axis]};
}

template <class Number>
std::vector<Number> sums_of(std::vector<Number> values, const Strides& strides, bool is_exclusive,
                            bool is_reverse) {
  const auto n = static_cast<std::int64_t>(values.size());
  for (std::int64_t begin = 0; begin < n; begin += strides.all)
    for (std::int64_t line = begin; line < begin + strides.step; ++line) {
      Number sum{};
      for (std::int64_t at = 0; at < strides.all; at += strides.step) {
        const std::int64_t from = is_reverse ? strides.all - strides.step - at : at;
        Number& value = values[static_cast<std::size_t>(line + from)];
        const Number own = value;
        value = is_exclusive ? sum : sum + own;
        sum += own;
      }
    }
  return values;
}

}  // namespace

std::int64_t count_of(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n = checked_multiply(n, size);
  return n;
}

Constant picked(const Constant& from, Selection selection) {
  Constant result;
  result.type = from.type;
  result.shape = std::move(selection.shape);
  if (from.integers) {
    result.integers.emplace();
    for (const std::size_t place : selection.places)
      result.integers->push_back((*from.integers)[place]);
  } else {
    result.reals.emplace();
    for (const std::size_t place : selection.places) result.reals->push_back((*from.reals)[place]);
  }
  return result;
}

Constant places_of_non_zero(const Constant& data) {
  std::vector<std::int64_t> found;
  const std::int64_t n = count_of(data.shape);
  for (std::int64_t i = 0; i < n; ++i)
    if (data.number(static_cast<std::size_t>(i)) != 0) found.push_back(i);
  const std::size_t rank = data.shape.size();
  Constant result = empty_constant(ElementType::kInt64, {static_cast<std::int64_t>(rank),
                                                         static_cast<std::int64_t>(found.size())});
  for (std::size_t d = 0; d < rank; ++d) {
    const Strides strides = strides_of(data.shape, d);
    for (const std::int64_t place : found)
      result.integers->push_back(place % strides.all / strides.step);
  }
  return result;
}

std::optional<Selection> compressed(const Shape& data, const std::vector<std::int64_t>& condition,
                                    std::optional<std::size_t> axis) {
  const Shape shape = axis ? data : Shape{count_of(data)};
  const std::size_t along = axis.value_or(0);
  if (along >= shape.size() || static_cast<std::int64_t>(condition.size()) > shape[along])
    return std::nullopt;
  const Strides strides = strides_of(shape, along);
  Selection result{shape, {}};
  result.shape[along] = std::count_if(condition.begin(), condition.end(),
                                      [](std::int64_t taken) { return taken != 0; });
  for (std::int64_t begin = 0; begin < count_of(shape); begin += strides.all)
    for (std::size_t i = 0; i < condition.size(); ++i)
      for (std::int64_t at = 0; condition[i] != 0 && at < strides.step; ++at)
        result.places.push_back(
            static_cast<std::size_t>(begin + static_cast<std::int64_t>(i) * strides.step + at));
  return result;
}

std::optional<Selection> elements_at(const Shape& data, const Constant& indices, std::size_t axis) {
  const std::size_t rank = data.size();
  if (indices.shape.size() != rank || axis >= rank) return std::nullopt;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != axis && indices.shape[d] > data[d]) return std::nullopt;
  Selection result{indices.shape, {}};
  for (std::size_t i = 0; i < indices.integers->size(); ++i) {
    std::int64_t place = 0, stride = 1, rest = static_cast<std::int64_t>(i);
    for (std::size_t d = rank; d-- > 0;) {
      const auto at =
          d == axis ? index_below((*indices.integers)[i], data[d]) : rest % indices.shape[d];
      if (!at) return std::nullopt;
      place += *at * stride;
      stride *= data[d];
      rest /= indices.shape[d];
    }
    result.places.push_back(static_cast<std::size_t>(place));
  }
  return result;
}

std::optional<Selection> blocks_at(const Shape& data, const Constant& indices, std::size_t batch) {
  if (indices.shape.empty() || indices.shape.size() <= batch) return std::nullopt;
  const auto n_indexed = static_cast<std::size_t>(std::max<std::int64_t>(indices.shape.back(), 0));
  if (n_indexed == 0 || batch + n_indexed > data.size() ||
      !std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(batch),
                  indices.shape.begin()))
    return std::nullopt;
  const std::size_t each = indices.integers->size() / n_indexed /
                           static_cast<std::size_t>(std::max<std::int64_t>(
                               count_between(data, 0, batch), 1));  // rows of indices in a batch
  const std::int64_t block = count_between(data, batch + n_indexed, data.size());
  Selection result{Shape(indices.shape.begin(), indices.shape.end() - 1), {}};
  result.shape.insert(result.shape.end(),
                      data.begin() + static_cast<std::ptrdiff_t>(batch + n_indexed), data.end());
  if (count_of(result.shape) > kMostFoldedNumbers) return std::nullopt;
  for (std::size_t row = 0; row * n_indexed < indices.integers->size(); ++row) {
    auto place = static_cast<std::int64_t>(row / each);
    for (std::size_t d = 0; d < n_indexed; ++d) {
      const auto at = index_below((*indices.integers)[row * n_indexed + d], data[batch + d]);
      if (!at) return std::nullopt;
      place = place * data[batch + d] + *at;
    }
    for (std::int64_t i = 0; i < block; ++i)
      result.places.push_back(static_cast<std::size_t>(place * block + i));
  }
  return result;
}

std::optional<Constant> scattered(const Constant& data, const Selection& at,
                                  const Constant& updates) {
  if (updates.shape != at.shape || updates.integers.has_value() != data.integers.has_value())
    return std::nullopt;
  Constant result = data;
  result.uniform.reset();
  for (std::size_t i = 0; i < at.places.size(); ++i)
    if (result.integers)
      (*result.integers)[at.places[i]] = (*updates.integers)[i];
    else
      (*result.reals)[at.places[i]] = (*updates.reals)[i];
  return result;
}

Constant running_sums(const Constant& data, std::size_t axis, bool is_exclusive, bool is_reverse) {
  Constant result = data;
  result.uniform.reset();
  const Strides strides = strides_of(data.shape, axis);
  if (data.integers)
    result.integers = sums_of(*data.integers, strides, is_exclusive, is_reverse);
  else
    result.reals = sums_of(*data.reals, strides, is_exclusive, is_reverse);
  return result;
}

}  // namespace sluice::onnx_graph
