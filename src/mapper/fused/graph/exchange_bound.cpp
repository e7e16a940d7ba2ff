#include "exchange_bound.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "mapper/common/key_hash.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::fused {
namespace {

constexpr std::size_t kCornersOfState = 6;  // of a state's hull
constexpr std::size_t kMostPoints = 64;     // points, before a hull is made of them

/// Different things, by their keys, and the hull of what each costs.
template <class T>
class Gathered {
 public:
  void add(const T& item, const LowerHull& costs) {
    const std::uint32_t number = items_.number(KeyHash{}(item.key), item);
    points_.resize(items_.size());
    std::vector<EnergyLatency>& points = points_[number];
    points.insert(points.end(), costs.begin(), costs.end());
    if (points.size() > kMostPoints) to_lower_hull(&points);
  }
  std::vector<T> take() { return items_.take(); }
  std::vector<LowerHull> take_hulls() {
    for (std::vector<EnergyLatency>& points : points_) to_lower_hull(&points);
    return std::move(points_);
  }
  std::vector<LowerHull> take_coarse_hulls() {
    std::vector<LowerHull> hulls = take_hulls();
    for (LowerHull& hull : hulls) hull = coarser(hull, kCornersOfState);
    return hulls;
  }

 private:
  Numbered<T> items_;
  std::vector<std::vector<EnergyLatency>> points_;
};

/// The position of a tensor in an ascending list, if it is there.
std::optional<std::size_t> find(const std::vector<TensorId>& tensors, TensorId tensor) {
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), tensor);
  if (at == tensors.end() || *at != tensor) return std::nullopt;
  return static_cast<std::size_t>(at - tensors.begin());
}

}  // namespace

/// Where what a new layer knows of its tensors comes from.
struct ExchangeBound::Plan {
  /// Of the Einsum's tensors: those alive before it, by position in the layer before and in the
  /// Einsum's list.
  std::vector<std::pair<std::size_t, std::size_t>> common;
  struct From {
    bool einsum;  ///< or the layer before
    std::size_t position;
  };
  std::vector<Live> live;  ///< after it
  std::vector<From> from;  ///< per live tensor after it
};

/// Choices that are alike, as far as layers know.
struct ExchangeBound::Class {
  Key key;       ///< of the common tensors, then of those that stay, in the forms before and after
  Key memories;  ///< of those that stay
  bool operator==(const Class& other) const { return key == other.key; }
};

ExchangeBound::ExchangeBound(std::vector<std::vector<TensorId>> tensors, std::size_t most_pairs)
    : tensors_(std::move(tensors)), most_pairs_(most_pairs) {
  for (std::size_t e = 0; e < tensors_.size(); ++e)
    for (const TensorId tensor : tensors_[e]) {
      last_use_.resize(std::max(last_use_.size(), tensor.index() + 1), 0);
      last_use_[tensor.index()] = e;
    }
  layer_.states.emplace_back();
  layer_.hulls = {{{0, 0}}};
}

/// `between`: what is known of what the Einsum and the one after it exchange.
ExchangeBound::Plan ExchangeBound::plan(const Layer& before, Form between) const {
  const std::vector<TensorId>& own = tensors_[next_];
  std::vector<std::pair<Live, Plan::From>> after;
  Plan result;
  for (std::size_t t = 0; t < before.live.size(); ++t) {
    if (const auto here = find(own, before.live[t].id))
      result.common.emplace_back(t, *here);
    else
      after.push_back({{before.live[t].id, Form::kMemory}, {false, t}});
  }
  for (std::size_t t = 0; t < own.size(); ++t) {
    if (last_use_[own[t].index()] <= next_) continue;
    const bool is_next = find(tensors_[next_ + 1], own[t]).has_value();
    after.push_back({{own[t], is_next ? between : Form::kMemory}, {true, t}});
  }
  std::sort(after.begin(), after.end(),
            [](const auto& a, const auto& b) { return a.first.id < b.first.id; });
  for (const auto& [live, from] : after) {
    result.live.push_back(live);
    result.from.push_back(from);
  }
  return result;
}

