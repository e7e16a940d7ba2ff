#include "frontend/arch/component_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "frontend/arch/component_table.h"
#include "frontend/arch/dimensions.h"
#include "frontend/yaml/file_text.h"
#include "frontend/yaml/yaml_parser.h"
#include "sluice/frontend/component_class.h"
#include "sluice/support/human_units.h"
#include "sluice/workload/operation.h"

namespace sluice {
namespace fs = std::filesystem;
namespace {

/// Where a class may be: beside the file that names it, in `components` there or beside its folder,
/// in the library.
std::vector<fs::path> class_folders(const ReadContext& context, const YamlNode& name) {
  const fs::path own = fs::path(context.sources().name(name.position.file)).parent_path();
  std::vector<fs::path> folders = {own, own / "components", own / ".." / "components"};
  for (const std::string& dir : context.options().library_dirs) {
    folders.emplace_back(dir);
    folders.push_back(fs::path(dir) / "components");
  }
  return folders;
}

std::optional<fs::path> find_class(const ReadContext& context, const YamlNode& name) {
  std::error_code error;
  for (const fs::path& folder : class_folders(context, name)) {
    const fs::path file = folder / (name.text + ".yaml");
    if (fs::is_regular_file(file, error)) return file.lexically_normal();
  }
  return std::nullopt;
}

std::vector<std::string> class_names(const ReadContext& context, const YamlNode& name) {
  const std::vector<std::string>& in_code = context.options().component_classes.names();
  std::set<std::string> names(in_code.begin(), in_code.end());
  std::error_code error;
  for (const fs::path& folder : class_folders(context, name)) {
    const fs::path last = folder.filename();
    if (last != "components") continue;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, error))
      if (file.path().extension() == ".yaml") names.insert(file.path().stem().string());
  }
  return {names.begin(), names.end()};
}

/// The variables of a class are its own: those of the specs are put aside meanwhile.
class OwnVariables {
 public:
  explicit OwnVariables(ReadContext& context) : context_(context) {
    std::swap(context_.variables(), aside_);
  }
  ~OwnVariables() { std::swap(context_.variables(), aside_); }
  OwnVariables(const OwnVariables&) = delete;
  OwnVariables& operator=(const OwnVariables&) = delete;

 private:
  ReadContext& context_;
  std::map<std::string, Expression> aside_;
};

Expression with_unit(double value, const std::string& unit) {
  return Expression::parse(fmt::format("{:.17g} {}", value, unit)).value_or(Expression());
}

/// One attribute of a class: `{unit, default | from, minimum, maximum}`.
struct Attribute {
  std::string name;
  std::string unit;                 ///< of the base unit; empty: a pure number
  const YamlNode* place = nullptr;  ///< where the component gives it; else the class's name
  double value = 0;                 ///< in the unit
};

/// Works out the numbers of one component.
class ClassReader {
 public:
  ClassReader(ReadContext& context, MapReader& component, const YamlNode& name,
              std::optional<double> clock_hz)
      : context_(context), component_(component), name_(name), clock_hz_(clock_hz) {}

  /// A class in code.
  std::optional<ClassNumbers> read(const ComponentClass& in_code) {
    const std::size_t before = context_.n_errors();
    const std::string kind = component_.node().tag.substr(1);
    if (!in_code.fits(kind))
      context_.error(name_, fmt::format("{} is no class of a !{}", name_.text, kind));
    read_given([&](MapReader& given) {
      for (const ComponentAttribute& declared : in_code.attributes())
        read_attribute(given, declared);
    });
    if (context_.n_errors() != before) return std::nullopt;
    std::map<std::string, double> values;
    for (const Attribute& attribute : attributes_) values[attribute.name] = attribute.value;
    take(in_code.numbers(values));
    if (context_.n_errors() != before) return std::nullopt;
    numbers_.origin = fmt::format("{}: {}", call_text(), in_code.source());
    return std::move(numbers_);
  }

