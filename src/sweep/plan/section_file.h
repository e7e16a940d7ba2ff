#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/yaml/read_context.h"
#include "frontend/yaml/yaml_node.h"

namespace sluice {

/// Whether a regular file, or one of the texts, is YAML with a key of that name at the top.
bool has_section(const std::string& file, const std::string& section,
                 const LoadOptions& options = {});

/// What a file has under its one key; null after a mistake.
YamlPointer read_section(ReadContext& context, const std::string& file, const std::string& section);

/// JSON Schema of files with this section, learnt by watching `read` read examples that have every
/// key in each form it may have.
std::string section_schema_text(const std::string& section,
                                const std::vector<std::string>& examples,
                                const std::function<void(ReadContext&, const std::string&)>& read);

/// Files that a list of names (or one name) stands for: those in the folder, then those that
/// find_spec_file knows. A name without a file is reported.
std::vector<std::string> read_spec_names(ReadContext& context, const YamlNode* node,
                                         const std::string& folder);

}  // namespace sluice
