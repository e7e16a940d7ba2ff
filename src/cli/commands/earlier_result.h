#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "report/document/result_document.h"

namespace sluice::cli {

/// What the output folder holds from an earlier command.
struct EarlierResult {
  std::vector<std::string> differences;  ///< from what is asked for now
  bool is_proven = false;                ///< the search that found it went to its end
  bool is_damaged = false;  ///< its document is none; its mapping may be there all the same
  /// The mapper that found it, where it is another one that searches the same space: no difference.
  std::string other_mapper;
  /// Where it is of the same specs and options: its mappings, best first, and the first objective
  /// of that.
  std::vector<MappingOutcome> mappings;
  std::optional<double> objective;
  /// They are more or fewer than the document has, or the first has another cost: a hand was there.
  bool is_altered = false;
  Guarantee guarantee;  ///< as it says; of a gap, what was searched
  double bound = 0;     ///< that no mapping's first objective is below, as far as it says so
};

/// None where there is no result. Throws Failure where it cannot be read.
std::optional<EarlierResult> earlier_result(const MapArguments& arguments, const RunResult& result);

/// Puts the earlier mapping in place of what a search of the same request found, where that is
/// worse, and not proven or of a space that has nothing so good: true. Of fronts and lists the
/// better ones of both stay, and all of an earlier one that is proven.
bool keep_better(const EarlierResult& earlier, RunResult* result);

/// A bound that was known stays known where a search of the same request proves less.
void keep_bound(const EarlierResult& earlier, RunResult* result);

}  // namespace sluice::cli
