#include "walked_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mapper/common/part_of_problem.h"
#include "mapper/sampling/sampling_run.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/keep_rules.h"
#include "walks.h"

namespace sluice {
namespace {

bool is_contraction(const Einsum& einsum) {
  const std::size_t inputs = einsum.accesses.size() - 1;
  const std::vector<AffineExpression>& output = einsum.output().projection;
  const auto is_kept = [&](const VariableRange& range) {
    return std::any_of(output.begin(), output.end(), [&](const AffineExpression& index) {
      return index.coefficient_of(range.variable) != 0;
    });
  };
  return inputs > 1 &&
         !std::all_of(einsum.iteration_space.begin(), einsum.iteration_space.end(), is_kept);
}

/// Where parts begin, and the end of the last one. They begin at contractions, as what follows can
/// often be done to their results while they are at hand.
std::vector<std::size_t> borders_of_parts(const Workload& workload, std::size_t longest) {
  std::vector<std::size_t> borders;
  for (std::size_t e = 0; e < workload.einsums.size(); ++e)
    if (borders.empty() || e - borders.back() == longest || is_contraction(workload.einsums[e]))
      borders.push_back(e);
  borders.push_back(workload.einsums.size());
  return borders;
}

/// Tensors that Einsums of a part exchange, and others use as well.
std::vector<TensorId> leaving_tensors(const BoundProblem& problem, std::size_t first,
                                      std::size_t last) {
  const auto is_inside = [&](EinsumId e) { return e.index() >= first && e.index() < last; };
  std::vector<TensorId> result;
  for (std::size_t t = 0; t < problem.workload.tensors.size(); ++t) {
    const std::vector<EinsumId>& makers = problem.roles.makers[t];
    const std::vector<EinsumId>& readers = problem.roles.consumers[t];
    if (std::any_of(makers.begin(), makers.end(), is_inside) &&
        std::any_of(readers.begin(), readers.end(), is_inside) &&
        !(std::all_of(makers.begin(), makers.end(), is_inside) &&
          std::all_of(readers.begin(), readers.end(), is_inside)))
      result.push_back(TensorId(t));
  }
  return result;
}

/// Equal for parts with the same Einsums that exchange the same.
std::vector<std::int64_t> key_of(const BoundProblem& problem, const sampling::MapSpace& space,
                                 std::size_t first, std::size_t last) {
  std::vector<std::int64_t> key;
  std::map<TensorId, std::int64_t> seen;
  for (std::size_t e = first; e < last; ++e) {
    key.push_back(space.list_of(e));
    for (const TensorId tensor : problem.einsums[e].tensors)
      key.push_back(seen.try_emplace(tensor, static_cast<std::int64_t>(seen.size())).first->second);
  }
  for (const TensorId tensor : leaving_tensors(problem, first, last))
    key.push_back(-1 - seen.at(tensor));
  return key;
}

/// What a memory must keep, or may not, can depend on what Einsums exchange.
bool is_mapping(const sampling::Genome& whole, const sampling::MapSpace& space) {
  return space.joins(whole) && keep_violations(space.problem(), space.build(whole)).empty();
}

}  // namespace

struct WalkedParts::Part {
  BoundProblem problem;
  MapperOptions options;
  std::unique_ptr<Walks> walks;
};

WalkedParts::WalkedParts(const BoundProblem& problem, const MapperOptions& options,
                         const MapperControl& control, const sampling::MapSpace& space, Cut cut) {
  control_.cancel = control.cancel;
  if (problem.einsums.size() < cut.shortest || options.constraints != Constraints{}) return;
  std::map<std::vector<std::int64_t>, std::size_t> known;
  const std::vector<std::size_t> borders = borders_of_parts(problem.workload, cut.longest);
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const auto [at, is_new] =
        known.try_emplace(key_of(problem, space, borders[i], borders[i + 1]), parts_.size());
    part_of_.push_back(at->second);
    begins_.push_back(borders[i]);
    if (is_new && !add(problem, options, borders[i], borders[i + 1])) {
      parts_.clear();
      return;
    }
  }
}

WalkedParts::~WalkedParts() = default;

