#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

inline constexpr const char* kComparisonSchema = "sluice.comparison/1";

/// What results have of one thing; none where one has no such thing, or does not know it.
struct ComparedRow {
  std::string name;  ///< `DRAM`, an Einsum, `energy_j`
  std::vector<std::optional<double>> values;
  friend bool operator==(const ComparedRow&, const ComparedRow&) = default;
};

/// Numbers of one kind, those that differ most first.
struct ComparedTable {
  std::string name;  ///< `energy_by_component`
  std::string unit;  ///< J, s, bit, m2; empty: a pure number
  std::vector<ComparedRow> rows;
  std::size_t n_equal = 0;  ///< rows that are the same in all, which are left out
  friend bool operator==(const ComparedTable&, const ComparedTable&) = default;
};

/// What was asked for, where that differs.
struct ComparedText {
  std::string name;                ///< `objective`
  std::vector<std::string> texts;  ///< empty where a result does not say
  friend bool operator==(const ComparedText&, const ComparedText&) = default;
};

/// A line of two loop trees: of both (` `), of the first only (`-`), of the other only (`+`).
struct TreeLine {
  char mark = ' ';
  std::string text;
  friend bool operator==(const TreeLine&, const TreeLine&) = default;
};

/// In what results differ. All lists have a value for each name, in that order.
struct ResultComparison {
  std::vector<std::string> names;      ///< of files; `file #2` where one has several mappings
  std::vector<ComparedText> requests;  ///< workload, architecture, objective, options, guarantee …
  ComparedTable totals;                ///< equal ones, too
  std::vector<ComparedTable> tables;   ///< by component, Einsum, tensor
  std::vector<std::vector<TreeLine>> trees;  ///< against the first one; empty where they are equal
};

/// Compares result documents (`sluice.result/1`): the first mapping of each or, of a single one,
/// all of its mappings. Mistakes: a text that is no such document, one without a priced mapping.
Result<ResultComparison> compare_results(const std::vector<NamedText>& documents);

/// The comparison as JSON, schema `sluice.comparison/1` (docs/cli.md).
std::string document_text(const ResultComparison& comparison);

}  // namespace sluice
