#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontend/import/reading/import_context.h"

namespace sluice {

/// Whether sections are Timeloop's (of any version), and not AccelForge's or Sluice's.
bool is_timeloop(const Sections& sections);
/// `arch: {storage, arithmetic}`, of version 0.1.
bool is_timeloop_arch(const YamlNode& arch);

/// Whom a file is written for, as far as it says.
enum class FileOwner {
  kSluice,     ///< or it cannot be read: whoever loads it says why
  kOtherTool,  ///< a `.cfg` file, a template of Jinja2, sections of Timeloop, words of AccelForge
  kCompanion,  ///< what goes with files of other tools: their mapper, energies, Accelergy's
               ///< sections
  kVariables,  ///< `variables` alone, which any tool's files may have
};
FileOwner owner_of(const std::string& path, const std::string& text);

/// Sections of tables of energies (`ERT`, `ERT_summary`), the first that counts.
extern const std::vector<std::string> kEnergySections;
/// Whether a YAML file has such a section.
bool has_energies(const std::string& path, const std::string& text);

/// Sections beside Timeloop's that Accelergy alone reads, or that are there for their anchors only.
bool is_for_accelergy_alone(const std::string& section);

/// The variables that a YAML file declares.
std::set<std::string> variables_in(const std::string& path, const std::string& text);

/// Whether a YAML file has a section `arch`.
bool has_arch(const std::string& path, const std::string& text);

}  // namespace sluice
