#pragma once

#include <cstdint>
#include <vector>

#include "mapper/fused/exchange/row_groups.h"
#include "mapper/fused/tiles/front.h"
#include "mapper/fused/tiles/tile_search.h"

namespace sluice::fused {

/// Collects the pmappings of one Einsum from its templates' results, by groups and pruned; some
/// groups may stay empty.
class TableMerger {
 public:
  /// All must outlive it.
  TableMerger(const TileSearchContext& context, const std::vector<CompiledTemplate>& compiled,
              const RowGroups& groups);

  /// Takes what templates found since, by their numbers. Of equal pmappings the one that came first
  /// is kept.
  void add(const std::vector<TemplateResult>& results);
  /// Puts all down in `table` (whose templates are filled in).
  void finish(PmappingTable* table);

 private:
  struct Part {
    std::uint32_t templ, exchange;
  };
  /// The pmappings of some groups that stand together, one group after the other.
  struct Chunk {
    std::vector<std::uint32_t> end;  ///< per group: of its pmappings
    std::vector<double> values;
    std::vector<std::uint32_t> templates, states;
  };
  Chunk merged(const std::vector<TemplateResult>& results, std::size_t chunk) const;

  const int threads_;
  const FrontOptions front_;
  const ExchangeSpace& space_;
  const std::vector<CompiledTemplate>& compiled_;
  const RowGroups& groups_;
  std::vector<Chunk> chunks_;
  std::vector<std::vector<Part>> parts_;  ///< per group: what is being added
};

}  // namespace sluice::fused
