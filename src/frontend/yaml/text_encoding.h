#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// The text of a file as UTF-8 without a byte-order mark: UTF-16 and UTF-32 with one are rewritten,
/// all else stays as it is. What is no character there becomes a byte that is no UTF-8, either.
std::string utf8_of(std::string bytes);

/// Place of the first byte that is no text: neither UTF-8 nor a tab or the end of a line where it
/// is a control character. `npos` where all is text.
std::size_t first_byte_that_is_no_text(std::string_view text);

}  // namespace sluice
