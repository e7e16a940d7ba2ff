#include "sluice/mapper/selection.h"

#include <fmt/format.h>

#include "sluice/mapper/registry.h"

namespace sluice {

std::vector<const Mapper*> mappers_that_price(const BoundProblem& problem,
                                              const MapperOptions& options) {
  std::vector<const Mapper*> able;
  for (const Mapper* mapper : mappers())
    if (!mapper->unpriced(problem, options)) able.push_back(mapper);
  return able;
}

std::optional<NoMapping> refused_as_unpriced(const Mapper& mapper, const BoundProblem& problem,
                                             const MapperOptions& options) {
  const auto part = mapper.unpriced(problem, options);
  if (!part) return std::nullopt;
  std::vector<std::string> able;
  for (const Mapper* other : mappers_that_price(problem, options)) able.push_back(other->name());
  NoMapping no;
  no.proven = false;
  no.reason =
      fmt::format("the mapper {} does not know {}: {}", mapper.name(), part->what, part->where);
  no.nearest_relaxation = fmt::format(
      "take a mapper that does (--mapper {}); or search with {} and price the mapping found as it "
      "is: sluice evaluate",
      fmt::join(able, ", "), part->without);
  return no;
}

}  // namespace sluice
