#include "chain_choice.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::chains {
namespace {

using fused::LoopPlace;
using fused::Slot;
using fused::Template;

/// The steps with each node, but for a tensor's first, below the loops that index its tensor right
/// below it: as much moves, and less is held. Templates have no others. It stays above nodes of
/// memories further in where hierarchy forces an order.
ChainSteps sunk(ChainSteps steps, const BoundProblem& problem, const fused::EinsumShape& shape) {
  const BoundEinsum& bound = problem[shape.einsum];
  const auto forces_order = [&](const ChainNode& node) {
    return problem.arch[node.memory].tensor_policy()->force_memory_hierarchy_order;
  };
  const auto node_at = [&](std::size_t i) { return std::get_if<ChainNode>(&steps[i]); };
  const auto is_first = [&](std::size_t i) {
    for (std::size_t before = 0; before < i; ++before)
      if (node_at(before) != nullptr && node_at(before)->tensor == node_at(i)->tensor) return false;
    return true;
  };
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (node_at(i) == nullptr || node_at(i)->sliding || is_first(i)) continue;
    const TensorId tensor = node_at(i)->tensor;
    const auto number = static_cast<std::size_t>(bound.local_tensor[tensor.index()]);
    const std::vector<Relevance>& relevance = shape.tensors[number].relevance;
    std::size_t at = i;
    for (std::size_t next = i + 1; next < steps.size(); ++next) {
      if (const ChainNode* node = node_at(next)) {
        const bool is_above =
            node_at(i)->memory < node->memory && forces_order(*node) && forces_order(*node_at(i));
        if (node->tensor == tensor || node->sliding || is_above) break;
        continue;
      }
      const auto& loop = std::get<ChainLoop>(steps[next]);
      if (loop.spatial || relevance[loop.variable] != Relevance::kRelevant) break;
      at = next;
    }
    std::rotate(steps.begin() + static_cast<std::ptrdiff_t>(i),
                steps.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                steps.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return steps;
}

/// Nodes and loops of a chain as templates have them: a loop that moves a window stands below the
/// node that slides over it.
class Placer {
 public:
  Placer(const Chain& chain, const BoundProblem& problem, const fused::EinsumShape& shape) {
    const BoundEinsum& bound = problem[shape.einsum];
    std::optional<std::size_t> window;  // the last loop, if no other has come since
    for (const auto& step : sunk(chain.steps, problem, shape)) {
      if (const auto* held = std::get_if<ChainNode>(&step)) {
        Slot slot;
        slot.component = held->memory;
        slot.tensor = static_cast<std::uint32_t>(bound.local_tensor[held->tensor.index()]);
        if (held->sliding && window) loops_[*window].below = nodes_.size();
        nodes_.push_back(slot);
        slides_over_.push_back(held->sliding ? window : std::nullopt);
        continue;
      }
      const auto& own = std::get<ChainLoop>(step);
      window.reset();
      if (!own.spatial) window = loops_.size();
      loops_.push_back({own, nodes_.size()});
    }
  }

  const std::vector<Slot>& nodes() const { return nodes_; }

  /// How many nodes slide otherwise than in the chain.
  int n_unlike(const Template& templ) const {
    int n = 0;
    for (std::size_t s = 0; s < templ.slots.size(); ++s) {
      const Slot& slot = templ.slots[s];
      const auto& wanted = slides_over_[node_of(templ, s)];
      const std::optional<std::size_t> slides =
          slot.sliding_loop < 0
              ? std::nullopt
              : std::optional<std::size_t>(
                    templ.loops[static_cast<std::size_t>(slot.sliding_loop)].variable);
      const std::optional<std::size_t> as_wanted =
          wanted ? std::optional(loops_[*wanted].own.variable) : std::nullopt;
      if (slides != as_wanted) ++n;
    }
    return n;
  }

  /// Trip counts of the template's loops; nothing where one of the chain's has no place at all.
  std::optional<sampling::Trips> trips(const Template& templ) const {
    sampling::Trips result(templ.loops.size(), 1);
    for (const Loop& loop : loops_) {
      const auto place = place_of(templ, loop);
      if (!place) return std::nullopt;
      result[*place] *= loop.own.trips;
    }
    return result;
  }

 private:
  struct Loop {
    ChainLoop own;
    std::size_t below = 0;  ///< nodes above it
  };

  /// Templates put what stands above all loops first.
  std::size_t node_of(const Template& templ, std::size_t s) const {
    const Slot& slot = templ.slots[s];
    const auto is_same = [&](const Slot& own) {
      return own.component == slot.component && own.tensor == slot.tensor;
    };
    return static_cast<std::size_t>(std::find_if(nodes_.begin(), nodes_.end(), is_same) -
                                    nodes_.begin());
  }

  /// The gap below so many nodes of the chain.
  std::uint32_t gap_below(const Template& templ, std::size_t n_nodes) const {
    std::uint32_t gap = 0;
    for (std::size_t s = 0; s < templ.slots.size(); ++s)
      if (node_of(templ, s) < n_nodes) gap = std::max(gap, templ.slots[s].gap);
    return gap;
  }

  /// The place nearest to where it stands in the chain, of equal ones further out.
  std::optional<std::size_t> place_of(const Template& templ, const Loop& loop) const {
    const std::uint32_t wanted = gap_below(templ, loop.below);
    std::optional<std::size_t> best;
    std::uint32_t nearest = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t l = 0; l < templ.loops.size(); ++l) {
      const LoopPlace& place = templ.loops[l];
      if (place.variable != loop.own.variable || place.spatial != loop.own.spatial.has_value())
        continue;
      if (place.spatial && *loop.own.spatial != std::pair(place.component, place.dimension))
        continue;
      const std::uint32_t distance = place.gap <= wanted ? wanted - place.gap : place.gap - wanted;
      if (distance >= nearest) continue;
      nearest = distance;
      best = l;
    }
    return best;
  }

  std::vector<Slot> nodes_;
  std::vector<std::optional<std::size_t>> slides_over_;  ///< per node: index into `loops_`
  std::vector<Loop> loops_;
};

/// Whether the loops that an Einsum shares are those among these steps, in an order that they may
/// have.
bool shares_as_asked(const fused::Compatibility& own, const ChainSteps& asked) {
  std::vector<ChainLoop> loops;
  for (const auto& step : asked)
    if (const auto* loop = std::get_if<ChainLoop>(&step)) loops.push_back(*loop);
  if (own.loops.size() != loops.size()) return false;
  std::size_t block = 0, next = 0;  // the last asked loop of those outside of a stop, and of all
  for (std::size_t l = 0; l < own.loops.size(); ++l) {
    const fused::FusedLoop& shared = own.loops[l];
    const auto at = std::find_if(loops.begin(), loops.end(),
                                 [&](const ChainLoop& loop) { return is_same(loop, shared); });
    if (at == loops.end()) return false;
    if (own.stop_before[l]) block = next;
    const auto place = static_cast<std::size_t>(at - loops.begin());
    if (place < block) return false;
    next = std::max(next, place);
  }
  return true;
}

}  // namespace

