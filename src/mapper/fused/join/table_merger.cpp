#include "table_merger.h"

#include <algorithm>
#include <numeric>

#include "mapper/common/parallel.h"

namespace sluice::fused {
namespace {

constexpr std::size_t kGroups = 512;  // of a chunk: threads prune them apart

}  // namespace

TableMerger::TableMerger(const TileSearchContext& context,
                         const std::vector<CompiledTemplate>& compiled, const RowGroups& groups)
    : threads_(context.options->threads),
      front_(front_options(*context.options)),
      space_(*context.space),
      compiled_(compiled),
      groups_(groups),
      chunks_((groups.groups.size() + kGroups - 1) / kGroups),
      parts_(groups.groups.size()) {
  for (std::size_t c = 0; c < chunks_.size(); ++c)
    chunks_[c].end.assign(std::min(kGroups, parts_.size() - c * kGroups), 0);
}

void TableMerger::add(const std::vector<TemplateResult>& results) {
  std::vector<char> grows(chunks_.size(), 0);
  for (std::uint32_t t = 0; t < results.size(); ++t)
    for (std::uint32_t x = 0; x < results[t].exchanges.size(); ++x) {
      const std::uint32_t g = groups_.of_row[space_.skeleton_of[t]][results[t].exchanges[x].row];
      parts_[g].push_back({t, x});
      grows[g / kGroups] = 1;
    }
  parallel_for(threads_, chunks_.size(), [&](std::size_t c) {
    if (grows[c] == 0) return;
    chunks_[c] = merged(results, c);
    for (std::size_t g = c * kGroups; g < std::min(parts_.size(), (c + 1) * kGroups); ++g)
      parts_[g] = {};
  });
}

/// A chunk with what its groups get.
TableMerger::Chunk TableMerger::merged(const std::vector<TemplateResult>& results,
                                       std::size_t chunk) const {
  const Chunk& old = chunks_[chunk];
  Chunk all;
  std::size_t at = 0;
  const double* value = old.values.data();
  const std::uint32_t* states = old.states.data();
  for (std::size_t g = 0; g < old.end.size(); ++g) {
    const std::size_t group = chunk * kGroups + g, stride = groups_.groups[group].stride;
    PointSet points;
    points.dimension = stride;
    std::vector<std::pair<std::uint32_t, const std::uint32_t*>> sources;  // template, states
    const double* const begin = value;
    for (; at < old.end[g]; ++at, value += stride) {
      sources.emplace_back(old.templates[at], states);
      states += compiled_[old.templates[at]].classes.size();
    }
    points.values.assign(begin, value);
    for (const Part& part : parts_[group]) {
      const TemplateResult& result = results[part.templ];
      const PricedExchange& exchange = result.exchanges[part.exchange];
      const double* values = result.values.data() + exchange.values;
      points.values.insert(points.values.end(), values, values + exchange.count * stride);
      const std::size_t n_classes = compiled_[part.templ].classes.size();
      for (std::size_t i = 0; i < exchange.count; ++i)
        sources.emplace_back(part.templ, result.states.data() + exchange.states + i * n_classes);
    }
    std::vector<std::uint32_t> kept(sources.size());
    if (parts_[group].empty())
      std::iota(kept.begin(), kept.end(), 0U);
    else
      kept = worth_keeping(points, front_);
    for (std::uint32_t i : kept) {
      all.values.insert(all.values.end(), points.point(i), points.point(i) + stride);
      const auto& [templ, from] = sources[i];
      all.templates.push_back(templ);
      all.states.insert(all.states.end(), from, from + compiled_[templ].classes.size());
    }
    all.end.push_back(static_cast<std::uint32_t>(all.templates.size()));
  }
  return all;
}

void TableMerger::finish(PmappingTable* table) {
  table->groups = groups_.groups;
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    Chunk& chunk = chunks_[c];
    const std::vector<double>& values = table->values.emplace_back(std::move(chunk.values));
    std::vector<std::uint32_t>& numbers = table->numbers.emplace_back();
    numbers.reserve(2 * chunk.templates.size());
    auto state = static_cast<std::uint32_t>(table->states.size());
    const double* value = values.data();
    std::size_t at = 0;
    for (std::size_t g = 0; g < chunk.end.size(); ++g) {
      PmappingGroup& group = table->groups[c * kGroups + g];
      group.count = chunk.end[g] - at;
      group.values = value;
      value += group.count * group.stride;
      group.templates = numbers.data() + numbers.size();
      group.first_state = group.templates + group.count;
      numbers.insert(numbers.end(), chunk.templates.data() + at,
                     chunk.templates.data() + chunk.end[g]);
      for (; at < chunk.end[g]; ++at) {
        numbers.push_back(state);
        state += static_cast<std::uint32_t>(compiled_[chunk.templates[at]].classes.size());
      }
    }
    table->states.insert(table->states.end(), chunk.states.begin(), chunk.states.end());
    chunk = {};
  }
  // Groups that differ only in whose room their tensors lie have the same pmappings.
  for (std::size_t g = 0; g < table->groups.size(); ++g) {
    PmappingGroup& group = table->groups[g];
    const PmappingGroup& like = table->groups[groups_.like[g]];
    group.count = like.count;
    group.values = like.values;
    group.templates = like.templates;
    group.first_state = like.first_state;
  }
}

}  // namespace sluice::fused
