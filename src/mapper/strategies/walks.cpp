#include "walks.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "best_of_walks.h"
#include "mapper/chains/chain_choices.h"
#include "mapper/chains/chain_start.h"
#include "mapper/chains/mapping_choices.h"
#include "mapper/chains/run_fusion.h"
#include "mapper/sampling/chains.h"
#include "mapper/sampling/population.h"
#include "sluice/mapper/incumbent.h"
#include "walked_parts.h"

namespace sluice {

MapperOptions options_of_walks(MapperOptions options) {
  options.objectives.resize(1);
  options.resource_usage = false;
  options.top = 4;  // the best so far, to go on from
  options.row_fusion = false;
  options.explore_einsum_orders = false;
  options.budget_evaluations.reset();
  options.budget_seconds = std::numeric_limits<double>::infinity();  // until they are stopped
  options.threads = 1;
  return options;
}

Walks::Walks(const BoundProblem& problem, const MapperOptions& options,
             const MapperControl& control, bool takes_chains, std::shared_ptr<BestOfWalks> others)
    : problem_(problem),
      options_(options),
      control_(control),
      takes_chains_(takes_chains && options.pruning.chains),
      others_(std::move(others)),
      tries_(sampling::kFewTries) {}

Walks::~Walks() = default;

double Walks::evaluations() const {
  return evaluations_before_ + (run_ ? run_->record().evaluations() : 0) +
         (parts_ ? parts_->evaluations() : 0);
}

namespace {

/// The same choices in a space with more templates.
sampling::Genome moved(const sampling::Genome& genome, const sampling::MapSpace& from,
                       sampling::MapSpace* to) {
  sampling::Genome result;
  for (std::size_t e = 0; e < genome.size(); ++e) result.push_back(to->take(e, *genome[e], from));
  return result;
}

}  // namespace

/// Few templates, then more, each time with what was found among fewer.
sampling::SamplingRun& Walks::run_of(std::size_t round) {
  struct Stage {
    std::size_t first_round, templates;
  };
  constexpr Stage kStages[] = {{0, 200}, {2, 1000}, {6, sampling::SamplingRun::kEnoughTemplates}};
  for (; n_stages_ < std::size(kStages) && round >= kStages[n_stages_].first_round; ++n_stages_) {
    auto next = std::make_unique<sampling::SamplingRun>(problem_, options_, control_,
                                                        kStages[n_stages_].templates);
    if (run_) {
      evaluations_before_ += run_->record().evaluations();
      for (const sampling::Genome& genome : run_->record().elite()) {
        const sampling::Genome same = moved(genome, run_->space(), &next->space());
        next->record().add(same, next->space().price(same));
      }
    }
    if (!other_.empty()) other_ = moved(other_, run_->space(), &next->space());
    fusion_.reset();
    choices_.reset();
    if (chains_) chains_->move(run_->space(), &next->space());
    run_ = std::move(next);
  }
  return *run_;
}

/// The best of all walks is the best of each.
void Walks::share(sampling::SamplingRun* run) {
  if (!others_) return;
  double own = std::numeric_limits<double>::infinity();
  if (const CostTotals* best = run->record().best()) {
    own = *run->record().objective(*best);
    others_->offer(own, run->record().elite().front(), run->space());
  }
  if (const auto better = others_->below(own, &run->space(), &run->use()))
    run->record().add(*better, run->space().price(*better));
}

/// What others have found is a mapping to go on from, if it is one of the space.
void Walks::take_known(sampling::SamplingRun* run) {
  constexpr double kWorthIt = 0.999;
  if (control_.incumbent == nullptr) return;
  const CostTotals* best = run->record().best();
  const double own =
      best != nullptr ? *run->record().objective(*best) : std::numeric_limits<double>::infinity();
  const double known = control_.incumbent->objective();
  if (!(known < kWorthIt * own) || known == known_) return;
  known_ = known;
  const auto mapped = control_.incumbent->best();
  if (!mapped) return;
  const CostTotals whole{mapped->cost.energy_j, mapped->cost.latency_s, {}};
  if (const auto same = chains::choices_of(mapped->mapping, whole, &run->space(), &run->use()))
    run->record().add(*same, run->space().price(*same));
}

/// A first mapping that exchanges nothing below loops: where memories are small or deep, those that
/// do are seldom drawn.
void Walks::draw_plain(sampling::SamplingRun* run) {
  if (run->record().best() != nullptr) return;
  const auto plain = run->drawer().draw_plain_mapping();
  if (plain) run->record().add(*plain, run->space().price(*plain));
}

/// Good chains of all Einsums: a mapping soon, better ones later, within `seconds`.
void Walks::find_chains(sampling::SamplingRun* run, std::size_t round, double seconds) {
  constexpr std::size_t kFewWays = 4;
  constexpr std::size_t kMostRounds = 3;
  if (!takes_chains_ || round >= kMostRounds) return;
  if (!chains_) chains_.emplace(problem_, options_, control_.cancel);
  const CostTotals* known = run->record().best();
  const bool has_all = chains_->search(kFewWays, known, &run->space(), &run->use());
  if (round > 0) {
    if (known == nullptr) return;
    if (!chains_->improve(seconds, *known, &run->space(), &run->use())) return;
  }
  if (is_cancelled(control_.cancel)) return;
  std::optional<sampling::Genome> others;
  if (!has_all) others = run->drawer().draw_plain_mapping();
  const auto whole = chains_->genome(run->space(), others ? &*others : nullptr);
  if (whole) add_parts_of(*whole, run);
}

/// Better chains of the best mapping's Einsums, within `seconds`.
void Walks::refine_best(sampling::SamplingRun* run, double seconds) {
  constexpr double kLess = 0.25;  // where the last round found nothing
  if (!takes_chains_ || run->record().best() == nullptr) return;
  advice(run);
  const auto better = choices_->refine(run->record().elite().front(), *run->record().best(),
                                       chains_help_ ? seconds : kLess * seconds);
  chains_help_ = better.has_value();
  if (better) run->record().add(*better, run->space().price(*better));
}

/// A mapping, and the better parts of it and of the best one.
void Walks::add_parts_of(const sampling::Genome& whole, sampling::SamplingRun* run) {
  const std::vector<sampling::Genome> known = run->record().elite();
  const auto add = [&](const sampling::Genome& genome) {
    run->record().add(genome, run->space().price(genome));
  };
  add(whole);
  if (known.empty() || parts_->empty()) return;
  if (const auto mixed = parts_->better_parts(whole, known.front(), run->space())) add(*mixed);
}

sampling::Advice Walks::advice(sampling::SamplingRun* run) {
  sampling::Advice advice;
  if (!takes_chains_) return advice;
  if (!choices_) {
    choices_ = std::make_unique<chains::ChainChoices>(&run->space(), &run->use(), control_.cancel);
    fusion_ = std::make_unique<chains::RunFusion>(run->space(), choices_.get());
  }
  advice.improve = [this](std::size_t e, const sampling::EinsumChoice& choice,
                          const CostTotals& whole,
                          int halvings) { return choices_->of(e, choice, whole, halvings); };
  if (!fusion_->empty())
    advice.fuse = [this](const sampling::Genome& now, const CostTotals& whole,
                         sampling::RandomSource* random) {
      return fusion_->draw(now, whole, random);
    };
  return advice;
}

/// What was found for each part by itself is one mapping more of the whole.
void Walks::walk_parts(sampling::SamplingRun* run, double seconds) {
  parts_->walk(seconds);
  if (const auto whole = parts_->joined(&run->space(), &run->use())) add_parts_of(*whole, run);
}

void Walks::polish_best(sampling::SamplingRun* run, const sampling::Progress& progress) {
  const int tries = sampling::polish(run, progress, run->record().elite(), tries_, advice(run));
  tries_ = std::max(sampling::kFewTries, tries / 2);
}

/// The best of a few, each Einsum as chains have it; empty where none is legal.
sampling::Genome Walks::draw_other(sampling::SamplingRun* run) {
  constexpr int kDrawn = 8;
  const sampling::Improve better = advice(run).improve;
  sampling::Drawer drawer = run->drawer();
  sampling::Genome best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kDrawn && !is_cancelled(control_.cancel); ++i) {
    auto drawn = drawer.draw_mapping();
    const auto whole = drawn ? run->space().price(*drawn) : std::nullopt;
    if (!whole) continue;
    for (std::size_t e = 0; e < drawn->size(); ++e)
      if (auto choice = better(e, *(*drawn)[e], *whole, 0)) (*drawn)[e] = std::move(choice);
    const auto found = run->space().price(*drawn);
    run->record().add(*drawn, found);
    const auto objective = run->record().objective(found);
    if (!objective || *objective >= least) continue;
    least = *objective;
    best = *std::move(drawn);
  }
  return best;
}

