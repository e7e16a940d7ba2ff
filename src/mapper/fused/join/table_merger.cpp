#include "table_merger.h"

#include <algorithm>
#include <unordered_map>

#include "mapper/common/key_hash.h"
#include "mapper/common/parallel.h"
#include "mapper/fused/tiles/front.h"
#include "mapper/space/compatibility.h"

namespace sluice::fused {
namespace {

class TableMerger {
 public:
  TableMerger(const TileSearchContext& context, PmappingTable* table)
      : problem_(*context.problem),
        shape_(*context.shape),
        threads_(context.options->threads),
        front_(front_options(*context.options)),
        space_(*context.space),
        n_tracked_(context.tracked->size()),
        table_(*table) {
    for (const ExchangeSpace::Skeleton& skeleton : space_.skeletons)
      group_of_row_.emplace_back(skeleton.n_rows, -1);
  }

  void merge(const std::vector<TemplateResult>& results,
             const std::vector<CompiledTemplate>& compiled) {
    for (std::uint32_t t = 0; t < results.size(); ++t)
      for (std::uint32_t x = 0; x < results[t].exchanges.size(); ++x) {
        const std::size_t g = group_of(space_.skeleton_of[t], results[t].exchanges[x].row, t);
        if (parts_.size() <= g) parts_.resize(g + 1);
        parts_[g].push_back({t, x});
      }
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

  /// Groups for every case of which tensors lie in the room of persistent copies that the Einsum
  /// does not use, with the same pmappings.
  void tell_kept_apart() {
    const std::size_t n_groups = table_.groups.size();
    for (std::size_t g = 0; g < n_groups; ++g) {
      auto ways = kept_in_other_ways(shape_, table_.groups[g].compatibility.backings);
      table_.groups[g].compatibility.backings = std::move(ways.front());
      for (std::size_t w = 1; w < ways.size(); ++w) {
        PmappingGroup kept = table_.groups[g];
        kept.compatibility.backings = std::move(ways[w]);
        table_.groups.push_back(std::move(kept));
      }
    }
  }

  /// Rows with a pmapping, per skeleton.
  std::vector<std::vector<char>> priced_rows() const {
    std::vector<std::vector<char>> priced;
    for (const std::vector<std::int64_t>& rows : group_of_row_) {
      std::vector<char>& own = priced.emplace_back();
      for (std::int64_t group : rows) own.push_back(group >= 0);
    }
    return priced;
  }

 private:
  struct Part {
    std::uint32_t templ, exchange;
  };

  std::size_t group_of(std::uint32_t k, std::uint32_t row, std::uint32_t t) {
    std::int64_t& at = group_of_row_[k][row];
    if (at < 0) {
      Compatibility compatibility =
          compatibility_of(problem_, shape_, table_.templates[t], space_.skeletons[k].row(row));
      const auto [known, is_new] =
          index_.try_emplace(compatibility_key(compatibility), table_.groups.size());
      at = static_cast<std::int64_t>(known->second);
      if (is_new) {
        PmappingGroup& group = table_.groups.emplace_back();
        group.stride = 2 + n_tracked_ * (compatibility.loops.size() + 1) + n_tracked_;
        group.compatibility = std::move(compatibility);
        group.compatibility.loops.shrink_to_fit();  // there may be hundreds of thousands of groups
        group.compatibility.backings.shrink_to_fit();
      }
    }
    return static_cast<std::size_t>(at);
  }

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

  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const int threads_;
  const FrontOptions front_;
  const ExchangeSpace& space_;
  const std::size_t n_tracked_;
  PmappingTable& table_;
  std::vector<std::vector<std::int64_t>> group_of_row_;  // per skeleton and row, -1: none
  std::vector<std::vector<Part>> parts_;                 // per group
  std::unordered_map<std::vector<std::int64_t>, std::size_t, KeyHash> index_;
};

}  // namespace

std::vector<std::vector<char>> merge_results(const TileSearchContext& context,
                                             const std::vector<TemplateResult>& results,
                                             const std::vector<CompiledTemplate>& compiled,
                                             PmappingTable* table) {
  TableMerger merger(context, table);
  merger.merge(results, compiled);
  merger.tell_kept_apart();
  return merger.priced_rows();
}

}  // namespace sluice::fused
