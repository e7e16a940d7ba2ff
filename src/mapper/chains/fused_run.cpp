#include "fused_run.h"

#include <algorithm>
#include <numeric>

#include "model/bind/divisors.h"
#include "model/bind/fanout_use.h"

namespace sluice::chains {
namespace {

using sampling::RandomSource;

/// What common loops leave of their ranks, and what a memory then holds of what is exchanged.
struct Cut {
  struct Loop {
    std::int64_t left = 1, steps = 1;  ///< in time
    bool is_open = true;               ///< may have (more) steps
  };
  std::vector<Loop> loops;
  double bits = 0;

  void step(std::size_t loop, std::int64_t factor) {
    loops[loop].steps *= factor;
    loops[loop].left /= factor;
    bits /= static_cast<double>(factor);
  }
  void step_back(std::size_t loop, std::int64_t factor) {
    loops[loop].steps /= factor;
    loops[loop].left *= factor;
    bits *= static_cast<double>(factor);
  }
};

class Draw {
 public:
  Draw(const Runs& runs, const Run& run, ComponentId memory, RandomSource* random)
      : runs_(runs),
        run_(run),
        random_(*random),
        problem_(runs.space().problem()),
        room_(runs.room(run, memory)),
        n_loops_(run.loops.size(), 0),
        result_{&run, memory, {}, {}, {}} {}

  std::optional<FusedRun> draw() {
    constexpr double kNested = 0.3, kOneMore = 0.25;
    if (random_.chance(kNested)) split();
    Cut cut = begin();
    spread(&cut);
    const double room = room_ * (random_.chance(0.5) ? kNearlyAll : random_.unit());
    open(&cut);
    if (!cut_down(room, kOneMore, 0, &cut)) return std::nullopt;
    result_.temporal = in_order(run_, cut);
    return cut_segments(cut);
  }

  std::optional<FusedRun> vary(const FusedRun& from) {
    constexpr double kSplitAgain = 0.4, kNested = 0.75, kSpreadAgain = 0.1, kReorder = 0.3;
    if (!random_.chance(kSplitAgain))
      result_.segments = from.segments;
    else if (random_.chance(kNested))
      split();
    Cut cut = begin();
    if (random_.chance(kSpreadAgain)) {
      spread(&cut);
    } else {
      for (const FusedRun::Spatial& own : from.spatial) deal_out(own, &cut);
    }
    open(&cut);
    for (const FusedRun::Temporal& own : from.temporal) {
      Cut::Loop& loop = cut.loops[own.loop];
      if (loop.is_open) cut.step(own.loop, std::gcd(own.trips, loop.left));
    }
    move_factor(&cut);
    if (!cut_down(kNearlyAll * room_, 0, 0, &cut)) return std::nullopt;
    result_.temporal =
        random_.chance(kReorder) ? in_order(run_, cut) : in_order_of(from.temporal, cut);
    return cut_segments(cut);
  }

 private:
  static constexpr double kNearlyAll = 0.9;

  /// Of what segments do not exchange by themselves.
  Cut begin() const {
    Cut cut;
    cut.bits = runs_.bits_of(run_, result_.memory);
    for (const FusedRun::Segment& segment : result_.segments)
      cut.bits -= runs_.bits_of(*segment.run, result_.memory);
    for (const CommonLoop& loop : run_.loops) cut.loops.push_back({loop.size});
    return cut;
  }

  void open(Cut* cut) const {
    for (std::size_t c = 0; c < cut->loops.size(); ++c) cut->loops[c].is_open = may_have_more(c);
  }

  void deal_out(const FusedRun::Spatial& own, Cut* cut) {
    result_.spatial.push_back(own);
    cut->loops[own.loop].left /= own.trips;
    cut->bits /= static_cast<double>(own.trips);
    ++n_loops_[own.loop];
  }

