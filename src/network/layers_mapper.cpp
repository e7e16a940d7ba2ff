#include "sluice/network/layers_mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <limits>
#include <numeric>

#include "compose.h"
#include "homes.h"
#include "sluice/arch/outermost_memory.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "sluice/network/layer_graph.h"
#include "sluice/support/error.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

using MapperOutcome = tl::expected<MapperResult, NoMapping>;
using Clock = std::chrono::steady_clock;

/// Einsums that one search takes as a whole without a budget, and with a mapping late.
constexpr std::size_t kManyForOneSearch = 512;
constexpr std::size_t kManyToBeginWith = 64;

/// Every word of the architecture: its expressions may name tensors.
std::set<std::string> words_of(const Arch& arch) {
  std::set<std::string> words;
  std::string word;
  for (const char c : to_yaml(arch) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
  return words;
}

LayerGraph graph_of(const BoundProblem& problem) {
  const std::set<std::string> words = words_of(problem.arch);
  return layer_graph(problem.workload, layer_starts(problem.workload, words), words);
}

std::string counted(std::size_t n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string text_of(const LayerGraph& graph) {
  return fmt::format("{} of {}", counted(graph.layers.size(), "layer"),
                     counted(graph.shapes.size(), "shape"));
}

class LayerSearch {
 public:
  LayerSearch(const BoundProblem& problem, LayerGraph graph, const MapperOptions& options,
              const MapperControl& control)
      : problem_(problem), graph_(std::move(graph)), options_(options), control_(control) {}

  MapperOutcome run() {
    for (std::size_t shape = 0; shape < graph_.shapes.size(); ++shape)
      if (auto no = map_shape(shape)) return tl::make_unexpected(std::move(*no));
    return join();
  }

 private:
  /// Its share of what is left of a budget: as its part of the Einsums of all shapes that are left.
  double share_of(std::size_t shape) const {
    double all = 0;
    for (std::size_t s = shape; s < graph_.shapes.size(); ++s)
      all += static_cast<double>(graph_.shapes[s].workload.einsums.size());
    return static_cast<double>(graph_.shapes[shape].workload.einsums.size()) / all;
  }

  MapperOptions options_of(std::size_t shape, const BoundProblem& part) const {
    constexpr double kForTheWhole = 0.03;  // of a budget: to compose and to evaluate
    MapperOptions options = options_;
    options.explore_einsum_orders = false;
    if (options.budget_seconds) {
      const std::chrono::duration<double> gone = Clock::now() - begin_;
      const double left = *options.budget_seconds * (1 - kForTheWhole) - gone.count();
      options.budget_seconds = std::max(left, 0.0) * share_of(shape);
    }
    if (options.budget_evaluations)
      options.budget_evaluations = std::max(
          1.0, (*options.budget_evaluations - result_.search.mappings_evaluated) * share_of(shape));
    homes_.constrain(shape, part, &options.constraints);
    return options;
  }

  MapperControl control_of(std::size_t shape) const {
    MapperControl control;
    control.cancel = control_.cancel;
    control.leftovers = control_.leftovers;
    if (control_.progress)
      control.progress = [this, shape](const std::string& phase, double fraction) {
        const auto n = static_cast<double>(graph_.shapes.size());
        control_.progress(fmt::format("shape {} of {}: {}", shape + 1, graph_.shapes.size(), phase),
                          (static_cast<double>(shape) + fraction) / n);
      };
    return control;
  }

  std::optional<NoMapping> map_shape(std::size_t shape) {
    const LayerShape& layer = graph_.shapes[shape];
    auto part = bind(layer.workload, problem_.arch, problem_.algorithms);
    SLUICE_CHECK(part.has_value(), "a layer of a workload that was bound does not bind");
    homes_.reserve(shape, &*part);
    const MapperOptions options = options_of(shape, *part);
    const Mapper* mapper = default_mapper(*part, options).mapper;
    auto found = run_mapper(*mapper, *part, options, control_of(shape));
    if (!found && !found.error().proven && (options.budget_seconds || options.budget_evaluations)) {
      mapper = all_mappers().find("random");
      if (auto first = first_mapping(*mapper, *part, options, shape)) found = std::move(first);
    }
    if (!found) return no_mapping(layer, std::move(found.error()));
    if (found->mappings.empty()) {
      result_.cancelled = true;
      mappings_.emplace_back();
      return std::nullopt;
    }
    take(*mapper, *found);
    mappings_.push_back(std::move(found->mappings.front().mapping));
    return std::nullopt;
  }

  /// Where the share of a budget has ended without a mapping: a few that are drawn, or nothing.
  MapperOutcome first_mapping(const Mapper& random, const BoundProblem& part, MapperOptions options,
                              std::size_t shape) const {
    constexpr double kFew = 16;
    options.budget_seconds.reset();
    options.budget_evaluations = kFew;
    MapperOutcome found = run_mapper(random, part, options, control_of(shape));
    if (found && !found->mappings.empty()) found->search.ended_by = "budget";
    return found;
  }

  /// In the ids of the whole.
  NoMapping no_mapping(const LayerShape& shape, NoMapping no) const {
    const Layer& layer = graph_.layers[shape.first_layer];
    if (no.einsum) no.einsum = EinsumId(layer.first + no.einsum->index());
    for (TensorId& tensor : no.tensors) tensor = layer.tensors[tensor.index()];
    no.reason = fmt::format("the layer from {} to {}: {}", shape.workload.einsums.front().name,
                            shape.workload.einsums.back().name, no.reason);
    no.proven = false;  // of the whole, which may exchange on chip
    return no;
  }

  void take(const Mapper& mapper, const MapperResult& found) {
    SearchStatistics& all = result_.search;
    all.threads = found.search.threads;
    all.mappings_considered += found.search.mappings_considered;
    all.mappings_evaluated += found.search.mappings_evaluated;
    all.pmappings_kept += found.search.pmappings_kept;
    knows_distinct_ &= found.search.distinct_einsums > 0;
    all.distinct_einsums =
        knows_distinct_ ? all.distinct_einsums + found.search.distinct_einsums : 0;
    if (all.ended_by.empty()) all.ended_by = found.search.ended_by;
    result_.cancelled |= found.cancelled;
    n_optimal_ += found.guarantee.kind == GuaranteeKind::kOptimal ? 1 : 0;
    if (std::find(mappers_.begin(), mappers_.end(), mapper.name()) == mappers_.end())
      mappers_.push_back(mapper.name());
    for (const SpaceLimit& limit : found.guarantee.leaves_out)
      if (std::find(limits_.begin(), limits_.end(), limit) == limits_.end())
        limits_.push_back(limit);
  }

  MapperOutcome join() {
    result_.guarantee = guarantee();
    result_.search.seconds = seconds_since(begin_);
    if (std::any_of(mappings_.begin(), mappings_.end(), [](const auto& m) { return !m; }))
      return std::move(result_);
    std::vector<const Mapping*> mappings;
    for (const auto& mapping : mappings_) mappings.push_back(&*mapping);
    Mapping whole = compose(graph_, mappings, *outermost_memory(problem_.arch), homes_.inner());
    auto cost = evaluate(problem_, whole, options_.policy);
    if (!cost) return tl::make_unexpected(illegal(cost.error()));
    if (control_.incumbent != nullptr)
      control_.incumbent->offer(objective_value(options_.objectives.front(), *cost),
                                {whole, *cost});
    result_.mappings.push_back({std::move(whole), std::move(*cost)});
    return std::move(result_);
  }

  Guarantee guarantee() const {
    Guarantee guarantee;
    guarantee.kind = GuaranteeKind::kGap;
    guarantee.bound = objective_bound(options_.objectives.front(), concurrent_bounds(problem_));
    if (!(guarantee.bound > 0)) guarantee.kind = GuaranteeKind::kNone;
    guarantee.space =
        fmt::format("{} that exchange in {}, each alone by {} ({} of {} proven optimal there)",
                    text_of(graph_), problem_.arch[*outermost_memory(problem_.arch)].name,
                    fmt::join(mappers_, ", "), n_optimal_, graph_.shapes.size());
    guarantee.leaves_out = {
        {"exchanges between layers", "tensors that layers exchange in a memory further in"},
        {"other layers", "other cuts into layers, and equal layers with mappings of their own"}};
    guarantee.leaves_out.insert(guarantee.leaves_out.end(), limits_.begin(), limits_.end());
    return guarantee;
  }

  static NoMapping illegal(const std::vector<Violation>& violations) {
    NoMapping no;
    no.reason = "the mappings of the layers are not legal together";
    if (!violations.empty()) {
      no.reason += ": " + violations.front().message;
      no.memory = violations.front().component;
      no.einsum = violations.front().einsum;
      no.tensors = violations.front().tensors;
      no.excess_bits = violations.front().excess_bits;
    }
    no.nearest_relaxation = "another mapper";
    no.proven = false;
    return no;
  }

  const BoundProblem& problem_;
  LayerGraph graph_;
  const MapperOptions& options_;
  const MapperControl& control_;
  Clock::time_point begin_ = Clock::now();
  Homes homes_{problem_, &graph_};
  std::vector<std::optional<Mapping>> mappings_;  ///< by shape; none where the search was cancelled
  MapperResult result_;
  std::size_t n_optimal_ = 0;
  bool knows_distinct_ = true;
  std::vector<std::string> mappers_;
  std::vector<SpaceLimit> limits_;
};

}  // namespace

std::string LayersMapper::description() const {
  return "cuts a network into layers, maps equal ones once, and joins them in the outermost memory";
}

std::optional<UnpricedPart> LayersMapper::unpriced(const BoundProblem& problem,
                                                   const MapperOptions& options) const {
  if (options.objectives.size() > 1 || options.resource_usage)
    return UnpricedPart{"several objectives at once", "--objective", "one objective"};
  if (options.top > 1) return UnpricedPart{"several mappings", "--top", "--top 1"};
  if (options.constraints != Constraints{})
    return UnpricedPart{"constraints", "--constraints", "no constraints"};
  const auto memory = outermost_memory(problem.arch);
  if (!memory) return UnpricedPart{"architectures without a memory", problem.arch.name, "a memory"};
  return default_mapper(problem, options).mapper->unpriced(problem, options);  // as of each layer
}

MapperOutcome LayersMapper::map(const BoundProblem& problem, const MapperOptions& options,
                                const MapperControl& control) const {
  LayerGraph graph = graph_of(problem);
  if (graph.layers.size() > 1)
    return LayerSearch(problem, std::move(graph), options, control).run();
  return run_mapper(*default_mapper(problem, options).mapper, problem, options, control);
}

const MapperRegistry& all_mappers() {
  static const MapperRegistry table = [] {
    MapperRegistry mappers = standard_mappers();
    mappers.emplace<LayersMapper>();
    return mappers;
  }();
  return table;
}

MapperChoice default_network_mapper(const BoundProblem& problem, const MapperOptions& options) {
  const MapperChoice whole = default_mapper(problem, options, all_mappers());
  const Mapper* layers = all_mappers().find("layers");
  if (problem.einsums.size() <= kManyToBeginWith || options.explore_einsum_orders ||
      refused_request(*layers, problem, options, all_mappers()))
    return whole;
  const LayerGraph graph = graph_of(problem);
  if (graph.shapes.size() == graph.layers.size()) return whole;
  const std::string reason =
      fmt::format("{} Einsums in {}", problem.einsums.size(), text_of(graph));
  const bool is_huge = problem.einsums.size() > kManyForOneSearch;
  const bool goes_on = whole.mapper->wants_walks() && !options.budget_evaluations;
  if (!goes_on && !is_huge && !options.budget_seconds) return whole;
  if (!goes_on || (is_huge && !options.budget_seconds)) return {layers, reason};
  const std::string why_not_fused = whole.reason.empty() ? "" : whole.reason + "; ";
  return {whole.mapper, fmt::format("{}begins with {} by layers", why_not_fused, reason), layers,
          whole.then};
}

}  // namespace sluice
