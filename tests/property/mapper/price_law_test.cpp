// What counts are charged as stands in one header (model/price/charges.h), for `evaluate`, batches
// and `fused`. So none of them can vouch for another: here all three are held against prices that
// the executor's counts have by the words of docs/model.md. tests/house/mutations.sh breaks that
// header line by line and expects each of the three tests below to fail.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sluice/frontend/load.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/template_evaluator.h"
#include "sluice/referee/execute.h"

namespace sluice {
namespace {

/// What an executed mapping costs by docs/model.md, where all instances of a component have equal
/// work: `instances` of each, 1 where nothing is said. Networks are buses that sums go up and
/// operands down: each value takes the one link once.
class ExecutedPrice {
 public:
  ExecutedPrice(const BoundProblem& problem, const Execution& run,
                const std::map<std::string, double>& instances)
      : problem_(problem), arch_(problem.arch), run_(run), instances_(instances) {
    for (std::size_t e = 0; e < problem.workload.einsums.size(); ++e) add(EinsumId(e));
  }
  double energy_j = 0, latency_s = 0;

 private:
  double instances_of(const Component& component) const {
    const auto at = instances_.find(component.name);
    return at == instances_.end() ? 1 : at->second;
  }

  void add(EinsumId einsum) {
    double slowest = 0;
    for (std::size_t c = 0; c < arch_.components.size(); ++c)
      slowest = std::max(slowest, std::holds_alternative<Network>(arch_.components[c].kind)
                                      ? cross(einsum, ComponentId(c))
                                      : call(einsum, ComponentId(c)));
    latency_s += slowest;
    for (std::size_t c = 0; c < arch_.components.size(); ++c) {
      const Component& component = arch_.components[c];
      const ComponentUse use{einsum, ComponentId(c)};
      if (!component.power_gated || std::binary_search(run_.uses.begin(), run_.uses.end(), use))
        energy_j += component.leak_power_w * instances_of(component) * slowest;
    }
  }

  double call(EinsumId einsum, ComponentId id) {
    const Component& component = arch_[id];
    std::map<std::string, double> seconds;
    for (const CountRow& row : run_.counts) {
      if (row.einsum != einsum || row.component != id) continue;
      for (const Action& action : component.actions) {
        if (action.name != row.action) continue;
        const double calls =
            row.tensor ? row.bits / action.bits_per_action : static_cast<double>(row.count);
        energy_j += whole(row, calls) * action.energy_j;
        seconds[row.action] += calls / action.throughput / instances_of(component);
      }
    }
    const Memory* memory = std::get_if<Memory>(&component.kind);
    double sum = 0, longest = 0;
    for (const auto& [action, time] : seconds) {
      sum += time;
      longest = std::max(longest, time);
    }
    return memory && memory->ports == Ports::kSeparate ? longest : sum;
  }

  /// Calls, rounded up at each instance that the executor saw where the memory says so.
  double whole(const CountRow& row, double calls) const {
    for (const InstanceUse& use : run_.instances) {
      if (use.einsum != row.einsum || use.component != row.component || use.tensor != row.tensor)
        continue;
      const auto instances = static_cast<double>(use.instances);
      return std::ceil(calls / instances - 1e-9) * instances;
    }
    return calls;
  }

  double cross(EinsumId einsum, ComponentId id) {
    const Network& network = std::get<Network>(arch_[id].kind);
    double down_bits = 0, up_bits = 0, waiting_s = 0;
    for (const NetworkCount& row : run_.networks) {
      if (row.einsum != einsum || row.component != id) continue;
      energy_j += row.bit_hops / network.bits_per_hop_energy * network.hop_energy_j;
      const bool up = problem_.workload[einsum].output().tensor == row.tensor;
      (up ? up_bits : down_bits) += row.bit_hops;
      const double queued =
          network.implicit_time == ImplicitTime::kReceivers ? row.volume_bits : row.bit_hops;
      waiting_s +=
          queued / static_cast<double>(network.channel_width_bits) * network.queue_latency_s;
      waiting_s += row.latency_hops * network.router_latency_s;
    }
    if (network.implicit_time == ImplicitTime::kNone) return 0;
    return std::max(down_bits, up_bits) / network.link_bandwidth + waiting_s;
  }

