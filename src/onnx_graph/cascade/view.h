#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::onnx_graph {

using Shape = std::vector<std::int64_t>;

/// constant + Σ coefficient · variable. Of a view the variables are its slots, of an Einsum's
/// access axes of the cascade.
struct Index {
  struct Term {
    std::size_t variable = 0;
    std::int64_t coefficient = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;
  std::int64_t constant = 0;
  friend bool operator==(const Index&, const Index&) = default;

  static Index of(std::size_t variable) { return {{{variable, 1}}, 0}; }
  bool is_plain() const { return terms.size() == 1 && terms[0].coefficient == 1 && constant == 0; }
};

/// Variables of an index replaced by indices.
Index substitute(const Index& index, const std::vector<Index>& by_variable);

/// One digit of a dimension: a dimension of 12 may be the digits 3 and 4, each a rank of its own.
struct Digit {
  std::size_t slot = 0;
  std::int64_t size = 1;
  friend bool operator==(const Digit&, const Digit&) = default;
};
using Digits = std::vector<Digit>;  ///< outermost first; none for size 1

/// How the values of a graph's tensor lie in a tensor of the cascade: reshapes, transposes, slices
/// and repetitions move nothing, they only change the indices under which values are read.
struct View {
  std::size_t tensor = 0;
  std::vector<Digits> dimensions;
  std::vector<Index> projection;  ///< per rank of the tensor, over slots
  std::size_t n_slots = 0;
};

std::int64_t size_of(const Digits& digits);
Shape shape_of(const View& view);

/// The digits split so that their sizes from the outermost on are these; false where they do not
/// come apart (12 as 3 · 4 is not 2 · 6 of the same rank).
bool refine(View& view, std::size_t dimension, const std::vector<std::int64_t>& sizes);
/// Sizes that all of these lists of digits can be refined to, if there are any.
std::optional<std::vector<std::int64_t>> common_refinement(
    const std::vector<std::vector<std::int64_t>>& lists);

View transposed(const View& view, const std::vector<std::size_t>& order);
/// Nothing where digits do not come apart.
std::optional<View> reshaped(const View& view, const Shape& shape);
/// `count` indices of a dimension from `start`, every `step`th. Nothing where that is no digit of
/// its own.
std::optional<View> sliced(const View& view, std::size_t dimension, std::int64_t start,
                           std::int64_t step, std::int64_t count);
/// Digits of size 1 left out: their places are the first ones.
View without_single_digits(View view);
/// Whether one of these digits is nothing but repetitions.
bool is_repeated(const View& view, const Digits& digits);
/// A dimension of size 1 with `size` times the same values.
void repeat(View& view, std::size_t dimension, std::int64_t size);

}  // namespace sluice::onnx_graph
