#include "plain_evaluation.h"

#include <cmath>

#include "scalar.h"
#include "sluice/sim/execute.h"

namespace sluice::sim {

PlainEvaluation::PlainEvaluation(const Workload& workload, const PointMap& points,
                                 const InputNumbers& inputs)
    : workload_(workload),
      points_(points),
      inputs_(inputs),
      producer_(tensor_roles(workload).producer),
      writers_(workload.tensors.size()),
      values_(workload.tensors.size()) {
  for (const Einsum& einsum : workload.einsums)
    for_each_point(whole_box(einsum), [&](const Box& point) {
      writers_[einsum.output().tensor.index()][points_.at(einsum, einsum.output(), point)]
          .push_back(point);
    });
}

double PlainEvaluation::value(TensorId tensor, Element element) {
  return evaluated(tensor, element).value;
}

double PlainEvaluation::magnitude(TensorId tensor, Element element) {
  return evaluated(tensor, element).magnitude;
}

bool PlainEvaluation::is_made(TensorId tensor, Element element) const {
  return writers_[tensor.index()].count(element) > 0;
}

const PlainEvaluation::Value& PlainEvaluation::evaluated(TensorId tensor, Element element) {
  std::map<Element, Value>& known = values_[tensor.index()];
  const auto found = known.find(element);
  if (found != known.end()) return found->second;
  Value value;
  const auto writers = writers_[tensor.index()].find(element);
  if (!points_.is_inside(tensor, element)) {
    value = {0, 0};  // padding
  } else if (writers != writers_[tensor.index()].end()) {
    value = reduced(workload_[*producer_[tensor.index()]], writers->second);
  } else {
    const auto& initial = workload_[tensor].initial;
    value.value = initial && producer_[tensor.index()] ? *initial : inputs_.at(tensor, element);
    value.magnitude = std::fabs(value.value);
  }
  return known[element] = value;
}

PlainEvaluation::Value PlainEvaluation::reduced(const Einsum& einsum,
                                                const std::vector<Box>& points) {
  Value result;
  bool is_first = true;
  for (const Box& point : points) {
    const double term = expression_value(einsum.expression, [&](std::uint32_t index) {
      const TensorAccess& access = einsum.accesses[index];
      return value(access.tensor, points_.at(einsum, access, point));
    });
    result.value = is_first ? term : combined(einsum.expression.reduction, result.value, term);
    result.magnitude += std::fabs(term);
    is_first = false;
  }
  return result;
}

}  // namespace sluice::sim

namespace sluice {

TensorValues plain_evaluation(const Workload& workload, std::uint64_t seed,
                              const TensorValues& inputs) {
  const sim::PointMap points(workload);
  const sim::InputNumbers numbers(workload, points, seed, inputs);
  sim::PlainEvaluation plain(workload, points, numbers);
  TensorValues values;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t)
    for (sim::Element element : sim::whole_tensor(workload, points, TensorId(t)))
      values[TensorId(t)].push_back(plain.value(TensorId(t), element));
  return values;
}

}  // namespace sluice
