#pragma once

#include <string>
#include <vector>

namespace sluice {

/// The sets of tensors that every Einsum has: `All`, `Inputs`, …
const std::vector<std::string>& set_names();

/// Whether a word means something in every set expression: no tensor and no variable may be called
/// so.
bool is_set_word(const std::string& name);

/// The name that starts at an offset of an expression's text; empty where none does.
std::string name_at(const std::string& text, std::size_t offset);

}  // namespace sluice
