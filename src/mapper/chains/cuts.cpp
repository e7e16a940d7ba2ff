#include "cuts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace sluice::chains {
namespace {

using sampling::Genome;
using sampling::RandomSource;

constexpr double kLittle = 1e-4;  // share of all costs
constexpr int kMostRefused = 2;   // of one shape
constexpr double kNever = std::numeric_limits<double>::infinity();

/// What a bit that passes the outermost memory is worth: the mean of reading and writing one.
double worth_of_bit(const Runs& runs, const EinsumChains::Worth& worth) {
  const BoundProblem& problem = runs.space().problem();
  if (!runs.outermost() || problem.einsums.empty()) return 0;
  constexpr double kBitsPerValue = 8;  // where it depends on them
  const BoundComponent& bound = problem.einsums.front().components[runs.outermost()->index()];
  double sum = 0;
  for (const int number : {bound.read_action, bound.write_action}) {
    if (number < 0) continue;
    const Action& action =
        problem.arch[*runs.outermost()].actions[static_cast<std::size_t>(number)];
    const double bits = bits_moved_by(action, kBitsPerValue);
    const double energy_j = std::isnan(action.energy_j) ? 0 : action.energy_j;
    sum += worth(energy_j / bits, 1 / (action.throughput * bits * bound.instances)) / 2;
  }
  return sum;
}

}  // namespace

Cuts::Cuts(const Runs& runs, const PassingBits& passing, ChainChoices* choices)
    : runs_(runs), passing_(passing), choices_(*choices) {
  std::map<std::vector<std::int64_t>, std::size_t> numbers;
  const auto add = [](std::vector<std::int64_t>* key, std::size_t number) {
    key->push_back(static_cast<std::int64_t>(number));
  };
  for (const Run& run : runs.all()) {
    std::vector<std::int64_t> key;
    for (std::size_t e = run.first; e <= run.last; ++e) {
      add(&key, runs.space().list_of(e));
      for (std::size_t t = 0; t < run.tensors.size(); ++t)
        if (const auto number = runs.local_number(e, run.tensors[t])) {
          add(&key, t);
          add(&key, *number);
        }
      key.push_back(-1);
    }
    for (const CommonLoop& loop : run.loops) {
      key.insert(key.end(), {loop.size, loop.may_spread});
      for (const std::size_t variable : loop.variables) add(&key, variable);
    }
    key.push_back(-1);
    for (const ComponentId memory : run.memories) add(&key, memory.index());
    const auto [at, is_new] = numbers.try_emplace(std::move(key), known_.size());
    if (is_new) known_.emplace_back().first = &run;
    class_of_.push_back(at->second);
  }
  for (std::size_t e = 0; e < runs.space().n_einsums(); ++e)
    plain_bits_.push_back(passing.of(e, ChainSteps(), std::nullopt));
}

double Cuts::passing(const FusedRun& fused) const {
  const double left = runs_.room(*fused.run, fused.memory) - fused.held_bits(runs_);
  double sum = 0;
  for (std::size_t e = fused.run->first; e <= fused.run->last; ++e)
    sum += passing_.of(e, fused.steps_of(e, runs_), {{fused.memory, left}});
  return sum;
}

void Cuts::take(std::optional<FusedRun> fused, Known* known) const {
  constexpr std::size_t kKept = 6;
  if (!fused) return;
  const double bits = passing(*fused);
  std::vector<Candidate>& best = known->best;
  if (best.size() == kKept && bits >= best.back().bits) return;
  Key key = fused->key(), shape = fused->shape();
  const auto is_same = [&](const Candidate& own) { return own.key == key; };
  if (known->told.contains(key) || std::any_of(best.begin(), best.end(), is_same)) return;
  const auto refused = known->refused.find(shape);
  if (refused != known->refused.end() && refused->second >= kMostRefused) return;
  const auto at =
      std::find_if(best.begin(), best.end(), [&](const auto& own) { return own.bits > bits; });
  best.insert(at, {*std::move(fused), bits, std::move(key), std::move(shape)});
  if (best.size() > kKept) best.pop_back();
}

