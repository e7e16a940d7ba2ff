#include "sluice/frontend/load.h"

#include <gtest/gtest.h>

#include "support/run_program.h"
#include "unit/frontend/loading.h"

namespace sluice {
namespace {

const std::string kHead = "  rank_sizes: {M: N}\n  bits_per_value: {All: 8}\n";

TEST(Load, LaterFilesOverrideEarlierOnesKeyByKey) {
  const auto specs = load_specs_from_text(
      {{"a.yaml", "variables: {N: 4}\nworkload:\n" + kHead + "  einsums: [\"C[m] = A[m]\"]\n"},
       {"b.yaml", "variables: {N: 6}\nworkload: {bits_per_value: {All: 16}}\n"}},
      {});
  ASSERT_TRUE(specs);
  EXPECT_EQ(specs->workload->ranks[0].size, 6);
  EXPECT_EQ(specs->workload->einsums[0].accesses[0].bits_per_value, 16);
  EXPECT_EQ(specs->workload->name, "b");  // where the section was last written
}

TEST(Load, VariablesMayUseEachOtherAndBeSet) {
  const std::string text =
      "variables: {N: 2 * K, K: 3}\nworkload:\n" + kHead + "  einsums: [\"C[m] = A[m]\"]\n";
  EXPECT_EQ(rank_size(workload_of(text), "M"), 6);
  LoadOptions options;
  options.variables = {{"K", "2 + 5"}};
  EXPECT_EQ(rank_size(*specs_of(text, options).workload, "M"), 14);
  options.variables = {{"KK", "5"}};
  EXPECT_EQ(mistake_of(text, options), "no file declares the variable 'KK'");
}

TEST(Load, RepeatsItemsForEveryValue) {
  const Workload w = workload_of("variables: {N: 4}\nworkload:\n" + kHead + R"yaml(  einsums:
  - for: {i: 0..N-1}
    einsum: "T{i+1}[m] = exp(T{i}[m])"
    renames: {input: "T{i}"}
  - {if: N > 4, einsum: "Never[m] = T0[m]"}
  - for: {i: 0..1, j: [5, 7]}
    items:
    - "U{i}x{j}[m] = T{i+1}[m]"
)yaml");
  std::string names;
  for (const Einsum& einsum : w.einsums) names += einsum.name + " ";
  EXPECT_EQ(names, "T1 T2 T3 T4 U0x5 U0x7 U1x5 U1x7 ");
  EXPECT_EQ(w[w.einsums[2].renames[0].tensors[0]].name, "T2");
}

TEST(Load, SetLiteralsInARepetitionAreNoPlaceholders) {
  const Arch arch = arch_of(R"yaml(
arch:
  nodes:
  - for: {i: 0..1}
    items:
    - !Compute {name: "C{i}", enabled: "ops <= {add, mul_add}", actions: [{name: compute, energy: "{i}", throughput: 1}]}
)yaml");
  ASSERT_EQ(arch.components.size(), 2U);
  EXPECT_EQ(arch.components[1].name, "C1");
  EXPECT_EQ(arch.components[1].enabled->to_string(), "ops <= {add, mul_add}");
  EXPECT_EQ(arch.components[1].actions[0].energy_j, 1);
}

TEST(Load, IncludesFilesBesideTheIncludingOne) {
  const testing::TemporaryFolder folder;
  folder.write("base.yaml",
               "variables: {N: 4}\nworkload:\n" + kHead + "  einsums: [\"C[m] = A[m]\"]\n");
  folder.write("items.yaml", "- \"C[m] = A[m]\"\n- \"D[m] = C[m]\"\n");
  const std::string main = folder.write("main.yaml",
                                        "include: base.yaml\nvariables: {N: 8}\n"
                                        "workload: {einsums: [{include: items.yaml}]}\n");
  const auto specs = load_specs({main}, {});
  ASSERT_TRUE(specs) << to_string(specs.error()[0]);
  EXPECT_EQ(specs->workload->ranks[0].size, 8);
  EXPECT_EQ(specs->workload->einsums.size(), 2U);
}

TEST(Load, NamesSectionsAfterTheIncludingFile) {
  const testing::TemporaryFolder folder;
  folder.write("gpt_small.yaml",
               "variables: {N: 4}\nworkload:\n" + kHead + "  einsums: [\"C[m] = A[m]\"]\n");
  const std::string large =
      folder.write("gpt_large.yaml", "include: gpt_small.yaml\nvariables: {N: 8}\n");
  const std::string sizes = folder.write("sizes.yaml", "variables: {N: 16}\n");
  EXPECT_EQ(load_specs({large}, {})->workload->name, "gpt_large");
  EXPECT_EQ(load_specs({large, sizes}, {})->workload->name, "gpt_large");
}

TEST(Load, FindsNamesInTheLibrary) {
  const testing::TemporaryFolder folder;
  folder.write("tiny.yaml",
               "variables: {N: 4}\nworkload:\n" + kHead + "  einsums: [\"C[m] = A[m]\"]\n");
  LoadOptions options;
  options.library_dirs = {folder.path()};
  EXPECT_EQ(load_specs({"tiny"}, options)->workload->name, "tiny");
  EXPECT_EQ(library_names(options), std::vector<std::string>{"tiny"});
  const auto unknown = load_specs({"tinny"}, options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error()[0].hint, "did you mean 'tiny'?");
  EXPECT_EQ(unknown.error()[0].cause, DiagnosticCause::kUnreadable);
}

TEST(Load, SeveralDocumentsGiveSeveralMappings) {
  const std::string specs =
      "variables: {N: 4}\nworkload:\n" + kHead + R"yaml(  einsums: ["C[m] = A[m]"]
arch:
  nodes:
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
  const std::string mapping =
      "mapping: {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, "
      "!Compute {einsum: C, component: MAC}]}\n";
  EXPECT_EQ(specs_of(specs + mapping + "---\n" + mapping).mappings.size(), 2U);
}

TEST(Load, AWarningSaysThatAPlanChangesNoPrice) {
  const Specs specs =
      specs_of("variables: {N: 4}\nworkload:\n" + kHead + R"yaml(  einsums: ["C[m] = A[m]"]
arch:
  nodes:
  - !Container {name: Core, spatial: [{name: x, fanout: 2}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
mapping: {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: C, component: MAC}]}
plan: {preload: {A: {shares: 2, over: x}}}
)yaml");
  ASSERT_EQ(specs.mappings.at(0).preload.size(), 1U);
  ASSERT_EQ(specs.warnings.size(), 1U);
  EXPECT_EQ(specs.warnings[0].message,
            "'preload' is kept beside the mapping; counts and prices do not know it");
}

TEST(Load, OneRunTellsAllMistakesInOrder) {
  const auto specs =
      load_specs_from_text({{"a.yaml", "arch: {nodes: [!Memry {}, !Compute {nme: x}]}\n"},
                            {"b.yaml", "mapper: {objectve: edp}\n"}},
                           {});
  ASSERT_FALSE(specs);
  std::string places;
  for (const Diagnostic& d : specs.error())
    places += d.location.file + ":" + std::to_string(d.location.column) + " ";
  EXPECT_EQ(places, "a.yaml:16 a.yaml:27 a.yaml:37 b.yaml:10 ");
}

std::vector<std::string> warnings_of(const std::vector<NamedText>& texts) {
  const auto specs = load_specs_from_text(texts, {});
  std::vector<std::string> messages;
  if (!specs) return {"does not load: " + to_string(specs.error())};
  for (const Diagnostic& warning : specs->warnings)
    messages.push_back(warning.location.file + ":" + std::to_string(warning.location.line) + " " +
                       warning.message);
  return messages;
}

constexpr const char* kOneCompute = R"(variables: {N: 1}
arch:
  name: A
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: inf}]}
)";

