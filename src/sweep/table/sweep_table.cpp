#include "sluice/sweep/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/document/result_document.h"
#include "sluice/support/csv.h"
#include "sluice/support/version.h"

namespace sluice {
namespace {

SweepCell text_cell(const std::string& text) { return {text, std::nullopt}; }

SweepCell number_cell(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return {};
  return {fmt::format("{}", *number), *number};
}

/// A value as it was given, and the number that it is.
SweepCell given_cell(const std::string& value) { return {value, amount_of_value(value)}; }

struct Column {
  const char* name;
  SweepCell (*cell)(const SweepRun& run, const SweepMapping* best);
};

template <auto member>
SweepCell of_mapping(const SweepRun&, const SweepMapping* best) {
  return best ? number_cell(best->*member) : SweepCell{};
}

const Column kColumns[] = {
    {"workload", [](const SweepRun& run, const SweepMapping*) { return text_cell(run.workload); }},
    {"architecture", [](const SweepRun& run, const SweepMapping*) { return text_cell(run.arch); }},
    {"status", [](const SweepRun& run, const SweepMapping*) { return text_cell(run.status); }},
    {"energy_j", of_mapping<&SweepMapping::energy_j>},
    {"latency_s", of_mapping<&SweepMapping::latency_s>},
    {"edp_js", of_mapping<&SweepMapping::edp_js>},
    {"leak_energy_j", of_mapping<&SweepMapping::leak_energy_j>},
    {"operations_per_s", of_mapping<&SweepMapping::operations_per_s>},
    {"operations_per_j", of_mapping<&SweepMapping::operations_per_j>},
    {"power_w", of_mapping<&SweepMapping::power_w>},
    {"area_m2", [](const SweepRun& run, const SweepMapping*) { return number_cell(run.area_m2); }},
    {"operations",
     [](const SweepRun& run, const SweepMapping*) { return number_cell(run.operations); }},
    {"guarantee",
     [](const SweepRun& run, const SweepMapping*) { return text_cell(run.guarantee); }},
    {"bound", [](const SweepRun& run, const SweepMapping*) { return number_cell(run.bound); }},
    {"mapper", [](const SweepRun& run, const SweepMapping*) { return text_cell(run.mapper); }},
    {"ended_by", [](const SweepRun& run, const SweepMapping*) { return text_cell(run.ended_by); }},
    {"reason", [](const SweepRun& run, const SweepMapping*) { return text_cell(run.reason); }},
    {"seconds",
     [](const SweepRun& run, const SweepMapping*) { return number_cell(run.timing.seconds); }},
    {"mappings_evaluated",
     [](const SweepRun& run, const SweepMapping*) {
       return number_cell(run.timing.mappings_evaluated);
     }},
};

/// Two files of a sweep may call their workloads the same.
std::vector<std::string> workload_names(const std::vector<SweepPoint>& points) {
  std::map<std::string, std::set<std::string>> files;  // by the name of the workload
  const auto file_of = [](const SweepPoint& point) {
    const auto setting = std::find_if(point.settings.begin(), point.settings.end(),
                                      [](const auto& pair) { return pair.first == "workload"; });
    return setting == point.settings.end() ? std::string() : setting->second;
  };
  for (const SweepPoint& point : points) files[point.workload].insert(file_of(point));
  std::vector<std::string> names;
  for (const SweepPoint& point : points)
    names.push_back(files.at(point.workload).size() > 1 ? file_of(point) : point.workload);
  return names;
}

/// What any point sets, in order of appearance; columns of their own have workload and
/// architecture.
std::vector<std::string> varied_names(const SweepPlan& plan) {
  std::vector<std::string> names;
  std::set<std::string> known = {"workload", "architecture"};
  for (const SweepPoint& point : plan.points)
    for (const auto& [name, value] : point.settings)
      if (known.insert(name).second) names.push_back(name);
  return names;
}

std::vector<SweepCell> row_of(const SweepPoint& point, const std::vector<std::string>& varied,
                              const SweepRun& run) {
  std::vector<SweepCell> row;
  for (const std::string& name : varied) {
    const auto setting = std::find_if(point.settings.begin(), point.settings.end(),
                                      [&](const auto& pair) { return pair.first == name; });
    row.push_back(setting == point.settings.end() ? SweepCell{} : given_cell(setting->second));
  }
  const SweepMapping* best = run.mappings.empty() ? nullptr : &run.mappings.front();
  for (const Column& column : kColumns) row.push_back(column.cell(run, best));
  return row;
}

}  // namespace

std::optional<std::size_t> SweepTable::find_column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

std::string objective_column(Objective objective) {
  switch (objective) {
    case Objective::kEnergy:
      return "energy_j";
    case Objective::kLatency:
      return "latency_s";
    case Objective::kEdp:
      break;
  }
  return "edp_js";
}

std::vector<BestRun> best_runs(const SweepTable& table, const std::string& objective) {
  const std::size_t column = *table.find_column(objective);
  std::vector<BestRun> best;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& value = table.rows[row][column].number;
    if (!value) continue;
    const auto known = std::find_if(best.begin(), best.end(), [&](const BestRun& run) {
      return run.workload == table.workloads[row];
    });
    if (known == best.end())
      best.push_back({table.workloads[row], row});
    else if (*value < *table.rows[known->row][column].number)
      known->row = row;
  }
  return best;
}

