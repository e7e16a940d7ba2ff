#include "sluice/support/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

Diagnostic mistake_at(const std::string& file, int line, std::string message) {
  Diagnostic diagnostic;
  diagnostic.location = {file, line, 0};
  diagnostic.message = std::move(message);
  return diagnostic;
}

/// Splits the text into rows of cells, quotation marks removed.
class CsvSplitter {
 public:
  explicit CsvSplitter(const std::string& text) : text_(text) {}

  std::vector<CsvRow> run() {
    while (at_ < text_.size()) split_row();
    return std::move(rows_);
  }

  /// The line of a quotation mark that nothing closes; 0: none.
  int open_quote() const { return open_quote_; }

 private:
  void split_row() {
    CsvRow row{line_, {""}};
    while (at_ < text_.size() && text_[at_] != '\n') take(row);
    ++at_;
    ++line_;
    const bool is_empty = row.cells.size() == 1 && row.cells.front().empty();
    if (!is_empty) rows_.push_back(std::move(row));
  }

  void take(CsvRow& row) {
    const char c = text_[at_];
    if (c == '"' && row.cells.back().empty()) return take_quoted(row);
    ++at_;
    if (c == ',')
      row.cells.emplace_back();
    else if (c != '\r')
      row.cells.back() += c;
  }

  void take_quoted(CsvRow& row) {
    const int opened = line_;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
      }
      row.cells.back() += text_[at_];
    }
    if (at_ >= text_.size()) open_quote_ = opened;
    ++at_;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int open_quote_ = 0;
  std::vector<CsvRow> rows_;
};

void check_columns(const CsvTable& table, const std::vector<std::string>& required,
                   Diagnostics& mistakes) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.find_column(table.columns[i]) != i)
      mistakes.push_back(
          mistake_at(table.file, 1, fmt::format("two columns are named `{}`", table.columns[i])));
  for (const std::string& name : required) {
    if (table.find_column(name)) continue;
    mistakes.push_back(mistake_at(table.file, 1, fmt::format("there is no column `{}`", name)));
    if (const std::string near = nearest_name(name, table.columns); !near.empty())
      mistakes.back().hint = fmt::format("is it the one named `{}`?", near);
  }
}

void check_rows(const CsvTable& table, Diagnostics& mistakes) {
  for (const CsvRow& row : table.rows)
    if (row.cells.size() != table.columns.size())
      mistakes.push_back(table.mistake(row, fmt::format("this row has {} cells; the header has {}",
                                                        row.cells.size(), table.columns.size())));
}

}  // namespace

std::optional<std::size_t> CsvTable::find_column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Diagnostic CsvTable::mistake(const CsvRow& row, const std::string& message,
                             const std::string& hint) const {
  Diagnostic diagnostic = mistake_at(file, row.line, message);
  diagnostic.hint = hint;
  return diagnostic;
}

Result<CsvTable> read_csv(const std::string& text, const std::string& file,
                          const std::vector<std::string>& required_columns) {
  CsvSplitter splitter(text);
  std::vector<CsvRow> rows = splitter.run();
  if (splitter.open_quote() > 0)
    return tl::unexpected(Diagnostics{
        mistake_at(file, splitter.open_quote(), "a quotation mark here is never closed")});
  if (rows.empty())
    return tl::unexpected(
        Diagnostics{mistake_at(file, 1, "the file is empty; its first line names the columns")});
  CsvTable table{file, rows.front().cells, {}};
  table.rows.assign(std::make_move_iterator(rows.begin() + 1), std::make_move_iterator(rows.end()));
  Diagnostics mistakes;
  check_columns(table, required_columns, mistakes);
  check_rows(table, mistakes);
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  return table;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace sluice