TEST(SeveralFiles, SayWhichListTakesThePlaceOfAnother) {
  EXPECT_EQ(warnings_of({{"a.yaml", kOneCompute}, {"b.yaml", kOneCompute}}),
            (std::vector<std::string>{
                "a.yaml:5 'arch.nodes' here does not count: b.yaml:5 takes its place"}));
}

TEST(SeveralFiles, OverrideSingleValuesInSilence) {
  EXPECT_EQ(
      warnings_of({{"a.yaml", kOneCompute}, {"b.yaml", "variables: {N: 2}\narch: {name: B}"}}),
      std::vector<std::string>{});
}

constexpr const char* kTwoMemories = R"yaml(workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums: ["C[m] = A[m]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Memory {name: Buffer, size: 64, tensors: {may_keep: All}, actions: [{name: read, energy: 1, throughput: inf}, {name: write, energy: 1, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: inf}]}
)yaml";

LoadOptions setting(const std::string& name, const std::string& value) {
  LoadOptions options;
  options.variables = {{name, value}};
  return options;
}

TEST(Settings, ReachEveryFieldByKeysAndNames) {
  const Specs specs = specs_of(kTwoMemories, setting("arch.Buffer.size", "3 KiB"));
  ASSERT_TRUE(specs.arch);
  EXPECT_EQ(
      to_yaml(*specs.arch),
      to_yaml(arch_of(std::string(kTwoMemories)
                          .replace(std::string(kTwoMemories).find("size: 64"), 8, "size: 3 KiB"))));
  const Specs cheaper = specs_of(kTwoMemories, setting("arch.Buffer.read.energy", "7"));
  ASSERT_TRUE(cheaper.arch);
  EXPECT_NE(to_yaml(*cheaper.arch), to_yaml(arch_of(kTwoMemories)));
  const Specs longer = specs_of(kTwoMemories, setting("workload.rank_sizes.M", "12"));
  ASSERT_TRUE(longer.workload);
  EXPECT_EQ(rank_size(*longer.workload, "M"), 12);
}

TEST(Settings, ThatNothingHasAreMistakes) {
  EXPECT_EQ(mistake_of(kTwoMemories, setting("arch.Bufer.size", "3")), "'arch' has no 'Bufer'");
  EXPECT_EQ(mistake_of(kTwoMemories, setting("arch.Buffer.sise", "3")),
            "a !Memory has no key 'sise'");
  EXPECT_EQ(mistake_of(kTwoMemories, setting("arc.Buffer.size", "3")),
            "the specs have no section 'arc'");
  EXPECT_EQ(mistake_of(kTwoMemories, setting("arch..size", "3")), "a step of the path is empty");
  EXPECT_EQ(mistake_of(kTwoMemories, setting("arch.Buffer.size", " ")), "gives no value");
  EXPECT_EQ(mistake_of(kTwoMemories, setting("arch.Buffer.size", "# none")), "gives no value");
  EXPECT_EQ(mistake_of(kTwoMemories, setting("arch.Buffer.size", "3\n---\n4")),
            "gives several values");
}

}  // namespace
}  // namespace sluice
