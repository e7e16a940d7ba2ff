#pragma once

#include <string>
#include <vector>

namespace sluice {

/// The sets of tensors that every Einsum has: `All`, `Inputs`, … No tensor may be called like one.
const std::vector<std::string>& set_names();

/// The name that starts at an offset of an expression's text; empty where none does.
std::string name_at(const std::string& text, std::size_t offset);

}  // namespace sluice
