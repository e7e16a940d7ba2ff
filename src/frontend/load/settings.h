#pragma once

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// Whether `--set NAME=VALUE` means a field of a spec (`arch.DRAM.size`) and not a variable.
bool is_field(const std::string& name);

/// `--set NAME=VALUE`, as what is said about it names it.
std::string setting_text(const std::string& name, const std::string& value);

/// The value as YAML; null where it is none or several, which is reported.
YamlPointer value_of_setting(ReadContext& context, const std::string& name,
                             const std::string& value);

/// The merged specs with the fields that `--set` gives. A step of a path is a key, or the name of
/// an item in one of the lists there (`nodes` inside `nodes`, too). What has no such place is
/// reported to the context.
YamlPointer with_settings(ReadContext& context, const YamlPointer& root);

}  // namespace sluice
