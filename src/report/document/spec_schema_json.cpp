#include "sluice/report/spec_schema_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/document/result_document.h"
#include "sluice/frontend/learn_schema.h"
#include "sluice/mapper/options_table.h"

namespace sluice {
namespace {

using cli::Json;

constexpr const char* kDialect = "https://json-schema.org/draft/2020-12/schema";

class SchemaWriter {
 public:
  /// `repeats`: whether lists and maps may have `for` and `if` (docs/specs.md, "Repetition").
  explicit SchemaWriter(SpecSchema schema, bool repeats = true)
      : schema_(std::move(schema)), repeats_(repeats) {}

  /// A file that is one of the objects. What any object calls `options` are search options.
  Json write_object(const std::string& name, const std::string& title) {
    Json result = {{"$schema", kDialect}};
    result.update(object(schema_.objects.at(name)));
    result["title"] = title;
    for (const auto& [other, definition] : schema_.objects) {
      if (other == name || definition.keys.empty()) continue;
      Json& written = result["$defs"][slug(other)] = object(definition);
      if (written["properties"].contains("options"))
        written["properties"]["options"] = mapper_options();
    }
    return result;
  }

  Json write(const std::string& section) {
    Json root = object(schema_.objects.at(kSpecFile));
    root["properties"]["mapper"] = mapper_options();
    root["properties"]["mappings"] = {{"type", "array"},
                                      {"items", reference("mapping / mapping / a mapping")}};
    root["properties"]["include"] = {
        {"anyOf", Json::array({Json{{"type", "string"}},
                               Json{{"type", "array"}, {"items", Json{{"type", "string"}}}}})}};
    // What other files have is included.
    root["anyOf"] = Json::array(
        {Json{{"required", Json::array({section})}}, Json{{"required", Json::array({"include"})}}});
    Json result = {{"$schema", kDialect}, {"title", "Sluice " + section + " file"}};
    result.update(root);
    for (const auto& [name, definition] : schema_.objects)
      if (name != kSpecFile) result["$defs"][slug(name)] = object(definition);
    return result;
  }

 private:
  /// A name that JSON pointers take as it is: `an-Einsum`.
  static std::string slug(const std::string& name) {
    std::string result;
    for (const char letter : name) {
      const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                            (letter >= '0' && letter <= '9') || letter == '_';
      if (is_plain)
        result += letter;
      else if (!result.empty() && result.back() != '-')
        result += '-';
    }
    return result;
  }

  static Json reference(const std::string& name) { return Json{{"$ref", "#/$defs/" + slug(name)}}; }

  Json object(const SchemaObject& definition) {
    Json result = {{"title", definition.title}, {"type", "object"}};
    if (!definition.tag.empty())
      result["properties"]["node"] = {{"const", definition.tag.substr(1)}};
    if (repeats_) {
      result["properties"]["for"] = Json{{"type", "object"}};
      result["properties"]["if"] = Json::object();
    }
    Json required = Json::array();
    for (const SchemaKey& key : definition.keys) {
      result["properties"][key.name] = value(key, "");
      if (key.is_required && !is_section(definition)) required.push_back(key.name);
    }
    if (definition.title == "renames") {  // or names for all Einsums, each with its tensors
      result["additionalProperties"] = Json{{"type", types(SchemaValue::Scalar::kText)}};
      return result;
    }
    if (!required.empty()) result["required"] = required;
    // What else stands there is up to the class of the component.
    result["additionalProperties"] = definition.title == "component_attributes";
    return result;
  }

  /// Files are merged: what a section lacks may stand in another file.
  static bool is_section(const SchemaObject& definition) {
    return definition.title == "a workload" || definition.title == "an architecture";
  }

  Json value(const SchemaKey& key, const std::string& path) {
    const auto known = key.values.find(path);
    if (known == key.values.end()) return Json::object();
    const SchemaValue& value = known->second;
    Json forms = Json::array();
    if (!value.words.empty())
      forms.push_back({{"enum", value.words}});
    else if (value.scalar != SchemaValue::Scalar::kNone)
      forms.push_back({{"type", types(value.scalar)}});
    if (value.is_null) forms.push_back({{"type", "null"}});
    if (value.is_list)
      forms.push_back({{"type", "array"}, {"items", item(this->value(key, path + "[]"))}});
    bool has_free_keys = value.is_map && value.objects.empty();
    for (const std::string& name : with_nodes_of_section(value.objects)) {
      if (schema_.objects.at(name).keys.empty())
        has_free_keys = true;
      else
        forms.push_back(reference(name));
    }
    if (has_free_keys)
      forms.push_back(
          {{"type", "object"}, {"additionalProperties", this->value(key, path + "{}")}});
    if (forms.size() == 1) return forms.front();
    return forms.empty() ? Json::object() : Json{{"anyOf", forms}};
  }

  /// Where one kind of node may stand, others of its section may.
  std::vector<std::string> with_nodes_of_section(std::vector<std::string> names) const {
    std::string section;
    for (const std::string& name : names)
      if (!schema_.objects.at(name).tag.empty()) section = schema_.objects.at(name).section;
    for (const auto& [name, object] : schema_.objects)
      if (!section.empty() && object.section == section && !object.tag.empty() &&
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    return names;
  }

  /// Any list may have items that stand for several (docs/specs.md, "Repetition").
  Json item(Json schema) const {
    if (schema.empty() || !repeats_) return schema;
    const Json several = {{"type", "object"},
                          {"properties",
                           {{"for", {{"type", "object"}}},
                            {"if", Json::object()},
                            {"items", {{"type", "array"}}},
                            {"include", {{"type", "string"}}}}},
                          {"anyOf", Json::array({Json{{"required", Json::array({"items"})}},
                                                 Json{{"required", Json::array({"include"})}}})},
                          {"additionalProperties", false}};
    return {{"anyOf", Json::array({std::move(schema), several})}};
  }

  static Json types(SchemaValue::Scalar scalar) {
    switch (scalar) {
      case SchemaValue::Scalar::kTruth:
        return Json::array({"boolean", "string"});
      case SchemaValue::Scalar::kNumber:
        return Json::array({"number", "string"});
      default:
        return Json::array({"string", "number", "boolean"});
    }
  }

  /// A row of the option table each; a value is what its flag takes.
  static Json mapper_options() {
    Json properties = Json::object();
    for (const MapperOption& option : mapper_option_table())
      properties[option.name] = {{"description", option.help + " (" + option.range + ")"},
                                 {"type", Json::array({"string", "number", "boolean", "array"})}};
    return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  }

  SpecSchema schema_;
  bool repeats_ = true;
};

}  // namespace

std::string object_schema_text(SpecSchema schema, const std::string& object,
                               const std::string& title) {
  constexpr int kIndent = 2;
  return SchemaWriter(std::move(schema), /*repeats=*/false)
             .write_object(object, title)
             .dump(kIndent) +
         "\n";
}

std::string spec_schema_text(const std::string& section) {
  constexpr int kIndent = 2;
  return SchemaWriter(spec_schema()).write(section).dump(kIndent) + "\n";
}

}  // namespace sluice
