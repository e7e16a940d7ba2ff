#pragma once

#include <string>

namespace sluice {

/// The habit of the field: variable `x` walks rank `X`.
std::string upper_case(std::string text);
std::string lower_case(std::string text);

}  // namespace sluice
