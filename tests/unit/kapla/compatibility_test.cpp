// What counts otherwise without `--compat kapla`: what docs/networks.md lists, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sluice/kapla/evaluate.h"
#include "sluice/kapla/scheme_text.h"
#include "support/folders.h"
#include "support/run_program.h"

namespace sluice::kapla {
namespace {

using Columns = std::set<std::string>;

/// The schemes of one run of repro/kapla/sample.
struct SampleRun {
  Run run;
  std::vector<Scheme> schemes;
  const NetworkLayer& layer_of(const Scheme& scheme) const {
    return run.network.layers[*find_layer(run.network, scheme.layer)];
  }
};

std::vector<SampleRun> sample() {
  const auto folder = testing::repository_dir() / "repro" / "kapla" / "sample";
  const auto table =
      RunTable::read(testing::read_text((folder / "runs.csv").string()), "runs.csv", true).value();
  std::istringstream lines(testing::read_text((folder / "schemes.jsonl").string()));
  std::vector<SampleRun> runs;
  for (std::string line; std::getline(lines, line);) {
    const Scheme scheme = read_scheme(line, {}).value();
    if (runs.empty() || runs.back().run.name != scheme.run)
      runs.push_back({table.find(scheme.run, {}).value(), {}});
    runs.back().schemes.push_back(scheme);
  }
  return runs;
}

std::vector<SchemeCost> priced(const SampleRun& of, const Compatibility& compatibility) {
  Run run = of.run;
  run.compatibility = compatibility;
  return evaluate_schemes(run, of.schemes).value();
}

/// Names of what differs; the cost follows from it.
Columns differences(const SchemeCost& a, const SchemeCost& b) {
  Columns found;
  const auto compare = [&](const std::string& name, const auto& left, const auto& right) {
    if (left != right) found.insert(name);
  };
  compare("size", a.size, b.size);
  compare("fetch", a.fetch, b.fetch);
  compare("remote", a.remote_buffer, b.remote_buffer);
  compare("hops", a.hops, b.hops);
  compare("node hops", a.node_hops, b.node_hops);
  compare("operations", a.operations, b.operations);
  compare("array cycles", a.array_cycles, b.array_cycles);
  compare("bus cycles", a.bus_cycles, b.bus_cycles);
  compare("DRAM cycles", a.dram_cycles, b.dram_cycles);
  for (const Operand operand : {kWeights, kInput, kOutput}) {
    const std::string of = operand == kWeights ? " W" : operand == kInput ? " I" : " O";
    compare("registers" + of, a.access[kRegisters][operand], b.access[kRegisters][operand]);
    for (const Memory memory : {kDram, kGlobalBuffer, kArrayBus})
      compare("words" + of, a.access[memory][operand], b.access[memory][operand]);
  }
  return found;
}

struct Switch {
  const char* name;
  bool Compatibility::*is_on;
  /// Layers that it is about, and what it may change there.
  std::function<bool(const SampleRun&, const NetworkLayer&)> concerns;
  Columns changes;
};

bool is_gradient(const NetworkLayer& layer, LayerKind kind) {
  return layer.kind == kind && layer.gradient != Gradient::kNone;
}

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all = {
      {"floor_dram_words",
       &Compatibility::floor_dram_words,
       [](const SampleRun&, const NetworkLayer&) { return true; },
       {"DRAM cycles"}},
      {"window_unit_time",
       &Compatibility::window_unit_time,
       [](const SampleRun& of, const NetworkLayer&) {
         return of.run.mapping == ArrayMapping::kRowStationary;
       },
       {"array cycles"}},
      {"one_operand_eltwise",
       &Compatibility::one_operand_eltwise,
       [](const SampleRun&, const NetworkLayer& layer) { return operands(layer) > 1; },
       {"words I", "words O", "bus cycles", "DRAM cycles"}},
      {"depthwise_backward_unswapped",
       &Compatibility::depthwise_backward_unswapped,
       [](const SampleRun&, const NetworkLayer& layer) {
         return is_gradient(layer, LayerKind::kDepthwise);
       },
       {"words I", "words O", "bus cycles", "DRAM cycles"}},
      {"searched_pool_unswapped",
       &Compatibility::searched_pool_unswapped,
       [](const SampleRun&, const NetworkLayer& layer) {
         return is_gradient(layer, LayerKind::kPool);
       },
       {"words I", "words O", "bus cycles", "DRAM cycles"}},
      {"searched_local_weights",
       &Compatibility::searched_local_weights,
       [](const SampleRun& of, const NetworkLayer& layer) {
         return of.run.mapping == ArrayMapping::kSystolic && !has_weights(layer.kind);
       },
       {"registers W"}},
      {"regf_write_on_o",
       &Compatibility::regf_write_on_o,
       [](const SampleRun&, const NetworkLayer& layer) {
         return has_weights(layer.kind) && layer.gradient == Gradient::kOfWeights;
       },
       {"registers W", "registers O"}}};
  return all;
}

bool is_within(const Columns& found, const Columns& allowed) {
  return std::includes(allowed.begin(), allowed.end(), found.begin(), found.end());
}

TEST(Compatibility, EachSwitchChangesWhatThePageSaysAndNothingElse) {
  std::map<std::string, int> lines;
  for (const SampleRun& of : sample()) {
    const std::vector<SchemeCost> own = priced(of, {});
    for (const Switch& one : switches()) {
      Compatibility compatibility;
      compatibility.*one.is_on = true;
      const std::vector<SchemeCost> costs = priced(of, compatibility);
      for (std::size_t i = 0; i < costs.size(); ++i) {
        const Columns found = differences(own[i], costs[i]);
        const bool concerned = one.concerns(of, of.layer_of(of.schemes[i]));
        EXPECT_TRUE(is_within(found, concerned ? one.changes : Columns{}))
            << one.name << ": " << of.run.name << " " << of.schemes[i].layer;
        if (!found.empty()) ++lines[one.name];
      }
    }
  }
  for (const char* name :
       {"floor_dram_words", "window_unit_time", "one_operand_eltwise", "regf_write_on_o"})
    EXPECT_GT(lines[name], 0) << name;
}

TEST(Compatibility, AllOfItIsWhatTheSwitchesSay) {
  for (const SampleRun& of : sample()) {
    const Compatibility published = kapla_compatibility(of.run.solver);
    EXPECT_EQ(published.window_unit_time, of.run.solver == "KAPLA");
    const std::vector<SchemeCost> own = priced(of, {});
    const std::vector<SchemeCost> artifact = priced(of, published);
    for (std::size_t i = 0; i < own.size(); ++i) {
      Columns allowed;
      for (const Switch& one : switches())
        if (published.*one.is_on && one.concerns(of, of.layer_of(of.schemes[i])))
          allowed.insert(one.changes.begin(), one.changes.end());
      EXPECT_TRUE(is_within(differences(own[i], artifact[i]), allowed))
          << of.run.name << " " << of.schemes[i].layer;
    }
  }
}

// 51.2 bytes a cycle are 25.6 words, of which the artifact moves 25 (12.8: 6.4 and 6).
TEST(Compatibility, DramMovesTheWordsOfItsBandwidth) {
  for (const SampleRun& of : sample()) {
    const double words_per_cycle = of.run.machine.dram_bytes_per_cycle / 2;
    for (const SchemeCost& cost : priced(of, {})) {
      const auto& words = cost.access[kDram];
      EXPECT_EQ(cost.dram_cycles,
                std::ceil((words[kWeights] + words[kInput] + words[kOutput]) / words_per_cycle));
    }
  }
}

}  // namespace
}  // namespace sluice::kapla
