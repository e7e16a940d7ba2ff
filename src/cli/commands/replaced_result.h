#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "report/document/result_document.h"

namespace sluice::cli {

/// The document that an output folder holds, which is no object where it is damaged; none where
/// there is none. Throws Failure where its file cannot be read.
std::optional<nlohmann::json> document_in(const std::string& folder);

/// A document as a reader has it, without the order of its keys.
nlohmann::json as_value(const Json& document);

/// In which respects a document is of something else than another: `objective energy, now edp`.
std::vector<std::string> differences(const nlohmann::json& earlier, const nlohmann::json& now);

/// The first difference between the specs of the result in a folder and these; none where they are
/// the same.
std::optional<std::string> changed_specs(const std::string& folder, const std::string& now);

/// Says on standard error that the result in the folder will be replaced, and what it is of.
void warn_of_replaced(const std::string& folder, const std::vector<std::string>& differences,
                      const Console& console);
/// Says on standard error that what stands where a folder has its document is none.
void warn_of_damaged(const std::string& folder, const Console& console);
/// Either, where the document is damaged or of something else than this one will be.
void warn_of_replaced(const std::string& folder, const nlohmann::json& now, const Console& console);

}  // namespace sluice::cli
