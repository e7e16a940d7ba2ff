#include "input_numbers.h"

#include "sluice/support/error.h"

namespace sluice::referee {
namespace {

/// splitmix64 (Steele et al., 2014) of the three numbers.
double drawn_number(std::uint64_t seed, TensorId tensor, Element element) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15ULL + tensor.index() * 0xBF58476D1CE4E5B9ULL +
                    static_cast<std::uint64_t>(element) * 0x94D049BB133111EBULL + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return static_cast<double>(x % 6) - 2;
}

}  // namespace

InputNumbers::InputNumbers(const Workload& workload, const PointMap& points, std::uint64_t seed,
                           const TensorValues& given)
    : workload_(workload), points_(points), seed_(seed), given_(given) {
  for (const auto& [tensor, values] : given)
    SLUICE_CHECK(values.size() == static_cast<std::size_t>(tensor_volume(workload, tensor)),
                 "numbers of an input that do not fill it");
}

double InputNumbers::at(TensorId tensor, Element element) const {
  const auto given = given_.find(tensor);
  if (given == given_.end()) return drawn_number(seed_, tensor, element);
  std::int64_t place = 0;
  const std::vector<std::int64_t> indices = points_[tensor].indices(element);
  for (std::size_t r = 0; r < indices.size(); ++r)
    place = place * workload_[workload_[tensor].ranks[r]].size + indices[r];
  return given->second[static_cast<std::size_t>(place)];
}

}  // namespace sluice::referee
