#include "onnx_graph/cascade/view.h"

#include <algorithm>
#include <numeric>

#include "sluice/support/checked.h"

namespace sluice::onnx_graph {
namespace {

/// A digit becomes two, the inner one of size `inner`.
std::pair<Digit, Digit> split(View& view, const Digit& digit, std::int64_t inner) {
  const Digit high{view.n_slots++, digit.size / inner};
  const Digit low{view.n_slots++, inner};
  for (Index& index : view.projection) {
    const auto term = std::find_if(index.terms.begin(), index.terms.end(),
                                   [&](const Index::Term& t) { return t.variable == digit.slot; });
    if (term == index.terms.end()) continue;
    const std::int64_t coefficient = term->coefficient;
    *term = {high.slot, checked_multiply(coefficient, inner)};
    index.terms.insert(term + 1, Index::Term{low.slot, coefficient});
  }
  return {high, low};
}

}  // namespace

Index substitute(const Index& index, const std::vector<Index>& by_variable) {
  Index result;
  result.constant = index.constant;
  for (const Index::Term& term : index.terms) {
    const Index& by = by_variable[term.variable];
    result.constant = checked_add(result.constant, checked_multiply(term.coefficient, by.constant));
    for (const Index::Term& inner : by.terms) {
      const std::int64_t coefficient = checked_multiply(term.coefficient, inner.coefficient);
      const auto known =
          std::find_if(result.terms.begin(), result.terms.end(),
                       [&](const Index::Term& t) { return t.variable == inner.variable; });
      if (known == result.terms.end())
        result.terms.push_back({inner.variable, coefficient});
      else
        known->coefficient = checked_add(known->coefficient, coefficient);
    }
  }
  return result;
}

std::int64_t size_of(const Digits& digits) {
  std::int64_t size = 1;
  for (const Digit& digit : digits) size = checked_multiply(size, digit.size);
  return size;
}

Shape shape_of(const View& view) {
  Shape shape;
  for (const Digits& digits : view.dimensions) shape.push_back(size_of(digits));
  return shape;
}

bool refine(View& view, std::size_t dimension, const std::vector<std::int64_t>& sizes) {
  Digits rest = view.dimensions[dimension], result;
  std::reverse(rest.begin(), rest.end());
  View changed = view;
  for (const std::int64_t wanted : sizes) {
    std::int64_t open = wanted;
    while (open > 1) {
      if (rest.empty() || open % rest.back().size != 0) break;
      open /= rest.back().size;
      result.push_back(rest.back());
      rest.pop_back();
    }
    if (open == 1) continue;
    if (rest.empty() || rest.back().size % open != 0) return false;
    const auto [high, low] = split(changed, rest.back(), rest.back().size / open);
    result.push_back(high);
    rest.back() = low;
  }
  if (!rest.empty()) return false;
  changed.dimensions[dimension] = std::move(result);
  view = std::move(changed);
  return true;
}

std::optional<std::vector<std::int64_t>> common_refinement(
    const std::vector<std::vector<std::int64_t>>& lists) {
  std::vector<std::vector<std::int64_t>> rest = lists;
  for (auto& list : rest) std::reverse(list.begin(), list.end());
  std::vector<std::int64_t> result;
  while (std::any_of(rest.begin(), rest.end(), [](const auto& list) { return !list.empty(); })) {
    std::int64_t smallest = 0;
    for (const auto& list : rest) {
      if (list.empty()) return std::nullopt;
      smallest = smallest == 0 ? list.back() : std::min(smallest, list.back());
    }
    for (auto& list : rest) {
      if (list.back() % smallest != 0) return std::nullopt;
      list.back() /= smallest;
      if (list.back() == 1) list.pop_back();
    }
    result.push_back(smallest);
  }
  return result;
}

View transposed(const View& view, const std::vector<std::size_t>& order) {
  View result = view;
  for (std::size_t i = 0; i < order.size(); ++i) result.dimensions[i] = view.dimensions[order[i]];
  return result;
}

std::optional<View> reshaped(const View& view, const Shape& shape) {
  View result = view;
  Digits rest;
  for (const Digits& digits : view.dimensions)
    rest.insert(rest.end(), digits.begin(), digits.end());
  std::reverse(rest.begin(), rest.end());
  result.dimensions.clear();
  for (const std::int64_t size : shape) {
    Digits& digits = result.dimensions.emplace_back();
    if (size == 1 && !rest.empty() && rest.back().size == 1) {
      digits.push_back(rest.back());
      rest.pop_back();
    }
    for (std::int64_t open = size; open > 1;) {
      if (rest.empty()) return std::nullopt;
      Digit next = rest.back();
      rest.pop_back();
      if (open % next.size != 0) {
        const std::int64_t part = std::gcd(open, next.size);
        if (part == 1) return std::nullopt;
        const auto [high, low] = split(result, next, next.size / part);
        rest.push_back(low);
        next = high;
      }
      open /= next.size;
      digits.push_back(next);
    }
  }
  if (!rest.empty()) return std::nullopt;
  return result;
}

std::optional<View> sliced(const View& view, std::size_t dimension, std::int64_t start,
                           std::int64_t step, std::int64_t count) {
  View result = view;
  Digits& digits = result.dimensions[dimension];
  if (start == 0 && step == 1 && count == size_of(digits)) return result;
  if (digits.empty()) return result;
  std::int64_t inner = 1;  // whole values of the outermost digit
  for (std::size_t i = 1; i < digits.size(); ++i) inner = checked_multiply(inner, digits[i].size);
  const bool is_one_place = count == 1;
  if (inner != 1 && !is_one_place && (step != 1 || start % inner != 0 || count % inner != 0))
    return std::nullopt;
  std::int64_t place = start;
  const Digits old = digits;
  if (is_one_place) digits.clear();
  const std::size_t n_moved = is_one_place ? old.size() : 1;
  for (std::size_t i = old.size(); i-- > 0;) {
    if (i >= n_moved) continue;
    const std::int64_t weight = is_one_place ? 1 : inner;
    const std::int64_t at = is_one_place ? place % old[i].size : place / weight;
    if (is_one_place) place /= old[i].size;
    for (Index& index : result.projection)
      for (Index::Term& term : index.terms)
        if (term.variable == old[i].slot) {
          index.constant = checked_add(index.constant, checked_multiply(term.coefficient, at));
          term.coefficient = checked_multiply(term.coefficient, step);
        }
    if (is_one_place)
      for (Index& index : result.projection)
        std::erase_if(index.terms,
                      [&](const Index::Term& term) { return term.variable == old[i].slot; });
    else
      digits[i].size = count / inner;
  }
  if (!is_one_place && digits[0].size == 1) {
    for (Index& index : result.projection)
      std::erase_if(index.terms,
                    [&](const Index::Term& term) { return term.variable == digits[0].slot; });
    digits.erase(digits.begin());
  }
  return result;
}

View without_single_digits(View view) {
  for (Digits& digits : view.dimensions) {
    for (const Digit& digit : digits)
      if (digit.size == 1)
        for (Index& index : view.projection)
          std::erase_if(index.terms,
                        [&](const Index::Term& term) { return term.variable == digit.slot; });
    std::erase_if(digits, [](const Digit& digit) { return digit.size == 1; });
  }
  return view;
}

bool is_repeated(const View& view, const Digits& digits) {
  return std::any_of(digits.begin(), digits.end(), [&](const Digit& digit) {
    return std::none_of(view.projection.begin(), view.projection.end(), [&](const Index& index) {
      return std::any_of(index.terms.begin(), index.terms.end(),
                         [&](const Index::Term& term) { return term.variable == digit.slot; });
    });
  });
}

void repeat(View& view, std::size_t dimension, std::int64_t size) {
  if (size != 1) view.dimensions[dimension] = {{view.n_slots++, size}};
}

}  // namespace sluice::onnx_graph
