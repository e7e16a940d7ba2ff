#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/support/expression.h"

namespace sluice {

/// A table of a component class: `by` names the attributes that its first columns hold, `gives` the
/// numbers in the others.
class ComponentTable {
 public:
  /// Mistakes in the table itself are reported.
  static std::optional<ComponentTable> read(ReadContext& context, const YamlNode& node);

  /// An attribute that lies outside the table, or between rows where only rows count.
  struct Outside {
    std::string attribute;
    double smallest, largest;  ///< that the table has for the attributes before it
    std::vector<double> rows;  ///< filled where only rows count
  };
  /// The numbers in base units for attributes in base units: those of a row, or between rows of the
  /// power law through them (`log`) or of the line through them (`linear`).
  std::optional<Outside> look_up(const std::map<std::string, double>& attributes,
                                 std::vector<double>& numbers) const;

  struct Gives {
    std::string name;
    std::string unit;  ///< `pJ`; empty: a pure number
  };
  const std::vector<Gives>& gives() const { return gives_; }

 private:
  enum class Between { kNothing, kPowerLaw, kLine };
  struct Key {
    std::string attribute;
    Between between = Between::kNothing;
  };
  bool read_columns(ReadContext& context, const YamlNode& by, const YamlNode& gives);
  void read_row(ReadContext& context, const YamlNode& row);
  std::optional<Outside> look_up(const std::map<std::string, double>& attributes, std::size_t key,
                                 const std::vector<const std::vector<double>*>& rows,
                                 std::vector<double>& numbers) const;

  std::vector<Key> keys_;
  std::vector<Gives> gives_;
  std::vector<std::vector<double>> rows_;  ///< keys in base units, then numbers in their units
};

}  // namespace sluice
