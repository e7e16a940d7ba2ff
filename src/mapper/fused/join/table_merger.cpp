#include "table_merger.h"

#include <algorithm>

#include "mapper/common/parallel.h"
#include "mapper/fused/tiles/front.h"

namespace sluice::fused {
namespace {

class TableMerger {
 public:
  TableMerger(const TileSearchContext& context, const RowGroups& groups, PmappingTable* table)
      : threads_(context.options->threads),
        front_(front_options(*context.options)),
        space_(*context.space),
        groups_(groups),
        table_(*table) {
    table_.groups = groups_.groups;
    parts_.resize(table_.groups.size());
  }

  void merge(const std::vector<TemplateResult>& results,
             const std::vector<CompiledTemplate>& compiled) {
    for (std::uint32_t t = 0; t < results.size(); ++t)
      for (std::uint32_t x = 0; x < results[t].exchanges.size(); ++x)
        parts_[groups_.of_row[space_.skeleton_of[t]][results[t].exchanges[x].row]].push_back(
            {t, x});
    // In chunks of groups, which threads prune apart and put down in order.
    constexpr std::size_t kChunk = 512;
    const std::size_t n_chunks = (parts_.size() + kChunk - 1) / kChunk;
    table_.values.resize(n_chunks);
    table_.numbers.resize(n_chunks);
    std::vector<std::vector<std::uint32_t>> states(n_chunks);
    parallel_for(threads_, n_chunks, [&](std::size_t chunk) {
      const std::size_t last = std::min(parts_.size(), (chunk + 1) * kChunk);
      std::vector<std::size_t> first_value, first_number;
      for (std::size_t g = chunk * kChunk; g < last; ++g) {
        first_value.push_back(table_.values[chunk].size());
        first_number.push_back(table_.numbers[chunk].size());
        prune_group(results, compiled, g, chunk, &states[chunk]);
      }
      for (std::size_t g = chunk * kChunk; g < last; ++g) {
        PmappingGroup& group = table_.groups[g];
        const std::size_t at = g - chunk * kChunk;
        group.values = table_.values[chunk].data() + first_value[at];
        group.templates = table_.numbers[chunk].data() + first_number[at];
        group.first_state = group.templates + group.count;
      }
    });
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
      const auto before = static_cast<std::uint32_t>(table_.states.size());
      table_.states.insert(table_.states.end(), states[chunk].begin(), states[chunk].end());
      const std::size_t last = std::min(parts_.size(), (chunk + 1) * kChunk);
      for (std::size_t g = chunk * kChunk; g < last; ++g) {
        const PmappingGroup& group = table_.groups[g];
        const std::ptrdiff_t first = group.first_state - table_.numbers[chunk].data();
        for (std::size_t i = 0; i < group.count; ++i)
          table_.numbers[chunk][static_cast<std::size_t>(first) + i] += before;
      }
    }
  }

  /// Groups that differ only in whose room their tensors lie have the same pmappings.
  void share_pmappings() {
    for (std::size_t g = 0; g < table_.groups.size(); ++g) {
      PmappingGroup& group = table_.groups[g];
      const PmappingGroup& like = table_.groups[groups_.like[g]];
      group.count = like.count;
      group.values = like.values;
      group.templates = like.templates;
      group.first_state = like.first_state;
    }
  }

 private:
  struct Part {
    std::uint32_t templ, exchange;
  };

  /// Gathers a group from its templates and puts what is worth keeping at the end of its chunk:
  /// values, then templates and places of its states.
  void prune_group(const std::vector<TemplateResult>& results,
                   const std::vector<CompiledTemplate>& compiled, std::size_t g, std::size_t chunk,
                   std::vector<std::uint32_t>* states) {
    PmappingGroup& group = table_.groups[g];
    PointSet points;
    points.dimension = group.stride;
    std::vector<std::pair<std::uint32_t, const std::uint32_t*>> sources;  // template, states
    for (const Part& part : parts_[g]) {
      const TemplateResult& result = results[part.templ];
      const PricedExchange& exchange = result.exchanges[part.exchange];
      const double* values = result.values.data() + exchange.values;
      points.values.insert(points.values.end(), values, values + exchange.count * group.stride);
      const std::size_t n_classes = compiled[part.templ].classes.size();
      for (std::size_t i = 0; i < exchange.count; ++i)
        sources.emplace_back(part.templ, result.states.data() + exchange.states + i * n_classes);
    }
    const std::vector<std::uint32_t> kept = worth_keeping(points, front_);
    group.count = kept.size();
    std::vector<std::uint32_t>& numbers = table_.numbers[chunk];
    for (std::uint32_t i : kept) {
      table_.values[chunk].insert(table_.values[chunk].end(), points.point(i),
                                  points.point(i) + group.stride);
      numbers.push_back(sources[i].first);
    }
    for (std::uint32_t i : kept) {
      numbers.push_back(static_cast<std::uint32_t>(states->size()));
      const auto& [templ, from] = sources[i];
      states->insert(states->end(), from, from + compiled[templ].classes.size());
    }
  }

  const int threads_;
  const FrontOptions front_;
  const ExchangeSpace& space_;
  const RowGroups& groups_;
  PmappingTable& table_;
  std::vector<std::vector<Part>> parts_;  // per group
};

}  // namespace

void merge_results(const TileSearchContext& context, const std::vector<TemplateResult>& results,
                   const std::vector<CompiledTemplate>& compiled, const RowGroups& groups,
                   PmappingTable* table) {
  TableMerger merger(context, groups, table);
  merger.merge(results, compiled);
  merger.share_pmappings();
}

}  // namespace sluice::fused
