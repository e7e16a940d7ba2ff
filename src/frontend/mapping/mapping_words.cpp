#include "frontend/mapping/mapping_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

void check_algorithms(ReadContext& context, const YamlNode& place,
                      const std::vector<std::string>& names) {
  std::vector<std::string> known = context.options().collective_algorithms.names();
  known.insert(known.begin(), "auto");
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      context.error(place, fmt::format("there is no collective algorithm {}", name),
                    did_you_mean(name, known, fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace sluice
