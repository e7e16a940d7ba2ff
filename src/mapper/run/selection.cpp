#include "sluice/mapper/selection.h"

#include <fmt/format.h>

#include "mapper/request/refusal.h"
#include "sluice/support/error.h"

namespace sluice {

std::optional<NoMapping> refused_request(const Mapper& mapper, const BoundProblem& problem,
                                         const MapperOptions& options,
                                         const MapperRegistry& mappers) {
  auto no = refused_alone(mapper, problem, options);
  if (!no) return std::nullopt;
  std::vector<std::string> able;
  for (const auto& other : mappers)
    if (!refused_alone(*other, problem, options)) able.push_back(other->name());
  if (!able.empty())
    no->nearest_relaxation =
        fmt::format("another mapper ({}); or {}", fmt::join(able, ", "), no->nearest_relaxation);
  return no;
}

MapperChoice default_mapper(const BoundProblem& problem, const MapperOptions& options,
                            const MapperRegistry& mappers) {
  if (mappers.empty()) throw std::invalid_argument("there is no mapper to choose");
  const Mapper* fused = mappers.find("fused");
  if (fused == nullptr) fused = mappers.begin()->get();
  const auto no = refused_alone(*fused, problem, options);
  const Mapper* compound = mappers.find("compound");
  if (!no || compound == nullptr || refused_alone(*compound, problem, options)) return {fused, ""};
  return {compound, no->reason};
}

}  // namespace sluice
