#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// `text` as a terminal may show it: control characters, marks that reorder text and bytes that are
/// no UTF-8 become `\x1b`, `\u202e`. Tabs and ends of lines stay.
std::string printable_text(std::string_view text);

/// Place of the first byte that printable_text would change.
std::optional<std::size_t> first_unprintable(std::string_view text);

/// Bytes of the UTF-8 character that begins at `at`; 0 where none does.
std::size_t character_length(std::string_view text, std::size_t at);

}  // namespace sluice
