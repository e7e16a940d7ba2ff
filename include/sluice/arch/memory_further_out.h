#pragma once

#include <optional>
#include <string>

#include "sluice/arch/arch.h"

namespace sluice {

/// What a name in a component's `keep`, `may_keep` or `back` means if it is a memory's or toll's:
/// one further out than the component. Others of that name are not meant.
std::optional<ComponentId> memory_further_out(const Arch& arch, ComponentId component,
                                              const std::string& name);

}  // namespace sluice
