#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "sluice/report/explanation.h"

namespace sluice::cli {

/// A mapping to explain, and the search that found it.
struct Explained {
  const Mapper& mapper;
  const BoundProblem& problem;  ///< as it was searched
  const Mapping& mapping;
  const Cost& cost;
  Guarantee guarantee;
};

/// `question`: which of how many, from 1 on.
using QuestionProgress = std::function<void(const std::string& phase, double fraction,
                                            std::size_t question, std::size_t n_questions)>;

/// Answers every question of `map --why` with a search of its own, by the same mapper for the same
/// (one) objective: the Einsums alone, twice as much of everything, the other choice for every
/// exchange (of a single Einsum, for what memories hold), in this order. Budgets of `options` are
/// those of all searches together; each gets an equal share of what is left. Once `cancel` is set,
/// what is left is not searched.
Explanation explain(const Explained& explained, const MapperOptions& options,
                    const std::atomic<bool>& cancel, const QuestionProgress& progress);

}  // namespace sluice::cli