void Cuts::look(int n_drawn, int n_varied, Known* known, RandomSource* random) const {
  const Run& run = *known->first;
  for (int i = 0; i < n_drawn; ++i)
    take(draw_fused(runs_, run, random->pick(run.memories), random), known);
  for (int i = 0; i < n_varied && !known->best.empty(); ++i)
    take(vary_fused(runs_, known->best.front().fused, random), known);
}

/// At first at all of them, less at each where they are many, then at some.
void Cuts::look(RandomSource* random) {
  constexpr int kDrawn = 8, kVaried = 24, kFewVaried = 8, kMost = 4096, kMostAgain = 512;
  constexpr double kSome = 0.125;
  const auto n = static_cast<double>(known_.size());
  const bool is_first = !std::exchange(has_looked_, true);
  const double share = std::min(1.0, kMost / (n * (kDrawn + kVaried)));
  const double some = std::min(kSome, kMostAgain / (n * (1 + kFewVaried)));
  const auto part = [&](int all) { return std::max(1, static_cast<int>(share * all)); };
  for (Known& known : known_) {
    if (is_first)
      look(part(kDrawn), part(kVaried), &known, random);
    else if (random->chance(some))
      look(1, kFewVaried, &known, random);
  }
}

void Cuts::tell(const FusedRun& fused, const std::optional<CostTotals>& cost) {
  Known& own = known(*fused.run);
  FusedRun first = as_in(*own.first, fused);
  const Key key = first.key(), shape = first.shape();
  std::erase_if(own.best, [&](const Candidate& candidate) { return candidate.key == key; });
  own.told.insert(key);
  if (!cost) {
    if (++own.refused[shape] == kMostRefused)
      std::erase_if(own.best, [&](const Candidate& other) { return other.shape == shape; });
    return;
  }
  const double value = value_of(*cost);
  const double beyond = std::max(0.0, value - estimate(*fused.run, passing(first))) / whole_;
  const auto [at, is_new] = own.beyond.try_emplace(shape, beyond);
  at->second = std::min(at->second, beyond);
  own.least_beyond = std::min(own.least_beyond, beyond);
  if (own.built && value_of(own.cost) <= value) return;
  own.built = std::move(first);
  own.cost = *cost;
}

FusedRun Cuts::as_in(const Run& run, const FusedRun& fused) const {
  FusedRun result = fused;
  result.run = &run;
  for (FusedRun::Segment& segment : result.segments)
    segment.run = runs_.find(segment.run->first - fused.run->first + run.first,
                             segment.run->last - fused.run->first + run.first);
  std::erase_if(result.segments, [](const auto& segment) { return segment.run == nullptr; });
  return result;
}

double Cuts::estimate(const Run& run, double bits) const {
  if (unknown_before_[run.last + 1] > unknown_before_[run.first]) return kNever;
  return rest_before_[run.last + 1] - rest_before_[run.first] + per_bit_ * bits;
}

double Cuts::beyond(const Known& known, const Key& shape) const {
  constexpr double kOfShape = 0.95, kOfOthers = 0.7;  // how much of it is taken to be the same
  const auto own = known.beyond.find(shape);
  if (own != known.beyond.end()) return kOfShape * own->second * whole_;
  return std::isinf(known.least_beyond) ? 0 : kOfOthers * known.least_beyond * whole_;
}

void Cuts::price(const Genome& now, const Ties& ties, const std::vector<Span>& groups,
                 const CostTotals& whole) {
  const sampling::MapSpace& space = runs_.space();
  worth_ = worth(space.options().objectives.front(), whole);
  whole_ = value_of(whole);
  per_bit_ = worth_of_bit(runs_, worth_);
  now_.clear();
  priced_.resize(now.size());
  for (const auto& [first, last] : groups)
    for (std::size_t e = first; e <= last; ++e) {
      if (priced_[e].first != now[e]) priced_[e] = {now[e], space.price_alone(e, *now[e])};
      const auto& own = priced_[e].second;
      now_.push_back(own ? value_of(*own) : 0);
      std::optional<CostTotals>& plain = plain_[space.list_of(e)];
      if (first == last && own && (!plain || value_of(*own) < value_of(*plain))) plain = own;
    }
  alone_.clear();
  rest_before_ = {0};
  unknown_before_ = {0};
  for (std::size_t e = 0; e < now.size(); ++e) {
    std::optional<CostTotals>& plain = plain_[space.list_of(e)];
    if (!plain)
      if (const auto choice = choices_.of(e, ties.stays(e, nullptr), whole))
        plain = space.price_alone(e, *choice);
    alone_.push_back(plain ? value_of(*plain) : kNever);
    unknown_before_.push_back(unknown_before_.back() + (plain ? 0 : 1));
    rest_before_.push_back(rest_before_.back() +
                           (plain ? alone_.back() - per_bit_ * plain_bits_[e] : 0));
  }
}

