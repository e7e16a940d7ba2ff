#include <fmt/format.h>

#include <charconv>

#include "kapla/common/mistake.h"
#include "sluice/kapla/scheme_text.h"
#include "sluice/network/network_table.h"
#include "sluice/support/csv.h"

namespace sluice::kapla {
namespace {

constexpr std::int64_t kLargestBatch = 1'000'000;

std::string nearest_hint(const std::string& word, const std::vector<std::string>& words) {
  const std::string near = nearest_name(word, words);
  return near.empty() ? fmt::format("there are {}", fmt::join(words, ", "))
                      : fmt::format("did you mean `{}`?", near);
}

Result<std::int64_t> batch_of(const std::string& text, const SourceLocation& place) {
  std::int64_t batch = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, batch);
  if (error == std::errc() && rest == end && batch >= 1 && batch <= kLargestBatch) return batch;
  return mistake_at(place, fmt::format("`batch` is `{}`; it must be a whole number from 1 to {}",
                                       text, kLargestBatch));
}

Result<ArrayMapping> mapping_of(const std::string& text, const SourceLocation& place) {
  if (text == "eyeriss") return ArrayMapping::kRowStationary;
  if (text == "systolic") return ArrayMapping::kSystolic;
  return mistake_at(
      place,
      fmt::format("`mapping` is `{}`; it must be eyeriss (row stationary) or systolic", text));
}

}  // namespace

Result<RunTable> RunTable::read(const std::string& text, const std::string& file, bool compatible) {
  const std::vector<std::string> columns = {"name", "solver", "net", "batch", "mapping", "hw"};
  const Result<CsvTable> table = read_csv(text, file, columns);
  if (!table) return tl::unexpected(table.error());
  RunTable runs;
  runs.compatible_ = compatible;
  Diagnostics mistakes;
  for (const CsvRow& row : table->rows) {
    Row run{{file, row.line, 0}, {}};
    for (const std::string& column : columns)
      run.cells[column] = row.cells[*table->find_column(column)];
    const std::string name = run.cells["name"];
    if (!runs.rows_.emplace(name, std::move(run)).second)
      mistakes.push_back(table->mistake(row, fmt::format("a second run is named `{}`", name)));
  }
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  return runs;
}

Result<Run> RunTable::find(const std::string& name, const SourceLocation& place) const {
  const auto found = rows_.find(name);
  if (found == rows_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, row] : rows_) names.push_back(known);
    const std::string near = nearest_name(name, names);
    return mistake_at(place, fmt::format("no row of the runs is named `{}`", name),
                      near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  }
  const auto& [row_place, cells] = found->second;
  Run run;
  run.name = name;
  run.solver = cells.at("solver");
  if (compatible_) run.compatibility = kapla_compatibility(run.solver);
  const auto batch = batch_of(cells.at("batch"), row_place);
  if (!batch) return tl::unexpected(batch.error());
  run.batch = *batch;
  const auto mapping = mapping_of(cells.at("mapping"), row_place);
  if (!mapping) return tl::unexpected(mapping.error());
  run.mapping = *mapping;
  const auto machine = find_machine(cells.at("hw"));
  if (!machine)
    return mistake_at(row_place, fmt::format("there is no machine `{}`", cells.at("hw")),
                      nearest_hint(cells.at("hw"), machine_names()));
  run.machine = *machine;
  Result<NeuralNetwork> network = load_network(cells.at("net"));
  if (!network) {
    for (Diagnostic& diagnostic : network.error())
      if (diagnostic.location.file.empty()) diagnostic.location = row_place;
    return tl::unexpected(network.error());
  }
  run.network = std::move(*network);
  return run;
}

}  // namespace sluice::kapla
