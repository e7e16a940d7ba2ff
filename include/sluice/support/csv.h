#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sluice/support/diagnostic.h"

namespace sluice {

/// A line of a table of comma-separated values.
struct CsvRow {
  int line = 0;                    ///< in the file, from 1
  std::vector<std::string> cells;  ///< as many as the table has columns
};

/// Comma-separated values (RFC 4180) whose first line names the columns.
struct CsvTable {
  std::string file;
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  /// Where the column stands; nothing where the table has none of that name.
  std::optional<std::size_t> find_column(const std::string& name) const;
  /// A mistake in that row.
  Diagnostic mistake(const CsvRow& row, const std::string& message,
                     const std::string& hint = "") const;
};

/// Reads the text of a file. Mistakes: no header, a column that is missing or named twice, a row
/// with more or fewer cells than the header, a quotation mark that is never closed.
Result<CsvTable> read_csv(const std::string& text, const std::string& file,
                          const std::vector<std::string>& required_columns);

/// A value as a cell: quoted where it has a comma, a quotation mark or a line's end.
std::string csv_cell(const std::string& text);

}  // namespace sluice
