#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// 128 bits of a hash (XXH3) as 32 hexadecimal digits: the same for the same text on every machine.
std::string content_key(std::string_view text);

}  // namespace sluice