ExchangeBound::Classes ExchangeBound::classes(const Layer& before, const Plan& plan,
                                              const std::vector<ExchangeChoice>& choices) const {
  Gathered<Class> classes;
  Class own;
  for (const ExchangeChoice& choice : choices) {
    const auto in_form = [&](std::size_t tensor, Form form) {
      return static_cast<std::int64_t>(form == Form::kExchange ? choice.exchanges[tensor]
                                                               : choice.memories[tensor]);
    };
    own.key.clear();
    own.memories.clear();
    for (const auto& [there, here] : plan.common)
      own.key.push_back(in_form(here, before.live[there].form));
    for (std::size_t t = 0; t < plan.live.size(); ++t) {
      if (!plan.from[t].einsum) continue;
      own.key.push_back(in_form(plan.from[t].position, plan.live[t].form));
      own.memories.push_back(in_form(plan.from[t].position, Form::kMemory));
    }
    classes.add(own, {choice.cost});
  }
  return {classes.take(), classes.take_hulls()};
}

/// The layer after the next Einsum; nothing if more than `most` pairs would have to be looked at.
std::optional<ExchangeBound::Layer> ExchangeBound::extended(
    const Layer& before, const std::vector<ExchangeChoice>& choices, Form between,
    std::size_t most) const {
  const Plan plan = this->plan(before, between);
  const auto [classes, costs] = this->classes(before, plan, choices);
  const auto n_common = static_cast<std::ptrdiff_t>(plan.common.size());
  std::unordered_map<Key, std::vector<std::uint32_t>, KeyHash> with;  // by the common tensors
  for (std::uint32_t c = 0; c < classes.size(); ++c)
    with[{classes[c].key.begin(), classes[c].key.begin() + n_common}].push_back(c);
  std::vector<const std::vector<std::uint32_t>*> matches(before.states.size(), nullptr);
  std::size_t n_pairs = 0;
  Key common;
  for (std::size_t s = 0; s < before.states.size(); ++s) {
    common.clear();
    for (const auto& [there, here] : plan.common) common.push_back(before.states[s].key[there]);
    const auto at = with.find(common);
    if (at == with.end()) continue;
    matches[s] = &at->second;
    n_pairs += at->second.size();
  }
  if (n_pairs > most) return std::nullopt;
  Gathered<State> states;
  State state;
  for (std::size_t s = 0; s < before.states.size(); ++s) {
    if (matches[s] == nullptr) continue;
    for (const std::uint32_t c : *matches[s]) {
      state.key.clear();
      state.memories.clear();
      std::size_t own = 0;  // of those that stay
      for (std::size_t t = 0; t < plan.live.size(); ++t) {
        const Plan::From& from = plan.from[t];
        state.memories.push_back(from.einsum ? classes[c].memories[own]
                                             : before.states[s].memories[from.position]);
        state.key.push_back(from.einsum ? classes[c].key[plan.common.size() + own]
                                        : state.memories.back());
        own += from.einsum ? 1 : 0;
      }
      states.add(state, sum(before.hulls[s], costs[c]));
    }
  }
  return Layer{plan.live, states.take(), states.take_coarse_hulls()};
}

ExchangeBound::Layer ExchangeBound::by_memory(const Layer& layer) {
  Gathered<State> states;
  for (std::size_t s = 0; s < layer.states.size(); ++s) {
    const Key& memories = layer.states[s].memories;
    states.add({memories, memories}, layer.hulls[s]);
  }
  std::vector<Live> live = layer.live;
  for (Live& tensor : live) tensor.form = Form::kMemory;
  return {std::move(live), states.take(), states.take_coarse_hulls()};
}

void ExchangeBound::add(const std::vector<ExchangeChoice>& choices) {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  std::optional<Layer> next = extended(layer_, choices, Form::kExchange, most_pairs_);
  if (!next && std::any_of(layer_.live.begin(), layer_.live.end(),
                           [](const Live& tensor) { return tensor.form == Form::kExchange; })) {
    layer_ = by_memory(layer_);
    next = extended(layer_, choices, Form::kExchange, most_pairs_);
  }
  if (!next) next = extended(layer_, choices, Form::kMemory, kAll);
  layer_ = *std::move(next);
  ++next_;
}

double ExchangeBound::least(Objective objective) const {
  double least = std::numeric_limits<double>::infinity();
  for (const LowerHull& hull : layer_.hulls)
    for (const EnergyLatency& point : hull)
      least = std::min(least, objective_value(objective, point.energy, point.latency));
  return least;
}

}  // namespace sluice::fused
