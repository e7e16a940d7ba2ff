#include "ties.h"

#include <algorithm>
#include <map>

namespace sluice::chains {

Ties::Ties(const BoundProblem& problem, std::optional<ComponentId> outermost,
           const sampling::Genome& now)
    : classes_(now.size()), is_inner_(problem.workload.tensors.size(), 0), stay_(now.size()) {
  for (std::size_t e = 0; e < now.size(); ++e)
    for (const fused::Backing& backing : now[e]->compatibility.backings) {
      if (backing.component == outermost) continue;
      const TensorId tensor = problem[EinsumId(e)].tensors[backing.tensor];
      is_inner_[tensor.index()] = 1;
      if (backing.level == 0 && !backing.persistent) {
        stay_[e].emplace_back(tensor, backing.component);
        continue;
      }
      for (const EinsumId user : problem.roles.users(tensor)) classes_.join(e, user.index());
    }
}

std::vector<Ties::Span> Ties::groups() const {
  std::map<std::size_t, Span> spans;
  for (std::size_t e = 0; e < stay_.size(); ++e)
    spans.try_emplace(class_of(e), e, e).first->second.second = e;
  std::vector<Span> all;
  for (const auto& [number, span] : spans) all.push_back(span);
  std::sort(all.begin(), all.end());
  std::vector<Span> groups;
  for (const Span& own : all) {
    if (!groups.empty() && own.first <= groups.back().second)
      groups.back().second = std::max(groups.back().second, own.second);
    else
      groups.push_back(own);
  }
  return groups;
}

Exchange Ties::stays(std::size_t einsum, const Run* run) const {
  Exchange exchange;
  for (const auto& [tensor, memory] : stay_[einsum]) {
    if (run != nullptr && run->exchanges(tensor)) continue;
    exchange.backings.emplace_back(tensor, memory);
    exchange.outermost.emplace_back(ChainNode{tensor, memory});
  }
  return exchange;
}

}  // namespace sluice::chains
