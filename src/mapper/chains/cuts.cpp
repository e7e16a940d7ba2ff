#include "cuts.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace sluice::chains {
namespace {

using sampling::Genome;
using sampling::RandomSource;

constexpr double kLittle = 1e-4;  // share of all bits
constexpr int kMostRefused = 2;   // of one shape
using Span = std::pair<std::size_t, std::size_t>;

/// Neighbours that change together now: Einsums of one class, and all between them.
std::vector<Span> groups_of(const Ties& ties, std::size_t n) {
  std::map<std::size_t, Span> spans;
  for (std::size_t e = 0; e < n; ++e)
    spans.try_emplace(ties.class_of(e), e, e).first->second.second = e;
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

}  // namespace

Cuts::Cuts(const Runs& runs, const PassingBits& passing) : runs_(runs), passing_(passing) {
  std::map<std::vector<std::int64_t>, std::size_t> numbers;
  const auto add = [](std::vector<std::int64_t>* key, std::size_t number) {
    key->push_back(static_cast<std::int64_t>(number));
  };
  for (const Run& run : runs.all()) {
    std::vector<std::int64_t> key;
    for (std::size_t e = run.first; e <= run.last; ++e) {
      add(&key, runs.space().list_of(e));
      for (const TensorId tensor : run.tensors)
        if (const auto number = runs.local_number(e, tensor)) add(&key, *number);
      key.push_back(-1);
    }
    for (const CommonLoop& loop : run.loops) {
      key.insert(key.end(), {loop.size, loop.may_spread});
      for (const std::size_t variable : loop.variables) add(&key, variable);
    }
    key.push_back(-1);
    for (const ComponentId memory : run.memories) add(&key, memory.index());
    const auto [at, is_new] = numbers.try_emplace(std::move(key), known_.size());
    if (is_new) known_.emplace_back();
    known_[at->second].runs.push_back(&run);
    class_of_.push_back(at->second);
  }
}

double Cuts::passing(const FusedRun& fused, const Ties* ties) const {
  const double left = runs_.room(*fused.run, fused.memory) - fused.held_bits(runs_);
  double sum = 0;
  for (std::size_t e = fused.run->first; e <= fused.run->last; ++e) {
    std::vector<TensorId> inner;
    PassingBits::Loops loops;
    if (ties != nullptr)
      for (const auto& [tensor, memory] : ties->stays(e, fused.run).backings)
        inner.push_back(tensor);
    for (const auto& step : fused.steps_of(e, runs_)) {
      if (const auto* node = std::get_if<ChainNode>(&step))
        inner.push_back(node->tensor);
      else if (const auto& loop = std::get<ChainLoop>(step); !loop.spatial)
        loops.emplace_back(loop.variable, loop.trips);
    }
    sum += passing_.of(e, inner, loops, {{fused.memory, left}});
  }
  return sum;
}

void Cuts::take(std::optional<FusedRun> fused, Known* known) const {
  constexpr std::size_t kKept = 6;
  if (!fused) return;
  const double bits = passing(*fused, nullptr);
  std::vector<Candidate>& best = known->best;
  if (best.size() == kKept && bits >= best.back().bits) return;
  std::vector<std::int64_t> key = fused->key();
  const auto is_same = [&](const Candidate& own) { return own.key == key; };
  if (known->drawn.contains(key) || std::any_of(best.begin(), best.end(), is_same)) return;
  const auto refused = known->refused.find(fused->shape());
  if (refused != known->refused.end() && refused->second >= kMostRefused) return;
  const auto at =
      std::find_if(best.begin(), best.end(), [&](const auto& own) { return own.bits > bits; });
  best.insert(at, {*std::move(fused), bits, std::move(key)});
  if (best.size() > kKept) best.pop_back();
}

void Cuts::look(int n_drawn, int n_varied, Known* known, RandomSource* random) const {
  const Run& run = *known->runs.front();
  for (int i = 0; i < n_drawn; ++i)
    take(draw_fused(runs_, run, random->pick(run.memories), random), known);
  for (int i = 0; i < n_varied && !known->best.empty(); ++i)
    take(vary_fused(runs_, known->best.front().fused, random), known);
}

/// At first at all of them, then at some.
void Cuts::look(RandomSource* random) {
  constexpr int kFirst = 8, kVaried = 24, kFewVaried = 8;
  constexpr double kSome = 0.125;
  const bool is_first = n_looks_++ == 0;
  for (Known& known : known_)
    if (is_first || random->chance(kSome))
      look(is_first ? kFirst : 1, is_first ? kVaried : kFewVaried, &known, random);
}

void Cuts::forget(const FusedRun& fused) {
  Known& own = known(*fused.run);
  const std::vector<std::int64_t> key = as_in(*own.runs.front(), fused).key();
  std::erase_if(own.best, [&](const Candidate& candidate) { return candidate.key == key; });
  own.drawn.insert(key);
}

void Cuts::refuse(const FusedRun& fused) {
  forget(fused);
  Known& own = known(*fused.run);
  const std::vector<std::int64_t> shape = as_in(*own.runs.front(), fused).shape();
  if (++own.refused[shape] == kMostRefused)
    std::erase_if(own.best, [&](const Candidate& other) { return other.fused.shape() == shape; });
}

FusedRun Cuts::as_in(const Run& run, const FusedRun& fused) const {
  FusedRun result = fused;
  result.run = &run;
  for (FusedRun::Segment& segment : result.segments)
    segment.run = runs_.find(segment.run->first - fused.run->first + run.first,
                             segment.run->last - fused.run->first + run.first);
  return result;
}

std::vector<Cuts::Piece> Cuts::best_cut(const Genome& now, const Ties& ties,
                                        const std::vector<Span>& groups,
                                        const std::vector<double>& passing_now) const {
  const std::size_t n = now.size();
  std::vector<std::vector<Piece>> ending(n + 1);
  for (const auto& [first, last] : groups) {
    Piece piece{first, last, nullptr, true, 0};
    for (std::size_t e = first; e <= last; ++e) piece.bits += passing_now[e];
    ending[last + 1].push_back(piece);
    for (std::size_t e = first; e <= last && first < last; ++e) {
      std::vector<TensorId> inner;
      for (const auto& [tensor, memory] : ties.stays(e, nullptr).backings) inner.push_back(tensor);
      const double bits = passing_.of(e, inner, {}, std::nullopt);
      ending[e + 1].push_back({e, e, nullptr, false, bits});
    }
  }
  for (const Run& run : runs_.all())
    if (const auto& best = known(run).best; !best.empty())
      ending[run.last + 1].push_back(
          {run.first, run.last, &run, false, passing(as_in(run, best.front().fused), &ties)});
  std::vector<double> least(n + 1, std::numeric_limits<double>::infinity());
  std::vector<const Piece*> last(n + 1, nullptr);
  least[0] = 0;
  for (std::size_t end = 1; end <= n; ++end)
    for (const Piece& piece : ending[end])
      if (const double bits = least[piece.first] + piece.bits; bits < least[end]) {
        least[end] = bits;
        last[end] = &piece;
      }
  std::vector<Piece> cut;
  for (std::size_t end = n; end > 0; end = cut.back().first) cut.push_back(*last[end]);
  std::reverse(cut.begin(), cut.end());
  return cut;
}

std::optional<Cuts::Part> Cuts::draw(const Genome& now, const Ties& ties, RandomSource* random) {
  look(random);
  const std::vector<Span> groups = groups_of(ties, now.size());
  std::vector<double> passing_now;
  double all = 0;
  for (std::size_t e = 0; e < now.size(); ++e) {
    passing_now.push_back(passing_.of(e, now[e]->compatibility));
    all += passing_now.back();
  }
  std::optional<Part> best;
  double most = kLittle * all;
  Part part;
  double gain = 0;
  bool is_new = false;
  std::size_t group = 0;
  for (const Piece& piece : best_cut(now, ties, groups, passing_now)) {
    for (std::size_t e = piece.first; e <= piece.last; ++e) gain += passing_now[e];
    gain -= piece.bits;
    is_new = is_new || !piece.is_now;
    if (piece.run != nullptr)
      part.runs.push_back(as_in(*piece.run, known(*piece.run).best.front().fused));
    while (groups[group].second < piece.last) ++group;
    if (groups[group].second > piece.last) continue;
    part.last = piece.last;
    if (is_new && gain > most) {
      most = gain;
      best = part;
    }
    part = Part{piece.last + 1, piece.last + 1, {}};
    gain = 0;
    is_new = false;
  }
  if (!best) return std::nullopt;
  constexpr int kMostDrawn = 2;
  for (const FusedRun& fused : best->runs)
    if (++known(*fused.run).best.front().n_drawn == kMostDrawn) forget(fused);
  return best;
}

}  // namespace sluice::chains
