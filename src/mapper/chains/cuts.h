#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "fused_run.h"
#include "mapper/sampling/space/map_space.h"
#include "passing_bits.h"
#include "runs.h"
#include "ties.h"

namespace sluice::chains {

/// Which neighbours to fuse, of all Einsums at once: the cut of the cascade into runs, single
/// Einsums and what is fused now that lets least pass the outermost memory. How each run is fused
/// best is looked for by random changes, further with each call.
class Cuts {
 public:
  /// Neighbours [first, last] that change together: the runs among them are fused, the others
  /// share nothing.
  struct Part {
    std::size_t first = 0, last = 0;
    std::vector<FusedRun> runs;
  };

  /// Both must outlive it.
  Cuts(const Runs& runs, const PassingBits& passing);

  /// The part of the best cut that gains most on the mapping; nothing where none gains anything. A
  /// run that was drawn twice is fused otherwise from then on, whatever became of it.
  std::optional<Part> draw(const sampling::Genome& now, const Ties& ties,
                           sampling::RandomSource* random);
  /// A run of such a part that cannot be so.
  void refuse(const FusedRun& fused);

 private:
  struct Candidate {
    FusedRun fused;  ///< of the first run
    double bits;     ///< that pass
    std::vector<std::int64_t> key;
    int n_drawn = 0;
  };
  /// Runs of Einsums that are alike have one.
  struct Known {
    std::vector<const Run*> runs;
    std::vector<Candidate> best;                       ///< some, best first
    std::set<std::vector<std::int64_t>> drawn;         ///< that are no candidates any more
    std::map<std::vector<std::int64_t>, int> refused;  ///< how often, by their shapes
  };
  /// A piece of a cut.
  struct Piece {
    std::size_t first = 0, last = 0;
    const Run* run = nullptr;  ///< null: as it is now, or a single Einsum
    bool is_now = false;
    double bits = 0;  ///< that pass
  };

  void look(sampling::RandomSource* random);
  void look(int n_drawn, int n_varied, Known* known, sampling::RandomSource* random) const;
  void take(std::optional<FusedRun> fused, Known* known) const;
  void forget(const FusedRun& fused);
  Known& known(const Run& run) { return known_[class_of_[run_number(run)]]; }
  const Known& known(const Run& run) const { return known_[class_of_[run_number(run)]]; }
  std::size_t run_number(const Run& run) const {
    return static_cast<std::size_t>(&run - runs_.all().data());
  }
  double passing(const FusedRun& fused, const Ties* ties) const;
  FusedRun as_in(const Run& run, const FusedRun& fused) const;
  std::vector<Piece> best_cut(const sampling::Genome& now, const Ties& ties,
                              const std::vector<std::pair<std::size_t, std::size_t>>& groups,
                              const std::vector<double>& passing_now) const;

  const Runs& runs_;
  const PassingBits& passing_;
  std::vector<Known> known_;
  std::vector<std::size_t> class_of_;  ///< per run
  std::size_t n_looks_ = 0;
};

}  // namespace sluice::chains
