#include "frontend/arch/arch_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/arch/component_reader.h"
#include "frontend/arch/network_ports.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

constexpr const char* kNodeTags = "!Memory, !Toll, !Container, !Network, !Compute and !Fork";

class ArchReader {
 public:
  ArchReader(ReadContext& context, std::vector<ArchExpression>& expressions)
      : context_(context), expressions_(expressions) {}

  std::optional<Arch> read(const YamlNode& node, const std::string& default_name) {
    const std::size_t before = context_.n_errors();
    MapReader map(context_, node, "an architecture");
    arch_.name =
        read_text(context_, map.optional("name"), "the architecture's name").value_or(default_name);
    read_clock(map.optional("clock"));
    const YamlNode* nodes = map.required("nodes");
    map.finish();
    if (nodes != nullptr) read_nodes(*nodes, std::nullopt);
    if (context_.n_errors() == before) check_ports();
    if (nodes != nullptr && !context_.has_errors() && computes_of(arch_).empty())
      context_.error(*nodes, "an architecture needs at least one !Compute");
    if (context_.n_errors() != before) return std::nullopt;
    return std::move(arch_);
  }

 private:
  void read_clock(const YamlNode* node) {
    constexpr double kSlow = 1e3;  // Hz; no machine has such a clock
    const auto clock = read_quantity(
        context_, node,
        {.what = "the clock", .dimensions = {Dimension{.second = -1}}, .zero = false});
    if (!clock) return;
    arch_.clock_hz = clock->value;
    if (clock->value < kSlow)
      context_.warning(*node, fmt::format("a clock of {} Hz", clock->value),
                       "a number without a unit is in Hz: write 1 GHz");
  }

  void read_nodes(const YamlNode& list, std::optional<ForkId> fork) {
    if (!list.is_sequence()) {
      context_.error(list, fmt::format("nodes must be a list, not {}", describe(list)));
      return;
    }
    for (const YamlPointer& node : list.items) {
      if (node->tag == "!Fork")
        read_fork(*node, fork);
      else
        read_node(*node, fork);
    }
  }

  void read_fork(const YamlNode& node, std::optional<ForkId> parent) {
    MapReader map(context_, node, "a !Fork");
    const YamlNode* nodes = map.required("nodes");
    map.finish();
    if (nodes != nullptr && nodes->is_sequence() && nodes->items.empty())
      context_.error(*nodes, "a !Fork needs at least one node");
    const ForkId fork(arch_.forks.size());
    arch_.forks.push_back({parent});
    if (nodes != nullptr) read_nodes(*nodes, fork);
  }

  void read_node(const YamlNode& node, std::optional<ForkId> fork) {
    if (!is_component_tag(node.tag)) {
      const std::string what =
          node.tag.empty() ? "a node without a tag" : "unknown tag " + node.tag;
      context_.error(
          node, fmt::format("{} in an architecture", what),
          did_you_mean(node.tag,
                       {"!Memory", "!Toll", "!Container", "!Network", "!Compute", "!Fork"},
                       fmt::format("nodes are {}", kNodeTags)));
      return;
    }
    auto component = read_component(context_, node, arch_.clock_hz, expressions_);
    if (!component) return;
    component->fork = fork;
    const auto [first, is_new] = names_.emplace(component->name, node.position.line);
    if (!is_new)
      context_.error(*node.find("name"),
                     fmt::format("two components are called '{}'", component->name),
                     fmt::format("the other one stands on line {}", first->second));
    if (component->is_network()) networks_.emplace_back(arch_.components.size(), &node);
    arch_.components.push_back(std::move(*component));
  }

  /// A network's nodes are the instances of the next component with a fanout on the way to a
  /// compute.
  void check_ports() {
    for (const auto& [network, node] : networks_) {
      const YamlNode* ports = node->find("ports");
      if (ports == nullptr) continue;
      std::set<std::vector<std::int64_t>> grids;
      for (const ComponentId compute : computes_of(arch_)) {
        const std::vector<ComponentId> path = path_to(arch_, compute);
        auto next = std::find(path.begin(), path.end(), ComponentId(network));
        if (next == path.end()) continue;
        while (next != path.end() && arch_[*next].spatial.empty()) ++next;
        std::vector<std::int64_t> grid;
        if (next != path.end())
          for (const SpatialDimension& dimension : arch_[*next].spatial)
            grid.push_back(dimension.fanout);
        grids.insert(std::move(grid));
      }
      for (const std::vector<std::int64_t>& grid : grids)
        check_network_ports(context_, *ports,
                            std::get<Network>(arch_.components[network].kind).ports, grid);
    }
  }

  ReadContext& context_;
  std::vector<ArchExpression>& expressions_;
  Arch arch_;
  std::map<std::string, int> names_;                               ///< with their lines
  std::vector<std::pair<std::size_t, const YamlNode*>> networks_;  ///< with their places in arch_
};

}  // namespace

std::optional<Arch> read_arch(ReadContext& context, const YamlNode& node,
                              const std::string& default_name,
                              std::vector<ArchExpression>& expressions) {
  return ArchReader(context, expressions).read(node, default_name);
}

}  // namespace sluice