/// What the best mapping exchanges is hard to leave: this one begins anywhere.
void Walks::polish_other(sampling::SamplingRun* run, const sampling::Progress& progress) {
  constexpr std::size_t kMostRounds = 3;
  if (other_.empty() || ++n_other_rounds_ == kMostRounds) {
    n_other_rounds_ = 0;
    other_ = draw_other(run);
    if (other_.empty()) return polish_best(run, progress);
  }
  sampling::polish(run, progress, {other_}, sampling::kFewTries, advice(run), &other_);
}

void Walks::walk(std::size_t round, double seconds) {
  constexpr double kCool = 0.03, kLongestFirst = 1, kPatience = 20;  // s; times as long at first
  constexpr std::size_t kPolished = 8;                               // rounds, all but one of them
  sampling::SamplingRun& run = run_of(round);
  share(&run);
  take_known(&run);
  const auto has_any = [&] { return run.record().best() != nullptr; };
  if (!parts_)
    parts_ = std::make_unique<WalkedParts>(problem_, options_, control_, run.space(),
                                           WalkedParts::Cut{});
  const char* phase = "walking";
  auto begin = std::chrono::steady_clock::now();
  const auto share_of = [&](double longest) {
    const std::chrono::duration<double> walked = std::chrono::steady_clock::now() - begin;
    return std::min(1.0, walked.count() / longest);
  };
  if (round == 0) {
    draw_plain(&run);
    const auto first = [&] { return has_any() ? 1.0 : share_of(seconds); };
    sampling::walk_chains(&run, sampling::annealing(), 0, first, phase);
  }
  find_chains(&run, round, seconds);
  if (round > 1) refine_best(&run, seconds);
  if (round > 0) begin = std::chrono::steady_clock::now();
  const bool is_chained = round == 0 && takes_chains_;
  const bool is_other = round % kPolished == 0 && !is_chained;
  const bool is_fused = is_chained && has_any();  // by polish()
  if (!parts_->empty() && !is_fused && (round == 0 || (round % 2 == 0 && !is_other))) {
    constexpr double kOfParts = 0.5;  // where chains find more
    walk_parts(&run, takes_chains_ ? kOfParts * seconds : seconds);
    if (has_any() && !takes_chains_) return;
    if (!has_any()) begin = std::chrono::steady_clock::now();
  }
  const auto progress = [&] {
    const bool waits = round == 0 && !has_any();
    const double longest = waits ? std::min(kPatience * seconds, kLongestFirst) : 0;
    return share_of(std::max(seconds, longest));
  };
  if (!is_other && has_any()) {
    if (takes_chains_ && parts_->empty() && round % 2 == 1) return polish_other(&run, progress);
    return polish_best(&run, progress);
  }
  switch (round / kPolished % 4) {
    case 1:
      return sampling::walk_chains(&run, sampling::annealing(kCool), 0, progress, phase,
                                   run.record().elite());
    case 2:
      return sampling::breed(&run, progress, run.record().elite());
    case 3:
      return sampling::breed(&run, progress);
    default:
      return sampling::walk_chains(&run, sampling::annealing(), 0, progress, phase);
  }
}

}  // namespace sluice
