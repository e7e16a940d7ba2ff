#include "plain_evaluation.h"

#include <cmath>
#include <numeric>

#include "referee/points/point_rows.h"
#include "referee/points/scalar.h"
#include "sluice/referee/execute.h"

namespace sluice::referee {
namespace {

/// A point of an Einsum by its number, row-major.
Box point_of(const Einsum& einsum, std::size_t number) {
  Box point = whole_box(einsum);
  for (std::size_t v = point.size(); v-- > 0;) {
    const auto size = static_cast<std::size_t>(point[v].size);
    point[v] = {point[v].begin + static_cast<std::int64_t>(number % size), 1};
    number /= size;
  }
  return point;
}

}  // namespace

PlainEvaluation::PlainEvaluation(const Workload& workload, const PointMap& points,
                                 const InputNumbers& inputs, Watch& watch)
    : workload_(workload),
      points_(points),
      inputs_(inputs),
      watch_(watch),
      makers_(tensor_roles(workload).makers) {
  for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
    const std::int64_t volume = points[TensorId(t)].volume();
    known_.push_back({std::vector<Value>(static_cast<std::size_t>(volume)),
                      ElementSet(volume),
                      ElementSet(volume),
                      false,
                      false,
                      {},
                      {}});
  }
  find_states();
  for (const Einsum& einsum : workload.einsums) {
    ElementSet& written = known_[einsum.output().tensor.index()].is_written;
    const LinearElement output = points_.linear(einsum, einsum.output());
    for_each_row(whole_box(einsum), {output}, [&](auto& at, const auto& steps, auto length) {
      for (std::int64_t i = 0; i < length; ++i) written.insert(at[0] + i * steps[0]);
    });
    if (known_[einsum.output().tensor.index()].is_state) find_writers(einsum);
  }
}

/// Tensors that depend on themselves: read by their own maker or by one before it.
void PlainEvaluation::find_states() {
  const std::size_t n = workload_.tensors.size();
  std::vector<std::vector<bool>> needs(n, std::vector<bool>(n, false));
  for (const Einsum& einsum : workload_.einsums)
    for (const TensorAccess& access : einsum.accesses)
      if (!access.is_output) needs[einsum.output().tensor.index()][access.tensor.index()] = true;
  for (std::size_t between = 0; between < n; ++between)
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; needs[a][between] && b < n; ++b)
        if (needs[between][b]) needs[a][b] = true;
  for (std::size_t t = 0; t < n; ++t) known_[t].is_state = needs[t][t];
}

