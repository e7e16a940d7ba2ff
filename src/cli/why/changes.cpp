#include "changes.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sluice/frontend/load.h"
#include "support/yaml_text.h"

namespace sluice::cli {
namespace {

constexpr double kTwice = 2;

class Doublings {
 public:
  explicit Doublings(const BoundProblem& problem) : problem_(problem) {}

  std::vector<ShadowPrice> all() {
    for (std::size_t c = 0; c < problem_.arch.components.size(); ++c) {
      id_ = ComponentId(c);
      const Component& component = problem_.arch.components[c];
      add_throughput(component);
      if (const auto* memory = std::get_if<Memory>(&component.kind)) add_size(*memory);
      for (const SpatialDimension& dimension : component.spatial) add_fanout(dimension);
    }
    return std::move(doublings_);
  }

 private:
  ShadowPrice doubling_of(Resource resource) const {
    ShadowPrice doubling;
    doubling.component = id_;
    doubling.resource = resource;
    return doubling;
  }

  std::string path_of(const std::string& field) const {
    return fmt::format("arch.{}.{}", problem_.arch[id_].name, field);
  }

  static bool is_limited(double throughput) { return std::isfinite(throughput) && throughput > 0; }

  /// Actions without a limit need none; one number only where all have the same.
  void add_throughput(const Component& component) {
    ShadowPrice doubling = doubling_of(Resource::kThroughput);
    const auto add = [&](const std::string& field, double throughput) {
      if (!is_limited(throughput)) return;
      const bool is_same = doubling.settings.empty() || doubling.from == throughput;
      doubling.from = is_same ? std::optional(throughput) : std::nullopt;
      doubling.settings.emplace_back(path_of(field), yaml_number(kTwice * throughput));
    };
    for (const Action& action : component.actions)
      add(action.name + ".throughput", action.throughput);
    if (const auto* network = std::get_if<Network>(&component.kind))
      add("link_bandwidth", network->link_bandwidth);
    if (doubling.from) doubling.to = kTwice * *doubling.from;
    if (!doubling.settings.empty()) doublings_.push_back(std::move(doubling));
  }

  /// Finite for one Einsum at least.
  void add_size(const Memory& memory) {
    double least = std::numeric_limits<double>::infinity();
    for (const BoundEinsum& einsum : problem_.einsums)
      least = std::min(least, einsum.components[id_.index()].size_bits);
    if (std::isinf(least)) return;
    ShadowPrice doubling = doubling_of(Resource::kSize);
    doubling.from = memory.size_bits.constant();
    if (doubling.from) doubling.to = kTwice * *doubling.from;
    doubling.settings = {
        {path_of("size"), doubling.to ? yaml_number(*doubling.to)
                                      : yaml_scalar(fmt::format("{} * ({})", kTwice,
                                                                memory.size_bits.to_string()))}};
    doublings_.push_back(std::move(doubling));
  }

  void add_fanout(const SpatialDimension& dimension) {
    if (dimension.fanout > std::numeric_limits<std::int64_t>::max() / 2) return;
    ShadowPrice doubling = doubling_of(Resource::kFanout);
    doubling.dimension = dimension.name;
    doubling.from = static_cast<double>(dimension.fanout);
    doubling.to = static_cast<double>(2 * dimension.fanout);
    doubling.settings = {
        {path_of(dimension.name + ".fanout"), std::to_string(2 * dimension.fanout)}};
    doublings_.push_back(std::move(doubling));
  }

  const BoundProblem& problem_;
  ComponentId id_{0};
  std::vector<ShadowPrice> doublings_;
};

}  // namespace

std::vector<ShadowPrice> doublings(const BoundProblem& problem) { return Doublings(problem).all(); }

Result<BoundProblem> with_doubled(const BoundProblem& problem, const ShadowPrice& doubling) {
  LoadOptions options;
  options.variables = {doubling.settings.begin(), doubling.settings.end()};
  const NamedText text{"specs", to_yaml(problem.workload) + to_yaml(problem.arch)};
  const Result<Specs> specs = load_specs_from_text({text}, options);
  if (!specs) return tl::make_unexpected(specs.error());
  return bind(*specs->workload, *specs->arch, problem.algorithms);
}

}  // namespace sluice::cli
