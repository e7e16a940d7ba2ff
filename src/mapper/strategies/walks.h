#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>

#include "mapper/chains/chain_start.h"
#include "mapper/sampling/polish.h"
#include "mapper/sampling/space/map_space.h"
#include "sluice/mapper/mapper.h"

namespace sluice {

class BestOfWalks;
class WalkedParts;
namespace chains {
class ChainChoices;
class RunFusion;
}  // namespace chains
namespace sampling {
class SamplingRun;
}

/// What walks draw: loops that Einsums share have perfect factors, the best mapping by the first
/// objective. A part of every larger space that was asked for.
MapperOptions options_of_walks(MapperOptions options);

/// Good chains of all Einsums; populations and annealing in turn, from random mappings and from the
/// best so far, and, most of the time, the Einsums of the best one by one; first with a few
/// templates, as listing enough may take seconds. What they find is offered to `control.incumbent`.
class Walks {
 public:
  /// `problem`, `options`, `control` must outlive the walks. `takes_chains`: good chains of the
  /// Einsums are looked for, too. `others`: walks beside these, of which each takes what another
  /// finds; may be null.
  Walks(const BoundProblem& problem, const MapperOptions& options, const MapperControl& control,
        bool takes_chains = true, std::shared_ptr<BestOfWalks> others = nullptr);
  ~Walks();

  /// One walk of so many seconds, or until it is cancelled.
  void walk(std::size_t round, double seconds);
  /// Mappings priced so far.
  double evaluations() const;
  /// Space and best mappings; null before the first walk.
  const sampling::SamplingRun* run() const { return run_.get(); }

 private:
  sampling::SamplingRun& run_of(std::size_t round);
  void share(sampling::SamplingRun* run);
  void take_known(sampling::SamplingRun* run);
  void draw_plain(sampling::SamplingRun* run);
  void find_chains(sampling::SamplingRun* run, std::size_t round, double seconds);
  void refine_best(sampling::SamplingRun* run, double seconds);
  void add_parts_of(const sampling::Genome& whole, sampling::SamplingRun* run);
  sampling::Advice advice(sampling::SamplingRun* run);
  void polish_best(sampling::SamplingRun* run, const sampling::Progress& progress);
  sampling::Genome draw_other(sampling::SamplingRun* run);
  void polish_other(sampling::SamplingRun* run, const sampling::Progress& progress);
  void walk_parts(sampling::SamplingRun* run, double seconds);

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const MapperControl& control_;
  std::size_t n_stages_ = 0;
  std::unique_ptr<sampling::SamplingRun> run_;  ///< of the last stage
  std::optional<chains::ChainStart> chains_;
  bool chains_help_ = true;                        ///< found something in the last round
  std::unique_ptr<chains::ChainChoices> choices_;  ///< of the same stage, as all choices
  std::unique_ptr<chains::RunFusion> fusion_;      ///< the same
  std::unique_ptr<WalkedParts> parts_;
  bool takes_chains_;
  std::shared_ptr<BestOfWalks> others_;
  double known_ = std::numeric_limits<double>::infinity();  ///< the last one of take_known()
  double evaluations_before_ = 0;                           ///< of the stages before
  int tries_;               ///< of each Einsum when the best is polished
  sampling::Genome other_;  ///< of polish_other()
  std::size_t n_other_rounds_ = 0;
};

}  // namespace sluice