  /// A class file.
  std::optional<ClassNumbers> read(const YamlNode& document) {
    const std::size_t before = context_.n_errors();
    MapReader file(context_, document, "a component class file");
    const YamlNode* node = file.required("component");
    file.finish();
    if (node == nullptr) return std::nullopt;
    MapReader map(context_, *node, "a component class");
    if (!map.is_map()) return std::nullopt;
    check_kind(map.required("nodes"));
    if (context_.n_errors() != before) return std::nullopt;
    const auto source = read_text(context_, map.required("source"), "the source");
    read_attributes(map.optional("attributes"));
    if (context_.n_errors() != before) return std::nullopt;
    const OwnVariables own(context_);
    for (const Attribute& attribute : attributes_)
      context_.variables()[attribute.name] = with_unit(attribute.value, attribute.unit);
    read_tables(map.optional("tables"));
    if (context_.n_errors() != before) return std::nullopt;
    read_values(map.optional("values"));
    read_numbers(map);
    map.finish();
    if (context_.n_errors() != before) return std::nullopt;
    numbers_.origin = fmt::format("{}: {}", call_text(), source.value_or(""));
    return std::move(numbers_);
  }

 private:
  void check_kind(const YamlNode* nodes) {
    const std::string kind = component_.node().tag.substr(1);
    const std::vector<std::string> kinds = read_names(context_, nodes, "a kind of node");
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      context_.error(name_, fmt::format("{} is no class of a !{}", name_.text, kind),
                     fmt::format("it is one of !{}", fmt::join(kinds, ", !")));
  }

  // --- attributes -------------------------------------------------------------------------------

  /// Calls `read` with the component's attributes; those that it does not ask for are mistakes.
  template <class Read>
  void read_given(Read read) {
    const YamlNode* given = component_.optional("component_attributes");
    YamlNode nothing;
    nothing.kind = YamlNode::Kind::kMap;
    MapReader map(context_, given != nullptr ? *given : nothing, "component_attributes");
    read(map);
    map.finish();
  }

  void read_attributes(const YamlNode* declared) {
    read_given([&](MapReader& given) {
      if (declared != nullptr && MapReader(context_, *declared, "attributes").is_map())
        for (const YamlEntry& entry : declared->entries) read_attribute(given, entry);
    });
  }

  void read_attribute(MapReader& given, const YamlEntry& declared) {
    MapReader rule(context_, *declared.value, "an attribute");
    const YamlNode* unit = rule.optional("unit");
    const YamlNode* usual = rule.optional("default");
    const YamlNode* from = rule.optional("from");
    const YamlNode* minimum = rule.optional("minimum");
    const YamlNode* maximum = rule.optional("maximum");
    rule.finish();
    Attribute attribute;
    attribute.name = declared.key->text;
    attribute.unit = unit != nullptr ? unit->text : "";
    attribute.place = given.optional(attribute.name);
    const YamlNode* source = attribute.place;
    if (source == nullptr && from != nullptr) source = component_.node().find(from->text);
    if (source == nullptr) source = usual;
    if (source == nullptr) return missing(attribute);
    QuantityRule number = rule_of(attribute);
    const auto value = read_quantity(context_, source, number);
    if (!value) return;
    attribute.value = value->value;
    if (attribute.place == nullptr && source != usual) attribute.place = source;
    const auto least = read_quantity(context_, minimum, number);
    const auto most = read_quantity(context_, maximum, number);
    if ((least && attribute.value < least->value) || (most && attribute.value > most->value))
      outside(attribute, fmt::format("from {} to {}", minimum != nullptr ? minimum->text : "0",
                                     maximum != nullptr ? maximum->text : "inf"));
    attributes_.push_back(std::move(attribute));
  }

  void read_attribute(MapReader& given, const ComponentAttribute& declared) {
    Attribute attribute{.name = declared.name, .unit = declared.unit};
    attribute.place = given.optional(declared.name);
    if (attribute.place == nullptr && !declared.from.empty())
      attribute.place = component_.node().find(declared.from);
    if (attribute.place == nullptr && !declared.usual) return missing(attribute);
    if (attribute.place != nullptr) {
      const auto value = read_quantity(context_, attribute.place, rule_of(attribute));
      if (!value) return;
      attribute.value = value->value;
    } else {
      attribute.value = *declared.usual;
    }
    if (attribute.value < declared.minimum || attribute.value > declared.maximum)
      outside(attribute, fmt::format("from {} to {}", value_text(declared.minimum, declared.unit),
                                     value_text(declared.maximum, declared.unit)));
    attributes_.push_back(std::move(attribute));
  }

