#include "frontend/mapping/mapping_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/model/collective_cost.h"

namespace sluice {

void check_algorithms(ReadContext& context, const YamlNode& place,
                      const std::vector<std::string>& names) {
  const std::vector<std::string> known = collective_algorithms();
  for (const std::string& name : names)
    if (name != "auto" && std::find(known.begin(), known.end(), name) == known.end())
      context.error(place, fmt::format("there is no collective algorithm {}", name),
                    fmt::format("auto, {}", fmt::join(known, ", ")));
}

}  // namespace sluice