  const BoundProblem& problem_;
  const Arch& arch_;
  const Execution& run_;
  const std::map<std::string, double>& instances_;
};

/// K alone divides by the two cores: each sums half of it, and Main merges.
constexpr const char* kPricedProduct = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 3, K: 4, N: 5}
  einsums:
  - "Z[m,n] = A[m,k] * W[k,n]"
)yaml";
constexpr const char* kShallowProduct = R"yaml(workload:
  bits_per_value: {All: 8}
  rank_sizes: {M: 3, K: 2, N: 5}
  einsums:
  - "Z[m,n] = A[m,k] * W[k,n]"
)yaml";
constexpr const char* kPricedCopyAndProduct = R"yaml(workload:
  bits_per_value: {Other: 8, B: 4}
  rank_sizes: {M: 3, K: 4}
  einsums:
  - {einsum: "B[m,k] = A[m,k]", is_copy_operation: true}
  - "Z[m] = B[m,k] * W[k]"
)yaml";

struct Case {
  const char* name;
  const char* workload;
  std::string network;           ///< or nothing
  std::string cores;             ///< or nothing
  double main, buffer, compute;  ///< throughputs
  std::string buffer_keys = "";
  std::string main_keys = "";
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string main_of(const Case& c) {
  return fmt::format(
      "arch:\n  nodes:\n  - !Memory {{name: Main, size: inf, merging_reads: counted, {}leak_power: "
      "0.5, tensors: {{keep: ~Intermediates, may_keep: All}}, actions: [{{name: read, energy: 64, "
      "throughput: {}, bits_per_action: 3}}, {{name: write, energy: 32, throughput: {}, "
      "bits_per_action: 16}}]}}\n",
      c.main_keys, c.main, 2 * c.main);
}

std::string text_of(const Case& c) {
  return c.workload + main_of(c) + c.network + c.cores +
         fmt::format(
             "  - !Memory {{name: Buffer, size: 200, ports: separate, leak_power: 0.25, "
             "power_gated: true, {}actions: [{{name: read, energy: 4, throughput: {}}}, {{name: "
             "write, energy: 2, throughput: {}, bits_per_action: 4}}]}}\n  - !Memory {{name: Idle, "
             "size: inf, leak_power: 9, power_gated: true, tensors: {{keep: Nothing}}, actions: "
             "[{{name: read, energy: 0, throughput: 64}}, {{name: write, energy: 0, throughput: "
             "64}}]}}\n  - !Compute {{name: MAC, leak_power: 0.125, actions: [{{name: compute, "
             "energy: 1, throughput: {}}}]}}\n",
             c.buffer_keys, c.buffer, 0.75 * c.buffer, c.compute);
}

constexpr const char* kCores =
    "  - !Container {name: Core, spatial: [{name: x, fanout: 2, may_reuse: Nothing, min_usage: "
    "1}]}\n";

/// The network adds the sums of both cores up.
constexpr const char* kReducingCores =
    "  - !Container {name: Core, spatial: [{name: x, fanout: 2, may_reuse: All, min_usage: 1}]}\n";

std::string bus(const std::string& keys) {
  return "  - !Network {name: Wires, topology: bus, returning_sums: free, hop_energy: 3, "
         "bits_per_hop_energy: 4, leak_power: 0.5, power_gated: true, " +
         keys + "}\n";
}

std::vector<Case> cases() {
  constexpr double kFast = 1e6;
  const std::string keep = "tensors: {keep: All}, ";
  return {
      {"main", kPricedProduct, "", kCores, 1, kFast, kFast, keep},
      {"buffer", kPricedProduct, "", kCores, kFast, 1, kFast, keep},
      {"compute", kPricedProduct, "", kCores, kFast, kFast, 1, keep},
      {"downlink", kPricedProduct, bus("link_bandwidth: 0.25"), kCores, kFast, kFast, kFast, keep},
      {"uplink", kShallowProduct, bus("link_bandwidth: 0.25"), kCores, kFast, kFast, kFast, keep},
      {"queues", kPricedProduct, bus("link_bandwidth: inf, channel_width: 4, queue_latency: 2"),
       kReducingCores, kFast, kFast, kFast, keep},
      {"once", kPricedProduct,
       bus("link_bandwidth: 1, channel_width: 4, queue_latency: 2, implicit_time: once"),
       kReducingCores, kFast, kFast, kFast, keep},
      {"routers", kPricedProduct, bus("link_bandwidth: 1, router_latency: 3"), kCores, kFast, kFast,
       kFast, keep},
      {"untimed", kPricedProduct, bus("link_bandwidth: 1, implicit_time: none"), kCores, 1, kFast,
       kFast, keep},
      {"whole", kPricedProduct, "", kCores, 1, kFast, kFast, keep + "partial_actions: whole, ",
       "partial_actions: whole, "},
      {"copy", kPricedCopyAndProduct, "", "", 1, 0.5, kFast, "tensors: {keep: ~Main}, "},
  };
}

class PriceLaw : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto specs = load_specs_from_text({{"problem.yaml", text_of(GetParam())}}, {});
    ASSERT_TRUE(specs.has_value()) << to_string(specs.error().front());
    problem_ = *bind(*specs->workload, *specs->arch);
    MapperOptions options;
    options.objectives = {Objective::kEdp};
    const auto answer = run_mapper(*standard_mappers().find("fused"), problem_, options, {});
    ASSERT_TRUE(answer.has_value()) << answer.error().reason;
    found_ = answer->mappings.front();
    run_ = execute(problem_.workload, problem_.arch, found_.mapping);
    ASSERT_TRUE(run_.is_legal()) << run_.complaints.front().message;
  }

  void expect_executed_price(double energy_j, double latency_s) const {
    const double cores = GetParam().cores.empty() ? 1 : 2;
    const ExecutedPrice price(problem_, run_, {{"Buffer", cores}, {"Idle", cores}, {"MAC", cores}});
    EXPECT_NEAR(energy_j, price.energy_j, 1e-9 * price.energy_j) << text();
    EXPECT_NEAR(latency_s, price.latency_s, 1e-9 * price.latency_s) << text();
  }
  std::string text() const { return to_yaml(found_.mapping, problem_.workload, problem_.arch); }

  BoundProblem problem_;
  MappedResult found_;
  Execution run_;
};