/// False: the part has no problem of its own.
bool WalkedParts::add(const BoundProblem& problem, const MapperOptions& options, std::size_t first,
                      std::size_t last) {
  std::vector<EinsumId> einsums;
  for (std::size_t e = first; e < last; ++e) einsums.emplace_back(e);
  auto bound = bind_part(problem, einsums);
  if (!bound) return false;
  auto part = std::make_unique<Part>();
  part->problem = *std::move(bound);
  part->options = options;
  for (const TensorId tensor : leaving_tensors(problem, first, last))
    part->options.constraints.fusion.push_back({"leaves its part", tensor, false, std::nullopt});
  part->walks = std::make_unique<Walks>(part->problem, part->options, control_, false);
  parts_.push_back(std::move(part));
  return true;
}

/// Half of the time goes to all alike, half by what a part costs of the whole.
void WalkedParts::walk(double seconds) {
  const std::vector<double> shares = shares_of_cost();
  for (std::size_t p = 0; p < parts_.size() && !is_cancelled(control_.cancel); ++p)
    parts_[p]->walks->walk(round_, seconds * shares[p]);
  ++round_;
}

/// Of energy and latency together.
std::vector<double> WalkedParts::shares_of_cost() const {
  std::vector<CostTotals> costs(parts_.size());
  CostTotals all;
  for (const std::size_t p : part_of_) {
    const sampling::SamplingRun* run = parts_[p]->walks->run();
    if (run != nullptr && run->record().best() != nullptr) costs[p] = *run->record().best();
    all.energy_j += costs[p].energy_j;
    all.latency_s += costs[p].latency_s;
  }
  const double equal = 1 / static_cast<double>(parts_.size());
  std::vector<double> shares(parts_.size(), equal);
  if (!(all.energy_j > 0) || !(all.latency_s > 0)) return shares;
  for (double& share : shares) share /= 2;
  for (const std::size_t p : part_of_)
    shares[p] += (costs[p].energy_j / all.energy_j + costs[p].latency_s / all.latency_s) / 4;
  return shares;
}

std::optional<sampling::Genome> WalkedParts::joined(sampling::MapSpace* space,
                                                    sampling::FanoutUse* use) const {
  sampling::Genome whole;
  for (const std::size_t p : part_of_) {
    const sampling::SamplingRun* run = parts_[p]->walks->run();
    if (run == nullptr || run->record().best() == nullptr) return std::nullopt;
    const sampling::Genome best = run->record().elite().front();
    for (std::size_t i = 0; i < best.size(); ++i) {
      const std::size_t e = whole.size();
      auto choice =
          use->choice(e, run->space().templates(i)[best[i]->templ], best[i]->trips, space);
      if (!choice) return std::nullopt;
      whole.push_back(std::move(choice));
    }
  }
  if (!is_mapping(whole, *space)) return std::nullopt;
  return whole;
}

std::optional<sampling::Genome> WalkedParts::better_parts(const sampling::Genome& a,
                                                          const sampling::Genome& b,
                                                          const sampling::MapSpace& space) const {
  const Objective objective = space.options().objectives.front();
  sampling::Genome result = a;
  CostTotals whole;
  const auto add = [&](const sampling::Genome& genome, std::size_t first, std::size_t end, double n,
                       CostTotals* sum) {
    for (std::size_t e = first; e < end; ++e) {
      const auto own = space.price_alone(e, *genome[e]);
      if (!own) return false;
      sum->energy_j += n * own->energy_j;
      sum->latency_s += n * own->latency_s;
    }
    return true;
  };
  if (!add(a, 0, a.size(), 1, &whole)) return std::nullopt;
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    const std::size_t first = begins_[i];
    const std::size_t end = i + 1 < begins_.size() ? begins_[i + 1] : a.size();
    CostTotals other = whole;
    if (!add(a, first, end, -1, &other) || !add(b, first, end, 1, &other)) continue;
    if (!(objective_value(objective, other.energy_j, other.latency_s) <
          objective_value(objective, whole.energy_j, whole.latency_s)))
      continue;
    whole = other;
    std::copy(b.begin() + static_cast<std::ptrdiff_t>(first),
              b.begin() + static_cast<std::ptrdiff_t>(end),
              result.begin() + static_cast<std::ptrdiff_t>(first));
  }
  if (!is_mapping(result, space)) return std::nullopt;
  return result;
}

double WalkedParts::evaluations() const {
  double sum = 0;
  for (const auto& part : parts_) sum += part->walks->evaluations();
  return sum;
}

}  // namespace sluice