bool is_same(const ChainLoop& loop, const fused::FusedLoop& shared) {
  return loop.variable == shared.variable && loop.trips == shared.trips &&
         loop.spatial.has_value() == shared.spatial &&
         (!loop.spatial || *loop.spatial == std::pair(shared.component, shared.dimension));
}

std::optional<PricedChoice> choice_of(const Chain& chain, std::size_t e,
                                      const EinsumChains::Worth& worth,
                                      const fused::Compatibility* like, const ChainSteps& outermost,
                                      sampling::MapSpace* space, sampling::FanoutUse* use) {
  constexpr std::size_t kMostTemplates = 2000, kMostPriced = 8;
  const BoundProblem& problem = space->problem();
  const std::vector<BoundCompute>& computes = problem[EinsumId(e)].computes;
  const auto compute = std::find_if(computes.begin(), computes.end(), [&](const BoundCompute& own) {
    return own.component == chain.compute;
  });
  const Placer placer(chain, problem, space->shape(e));
  fused::TemplateLimits limits;
  limits.cap = kMostTemplates;
  std::vector<Template> templates = fused::templates_of_nodes(
      problem, space->shape(e), space->options(),
      static_cast<std::uint32_t>(compute - computes.begin()), placer.nodes(), limits);
  std::vector<std::pair<int, std::size_t>> order;  // most alike first
  for (std::size_t t = 0; t < templates.size(); ++t)
    order.emplace_back(placer.n_unlike(templates[t]), t);
  std::sort(order.begin(), order.end());
  std::optional<PricedChoice> best;
  double least = std::numeric_limits<double>::infinity();
  std::size_t n_priced = 0;
  for (const auto& [n_unlike, number] : order) {
    const auto trips = placer.trips(templates[number]);
    if (!trips) continue;
    sampling::ChoicePtr choice = use->choice(e, std::move(templates[number]), *trips, space);
    if (!choice) continue;
    const fused::Compatibility& shared = choice->compatibility;
    if (like != nullptr ? !(shared == *like) : !shares_as_asked(shared, outermost)) continue;
    const auto totals = space->price_alone(e, *choice);
    if (!totals) continue;
    if (const double own = worth(totals->energy_j, totals->latency_s); own < least) {
      least = own;
      best = {std::move(choice), *totals};
    }
    if (++n_priced == kMostPriced) break;
  }
  return best;
}

}  // namespace sluice::chains
