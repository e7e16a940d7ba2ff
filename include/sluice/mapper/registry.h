#pragma once

#include <string>
#include <vector>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Every mapper that ships with Sluice, in the order in which `sluice list mappers` shows them.
const std::vector<const Mapper*>& mappers();

/// The mapper of that name, or null.
const Mapper* find_mapper(const std::string& name);

}  // namespace sluice
