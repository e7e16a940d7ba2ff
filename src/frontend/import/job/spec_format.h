#pragma once

#include <set>
#include <string>

#include "frontend/import/reading/import_context.h"

namespace sluice {

/// Whether sections are Timeloop's (of any version), and not AccelForge's or Sluice's.
bool is_timeloop(const Sections& sections);
/// `arch: {storage, arithmetic}`, of version 0.1.
bool is_timeloop_arch(const YamlNode& arch);

/// Whether a file is written for Timeloop or AccelForge, and not for Sluice: a `.cfg` file, a
/// template of Jinja2, sections of Timeloop, or words that only AccelForge knows. False where it
/// cannot be read: whoever loads it says why.
bool is_of_other_tool(const std::string& path, const std::string& text);

/// The variables that a YAML file declares.
std::set<std::string> variables_in(const std::string& path, const std::string& text);

/// Whether a YAML file has a section `arch`.
bool has_arch(const std::string& path, const std::string& text);

}  // namespace sluice