  /// A prime of one loop's steps less, of another's more, or one of both.
  void move_factor(Cut* cut) {
    constexpr double kOne = 0.7;
    std::vector<std::size_t> with_steps, with_more;
    for (std::size_t c = 0; c < cut->loops.size(); ++c) {
      if (cut->loops[c].steps > 1) with_steps.push_back(c);
      if (cut->loops[c].left > 1 && cut->loops[c].is_open) with_more.push_back(c);
    }
    if (!with_steps.empty() && random_.chance(kOne)) {
      const std::size_t c = random_.pick(with_steps);
      cut->step_back(c, random_.pick(primes_of(cut->loops[c].steps)));
    }
    if (!with_more.empty() && random_.chance(kOne)) {
      const std::size_t c = random_.pick(with_more);
      cut->step(c, random_.pick(primes_of(cut->loops[c].left)));
    }
  }

  /// Below what the whole run shares.
  std::optional<FusedRun> cut_segments(const Cut& cut) {
    for (FusedRun::Segment& segment : result_.segments)
      if (!cut_segment(cut, &segment)) return std::nullopt;
    std::erase_if(result_.segments,
                  [](const FusedRun::Segment& own) { return own.temporal.empty(); });
    return std::move(result_);
  }

  /// Whether a common loop may have one in time beside the spatial ones, and so many in time.
  bool may_have_more(std::size_t loop, std::int64_t in_time = 0) const {
    return n_loops_[loop] + in_time < runs_.space().options().max_fused_loops_per_rank;
  }

  bool may_all_spread(std::size_t loop, ComponentId component, std::uint32_t d) const {
    const CommonLoop& common = run_.loops[loop];
    if (!common.may_spread) return false;
    for (std::size_t e = run_.first; e <= run_.last; ++e) {
      const BoundEinsum& bound = problem_[EinsumId(e)];
      const auto& spatial = bound.components[component.index()].spatial;
      if (d >= spatial.size() || !may_spread(bound, spatial[d], common.variables[e - run_.first]))
        return false;
    }
    return true;
  }

  /// Parts of the run that are runs by themselves.
  void split() {
    constexpr double kEnds = 0.4;
    std::size_t begin = run_.first;
    for (std::size_t e = run_.first; e <= run_.last; ++e) {
      if (e < run_.last && !random_.chance(kEnds)) continue;
      const Run* part = runs_.find(begin, e);
      if (part != nullptr && part != &run_) result_.segments.push_back({part, {}});
      begin = e + 1;
    }
  }

