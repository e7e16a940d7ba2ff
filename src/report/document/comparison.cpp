#include "sluice/report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/document/result_document.h"
#include "report/document/tree_lines.h"
#include "sluice/report/result_document.h"

namespace sluice {
namespace {

using Value = nlohmann::json;

Diagnostic mistake_in(const std::string& file, const std::string& message,
                      const std::string& hint) {
  Diagnostic diagnostic;
  diagnostic.location = {file, 0, 0};
  diagnostic.message = message;
  diagnostic.hint = hint;
  return diagnostic;
}

/// One mapping of a document.
struct Subject {
  std::string name;
  Value document, mapping;
};

std::optional<double> number(const Value& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                     : std::nullopt;
}

std::string text(const Value& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// `energy (J)`, `area (m2)`: what a row of `sources` is of.
std::string with_unit(const std::string& number) {
  if (number == "leak_power") return number + " (W)";
  if (number == "area") return number + " (m2)";
  return number == "hop_energy" ? number + " (J)" : number + " energy (J)";
}

/// Numbers by name. A sum that an unknown one belongs to is unknown: it has no value.
class Sums {
 public:
  void add(const std::string& name, std::optional<double> amount) {
    if (amount)
      sums_[name] += *amount;
    else
      unknown_.insert(name);
  }
  void raise(const std::string& name, std::optional<double> amount) {
    if (amount)
      sums_[name] = std::max(sums_[name], *amount);
    else
      unknown_.insert(name);
  }
  std::map<std::string, double> known() && {
    for (const std::string& name : unknown_) sums_.erase(name);
    return std::move(sums_);
  }

 private:
  std::map<std::string, double> sums_;
  std::set<std::string> unknown_;
};

class Comparer {
 public:
  explicit Comparer(std::vector<Subject> subjects) : subjects_(std::move(subjects)) {
    for (const Subject& subject : subjects_) result_.names.push_back(subject.name);
  }

  ResultComparison run() {
    requests();
    totals();
    sums("energy_by_component", "J", "energy", "component", "energy_j");
    sums("energy_by_einsum", "J", "energy", "einsum", "energy_j");
    sums("energy_by_tensor", "J", "energy", "tensor", "energy_j");
    sums("bits_by_component", "bit", "energy", "component", "bits");
    latency_by_einsum();
    sums("busy_by_component", "s", "latency", "component", "latency_s");
    sums("peak_by_component", "bit", "occupancy", "component", "peak_bits");
    utilisation();
    trees();
    return std::move(result_);
  }

 private:
  void requests() {
    for (const char* key : {"command", "status", "workload", "arch", "mapper", "objective",
                            "latency_policy", "seed", "sluice"})
      request(key, [&](const Value& document) { return text(document.value(key, Value())); });
    std::set<std::string> options;
    for (const Subject& subject : subjects_) {
      const Value of = subject.document.value("options", Value());
      for (const auto& option : of.items()) options.insert(option.key());
    }
    for (const std::string& option : options)
      if (option != "mapper" && option != "objective" && option != "latency" && option != "seed")
        request(option, [&](const Value& document) {
          const Value of = document.value("options", Value());
          return of.is_object() ? text(of.value(option, Value())) : "";
        });
    specs();
    request("guarantee", [](const Value& document) {
      const Value of = document.value("guarantee", Value());
      return of.is_object() ? text(of.value("kind", Value())) : "";
    });
  }

  bool is_same(const char* key) const {
    return std::all_of(subjects_.begin(), subjects_.end(), [&](const Subject& subject) {
      return subject.document.value(key, Value()) == subjects_.front().document.value(key, Value());
    });
  }

  /// What documents say of workloads and architectures behind names that are the same.
  void specs() {
    const bool has_one_workload = is_same("workload"), has_one_arch = is_same("arch");
    using Facts = std::map<std::string, std::string>;
    std::map<const Value*, Facts> facts;  // per document
    std::set<std::string> names;
    for (const Subject& subject : subjects_) {
      Facts& own = facts[&subject.document];
      const auto add = [&](const std::string& name, const Value& value) {
        own[name] = text(value);
        names.insert(name);
      };
      const Value efficiency = subject.mapping.value("efficiency", Value());
      if (has_one_workload && efficiency.is_object())
        add("operations", efficiency.value("operations", Value()));
      if (!has_one_arch) continue;
      for (const Value& row : subject.mapping.value("occupancy", Value::array()))
        add(text(row.value("component", Value())) + " size (bit)",
            row.value("capacity_bits", Value()));
      for (const Value& row : subject.document.value("machine", Value::array())) {
        const std::string component = text(row.value("component", Value()));
        add(component + " instances", row.value("instances", Value()));
        const std::string action = text(row.value("action", Value()));
        if (!action.empty())
          add(component + " " + action + " (1/s)", row.value("actions_per_s", Value()));
      }
      for (const Value& row : subject.document.value("sources", Value::array()))
        add(text(row.value("component", Value())) + " " +
                with_unit(text(row.value("number", Value()))),
            row.value("value", Value()));
    }
    for (const std::string& name : names)
      request(name, [&](const Value& document) {
        const Facts& own = facts[&document];
        const auto found = own.find(name);
        return found == own.end() ? "" : found->second;
      });
  }

  template <class TextOf>
  void request(const std::string& name, const TextOf& text_of) {
    ComparedText row{name, {}};
    for (const Subject& subject : subjects_) row.texts.push_back(text_of(subject.document));
    if (std::any_of(row.texts.begin(), row.texts.end(),
                    [&](const std::string& other) { return other != row.texts.front(); }))
      result_.requests.push_back(std::move(row));
  }

  void totals() {
    result_.totals.name = "totals";
    for (const char* key :
         {"energy_j", "latency_s", "edp_js", "latency_cycles", "leak_energy_j", "area_m2"})
      total(key, [&](const Value& mapping) { return number(mapping, key); });
    for (const char* key : {"operations_per_s", "operations_per_j", "power_w"})
      total(key, [&](const Value& mapping) {
        return number(mapping.value("efficiency", Value()), key);
      });
  }

  template <class NumberOf>
  void total(const std::string& name, const NumberOf& number_of) {
    ComparedRow row{name, {}};
    for (const Subject& subject : subjects_) row.values.push_back(number_of(subject.mapping));
    if (std::any_of(row.values.begin(), row.values.end(),
                    [](const auto& v) { return v && *v != 0; }))
      result_.totals.rows.push_back(std::move(row));
  }

  /// The rows of a list, added up by the name that each has under a key. Bits that are null are
  /// none (a compute moves nothing), other numbers unknown.
  void sums(const char* table, const char* unit, const char* list, const char* by,
            const char* what) {
    std::vector<std::map<std::string, double>> all;
    for (const Subject& subject : subjects_) {
      Sums here;
      for (const Value& row : subject.mapping.value(list, Value::array())) {
        const auto amount = number(row, what);
        const std::string name = text(row.value(by, Value()));
        if (!name.empty() && (amount || std::string_view(what) != "bits")) here.add(name, amount);
      }
      all.push_back(std::move(here).known());
    }
    add_table(table, unit, all);
  }

  /// What each Einsum waits for: its largest row, and its collectives.
  void latency_by_einsum() {
    std::vector<std::map<std::string, double>> all;
    for (const Subject& subject : subjects_) {
      Sums here;
      for (const Value& row : subject.mapping.value("latency", Value::array()))
        here.raise(text(row.value("einsum", Value())), number(row, "latency_s"));
      for (const Value& row : subject.mapping.value("collective_latency", Value::array()))
        here.add(text(row.value("einsum", Value())), number(row, "latency_s"));
      all.push_back(std::move(here).known());
    }
    add_table("latency_by_einsum", "s", all);
  }

  void utilisation() {
    std::vector<std::map<std::string, double>> all;
    for (const Subject& subject : subjects_) {
      auto& here = all.emplace_back();
      const Value efficiency = subject.mapping.value("efficiency", Value::object());
      for (const Value& row : efficiency.value("utilisation", Value::array()))
        if (const auto share = number(row, "of_peak")) here[text(row["component"])] = *share;
    }
    add_table("utilisation", "", all);
  }

  void add_table(const char* name, const char* unit,
                 const std::vector<std::map<std::string, double>>& all) {
    std::set<std::string> names;
    for (const auto& here : all)
      for (const auto& [row, value] : here) names.insert(row);
    ComparedTable table{name, unit, {}, 0};
    for (const std::string& row : names) {
      ComparedRow compared{row, {}};
      for (const auto& here : all) {
        const auto found = here.find(row);
        compared.values.push_back(found == here.end() ? std::nullopt
                                                      : std::optional(found->second));
      }
      if (spread(compared) == 0)
        ++table.n_equal;
      else
        table.rows.push_back(std::move(compared));
    }
    std::stable_sort(
        table.rows.begin(), table.rows.end(),
        [](const ComparedRow& a, const ComparedRow& b) { return spread(a) > spread(b); });
    result_.tables.push_back(std::move(table));
  }

  /// The largest difference between two values; what is not there is none.
  static double spread(const ComparedRow& row) {
    double least = row.values.front().value_or(0), most = least;
    for (const auto& value : row.values) {
      least = std::min(least, value.value_or(0));
      most = std::max(most, value.value_or(0));
    }
    return most - least;
  }

  void trees() {
    const auto lines = [&](std::size_t i) {
      return cli::tree_lines(subjects_[i].mapping.value("mapping", Value()));
    };
    const auto first = lines(0);
    for (std::size_t i = 1; i < subjects_.size(); ++i)
      result_.trees.push_back(cli::changed_lines(first, lines(i)));
  }

  std::vector<Subject> subjects_;
  ResultComparison result_;
};

/// The priced mappings of a document; a mistake where there is none.
Result<std::vector<Subject>> subjects_of(const NamedText& input) {
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    return tl::unexpected(Diagnostics{mistake_in(input.name, message, hint)});
  };
  Value document = Value::parse(input.text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("schema"))
    return refuse("this is no result document", "sluice map … -o DIR writes one, DIR/result.json");
  if (document["schema"] != kResultSchema)
    return refuse(
        fmt::format("this is a document of the schema {}", text(document["schema"])),
        fmt::format("results of map and evaluate are compared, schema {}", kResultSchema));
  std::vector<Subject> subjects;
  std::size_t position = 0;
  const Value mappings = document.value("mappings", Value::array());
  for (const Value& mapping : mappings) {
    const std::string name =
        ++position == 1 ? input.name : fmt::format("{} #{}", input.name, position);
    if (mapping.is_object() && mapping.contains("energy_j"))
      subjects.push_back({name, document, mapping});
  }
  if (subjects.empty())
    return refuse(fmt::format("this result has no mapping with a price (status {})",
                              text(document.value("status", Value()))),
                  "");
  return subjects;
}

}  // namespace

Result<ResultComparison> compare_results(const std::vector<NamedText>& documents) {
  std::vector<Subject> subjects;
  Diagnostics mistakes;
  for (const NamedText& document : documents) {
    auto found = subjects_of(document);
    if (!found) {
      mistakes.insert(mistakes.end(), found.error().begin(), found.error().end());
      continue;
    }
    if (documents.size() > 1) found->resize(1);
    for (Subject& subject : *found) subjects.push_back(std::move(subject));
  }
  if (mistakes.empty() && subjects.size() < 2)
    mistakes.push_back(mistake_in(documents.empty() ? "" : documents.front().name,
                                  "there is only one mapping, and nothing to compare it with",
                                  "name several results"));
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  try {
    return Comparer(std::move(subjects)).run();
  } catch (const Value::exception& damage) {
    return tl::unexpected(Diagnostics{mistake_in(
        documents.front().name, fmt::format("one of the results is damaged: {}", damage.what()),
        "its keys have values of other types than docs/cli.md says")});
  }
}

std::string document_text(const ResultComparison& comparison) {
  using cli::Json;
  const auto table_json = [](const ComparedTable& table) {
    Json rows = Json::array();
    for (const ComparedRow& row : table.rows) {
      Json values = Json::array();
      for (const auto& value : row.values) values.push_back(value ? Json(*value) : Json(nullptr));
      rows.push_back({{"name", row.name}, {"values", std::move(values)}});
    }
    return Json{{"name", table.name},
                {"unit", table.unit.empty() ? Json(nullptr) : Json(table.unit)},
                {"equal", table.n_equal},
                {"rows", std::move(rows)}};
  };
  Json requests = Json::array(), tables = Json::array(), trees = Json::array();
  for (const ComparedText& row : comparison.requests)
    requests.push_back({{"name", row.name}, {"texts", row.texts}});
  for (const ComparedTable& table : comparison.tables) tables.push_back(table_json(table));
  for (const auto& lines : comparison.trees) {
    Json tree = Json::array();
    for (const TreeLine& line : lines) tree.push_back(std::string(1, line.mark) + line.text);
    trees.push_back(std::move(tree));
  }
  return cli::document_text(Json{{"schema", kComparisonSchema},
                                 {"results", comparison.names},
                                 {"requests", std::move(requests)},
                                 {"totals", table_json(comparison.totals)},
                                 {"tables", std::move(tables)},
                                 {"trees", std::move(trees)}});
}

}  // namespace sluice