  void missing(const Attribute& attribute) {
    context_.error(name_, fmt::format("{} needs the attribute '{}'", name_.text, attribute.name),
                   fmt::format("write component_attributes: {{{}: …}}", attribute.name));
  }

  /// Of the attribute that is being read; its name must outlive the rule.
  QuantityRule rule_of(const Attribute& attribute) const {
    QuantityRule rule{.what = attribute.name.c_str(), .clock_hz = clock_hz_};
    const auto unit = with_unit(1, attribute.unit).dimension();
    if (unit && *unit) rule.dimensions = {**unit};
    return rule;
  }

  void outside(const Attribute& attribute, const std::string& range) {
    context_.error(attribute.place != nullptr ? *attribute.place : name_,
                   fmt::format("'{}' is {}: {} has numbers {}", attribute.name,
                               value_text(attribute.value, attribute.unit), name_.text, range),
                   "nothing is extrapolated: give numbers of your own, or another class");
  }

  static std::string value_text(double value, const std::string& unit) {
    constexpr double kKibibyte = 8192;
    if (unit == "bit" && value >= kKibibyte) return human_size(value);
    return fmt::format("{:.6g}{}{}", value, unit.empty() ? "" : " ", unit);
  }

  // --- numbers ----------------------------------------------------------------------------------

  void read_tables(const YamlNode* list) {
    if (list == nullptr) return;
    std::map<std::string, double> values;
    for (const Attribute& attribute : attributes_) values[attribute.name] = attribute.value;
    for (const YamlPointer& item : list->items) {
      const auto table = ComponentTable::read(context_, *item);
      if (!table) return;
      std::vector<double> numbers;
      if (const auto beyond = table->look_up(values, numbers)) return report(*beyond);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        context_.variables()[table->gives()[i].name] =
            with_unit(numbers[i], table->gives()[i].unit);
    }
  }

  void report(const ComponentTable::Outside& beyond) {
    const auto attribute =
        std::find_if(attributes_.begin(), attributes_.end(),
                     [&](const Attribute& a) { return a.name == beyond.attribute; });
    std::string range = fmt::format("from {} to {}", value_text(beyond.smallest, attribute->unit),
                                    value_text(beyond.largest, attribute->unit));
    if (!beyond.rows.empty()) range = fmt::format("for {:.6g}", fmt::join(beyond.rows, ", "));
    outside(*attribute, range);
  }

  void read_values(const YamlNode* map) {
    if (map == nullptr || !MapReader(context_, *map, "values").is_map()) return;
    for (const YamlEntry& entry : map->entries)
      if (auto value = read_expression(context_, entry.value.get(), "a value"))
        context_.variables()[entry.key->text] = std::move(*value);
  }

  void read_numbers(MapReader& map) {
    if (const YamlNode* actions = map.optional("actions"))
      for (const YamlEntry& entry : actions->entries) read_action(entry);
    const auto area = read_quantity(context_, map.optional("area"),
                                    {.what = "area", .dimensions = {kSquareMetre}});
    if (area) numbers_.area_m2 = area->value;
    const auto power = read_quantity(context_, map.optional("leak_power"),
                                     {.what = "leak_power", .dimensions = {kWatt}});
    if (power) numbers_.leak_power_w = power->value;
    numbers_.hop_energy =
        read_quantity(context_, map.optional("hop_energy"),
                      {.what = "hop_energy", .dimensions = {kJoule, kJoulePerBit}});
  }

  /// The numbers of a class in code.
  void take(const ComponentNumbers& given) {
    for (const ComponentNumbers::OfAction& action : given.actions) {
      check_action_name(name_, action.name);
      ClassNumbers::ActionNumbers& numbers = numbers_.actions.emplace_back();
      numbers.name = action.name;
      numbers.energy = either("energy", action.energy_j, action.energy_j_per_bit, kJoulePerBit);
      numbers.throughput =
          either("throughput", action.throughput, action.throughput_bits, kBitPerSecond);
    }
    numbers_.area_m2 = checked("area", given.area_m2);
    numbers_.leak_power_w = checked("leak_power", given.leak_power_w);
    numbers_.hop_energy = either("hop_energy", {}, given.hop_energy_j_per_bit, kJoulePerBit);
  }

