#pragma once

#include <optional>

#include "drawer.h"

namespace sluice::sampling {

/// A mapping next to another one, by one random change:
/// - a prime factor moves between two loops of one Einsum that nobody shares;
/// - one Einsum's loops that nobody shares are drawn again;
/// - a shared loop gets another trip count, in every Einsum that shares it;
/// - one Einsum is drawn again, and later ones where they no longer join.
/// Nothing where a few tries led nowhere.
std::optional<Genome> draw_neighbour(const Genome& genome, const MapSpace& space, FanoutUse* use,
                                     Drawer* drawer);

/// The mapping with another trip count of a loop that an Einsum shares with others; nothing where
/// it does not join.
std::optional<Genome> rescale_shared(const Genome& genome, std::size_t einsum,
                                     const MapSpace& space, FanoutUse* use, Drawer* drawer);

/// The choice with a prime factor moved between two of its loops that nobody shares, or with an
/// uneven loop where the space may have them, if it has that one.
ChoicePtr shift_factor(std::size_t einsum, const EinsumChoice& choice, const MapSpace& space,
                       FanoutUse* use, RandomSource* random);

/// The Einsums before a random cut from one parent, those after it from the other one, mended where
/// they do not join (TileFlow's crossover). Nothing where they cannot be.
std::optional<Genome> cross(const Genome& first, const Genome& second, Drawer* drawer);

}  // namespace sluice::sampling
