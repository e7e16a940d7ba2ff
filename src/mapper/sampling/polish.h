#pragma once

#include "sampling_run.h"

namespace sluice::sampling {

constexpr int kFewTries = 32;

/// For an Einsum's choice: another one of the space, that exchanges all tensors in the same way and
/// is likely to be good in a mapping that costs so much in all; null where none is known. For what
/// others hold meanwhile, the room of memories is halved so often.
using Improve = std::function<ChoicePtr(std::size_t einsum, const EinsumChoice& choice,
                                        const CostTotals& whole, int halvings)>;
constexpr int kMostHalvings = 2;

/// Another mapping, in which some neighbouring Einsums exchange tensors otherwise; nothing where
/// none was found.
using Fuse = std::function<std::optional<Genome>(const Genome& now, const CostTotals& whole,
                                                 RandomSource* random)>;
/// Who is asked for more than random draws find; each may be empty.
struct Advice {
  Improve improve;
  Fuse fuse;
};

/// Improves a mapping until `progress` is 1, from the first of `starts` that is legal. First each
/// tensor that Einsums exchange is tried in another memory. Then one Einsum after the other is
/// improved. Each is annealed by its price alone, with what it exchanges as it is: so it joins the
/// others as they are, and thousands of its nests are priced where the whole would be priced once.
/// Where an Einsum has changed, so have those like it; then the whole is priced and recorded. Then
/// each is drawn anew, together with those that must follow it where it exchanges tensors
/// otherwise, and these are annealed in the same way.
/// `advice`: is asked for other exchanges at first and between whiles, and for a better choice
/// before an Einsum is annealed. `tries`: neighbours of each Einsum in the first pass, twice as
/// many in each later one. Returns how many there were in the last one. `last`: gets the mapping
/// that it came to; may be null.
int polish(SamplingRun* run, const Progress& progress, const std::vector<Genome>& starts,
           int tries = kFewTries, const Advice& advice = {}, Genome* last = nullptr);

}  // namespace sluice::sampling
