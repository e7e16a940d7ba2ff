#include "oracle/enumerate.h"

#include <algorithm>
#include <map>
#include <set>

#include "oracle/enumerate_einsum.h"
#include "oracle/executed.h"
#include "oracle/join.h"
#include "oracle/recurrence.h"
#include "oracle/single_einsum.h"

namespace sluice::oracle {
namespace {

bool no_worse(const Pmapping& a, const Pmapping& b) {
  if (a.energy_j > b.energy_j || a.latency_s > b.latency_s) return false;
  for (std::size_t i = 0; i < a.peak_bits.size(); ++i)
    if (a.peak_bits[i] > b.peak_bits[i]) return false;
  return true;
}

/// Whether a nest of its own may hold something while other Einsums run, from one step of a loop
/// that they share to the next: what slides over it, a state that no other Einsum uses.
bool may_outlast(const BoundProblem& problem, const Pmapping& nest) {
  return std::any_of(nest.nodes.begin(), nest.nodes.end(), [&](const NestNode& node) {
    const NestStorage* storage = std::get_if<NestStorage>(&node);
    return storage && (storage->sliding ||
                       (storage->backing && problem.roles.is_intermediate(storage->tensor) &&
                        !is_exchanged(problem.roles, storage->tensor)));
  });
}

/// Of nests with the same interface, those that no other one beats or equals in energy, latency and
/// every memory. All three add up or are a maximum over Einsums, so a full mapping only gets
/// better; but for what takes room while others run.
std::vector<Pmapping> undominated(const BoundProblem& problem, std::vector<Pmapping> nests) {
  std::map<std::string, std::vector<Pmapping>> classes;
  for (Pmapping& nest : nests) {
    std::string key = interface_key(problem, nest);
    if (problem.workload.einsums.size() > 1 && may_outlast(problem, nest))
      key += nest_key(nest.nodes, nest.compute);
    std::vector<Pmapping>& kept = classes[key];
    if (std::any_of(kept.begin(), kept.end(), [&](const Pmapping& k) { return no_worse(k, nest); }))
      continue;
    std::erase_if(kept, [&](const Pmapping& k) { return no_worse(nest, k); });
    kept.push_back(std::move(nest));
  }
  std::vector<Pmapping> result;
  for (auto& [key, kept] : classes)
    result.insert(result.end(), std::make_move_iterator(kept.begin()),
                  std::make_move_iterator(kept.end()));
  return result;
}

/// Depth first over the Einsums; every complete choice is built, priced whole, and remembered if
/// good.
class JoinWalk {
 public:
  JoinWalk(const BoundProblem& problem, const std::vector<std::vector<Pmapping>>& nests,
           const EnumerationLimits& limits, std::int64_t evaluations, Enumeration& out)
      : problem_(problem), nests_(nests), limits_(limits), evaluations_(evaluations), out_(out) {
    signature_.resize(problem.workload.tensors.size());
    for (std::size_t e = 0; e < nests.size(); ++e) index_nests(e);
  }

  void run() {
    extend(0);
    out_.full_front = pareto_front(std::move(points_));
    std::vector<Point> flat;
    for (const Point& p : out_.full_front) flat.push_back({p.energy_j, p.latency_s, {}});
    out_.energy_latency_front = pareto_front(std::move(flat));
  }

 private:
  using Index = std::map<std::string, std::vector<const Pmapping*>>;

  /// Groups an Einsum's nests by what they say of the tensors that earlier Einsums use.
  void index_nests(std::size_t e) {
    Index index;
    for (const Pmapping& nest : nests_[e]) {
      std::string key;
      for (const SharedTensor& shared : sorted(shared_tensors(problem_, nest)))
        if (used_before(shared.tensor, e)) key += shared.signature + "|";
      index[key].push_back(&nest);
    }
    index_.push_back(std::move(index));
  }

  static std::vector<SharedTensor> sorted(std::vector<SharedTensor> list) {
    std::sort(list.begin(), list.end(),
              [](const SharedTensor& a, const SharedTensor& b) { return a.tensor < b.tensor; });
    return list;
  }

  bool used_before(TensorId tensor, std::size_t e) const {
    for (std::size_t i = 0; i < e; ++i)
      if (find_access(problem_.workload.einsums[i], tensor)) return true;
    return false;
  }

  void extend(std::size_t e) {
    if (out_.exceeded) return;
    if (e == nests_.size()) {
      price();
      return;
    }
    std::vector<TensorId> tensors = tensors_of(problem_.workload.einsums[e]);
    std::sort(tensors.begin(), tensors.end());
    std::string key;
    for (TensorId t : tensors)
      if (is_exchanged(problem_.roles, t) && used_before(t, e)) key += signature_[t.index()] + "|";
    const auto found = index_[e].find(key);
    if (found == index_[e].end()) return;
    for (const Pmapping* nest : found->second) {
      for (const SharedTensor& shared : shared_tensors(problem_, *nest))
        signature_[shared.tensor.index()] = shared.signature;
      chosen_.push_back(nest);
      extend(e + 1);
      chosen_.pop_back();
    }
  }