TEST_P(PriceLaw, HoldsForEvaluate) {
  const auto cost = evaluate(problem_, found_.mapping);
  ASSERT_TRUE(cost.has_value());
  expect_executed_price(cost->energy_j, cost->latency_s);
}

TEST_P(PriceLaw, HoldsForBatches) {
  std::vector<std::int64_t> shapes;
  const std::function<void(const NodeList&)> collect = [&](const NodeList& nodes) {
    for (const Node& node : nodes) {
      if (const auto* loop = std::get_if<TemporalNode>(&node.kind))
        shapes.push_back(loop->tile_shape);
      if (const auto* loop = std::get_if<SpatialNode>(&node.kind))
        shapes.push_back(loop->tile_shape);
      if (const auto* split = std::get_if<SplitNode>(&node.kind))
        for (const NodeList& child : split->children) collect(child);
    }
  };
  collect(found_.mapping.nodes);
  TemplateEvaluator evaluator(problem_, found_.mapping);
  ASSERT_EQ(shapes.size(), evaluator.n_loops());
  const std::size_t n = shapes.size();
  for (int copy = 0; copy < 4; ++copy)  // the first one has no program yet
    shapes.insert(shapes.end(), shapes.begin(), shapes.begin() + static_cast<std::ptrdiff_t>(n));
  for (const VariantCost& cost : evaluator.price(shapes))
    expect_executed_price(cost.energy_j, cost.latency_s);
}

// The search throws where its compiled cost is not what it reports; of whole actions it has none,
// and reports what the model says.
TEST_P(PriceLaw, HoldsForFused) {
  expect_executed_price(found_.cost.energy_j, found_.cost.latency_s);
}

INSTANTIATE_TEST_SUITE_P(All, PriceLaw, ::testing::ValuesIn(cases()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace sluice