  /// Over the instances outside of the memory.
  void spread(Cut* cut) {
    constexpr double kAllOfIt = 0.7;
    const BoundEinsum& first = problem_[EinsumId(run_.first)];
    std::vector<std::size_t> order(run_.loops.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (const ComponentId component : first.computes.front().path) {
      if (component == result_.memory) break;
      const auto& spatial = first.components[component.index()].spatial;
      for (std::uint32_t d = 0; d < spatial.size(); ++d) {
        std::int64_t room = spatial[d].fanout;
        random_.shuffle(&order);
        for (const std::size_t c : order) {
          if (room < 2 || !may_have_more(c) || !may_all_spread(c, component, d)) continue;
          std::vector<std::int64_t> factors = divisors_of(cut->loops[c].left);
          std::erase_if(factors, [&](std::int64_t factor) { return factor > room; });
          const std::int64_t trips =
              random_.chance(kAllOfIt) ? factors.back() : random_.pick(factors);
          if (trips == 1) continue;
          deal_out({c, trips, {component, d}}, cut);
          room /= trips;
        }
      }
    }
  }

  /// Steps until there is room, and sometimes (`one_more`) one more: a prime of what a loop has
  /// left, or (`whole`: how often) all of it. False where there never is.
  bool cut_down(double room, double one_more, double whole, Cut* cut) {
    bool is_one_more = random_.chance(one_more);
    while (cut->bits > room || is_one_more) {
      if (cut->bits <= room) is_one_more = false;
      std::vector<std::size_t> open;
      for (std::size_t c = 0; c < cut->loops.size(); ++c)
        if (cut->loops[c].left > 1 && cut->loops[c].is_open) open.push_back(c);
      if (open.empty()) return cut->bits <= room;
      const std::size_t c = random_.pick(open);
      const std::int64_t left = cut->loops[c].left;
      cut->step(c, whole > 0 && random_.chance(whole) ? left : random_.pick(primes_of(left)));
    }
    return true;
  }

  /// In time, below what the whole run shares.
  bool cut_segment(const Cut& above, FusedRun::Segment* segment) {
    constexpr double kOneMore = 0.5, kWhole = 0.3, kMost = 0.95;
    const Run& part = *segment->run;
    Cut cut;
    cut.bits = runs_.bits_of(part, result_.memory);
    for (const CommonLoop& own : part.loops) {
      Cut::Loop loop{own.size};
      for (std::size_t c = 0; c < run_.loops.size(); ++c)
        if (run_.loops[c].variables[part.first - run_.first] == own.variables.front()) {
          loop.left = above.loops[c].left;
          loop.is_open = may_have_more(c, above.loops[c].steps > 1 ? 1 : 0);
        }
      cut.bits *= static_cast<double>(loop.left) / static_cast<double>(own.size);
      cut.loops.push_back(loop);
    }
    if (!cut_down(kMost * room_ - above.bits, kOneMore, kWhole, &cut)) return false;
    segment->temporal = in_order(part, cut);
    return true;
  }

  /// How many uses of tensors that others use as well a loop indexes: outside of those that do not
  /// index them, these stay for longer.
  std::size_t n_indexed(const Run& run, const CommonLoop& loop) const {
    std::size_t n = 0;
    for (std::size_t e = run.first; e <= run.last; ++e)
      for (const fused::LocalTensor& tensor : runs_.space().shape(e).tensors)
        if (!run.exchanges(tensor.id) &&
            tensor.relevance[loop.variables[e - run.first]] != Relevance::kIrrelevant)
          ++n;
    return n;
  }

  /// The steps of a run's common loops; those of a recurrence are innermost, as its state stands
  /// right below them.
  std::vector<FusedRun::Temporal> in_order(const Run& run, const Cut& cut) {
    constexpr double kIndexingFirst = 0.7;
    std::vector<FusedRun::Temporal> result;
    for (std::size_t c = 0; c < cut.loops.size(); ++c)
      if (cut.loops[c].steps > 1) result.push_back({c, cut.loops[c].steps});
    random_.shuffle(&result);
    if (random_.chance(kIndexingFirst))
      std::stable_sort(result.begin(), result.end(), [&](const auto& a, const auto& b) {
        return n_indexed(run, run.loops[a.loop]) > n_indexed(run, run.loops[b.loop]);
      });
    put_steps_last(run, &result);
    return result;
  }

  /// The loops that were there as they stood, others anywhere between them.
  std::vector<FusedRun::Temporal> in_order_of(const std::vector<FusedRun::Temporal>& before,
                                              const Cut& cut) {
    std::vector<FusedRun::Temporal> result;
    std::vector<char> is_in(cut.loops.size(), 0);
    for (const FusedRun::Temporal& own : before) {
      is_in[own.loop] = 1;
      if (cut.loops[own.loop].steps > 1) result.push_back({own.loop, cut.loops[own.loop].steps});
    }
    for (std::size_t c = 0; c < cut.loops.size(); ++c)
      if (cut.loops[c].steps > 1 && is_in[c] == 0)
        result.insert(result.begin() + random_.below(result.size() + 1), {c, cut.loops[c].steps});
    put_steps_last(run_, &result);
    return result;
  }

  static void put_steps_last(const Run& run, std::vector<FusedRun::Temporal>* loops) {
    std::stable_partition(loops->begin(), loops->end(),
                          [&](const auto& own) { return run.loops[own.loop].may_spread; });
  }

  const Runs& runs_;
  const Run& run_;
  RandomSource& random_;
  const BoundProblem& problem_;
  double room_;
  std::vector<std::int64_t> n_loops_;  ///< spatial ones, of each common loop
  FusedRun result_;
};

}  // namespace

ChainSteps FusedRun::steps_of(std::size_t e, const Runs& runs) const {
  ChainSteps steps;
  const auto add = [&](const Run& of, const std::vector<Temporal>& loops) {
    for (const Temporal& own : loops)
      steps.emplace_back(ChainLoop{of.loops[own.loop].variables[e - of.first], own.trips});
  };
  for (const Spatial& own : spatial)
    steps.emplace_back(
        ChainLoop{run->loops[own.loop].variables[e - run->first], own.trips, own.dimension});
  add(*run, temporal);
  const auto segment = std::find_if(segments.begin(), segments.end(),
                                    [&](const Segment& own) { return own.run->has(e); });
  const Run* part = segment == segments.end() ? nullptr : segment->run;
  const auto add_nodes = [&](bool of_part) {
    for (const TensorId tensor : run->tensors)
      if (runs.local_number(e, tensor) && (part != nullptr && part->exchanges(tensor)) == of_part)
        steps.emplace_back(ChainNode{tensor, memory});
  };
  add_nodes(false);
  if (part != nullptr) {
    add(*part, segment->temporal);
    add_nodes(true);
  }
  return steps;
}

double FusedRun::held_bits(const Runs& runs) const {
  const auto below = [](double bits, const std::vector<Temporal>& loops) {
    for (const Temporal& own : loops) bits /= static_cast<double>(own.trips);
    return bits;
  };
  double all = runs.bits_of(*run, memory), largest = 0;
  for (const Segment& segment : segments) {
    const double bits = runs.bits_of(*segment.run, memory);
    all -= bits;
    largest = std::max(largest, below(bits, segment.temporal));
  }
  double bits = below(all + largest, temporal);
  for (const Spatial& own : spatial) bits /= static_cast<double>(own.trips);
  return bits;
}

std::vector<std::int64_t> FusedRun::key() const {
  std::vector<std::int64_t> key;
  const auto add_run = [&](const Run& own) {
    key.insert(key.end(),
               {static_cast<std::int64_t>(own.first), static_cast<std::int64_t>(own.last)});
  };
  const auto add_loops = [&](const std::vector<Temporal>& loops) {
    key.push_back(-1);
    for (const Temporal& own : loops)
      key.insert(key.end(), {static_cast<std::int64_t>(own.loop), own.trips});
  };
  add_run(*run);
  key.push_back(static_cast<std::int64_t>(memory.index()));
  for (const Spatial& own : spatial)
    key.insert(key.end(),
               {static_cast<std::int64_t>(own.loop), own.trips,
                static_cast<std::int64_t>(own.dimension.first.index()), own.dimension.second});
  add_loops(temporal);
  for (const Segment& segment : segments) {
    key.push_back(-2);
    add_run(*segment.run);
    add_loops(segment.temporal);
  }
  return key;
}

std::vector<std::int64_t> FusedRun::shape() const {
  FusedRun alike = *this;
  const auto forget = [](auto* loops) {
    for (auto& own : *loops) own.trips = 0;
    std::sort(loops->begin(), loops->end(),
              [](const auto& a, const auto& b) { return a.loop < b.loop; });
  };
  forget(&alike.spatial);
  forget(&alike.temporal);
  for (Segment& segment : alike.segments) forget(&segment.temporal);
  return alike.key();
}

std::optional<FusedRun> draw_fused(const Runs& runs, const Run& run, ComponentId memory,
                                   RandomSource* random) {
  return Draw(runs, run, memory, random).draw();
}

std::optional<FusedRun> vary_fused(const Runs& runs, const FusedRun& from,
                                   sampling::RandomSource* random) {
  return Draw(runs, *from.run, from.memory, random).vary(from);
}

}  // namespace sluice::chains
