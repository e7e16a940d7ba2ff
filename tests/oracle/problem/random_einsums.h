// Einsums of special kinds, for add_extras.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/problem/random_problem.h"

namespace sluice::oracle {

class Dice;

/// `N1` and `_x`: `n1_x`.
std::string variable_of(const std::string& rank, const char* ending);

/// Appends Einsums of one of the kinds that `extras` allows, or none, by the draws of `seed`.
void add_einsums(Dice& dice, ProblemSpec& spec, std::uint64_t seed, const Extras& extras);

}  // namespace sluice::oracle
