#include "frontend/arch/component_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

using Rows = std::vector<const std::vector<double>*>;

/// The rows that have a value in a column.
Rows rows_with(const Rows& rows, std::size_t column, double value) {
  Rows result;
  for (const std::vector<double>* row : rows)
    if ((*row)[column] == value) result.push_back(row);
  return result;
}

}  // namespace

std::optional<ComponentTable> ComponentTable::read(ReadContext& context, const YamlNode& node) {
  const std::size_t before = context.n_errors();
  MapReader map(context, node, "a table");
  const YamlNode* by = map.required("by");
  const YamlNode* gives = map.required("gives");
  const YamlNode* rows = map.required("rows");
  map.finish();
  if (context.n_errors() != before) return std::nullopt;
  ComponentTable table;
  if (!table.read_columns(context, *by, *gives)) return std::nullopt;
  if (!rows->is_sequence() || rows->items.empty()) {
    context.error(*rows, "the rows of a table are a list, one at least");
    return std::nullopt;
  }
  for (const YamlPointer& row : rows->items) table.read_row(context, *row);
  if (context.n_errors() != before) return std::nullopt;
  return table;
}

bool ComponentTable::read_columns(ReadContext& context, const YamlNode& by, const YamlNode& gives) {
  static constexpr NamedValue<Between> kBetween[] = {
      {"exact", Between::kNothing}, {"log", Between::kPowerLaw}, {"linear", Between::kLine}};
  const std::size_t before = context.n_errors();
  if (!MapReader(context, by, "by").is_map() || !MapReader(context, gives, "gives").is_map())
    return false;
  for (const YamlEntry& entry : by.entries)
    if (const auto name = read_name(context, entry.key.get(), "an attribute"))
      keys_.push_back({*name, read_choice(context, entry.value.get(), "interpolation", kBetween)
                                  .value_or(Between::kNothing)});
  for (const YamlEntry& entry : gives.entries)
    if (const auto name = read_name(context, entry.key.get(), "a number of a table"))
      gives_.push_back({*name, entry.value->text});
  return context.n_errors() == before;
}

void ComponentTable::read_row(ReadContext& context, const YamlNode& row) {
  if (!row.is_sequence() || row.items.size() != keys_.size() + gives_.size())
    return context.error(row, fmt::format("a row of this table is a list of {} numbers, not {}",
                                          keys_.size() + gives_.size(), describe(row)));
  std::vector<double> numbers;
  for (const YamlPointer& item : row.items)
    if (const auto number = read_quantity(
            context, item.get(), {.what = "a number of a table", .dimensions = {{.bit = 1}}}))
      numbers.push_back(number->value);
  if (numbers.size() == row.items.size()) rows_.push_back(std::move(numbers));
}

std::optional<ComponentTable::Outside> ComponentTable::look_up(
    const std::map<std::string, double>& attributes, std::vector<double>& numbers) const {
  Rows rows;
  for (const std::vector<double>& row : rows_) rows.push_back(&row);
  return look_up(attributes, 0, rows, numbers);
}

std::optional<ComponentTable::Outside> ComponentTable::look_up(
    const std::map<std::string, double>& attributes, std::size_t key, const Rows& rows,
    std::vector<double>& numbers) const {
  if (key == keys_.size()) {
    numbers.assign(rows.front()->begin() + static_cast<std::ptrdiff_t>(key), rows.front()->end());
    return std::nullopt;
  }
  const double wanted = attributes.at(keys_[key].attribute);
  std::vector<double> known;
  for (const std::vector<double>* row : rows) known.push_back((*row)[key]);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const auto above = std::lower_bound(known.begin(), known.end(), wanted);
  if (above != known.end() && *above == wanted)
    return look_up(attributes, key + 1, rows_with(rows, key, wanted), numbers);
  const Between between = keys_[key].between;
  if (between == Between::kNothing)
    return Outside{keys_[key].attribute, known.front(), known.back(), known};
  if (above == known.begin() || above == known.end())
    return Outside{keys_[key].attribute, known.front(), known.back(), {}};
  const double low = *(above - 1), high = *above;
  std::vector<double> at_low, at_high;
  if (auto outside = look_up(attributes, key + 1, rows_with(rows, key, low), at_low))
    return outside;
  if (auto outside = look_up(attributes, key + 1, rows_with(rows, key, high), at_high))
    return outside;
  numbers.clear();
  for (std::size_t i = 0; i < at_low.size(); ++i) {
    const double share = between == Between::kLine ? (wanted - low) / (high - low)
                                                   : std::log(wanted / low) / std::log(high / low);
    const bool is_power_law = between == Between::kPowerLaw && at_low[i] > 0 && at_high[i] > 0;
    numbers.push_back(is_power_law ? at_low[i] * std::pow(at_high[i] / at_low[i], share)
                                   : at_low[i] + share * (at_high[i] - at_low[i]));
  }
  return std::nullopt;
}

}  // namespace sluice