/// Which points write each element, in the order of the points.
void PlainEvaluation::find_writers(const Einsum& einsum) {
  Known& known = known_[einsum.output().tensor.index()];
  const LinearElement output = points_.linear(einsum, einsum.output());
  std::vector<std::size_t>& begin = known.writers_begin;
  begin.assign(known.values.size() + 1, 0);
  std::size_t n_points = 0;
  for_each_point(whole_box(einsum), [&](const Box& point) {
    ++begin[static_cast<std::size_t>(output.at(point)) + 1];
    ++n_points;
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  known.writers.resize(n_points);
  std::vector<std::size_t> next = begin;
  std::size_t number = 0;
  for_each_point(whole_box(einsum), [&](const Box& point) {
    known.writers[next[static_cast<std::size_t>(output.at(point))]++] = number++;
  });
}

double PlainEvaluation::magnitude(TensorId tensor, Element element) {
  return evaluated(tensor, element).magnitude;
}

bool PlainEvaluation::is_made(TensorId tensor, Element element) const {
  return known_[tensor.index()].is_written.has(element);
}

/// Works it out, for good.
const PlainEvaluation::Value& PlainEvaluation::found(TensorId tensor, Element element) {
  Known& known = known_[tensor.index()];
  Value& value = known.values[static_cast<std::size_t>(element)];
  if (points_.is_inside(tensor, element) && known.is_written.has(element)) {
    const std::vector<EinsumId>& makers = makers_[tensor.index()];
    if (known.is_state) {
      value = reduced(workload_[makers.front()], element,
                      [this](TensorId of, Element one) { return this->value(of, one); });
    } else if (!known.is_evaluated) {
      known.is_evaluated = true;
      for (EinsumId maker : makers) evaluate_all(workload_[maker]);
    }
  } else {
    value = given(tensor, element);
  }
  known.is_known.insert(element);
  return value;
}

/// Of what no Einsum makes.
PlainEvaluation::Value PlainEvaluation::given(TensorId tensor, Element element) const {
  if (!points_.is_inside(tensor, element)) return {0, 0};  // padding
  const auto& initial = workload_[tensor].initial;
  // Between the strides of an output's windows.
  const bool is_made = !makers_[tensor.index()].empty();
  if (is_made && !known_[tensor.index()].is_state && !initial) return {std::nan(""), 0};
  const double number = initial && is_made ? *initial : inputs_.at(tensor, element);
  return {number, std::fabs(number)};
}

void PlainEvaluation::add(const Einsum& einsum, double term, bool is_first, Value& sum) const {
  sum.value = is_first ? term : combined(einsum.expression.reduction, sum.value, term);
  sum.magnitude += std::fabs(term);
}

void PlainEvaluation::evaluate_all(const Einsum& einsum) {
  const TensorId tensor = einsum.output().tensor;
  Known& known = known_[tensor.index()];
  std::vector<LinearElement> linear;
  for (const TensorAccess& access : einsum.accesses)
    linear.push_back(points_.linear(einsum, access));
  linear.push_back(points_.linear(einsum, einsum.output()));
  ElementSet begun(points_[tensor].volume());
  RepeatedExpression expression(einsum.expression, einsum.accesses.size());
  for_each_row(whole_box(einsum), linear, [&](auto& at, const auto& steps, std::int64_t length) {
    watch_.note(length);
    for (std::int64_t i = 0; i < length; ++i) {
      for (std::uint32_t a = 0; a < einsum.accesses.size(); ++a)
        if (!einsum.accesses[a].is_output)
          expression.set(a, value(einsum.accesses[a].tensor, at[a]));
      const Element element = at.back();
      if (points_.is_inside(tensor, element))
        add(einsum, expression.value(), begun.insert(element),
            known.values[static_cast<std::size_t>(element)]);
      for (std::size_t a = 0; a < at.size(); ++a) at[a] += steps[a];
    }
  });
}

PlainEvaluation::Value PlainEvaluation::remade(
    TensorId tensor, Element element, const std::function<double(TensorId, Element)>& value_of) {
  const Einsum& maker = workload_[makers_[tensor.index()].front()];
  if (known_[tensor.index()].writers_begin.empty()) find_writers(maker);
  return reduced(maker, element, value_of);
}

PlainEvaluation::Value PlainEvaluation::reduced(
    const Einsum& einsum, Element element,
    const std::function<double(TensorId, Element)>& value_of) {
  const Known& known = known_[einsum.output().tensor.index()];
  Value result;
  const std::size_t first = known.writers_begin[static_cast<std::size_t>(element)];
  const std::size_t end = known.writers_begin[static_cast<std::size_t>(element) + 1];
  watch_.note(static_cast<std::int64_t>(end - first));
  for (std::size_t writer = first; writer < end; ++writer) {
    const Box point = point_of(einsum, known.writers[writer]);
    const double term = expression_value(einsum.expression, [&](std::uint32_t index) {
      const TensorAccess& access = einsum.accesses[index];
      return value_of(access.tensor, points_.at(einsum, access, point));
    });
    add(einsum, term, writer == first, result);
  }
  return result;
}

}  // namespace sluice::referee

namespace sluice {

TensorValues plain_evaluation(const Workload& workload, std::uint64_t seed,
                              const TensorValues& inputs) {
  const referee::PointMap points(workload);
  const referee::InputNumbers numbers(workload, points, seed, inputs);
  const ExecutionOptions unwatched;
  referee::Watch watch(unwatched);
  referee::PlainEvaluation plain(workload, points, numbers, watch);
  TensorValues values;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t)
    for (referee::Element element : referee::whole_tensor(workload, points, TensorId(t)))
      values[TensorId(t)].push_back(plain.value(TensorId(t), element));
  return values;
}

}  // namespace sluice
