#include "oracle/compound/compound_brute_force.h"

#include <algorithm>
#include <functional>

#include "oracle/compound/compound_frame.h"
#include "oracle/compound/compound_group.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"

namespace sluice::oracle {
namespace {

/// One cut of the Einsums into groups: where each group ends.
using Cut = std::vector<std::size_t>;

std::vector<Cut> cuts_of(std::size_t einsums) {
  std::vector<Cut> cuts;
  for (std::uint64_t mask = 0; mask < std::uint64_t{1} << (einsums - 1); ++mask) {
    cuts.emplace_back();
    for (std::size_t e = 1; e < einsums; ++e)
      if (mask >> (e - 1) & 1) cuts.back().push_back(e);
    cuts.back().push_back(einsums);
  }
  return cuts;
}

/// The whole space as lists: the ways of every group, and the cuts that combine them.
class CompoundSpace {
 public:
  CompoundSpace(const BoundProblem& problem, const CompoundLimits& limits)
      : problem_(problem), cuts_(cuts_of(problem.einsums.size())) {
    for (std::size_t begin = 0; begin < problem.einsums.size(); ++begin)
      for (std::size_t end = begin + 1; end <= problem.einsums.size(); ++end)
        ways_[{begin, end}] = ways_of_group(problem, begin, end, limits);
    for (const Cut& cut : cuts_) {
      std::int64_t product = 1;
      std::size_t begin = 0;
      for (std::size_t end : cut) {
        product *= static_cast<std::int64_t>(ways_.at({begin, end}).size());
        if (product > limits.most) throw TooMany{};
        begin = end;
      }
      count_ += product;
      if (count_ > limits.most) throw TooMany{};
    }
  }

  std::int64_t count() const { return count_; }

  void for_each(const std::function<void(const Mapping&)>& visit) const {
    for (const Cut& cut : cuts_) {
      std::vector<NodeList> groups;
      combine(cut, groups, visit);
    }
  }

 private:
  void combine(const Cut& cut, std::vector<NodeList>& groups,
               const std::function<void(const Mapping&)>& visit) const {
    if (groups.size() == cut.size()) {
      visit(mapping_of(cut, groups));
      return;
    }
    const std::size_t begin = groups.empty() ? 0 : cut[groups.size() - 1];
    for (const NodeList& way : ways_.at({begin, cut[groups.size()]})) {
      groups.push_back(way);
      combine(cut, groups, visit);
      groups.pop_back();
    }
  }

  Mapping mapping_of(const Cut& cut, const std::vector<NodeList>& groups) const {
    Mapping mapping;
    append_storage(mapping.nodes, external_tensors(cut), outermost_memory(problem_.arch));
    if (groups.size() == 1) {
      mapping.nodes.insert(mapping.nodes.end(), groups[0].begin(), groups[0].end());
    } else {
      SplitNode split;
      split.children = groups;
      mapping.nodes.push_back({split});
    }
    return mapping;
  }

  std::vector<TensorId> external_tensors(const Cut& cut) const {
    std::vector<TensorId> all;
    std::size_t begin = 0;
    for (std::size_t end : cut) {
      for (TensorId tensor : tensors_of_group(problem_, begin, end).external)
        if (!contains(all, tensor)) all.push_back(tensor);
      begin = end;
    }
    return all;
  }

  const BoundProblem& problem_;
  std::vector<Cut> cuts_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<NodeList>> ways_;
  std::int64_t count_ = 0;
};

constexpr Objective kObjectives[] = {Objective::kEnergy, Objective::kLatency, Objective::kEdp};

/// Lower in the objective; of equals, the lower energy, then the lower latency.
bool is_better(Objective objective, const Cost& cost, const CompoundBest& best) {
  const double is = objective_value(objective, cost);
  const double was = objective_value(objective, best.energy_j, best.latency_s);
  if (is != was) return is < was;
  if (cost.energy_j != best.energy_j) return cost.energy_j < best.energy_j;
  return cost.latency_s < best.latency_s;
}

void note_refusal(CompoundTruth& truth, const Mapping& mapping,
                  const std::vector<Violation>& violations) {
  for (const Violation& violation : violations)
    if (violation.kind != ViolationKind::kCapacity)
      truth.refusals.emplace(violation.message, mapping);
}

}  // namespace

std::optional<std::int64_t> count_compound(const BoundProblem& problem,
                                           const CompoundLimits& limits) {
  try {
    return CompoundSpace(problem, limits).count();
  } catch (const TooMany&) {
    return std::nullopt;
  }
}

CompoundTruth enumerate_compound(const BoundProblem& problem, LatencyPolicy policy,
                                 const CompoundLimits& limits) {
  const CompoundSpace space(problem, limits);
  CompoundTruth truth;
  truth.mappings = space.count();
  space.for_each([&](const Mapping& mapping) {
    const auto cost = evaluate(problem, mapping, policy);
    if (!cost) {
      note_refusal(truth, mapping, cost.error());
      return;
    }
    ++truth.legal;
    for (Objective objective : kObjectives) {
      std::optional<CompoundBest>& best = truth.best[static_cast<std::size_t>(objective)];
      if (!best || is_better(objective, *cost, *best))
        best = CompoundBest{mapping, cost->energy_j, cost->latency_s};
    }
  });
  return truth;
}

}  // namespace sluice::oracle
