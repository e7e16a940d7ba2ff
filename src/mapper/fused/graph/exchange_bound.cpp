#include "exchange_bound.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "mapper/common/key_hash.h"
#include "sluice/mapper/objective_value.h"

namespace sluice::fused {
namespace {

constexpr std::size_t kCorners = 6;
constexpr std::size_t kMostAtOnce = 64;  // points, before a hull is made of them

void add_points(const LowerHull& more, std::vector<EnergyLatency>* points) {
  points->insert(points->end(), more.begin(), more.end());
  if (points->size() > kMostAtOnce) to_lower_hull(points);
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
  std::vector<Form> form_before;  ///< per live tensor before
  std::vector<Live> live;         ///< after it
  std::vector<From> from;         ///< per live tensor after it
};

/// Choices that are alike, as far as layers know.
struct ExchangeBound::Class {
  Key key;       ///< of the common tensors, then of those that stay, in the forms before and after
  Key memories;  ///< of those that stay
  std::vector<EnergyLatency> points;
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

bool ExchangeBound::is_used_by(TensorId tensor, std::size_t einsum) const {
  return einsum < tensors_.size() &&
         std::binary_search(tensors_[einsum].begin(), tensors_[einsum].end(), tensor);
}

/// `between`: what is known of what the Einsum and the one after it exchange.
ExchangeBound::Plan ExchangeBound::plan(const Layer& before, Form between) const {
  const std::vector<TensorId>& own = tensors_[next_];
  Plan result;
  for (std::size_t t = 0; t < before.live.size(); ++t) {
    result.form_before.push_back(before.live[t].form);
    if (const auto at = std::lower_bound(own.begin(), own.end(), before.live[t].id);
        at != own.end() && *at == before.live[t].id)
      result.common.emplace_back(t, static_cast<std::size_t>(at - own.begin()));
    else
      result.live.push_back({before.live[t].id, Form::kMemory});
  }
  for (const TensorId tensor : own)
    if (last_use_[tensor.index()] > next_)
      result.live.push_back({tensor, is_used_by(tensor, next_ + 1) ? between : Form::kMemory});
  std::sort(result.live.begin(), result.live.end(),
            [](const Live& a, const Live& b) { return a.id < b.id; });
  for (const Live& tensor : result.live) {
    const auto at = std::lower_bound(own.begin(), own.end(), tensor.id);
    const bool is_own = at != own.end() && *at == tensor.id;
    const auto there = std::find_if(before.live.begin(), before.live.end(),
                                    [&](const Live& other) { return other.id == tensor.id; });
    result.from.push_back({is_own, static_cast<std::size_t>(is_own ? at - own.begin()
                                                                   : there - before.live.begin())});
  }
  return result;
}

std::vector<ExchangeBound::Class> ExchangeBound::classes(
    const Plan& plan, const std::vector<ExchangeChoice>& choices) const {
  Numbered<Class> numbers;
  std::vector<std::vector<EnergyLatency>> points;
  Class own;
  for (const ExchangeChoice& choice : choices) {
    const auto in_form = [&](std::size_t tensor, Form form) {
      return static_cast<std::int64_t>(form == Form::kExchange ? choice.exchanges[tensor]
                                                               : choice.memories[tensor]);
    };
    own.key.clear();
    own.memories.clear();
    for (const auto& [before, here] : plan.common)
      own.key.push_back(in_form(here, plan.form_before[before]));
    for (std::size_t t = 0; t < plan.live.size(); ++t) {
      if (!plan.from[t].einsum) continue;
      own.key.push_back(in_form(plan.from[t].position, plan.live[t].form));
      own.memories.push_back(in_form(plan.from[t].position, Form::kMemory));
    }
    const std::uint32_t number = numbers.number(KeyHash{}(own.key), own);
    points.resize(numbers.size());
    add_points({choice.cost}, &points[number]);
  }
  std::vector<Class> result = numbers.take();
  for (std::size_t c = 0; c < result.size(); ++c)
    result[c].points = lower_hull(std::move(points[c]));
  return result;
}

/// The layer after the next Einsum; nothing if more than `most` pairs would have to be looked at.
std::optional<ExchangeBound::Layer> ExchangeBound::extended(
    const Layer& before, const std::vector<ExchangeChoice>& choices, Form between,
    std::size_t most) const {
  const Plan plan = this->plan(before, between);
  const std::vector<Class> classes = this->classes(plan, choices);
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
  Numbered<State> numbers;
  std::vector<std::vector<EnergyLatency>> points;
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
      const std::uint32_t number = numbers.number(KeyHash{}(state.key), state);
      points.resize(numbers.size());
      add_points(sum(before.hulls[s], classes[c].points), &points[number]);
    }
  }
  Layer layer;
  layer.live = plan.live;
  layer.states = numbers.take();
  for (std::vector<EnergyLatency>& of_state : points)
    layer.hulls.push_back(coarser(lower_hull(std::move(of_state)), kCorners));
  return layer;
}

ExchangeBound::Layer ExchangeBound::by_memory(const Layer& layer) {
  Numbered<State> numbers;
  std::vector<std::vector<EnergyLatency>> points;
  for (std::size_t s = 0; s < layer.states.size(); ++s) {
    const Key& memories = layer.states[s].memories;
    const std::uint32_t number = numbers.number(KeyHash{}(memories), State{memories, memories});
    points.resize(numbers.size());
    add_points(layer.hulls[s], &points[number]);
  }
  Layer result;
  for (const Live& tensor : layer.live) result.live.push_back({tensor.id, Form::kMemory});
  result.states = numbers.take();
  for (std::vector<EnergyLatency>& of_state : points)
    result.hulls.push_back(coarser(lower_hull(std::move(of_state)), kCorners));
  return result;
}

void ExchangeBound::add(const std::vector<ExchangeChoice>& choices) {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  std::optional<Layer> next = extended(layer_, choices, Form::kExchange, most_pairs_);
  if (!next) {
    const Layer before = by_memory(layer_);
    next = extended(before, choices, Form::kExchange, most_pairs_);
    if (!next) next = extended(before, choices, Form::kMemory, kAll);
  }
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
