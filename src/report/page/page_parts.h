#pragma once

#include <string_view>

namespace sluice::cli {

/// A report page before and after its data: markup, styles and scripts of this folder and of
/// third_party/, packed by cmake/SluiceReportPage.cmake. `@TITLE@` and `@VERSION@` stand in the
/// head.
extern const std::string_view kPageHead;
extern const std::string_view kPageTail;

}  // namespace sluice::cli