Result<SweepTable> sweep_table(const SweepPlan& plan, const SweepDatabase& database) {
  SweepTable table;
  table.varied = varied_names(plan);
  table.n_points = plan.points.size();
  table.columns = table.varied;
  for (const Column& column : kColumns) table.columns.emplace_back(column.name);
  const std::vector<std::string> workloads = workload_names(plan.points);
  for (std::size_t p = 0; p < plan.points.size(); ++p) {
    const auto run = database.find(plan.points[p].key);
    if (!run) return tl::unexpected(run.error());
    if (!*run) continue;
    table.rows.push_back(row_of(plan.points[p], table.varied, **run));
    table.workloads.push_back(workloads[p]);
  }
  return table;
}

std::string csv_text(const SweepTable& table) {
  const auto line = [](const auto& cells, const auto& text_of) {
    std::string text;
    for (const auto& cell : cells)
      text += (&cell == &cells.front() ? "" : ",") + csv_cell(text_of(cell));
    return text + "\n";
  };
  std::string text = line(table.columns, [](const std::string& name) { return name; });
  for (const auto& row : table.rows)
    text += line(row, [](const SweepCell& cell) { return cell.text; });
  return text;
}

std::string document_text(const SweepTable& table, const std::string& objective) {
  using cli::Json;
  Json best = objective.empty() ? Json(nullptr) : Json::array();
  if (!objective.empty())
    for (const BestRun& run : best_runs(table, objective))
      best.push_back({{"workload", run.workload}, {"run", run.row}});
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json settings = Json::object(), numbers = Json::object(), entry = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const SweepCell& cell = row[c];
      if (c < table.varied.size()) {
        settings[table.columns[c]] = cell.text;
        if (cell.number) numbers[table.columns[c]] = *cell.number;
      } else {
        entry[table.columns[c]] = cell.number         ? Json(*cell.number)
                                  : cell.text.empty() ? Json(nullptr)
                                                      : Json(cell.text);
      }
    }
    entry["settings"] = std::move(settings);
    entry["numbers"] = std::move(numbers);
    rows.push_back(std::move(entry));
  }
  return cli::document_text(Json{{"schema", kSweepSchema},
                                 {"sluice", std::string(version())},
                                 {"varied", table.varied},
                                 {"points", table.n_points},
                                 {"objective", objective.empty() ? Json(nullptr) : Json(objective)},
                                 {"best", std::move(best)},
                                 {"runs", std::move(rows)}});
}

}  // namespace sluice