  std::optional<Quantity> either(const char* what, const std::optional<double>& per_action,
                                 const std::optional<double>& per_bit, Dimension dimension) {
    if (per_bit) return Quantity{*checked(what, per_bit), dimension};
    if (per_action) return Quantity{*checked(what, per_action), std::nullopt};
    return std::nullopt;
  }

  std::optional<double> checked(const std::string& what, const std::optional<double>& number) {
    const bool is_rate = what == "throughput";
    if (number && !(is_rate ? *number > 0 : *number >= 0 && std::isfinite(*number)))
      context_.error(name_, fmt::format("{} gives {} the {} {}", call_text(), component_.node().tag,
                                        what, *number));
    return number;
  }

  void read_action(const YamlEntry& entry) {
    MapReader map(context_, *entry.value, "an action of a class");
    if (!map.is_map()) return;
    check_action_name(*entry.key, entry.key->text);
    ClassNumbers::ActionNumbers action{entry.key->text, {}, {}};
    action.energy = read_quantity(context_, map.optional("energy"),
                                  {.what = "energy", .dimensions = {kJoule, kJoulePerBit}});
    action.throughput = read_quantity(context_, map.optional("throughput"),
                                      {.what = "throughput",
                                       .dimensions = {kPerSecond, kBitPerSecond},
                                       .zero = false,
                                       .infinite = true});
    map.finish();
    numbers_.actions.push_back(std::move(action));
  }

  /// An action that no component has would never be asked for.
  void check_action_name(const YamlNode& place, const std::string& name) {
    std::vector<std::string> known = {"read", "write", "compute"};
    for (int i = 0; i < kOperationKindCount; ++i)
      known.emplace_back(operation_name(static_cast<OperationKind>(i)));
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    const bool leaks = name == "leak" || name == "leakage";
    context_.error(
        place, fmt::format("no component has an action '{}'", name),
        leaks ? "leakage is the key 'leak_power' of the class, in W" : did_you_mean(name, known));
  }

  /// `SRAM(size 16777216 bit, width 512 bit)`
  std::string call_text() const {
    std::vector<std::string> texts;
    for (const Attribute& attribute : attributes_)
      texts.push_back(attribute.name + " " + value_text(attribute.value, attribute.unit));
    return texts.empty() ? name_.text : fmt::format("{}({})", name_.text, fmt::join(texts, ", "));
  }

  ReadContext& context_;
  MapReader& component_;
  const YamlNode& name_;
  std::optional<double> clock_hz_;
  std::vector<Attribute> attributes_;
  ClassNumbers numbers_;
};

}  // namespace

const ClassNumbers::ActionNumbers* ClassNumbers::find(const std::string& action) const {
  for (const ActionNumbers& known : actions)
    if (known.name == action) return &known;
  return nullptr;
}

std::optional<ClassNumbers> read_component_class(ReadContext& context, MapReader& component,
                                                 std::optional<double> clock_hz) {
  const YamlNode* name = component.optional("component_class");
  if (name == nullptr) {
    if (const YamlNode* attributes = component.optional("component_attributes"))
      context.error(*attributes, "there are component_attributes, but no component_class");
    return std::nullopt;
  }
  component.optional("component_attributes");
  if (!read_name(context, name, "a component class")) return std::nullopt;
  if (const ComponentClass* in_code = context.options().component_classes.find(name->text))
    return ClassReader(context, component, *name, clock_hz).read(*in_code);
  const auto file = find_class(context, *name);
  if (!file) {
    const std::vector<std::string> names = class_names(context, *name);
    context.error(
        *name, fmt::format("there is no component class '{}'", name->text),
        did_you_mean(name->text, names, fmt::format("classes are {}", fmt::join(names, ", "))));
    return std::nullopt;
  }
  auto text = file_text(context, file->string());
  if (!text) return std::nullopt;
  const auto documents =
      parse_yaml(context, context.sources().add(file->string(), std::move(*text)));
  if (documents.empty()) return std::nullopt;
  return ClassReader(context, component, *name, clock_hz).read(*documents.front());
}

}  // namespace sluice
