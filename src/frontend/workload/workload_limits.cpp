#include "frontend/workload/workload_limits.h"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr double kMostCounted = 9223372036854775808.0;  // 2^63

/// `M 1e+10 × K 1024`
class Product {
 public:
  void add(const std::string& name, double size) {
    value_ *= size;
    if (size != 1) text_ += (text_.empty() ? "" : " × ") + fmt::format("{} {}", name, size);
  }
  bool is_too_large() const { return !(value_ < kMostCounted); }
  std::string text() const {
    return fmt::format("{} = {:.2e}, not below 2^63 = 9.22e+18", text_, value_);
  }

 private:
  double value_ = 1;
  std::string text_;
};

}  // namespace

void check_counts(ReadContext& context, const WorkloadSource& source, const Workload& workload) {
  std::vector<bool> is_reported(workload.tensors.size());  // for the first Einsum that uses it
  for (std::size_t e = 0; e < workload.einsums.size(); ++e) {
    const Einsum& einsum = workload.einsums[e];
    Product points;
    for (const VariableRange& range : einsum.iteration_space)
      points.add(workload[range.variable].name, static_cast<double>(range.size));
    points.add("n_instances", static_cast<double>(einsum.n_instances));
    points.add("n_instances of the workload", static_cast<double>(workload.n_instances));
    if (points.is_too_large()) {
      context.error(*source.einsums[e].place, fmt::format("the Einsum {} has too many points to be "
                                                          "counted: {}",
                                                          einsum.name, points.text()));
      continue;  // its tensors may be too large for the same reason
    }
    for (const TensorAccess& access : einsum.accesses) {
      Product values;
      for (const RankId rank : workload[access.tensor].ranks)
        values.add(workload[rank].name, static_cast<double>(workload[rank].size));
      values.add("bits", access.bits_per_value);
      if (!values.is_too_large() || is_reported[access.tensor.index()]) continue;
      is_reported[access.tensor.index()] = true;
      context.error(*source.einsums[e].place,
                    fmt::format("the tensor {} has too many bits to be counted: {}",
                                workload[access.tensor].name, values.text()));
    }
  }
}

}  // namespace sluice