std::vector<Cuts::Piece> Cuts::best_cut(const std::vector<Span>& groups) const {
  const std::size_t n = now_.size();
  std::vector<std::vector<Piece>> ending(n + 1);
  for (const auto& [first, last] : groups) {
    Piece piece{first, last, true};
    for (std::size_t e = first; e <= last; ++e) piece.cost += now_[e];
    ending[last + 1].push_back(piece);
    for (std::size_t e = first; e <= last && first < last; ++e)
      ending[e + 1].push_back({e, e, false, alone_[e]});
  }
  for (std::size_t r = 0; r < runs_.all().size(); ++r) {
    const Run& run = runs_.all()[r];
    const Known& known = known_[class_of_[r]];
    Piece piece{run.first, run.last, false, kNever, &run};
    if (known.built) {
      piece.cost = value_of(known.cost);
      piece.fused = &*known.built;
    }
    for (const Candidate& candidate : known.best) {
      const double cost = estimate(run, candidate.bits) + beyond(known, candidate.shape);
      if (cost >= piece.cost) continue;
      piece.cost = cost;
      piece.fused = &candidate.fused;
    }
    if (piece.fused != nullptr) ending[run.last + 1].push_back(piece);
  }
  std::vector<double> least(n + 1, kNever);
  std::vector<const Piece*> last(n + 1, nullptr);
  least[0] = 0;
  for (std::size_t end = 1; end <= n; ++end)
    for (const Piece& piece : ending[end])
      if (const double cost = least[piece.first] + piece.cost; cost < least[end]) {
        least[end] = cost;
        last[end] = &piece;
      }
  std::vector<Piece> cut;
  for (std::size_t end = n; end > 0; end = cut.back().first) cut.push_back(*last[end]);
  std::reverse(cut.begin(), cut.end());
  return cut;
}

std::optional<Cuts::Part> Cuts::draw(const Genome& now, const Ties& ties, const CostTotals& whole,
                                     RandomSource* random) {
  look(random);
  const std::vector<Span> groups = ties.groups();
  price(now, ties, groups, whole);
  std::optional<Part> best;
  Key key_of_best;
  double most = kLittle * std::accumulate(now_.begin(), now_.end(), 0.0);
  Part part;
  double gain = 0;
  bool is_new = false;
  std::size_t group = 0;
  for (const Piece& piece : best_cut(groups)) {
    for (std::size_t e = piece.first; e <= piece.last; ++e) gain += now_[e];
    gain -= piece.cost;
    is_new = is_new || !piece.is_now;
    if (piece.fused != nullptr) part.runs.push_back(as_in(*piece.run, *piece.fused));
    while (groups[group].second < piece.last) ++group;
    if (groups[group].second > piece.last) continue;
    part.last = piece.last;
    Key key = {static_cast<std::int64_t>(part.first), static_cast<std::int64_t>(part.last)};
    for (const FusedRun& fused : part.runs) {
      const Key own = fused.key();
      key.insert(key.end(), own.begin(), own.end());
    }
    if (is_new && gain > most && !drawn_.contains(key)) {
      most = gain;
      best = part;
      key_of_best = std::move(key);
    }
    part = Part{piece.last + 1, piece.last + 1, {}};
    gain = 0;
    is_new = false;
  }
  if (best) drawn_.insert(std::move(key_of_best));
  return best;
}

}  // namespace sluice::chains
