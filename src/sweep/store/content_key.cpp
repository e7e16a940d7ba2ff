#define XXH_INLINE_ALL
#include "content_key.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace sluice {

std::string content_key(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace sluice
