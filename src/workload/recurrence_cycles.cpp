#include "workload/recurrence_cycles.h"

#include <algorithm>

namespace sluice {

std::vector<RecurrenceCycle> recurrence_cycles(const Workload& workload, const TensorRoles& roles) {
  std::vector<RecurrenceCycle> found;
  for (std::size_t t = 0; t < workload.tensors.size(); ++t)
    if (roles.is_intermediate(TensorId(t)) &&
        !(roles.makers[t].back() < roles.consumers[t].front()))
      found.push_back({roles.consumers[t].front().index(), roles.makers[t].back().index()});
  std::sort(found.begin(), found.end(),
            [](const RecurrenceCycle& a, const RecurrenceCycle& b) { return a.first < b.first; });
  std::vector<RecurrenceCycle> cycles;
  for (const RecurrenceCycle& cycle : found) {
    if (cycles.empty() || cycles.back().last < cycle.first)
      cycles.push_back(cycle);
    else
      cycles.back().last = std::max(cycles.back().last, cycle.last);
  }
  return cycles;
}

const RecurrenceCycle* cycle_of(const std::vector<RecurrenceCycle>& cycles, std::size_t einsum) {
  const auto found = std::find_if(cycles.begin(), cycles.end(),
                                  [&](const RecurrenceCycle& cycle) { return cycle.has(einsum); });
  return found == cycles.end() ? nullptr : &*found;
}

}  // namespace sluice
