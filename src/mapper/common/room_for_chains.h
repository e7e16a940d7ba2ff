#pragma once

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Whether chains, which take up to 1.5 GB, leave a search the memory it may use.
inline bool has_room_for_chains(const MapperOptions& options) {
  return !options.memory_bytes || *options.memory_bytes >= 2e9;
}

}  // namespace sluice
