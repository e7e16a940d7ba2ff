#pragma once

#include <string>
#include <vector>

namespace sluice {

/// A result document (docs/cli.md) or that of a sweep (docs/sweeps.md) under the name that readers
/// see.
struct NamedDocument {
  std::string name;
  std::string text;  ///< JSON of the schema `sluice.result/1` or `sluice.sweep/1`
};

/// One HTML page that shows results, the first one at first, and needs no network (docs/report.md).
/// The documents are not looked into; what is no JSON makes a page that says so.
std::string report_page(const std::vector<NamedDocument>& documents);

}  // namespace sluice
