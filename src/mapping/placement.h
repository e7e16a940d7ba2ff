#pragma once

#include <cstddef>
#include <optional>

#include "sluice/mapping/mapping.h"

namespace sluice {

/// How a storage node sees a node that stands below it in the same list.
enum class Passage {
  kThrough,  ///< sinks below it: a fully relevant loop, a loop of its own component, another
             ///< Einsum's storage, a loop of one trip
  kSlide,    ///< a partially relevant temporal loop: only a `sliding` node passes, and stops there
  kStop,     ///< storage for an Einsum that it serves too, an irrelevant loop, a split, a compute
};

/// Where a storage node takes effect (model.md, "Normal form").
struct Placement {
  std::size_t before = 0;                  ///< takes effect just above this index of its list
  std::optional<std::size_t> slides_over;  ///< index of the loop whose new rows alone it refetches
};

/// Placement of the storage node `list[index]`. `passage(i)` tells how it sees `list[i]`; it is
/// asked for later indices, and for a sliding node also for the loop directly above. A backing node
/// stays.
template <class PassageOf>
Placement placement_of(const NodeList& list, std::size_t index, bool is_backing,
                       PassageOf passage) {
  Placement place{index, std::nullopt};
  const auto& storage = std::get<StorageNode>(list[index].kind);
  if (is_backing || storage.incremental || storage.shared_by) return place;
  const bool sliding = std::get<StorageNode>(list[index].kind).sliding;
  if (sliding) {
    std::size_t above = index;
    while (above > 0 && std::holds_alternative<StorageNode>(list[above - 1].kind)) --above;
    if (above > 0 && passage(above - 1) == Passage::kSlide) {
      place.slides_over = above - 1;
      return place;
    }
  }
  for (std::size_t i = index + 1; i < list.size(); ++i) {
    const Passage seen = passage(i);
    const bool slide = seen == Passage::kSlide && sliding;
    if (seen != Passage::kThrough && !slide) break;
    if (!std::holds_alternative<StorageNode>(list[i].kind)) place.before = i + 1;
    if (slide) {
      place.slides_over = i;
      break;
    }
  }
  return place;
}

}  // namespace sluice
