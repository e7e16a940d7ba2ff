#include "blamed_usage.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "first_mapping.h"

namespace sluice {
namespace {

struct Fanout {
  ComponentId component{};
  std::size_t dimension = 0;
};

std::vector<Fanout> demanding_fanouts(const Arch& arch) {
  std::vector<Fanout> result;
  for (std::size_t c = 0; c < arch.components.size(); ++c)
    for (std::size_t d = 0; d < arch.components[c].spatial.size(); ++d)
      if (arch.components[c].spatial[d].min_usage) result.push_back({ComponentId(c), d});
  return result;
}

std::string name_of(const Arch& arch, const Fanout& fanout) {
  const Component& component = arch[fanout.component];
  return component.name + "." + component.spatial[fanout.dimension].name;
}

std::string names_of(const Arch& arch, const std::vector<Fanout>& fanouts) {
  std::string names;
  for (const Fanout& fanout : fanouts) names += (names.empty() ? "" : ", ") + name_of(arch, fanout);
  return names;
}

BoundProblem without_usage(BoundProblem problem, const std::vector<Fanout>& fanouts) {
  for (const Fanout& fanout : fanouts) {
    problem.arch.components[fanout.component.index()].spatial[fanout.dimension].min_usage.reset();
    for (BoundEinsum& einsum : problem.einsums)
      einsum.components[fanout.component.index()].spatial[fanout.dimension].min_usage = 0;
  }
  return problem;
}

}  // namespace

std::string demanding_fanouts_of(const BoundProblem& problem) {
  return names_of(problem.arch, demanding_fanouts(problem.arch));
}

std::optional<NoMapping> blamed_usage(const Mapper& mapper, const BoundProblem& problem,
                                      const MapperOptions& options, const std::atomic<bool>* cancel,
                                      const NoMapping& no) {
  const std::vector<Fanout> all = demanding_fanouts(problem.arch);
  const auto has_mapping_without = [&](const std::vector<Fanout>& fanouts) {
    return find_any(mapper, without_usage(problem, fanouts), options, cancel).has_mapping;
  };
  if (all.empty() || !has_mapping_without(all)) return std::nullopt;
  std::vector<Fanout> guilty;
  for (const Fanout& fanout : all)
    if (all.size() == 1 || has_mapping_without({fanout})) guilty.push_back(fanout);
  const std::string names = names_of(problem.arch, guilty.empty() ? all : guilty);
  NoMapping blamed = no;
  blamed.reason = fmt::format(
      "min_usage leaves no mapping: {}. It asks of each Einsum what the best of its tile shapes "
      "uses, and these do not join ({})",
      names, no.reason);
  blamed.nearest_relaxation =
      fmt::format("a smaller min_usage of {}{}", guilty.size() > 1 ? "one of " : "", names);
  return blamed;
}

}  // namespace sluice