  void price() {
    const std::optional<Mapping> mapping = join(problem_, chosen_);
    if (!mapping) return;
    if (++evaluations_ > limits_.max_evaluations) {
      out_.exceeded = true;
      return;
    }
    ++out_.full_mappings;
    const auto cost = evaluate(problem_, *mapping);
    if (!cost) {
      report_refusal(*mapping, cost.error());
      return;
    }
    ++out_.valid_mappings;
    check_additive(*mapping, *cost);
    check_execution(*mapping, *cost);
    remember(*mapping, *cost);
  }

  void report_refusal(const Mapping& mapping, const std::vector<Violation>& violations) {
    if (out_.refusals.size() >= kMaxReports) return;
    for (const Violation& violation : violations) {
      if (violation.kind == ViolationKind::kCapacity) continue;
      // Einsums may share a loop by one tensor and need all of another one in each step of it.
      if (violation.kind == ViolationKind::kDependency) continue;
      out_.refusals.push_back(violation.message + "\n" +
                              to_yaml(mapping, problem_.workload, problem_.arch));
      return;
    }
  }

  /// The 1st, 2nd, 4th, 8th, … valid mapping.
  void check_execution(const Mapping& mapping, const Cost& cost) {
    const std::int64_t n = out_.valid_mappings;
    if ((n & (n - 1)) != 0 || n >> limits_.executions != 0) return;
    const auto otherwise = executed_otherwise(problem_, mapping, cost);
    if (!otherwise || out_.executed_otherwise.size() >= kMaxReports) return;
    out_.executed_otherwise.push_back(*otherwise + "\n" +
                                      to_yaml(mapping, problem_.workload, problem_.arch));
  }

  void check_additive(const Mapping& mapping, const Cost& cost) {
    double energy = 0;
    double latency = 0;
    for (const Pmapping* nest : chosen_) {
      energy += nest->energy_j;
      latency += nest->latency_s;
    }
    if ((energy == cost.energy_j && latency == cost.latency_s) ||
        out_.non_additive.size() >= kMaxReports)
      return;
    out_.non_additive.push_back(
        "parts " + std::to_string(energy) + " J " + std::to_string(latency) + " s, whole " +
        std::to_string(cost.energy_j) + " J " + std::to_string(cost.latency_s) + " s\n" +
        to_yaml(mapping, problem_.workload, problem_.arch));
  }

  void remember(const Mapping& mapping, const Cost& cost) {
    const Point point = point_of(cost);
    const auto keep_if_less = [&](std::optional<PricedMapping>& best, auto value) {
      if (!best || value(point) < value(best->point)) best = PricedMapping{mapping, point};
    };
    keep_if_less(out_.best_energy, [](const Point& p) { return p.energy_j; });
    keep_if_less(out_.best_latency, [](const Point& p) { return p.latency_s; });
    keep_if_less(out_.best_edp, [](const Point& p) { return p.energy_j * p.latency_s; });
    points_.push_back(point);
    if (points_.size() > 4096) points_ = pareto_front(std::move(points_));
  }

  const BoundProblem& problem_;
  const std::vector<std::vector<Pmapping>>& nests_;
  const EnumerationLimits& limits_;
  std::int64_t evaluations_;
  Enumeration& out_;
  std::vector<Index> index_;
  std::vector<std::string> signature_;  ///< per tensor, of the Einsums chosen so far
  std::vector<const Pmapping*> chosen_;
  std::vector<Point> points_;
};

}  // namespace

Point point_of(const Cost& cost) {
  Point point{cost.energy_j, cost.latency_s, {}};
  for (const OccupancyRow& row : cost.occupancy)
    if (row.capacity_bits < kUnbounded) point.peak_bits.push_back(row.peak_bits);
  return point;
}

bool dominates(const Point& a, const Point& b) {
  if (a.energy_j > b.energy_j || a.latency_s > b.latency_s) return false;
  for (std::size_t i = 0; i < a.peak_bits.size(); ++i)
    if (a.peak_bits[i] > b.peak_bits[i]) return false;
  return true;
}

std::vector<Point> pareto_front(std::vector<Point> points) {
  std::sort(points.begin(), points.end());
  std::vector<Point> front;  // a point can only be dominated by one that sorts before it
  for (const Point& point : points)
    if (std::none_of(front.begin(), front.end(),
                     [&](const Point& f) { return dominates(f, point); }))
      front.push_back(point);
  return front;
}

Enumeration enumerate(const BoundProblem& problem, const MapperOptions& options,
                      const EnumerationLimits& limits) {
  Enumeration result;
  std::int64_t evaluations = 0;
  std::vector<std::vector<Pmapping>> nests;
  for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e) {
    NestList list = enumerate_nests(problem, options, EinsumId(e), limits);
    evaluations += static_cast<std::int64_t>(list.nests.size());
    if (list.exceeded || evaluations > limits.max_evaluations) {
      result.exceeded = true;
      return result;
    }
    std::vector<Pmapping> priced =
        price_nests(problem, EinsumId(e), std::move(list.nests), result.refusals);
    priced = most_used(problem, EinsumId(e), std::move(priced));
    priced = without_copies_above_steps(problem, EinsumId(e), std::move(priced));
    result.nests.push_back(static_cast<std::int64_t>(priced.size()));
    if (!limits.keep_dominated_nests) priced = undominated(problem, std::move(priced));
    result.candidates.push_back(static_cast<std::int64_t>(priced.size()));
    nests.push_back(std::move(priced));
  }
  JoinWalk(problem, nests, limits, evaluations, result).run();
  return result;
}

}  // namespace sluice::oracle
