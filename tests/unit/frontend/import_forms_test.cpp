// Forms of other tools' files: merges, includes, libconfig, versions, fanouts by timeloopfe's
// names, and what AccelForge writes otherwise. All fixtures are made for these tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sluice/frontend/import.h"
#include "sluice/frontend/load_any.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kShape = R"(
gemm_ignore: &gemm
  instance: {M: 8, N: 4}
  shape:
    name: GEMM
    dimensions: [M, N]
    data_spaces:
    - {name: A, projection: [[[M]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
)";

constexpr const char* kArch = R"(
architecture:
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8, width: datawidth * 4}}
  - !Container {name: column, spatial: {meshX: 4}}
  - !Container {name: PE, spatial: {meshY: 2}}
  - !Component {name: RF, class: regfile, attributes: {datawidth: 8, width: 8, depth: 64}}
  - !Component {name: mac, class: intmac}
)";

/// Texts as files of one job; throws with what is wrong with them.
ImportedSpecs imported(const std::vector<std::pair<std::string, std::string>>& texts,
                       const ImportOptions& options = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const auto& [name, text] : texts) files.push_back(folder.write(name, text));
  auto result = import_specs(files, options);
  if (!result) throw std::runtime_error(to_string(result.error()));
  return std::move(*result);
}

ImportedSpecs imported_problem(const std::string& problem) {
  return imported({{"problem.yaml", kShape + problem}});
}

// K of the instance is added, M overridden; the added dimension comes after those that are there.
TEST(Merges, AreHierarchicalWithThreeArrows) {
  const ImportedSpecs specs = imported_problem(R"(
problem:
  <<<: *gemm
  instance: {M: 16, K: 2}
  shape:
    dimensions: [K]
    data_spaces: [{name: B, projection: [[[K]], [[N]]]}]
)");
  EXPECT_THAT(specs.workload, HasSubstr("rank_sizes: {K: 2, M: 16, N: 4}"));
  EXPECT_THAT(specs.workload, HasSubstr("Z[m,n] = B[k,n] * A[m]"));
  EXPECT_TRUE(specs.notes.empty()) << to_string(specs.notes);
}

TEST(Merges, KeepAListAloneWhereItSaysNomerge) {
  const ImportedSpecs specs = imported_problem(R"(
problem:
  <<<: *gemm
  shape:
    dimensions: !nomerge [M]
    data_spaces: !nomerge
    - {name: A, projection: [[[M]]]}
    - {name: Z, projection: [[[M]]], read_write: true}
)");
  EXPECT_THAT(specs.workload, HasSubstr("Z[m] = A[m]"));
}

// With two arrows the whole of the instance is its own: nothing gives N a size.
TEST(Merges, ReplaceWholeValuesWithTwoArrows) {
  try {
    imported_problem("problem:\n  <<: *gemm\n  instance: {M: 16}\n");
    ADD_FAILURE() << "N has no size";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the instance gives no size of dimension N"));
  }
}

TEST(Templates, IncludeAllFilesOfAPatternAsOneList) {
  const TemporaryFolder folder;
  folder.write("part_b.yaml", "nodes:\n- !Component {name: mac, class: intmac}\n");
  folder.write("part_a.yaml",
               "nodes:\n- !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8}}\n");
  const std::string top = folder.write(
      "top.yaml.jinja2", "architecture:\n  nodes: {{include_all('part_*.yaml', 'nodes')}}\n");
  const auto specs = import_specs({top}, {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  const std::size_t dram = specs->arch.find("name: DRAM"), mac = specs->arch.find("name: mac");
  EXPECT_LT(dram, mac);
  EXPECT_NE(mac, std::string::npos);
}

constexpr const char* kVersion1 = R"(
arch:
  arithmetic: {name: MAC, instances: 4, meshX: 2, word_bits: 8}
  storage:
  - {name: RF, entries: 16, instances: 4, meshX: 2, word_bits: 8}
  - {name: DRAM, technology: DRAM, instances: 1, word_bits: 8}
)";

constexpr const char* kVersion3 = R"(
architecture:
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word_bits: 8}}
    - {name: RF, class: storage, attributes: {entries: 16, instances: 4, meshX: 2, word_bits: 8}}
    - {name: MAC, class: compute, attributes: {instances: 4, meshX: 2, word_bits: 8}}
)";

TEST(Version1, IsTheSameArchitectureInnermostFirst) {
  const ImportedSpecs first = imported({{"arch.yaml", kVersion1}});
  EXPECT_EQ(first.format, "Timeloop v1");
  EXPECT_EQ(first.arch, imported({{"arch.yaml", kVersion3}}).arch);
}

TEST(Libconfig, SaysWhatYamlSays) {
  const ImportedSpecs specs = imported({{"job.cfg", R"(
# comments are allowed
arch = {
  arithmetic = { name = "MAC"; instances = 4; meshX = 2; word_bits = 8; };
  storage = (
    { name = "RF"; entries = 16; instances = 4; meshX = 2; word_bits = 8; },
    { name = "DRAM"; technology = "DRAM"; instances = 1; word_bits = 8; }
  );
};
)"}});
  EXPECT_EQ(specs.arch, imported({{"arch.yaml", kVersion1}}).arch);
}

TEST(Libconfig, PointsAtTheLineOfAMistake) {
  try {
    imported({{"job.cfg", "arch = {\n  storage = ( { name = \"RF\"; entries = ; } );\n};\n"}});
    ADD_FAILURE() << "there is no value";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("job.cfg:2:1: error: not valid libconfig: syntax error"));
  }
}

// 8 rows of Z over the 4 columns, 2 at a time in the rows of PEs: 8 = 4 · 2 · 1.
constexpr const char* kTargets = R"(
problem:
  <<<: *gemm
mapping:
- {target: DRAM, type: temporal, factors: N=4, permutation: MN}
- {target: inter_column_spatial, type: temporal, factors: M=1 N=1}
- {target: inter_column_spatial, type: spatial, factors: M=4, permutation: MN, split: 99}
- {target: inter_PE_spatial, type: bypass, bypass: ["*"]}
- {target: PE, type: spatial, factors: M=2, permutation: MN, split: 0}
- {target: RF, type: temporal, factors: M=1}
)";

TEST(Fanouts, MayBeCalledAsTimeloopfeCallsThem) {
  const ImportedSpecs specs =
      imported({{"arch.yaml", kArch}, {"problem.yaml", std::string(kShape) + kTargets}});
  EXPECT_THAT(specs.mapping,
              HasSubstr("!Spatial {rank_variable: m, tile_shape: 2, component: column, name: X}"));
  EXPECT_THAT(specs.mapping,
              HasSubstr("!Spatial {rank_variable: m, tile_shape: 1, component: PE, name: Y}"));
  EXPECT_THAT(to_string(specs.notes), Not(HasSubstr("inter_")));
}

TEST(Constraints, SayOnlyWhichFactorsAndTensors) {
  const ImportedSpecs specs =
      imported({{"arch.yaml", kArch}, {"problem.yaml", std::string(kShape) + R"(
problem:
  <<<: *gemm
mapspace_constraints:
- {target: RF, type: temporal, factors_only: [M=2]}
- {target: RF, type: dataspace, keep_only: [Z]}
- {target: column, type: spatial, no_iteration_over_dataspaces: [A], split: len(spec.problem.instance)}
)"}});
  EXPECT_THAT(specs.constraints, HasSubstr("{memory: RF, keep: [Z], forbid: [A], name: "
                                           "\"storage of RF (problem.yaml:15:3)\"}"));
  EXPECT_THAT(specs.constraints,
              HasSubstr("{memory: RF, rank_variable: m, tile_shape: 2, tensors: [A, Z], name: "
                        "\"tile of M at RF (problem.yaml:14:47)\"}"));
  EXPECT_THAT(specs.constraints, HasSubstr("{memory: RF, rank_variable: n, tile_shape: 1"));
  EXPECT_THAT(specs.constraints,
              HasSubstr("{component: column, dimension: X, rank_variables: [n], name: "
                        "\"spatial X of column (problem.yaml:16:3)\"}"));
}

TEST(Densities, AreDroppedWithWhatTheyCouldSave) {
  const ImportedSpecs specs = imported_problem(R"(
problem:
  <<<: *gemm
  instance:
    densities: {A: {distribution: fixed_structured, density: 0.25}}
)");
  EXPECT_THAT(to_string(specs.notes), HasSubstr("densities (A 0.25)"));
  EXPECT_THAT(to_string(specs.notes), HasSubstr("at most 4 times"));
}

constexpr const char* kAccelForge = R"(
workload:
  rank_sizes: {M: 64, X: 8, XT: ceil(M*2/X)}
  bits_per_value: {All: 8}
  einsums: ["C[m, xt] = A[m] * W[xt]"]
variables:
  voltage: 2
  cell: "some text"
  histogram: [1, 2, 3]
arch:
  variables: {scale: voltage ** 2, depth: cell + 1, rows: round(2.6)}
  nodes:
  - !Memory
    name: DRAM
    size: inf
    component_class: Dummy
    tensors: {keep: All}
  - !Toll
    name: Bus
    component_class: Bus
    tensors: {keep: All}
    direction: {Outputs: up, ~Outputs: down}
    energy_scale: scale
    values_per_action: {A: 2, W: 2, C: 2}
  - !Memory
    name: Buffer
    component_class: SRAM
    size: Array.get_fanout() * rows * 8
    tensors: {keep: All, no_refetch_from_above: W}
  - !Container
    name: Array
    spatial: [{name: X, fanout: 32, usage_scale: scale}]
  - !Memory {name: Cell, size: depth, component_class: Dummy, tensors: {keep: W}}
  - !Compute {name: ALU, component_class: Dummy}
)";

constexpr const char* kComponents = R"(
other: {Bus: {actions: {read: {energy: 7e-12}}}}
file:
  Bus: {area: 1e-9, leak_power: 1e-6, actions: {read: {energy: 3e-12, throughput: 5e8}}}
  Buffer: {actions: {read: {energy: 1e-12, throughput: .inf}, write: {energy: 2e-12, throughput: 1e9}}}
)";

constexpr const char* kCascade = R"(
problem:
- shape:
    name: Fc1
    dimensions: [P1, M1, C1]
    data_spaces:
    - {name: Fmap1, dimensions: [Fmap1_C, Fmap1_P], projection: '[ C1, 2*P1 + M1 ]'}
    - {name: Filter1, projection: '[ C1, M1 ]'}
    - {name: Fmap2, dimensions: [Fmap2_C, Fmap2_P], projection: '[ M1, P1 ]', read_write: True}
  instance: 0 <= P1 < 9 and 0 <= M1 < {M} and 0 <= C1 < 2
- shape:
    name: Fc2
    dimensions: [P2, M2]
    data_spaces:
    - {name: Fmap2, dimensions: [Fmap2_C, Fmap2_P], projection: [M2, P2]}
    - {name: Fmap3, dimensions: [Fmap3_P], projection: '[ P2 ]', read_write: True}
  instance: 0 <= P2 < 9 and 0 <= M2 < {M}
)";

ImportedSpecs imported_cascade() {
  ImportOptions options;
  options.variables["M"] = "4";
  return imported({{"cascade.yaml", kCascade}}, options);
}

// Each problem of the list is an Einsum; what is in braces, --set gives.
TEST(Cascades, AreWorkloads) {
  const auto loaded = load_specs_from_text({{"workload.yaml", imported_cascade().workload}}, {});
  ASSERT_TRUE(loaded.has_value()) << to_string(loaded.error());
  const Workload& workload = *loaded->workload;
  ASSERT_EQ(workload.einsums.size(), 2U);
  EXPECT_EQ(workload.einsums[0].name, "Fc1");
  EXPECT_EQ(workload.tensors.size(), 4U);
  std::map<std::string, std::int64_t> sizes;
  for (const Rank& rank : workload.ranks) sizes[rank.name] = rank.size;
  EXPECT_EQ(sizes.at("FMAP1_P"), 2 * 8 + 3 + 1);
  EXPECT_EQ(sizes.at("FMAP2_C"), 4);
  EXPECT_EQ(sizes.at("FILTER1_0"), 2);
}

TEST(Cascades, AskForWhatIsInBraces) {
  const TemporaryFolder folder;
  const auto result = import_specs({folder.write("cascade.yaml", kCascade)}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(to_string(result.error()), HasSubstr("there is no value for {M}"));
  EXPECT_THAT(to_string(result.error()), HasSubstr("--set M=VALUE"));
}

// Files of one design name variables of another, which `--set` gives as well.
TEST(Variables, OfOtherFilesMayBeSet) {
  constexpr const char* kProblem = "problem:\n  <<<: *gemm\n  instance: {M: BATCH * 2}\n";
  ImportOptions options;
  options.variables["BATCH"] = "3";
  const ImportedSpecs specs = imported({{"problem.yaml", std::string(kShape) + kProblem}}, options);
  EXPECT_THAT(specs.workload, HasSubstr("rank_sizes: {M: 6, N: 4}"));
  const TemporaryFolder folder;
  const auto unset =
      import_specs({folder.write("problem.yaml", std::string(kShape) + kProblem)}, {});
  ASSERT_FALSE(unset.has_value());
  EXPECT_THAT(to_string(unset.error()), HasSubstr("--set BATCH=VALUE"));
}

// As Timeloop has it, a window with a dilation of 0 reads one value.
TEST(Coefficients, Of0MoveNothing) {
  const ImportedSpecs specs = imported({{"problem.yaml", R"(
problem:
  {shape: cnn-layer, R: 3, S: 1, P: 8, Q: 4, C: 2, K: 2, N: 1, Wdilation: 0, Hdilation: 1,
   Wstride: 2, Hstride: 1}
)"}});
  EXPECT_THAT(specs.workload, HasSubstr("RP:2*p"));
  EXPECT_THAT(specs.workload, Not(HasSubstr("r+2*p")));
  EXPECT_THAT(to_string(specs.notes), HasSubstr("Wdilation is 0"));
}

class AccelForgeForms : public ::testing::Test {
 protected:
  void SetUp() override {
    ImportOptions options;
    options.energy_file = folder_.write("ert.yaml", kComponents);
    auto result = import_specs({folder_.write("file.yaml", kAccelForge)}, options);
    ASSERT_TRUE(result.has_value()) << to_string(result.error());
    specs_ = std::move(*result);
  }
  const TemporaryFolder folder_;
  ImportedSpecs specs_;
};

// ceil(64 · 2 / 8) = 16, kept as an expression over numbers.
TEST_F(AccelForgeForms, RankSizesMayNameRanks) {
  const auto loaded = load_specs_from_text({{"workload.yaml", specs_.workload}}, {});
  ASSERT_TRUE(loaded.has_value()) << to_string(loaded.error());
  for (const Rank& rank : loaded->workload->ranks)
    EXPECT_TRUE(rank.name != "XT" || rank.size == 16);
}

// 3 pJ at twice the voltage: 12 pJ. Each way of the bus is a toll.
TEST_F(AccelForgeForms, ScalesAndDirectionsAreInTheNumbers) {
  EXPECT_THAT(specs_.arch, HasSubstr("name: Bus_down"));
  EXPECT_THAT(specs_.arch, HasSubstr("energy: 1.2e-11"));
  EXPECT_THAT(specs_.arch, HasSubstr("values_per_action: 2"));
  EXPECT_THAT(specs_.arch, Not(HasSubstr("2.8e-11")));  // of the other architecture
}

// 32 instances, 4 of which work as one, are 8; the buffer has the 32 there are: 32 · 3 · 8 bits.
TEST_F(AccelForgeForms, FanoutsAndSizesAreWorkedOut) {
  EXPECT_THAT(specs_.arch, HasSubstr("fanout: 8"));
  const auto loaded =
      load_specs_from_text({{"workload.yaml", specs_.workload}, {"arch.yaml", specs_.arch}}, {});
  ASSERT_TRUE(loaded.has_value()) << to_string(loaded.error());
  EXPECT_THAT(specs_.arch, HasSubstr("size: 768\n"));
}

TEST_F(AccelForgeForms, WhatHasNoValueIsNoted) {
  const std::string notes = to_string(specs_.notes);
  EXPECT_THAT(notes, HasSubstr("the variables cell, histogram are no numbers"));
  EXPECT_THAT(notes, HasSubstr("the size of Cell depends on some text, which has no value here"));
  EXPECT_THAT(notes, HasSubstr("'no_refetch_from_above' of Buffer is left out"));
}

// As AccelForge flattens it: the components of the array, then its dimensions, then what follows.
TEST(AccelForgeArray, IsItsComponentsAboveAContainer) {
  const TemporaryFolder folder;
  const auto specs = load_any_specs({folder.write("arch.yaml", R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1e9}, {name: write, energy: 1, throughput: 1e9}]}
  - !Array
    name: Grid
    spatial: [{name: X, fanout: 4}]
    nodes:
    - !Memory {name: Row, size: 64, actions: [{name: read, energy: 1, throughput: 1e9}, {name: write, energy: 1, throughput: 1e9}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: 1e9}]}
)")},
                                    {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  std::vector<std::string> names;
  for (const Component& component : specs->arch->components) names.push_back(component.name);
  EXPECT_THAT(names, ElementsAre("DRAM", "Row", "Grid", "ALU"));
}

// The same job, taken as it is: a problem of Timeloop and a mapping, notes among the warnings, and
// places in the user's files.
TEST(FilesOfAnyTool, AreLoadedWithoutAStepBetween) {
  const TemporaryFolder folder;
  const auto specs = load_any_specs(
      {folder.write("arch.yaml", kArch), folder.write("job.yaml", std::string(kShape) + kTargets)},
      {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  ASSERT_EQ(specs->mappings.size(), 1u);
  const MappingPlaces& places = specs->mapping_places.at(0);
  EXPECT_THAT(places.at(1).location.file, HasSubstr("job.yaml"));
  EXPECT_EQ(places.at(1).location.line, 14);
  EXPECT_THAT(to_string(specs->warnings), HasSubstr("note: no energies are given"));
}

// The sizes of the problem bound nothing once the Einsums of another file take its place.
TEST(FilesOfAnyTool, WarnAtThePlaceOfTheProblem) {
  const TemporaryFolder folder;
  const std::string problem =
      "problem:\n  shape:\n    name: Copy\n    dimensions: [M]\n    data-spaces:\n"
      "    - {name: A, projection: [[[M]]]}\n    - {name: Z, projection: [[[M]]], read-write: "
      "True}\n"
      "  instance: {M: 4}\n";
  const std::string own = "workload:\n  rank_sizes: {K: 4}\n  einsums: [\"Y[k] = X[k]\"]\n";
  const auto specs =
      load_any_specs({folder.write("problem.yaml", problem), folder.write("own.yaml", own)}, {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  EXPECT_THAT(to_string(specs->warnings), HasSubstr("problem.yaml:8:13: warning: no tensor has a "
                                                    "rank M"));
}

TEST(FilesOfAnyTool, MayStandBesideThoseOfSluice) {
  const TemporaryFolder folder;
  const std::string own = folder.write("arch.yaml", R"(
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 1, throughput: 1e9}, {name: write, energy: 1, throughput: 1e9}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: 1e9}]}
)");
  const std::string problem =
      folder.write("problem.yaml", std::string(kShape) + "problem: {<<<: *gemm}\n");
  const auto specs = load_any_specs({problem, own}, {});
  ASSERT_TRUE(specs.has_value()) << to_string(specs.error());
  EXPECT_EQ(specs->workload->einsums.size(), 1u);
  EXPECT_EQ(specs->arch->components.size(), 2u);
}

// These words are AccelForge's, too, and say the same here.
TEST(FilesOfAnyTool, AreOfSluiceWhereItHasTheirWords) {
  const TemporaryFolder folder;
  const std::string specs = folder.write("specs.yaml", R"yaml(
workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums: ["Z[m] = exp(A[m])", "Y[m] = B[m] * C[m]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: All, tensor_order_options: [[Inputs, Outputs]]}, partial_actions: whole, actions: [{name: read, energy: 1, throughput: 1e9}, {name: write, energy: 1, throughput: 1e9}]}
  - !Compute {name: Vec, actions: [{name: exp, energy: 1, throughput: 1e9}]}
  - !Compute {name: Mac, actions: [{name: mul, energy: 1, throughput: 1e9}]}
)yaml");
  const std::string mapping = folder.write("mapping.yaml", R"(mapping:
  nodes:
  - !Storage {tensors: [A, Z, B, C, Y], component: DRAM}
  - !Parallel
    nodes:
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: Z, component: Vec}]}
    - !Nested {nodes: [!Temporal {rank_variable: m, tile_shape: 1}, !Compute {einsum: Y, component: Mac}]}
)");
  const auto loaded = load_any_specs({specs, mapping}, {});
  ASSERT_TRUE(loaded.has_value()) << to_string(loaded.error());
  EXPECT_TRUE(loaded->warnings.empty()) << to_string(loaded->warnings);
  EXPECT_EQ(loaded->mappings.size(), 1u);
  const Component& memory = loaded->arch->components.front();
  EXPECT_FALSE(memory.tensor_policy()->tensor_order_options.empty());
  EXPECT_EQ(std::get<Memory>(memory.kind).partial_actions, PartialActions::kWhole);
}

constexpr const char* kSmallArch = R"(
architecture:
  version: 0.3
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8}}
    subtree:
    - name: PE[0..3]
      local:
      - {name: Buf, class: SRAM, attributes: {entries: 64, word-bits: 8}}
      - {name: MAC, class: intmac, attributes: {datawidth: 8}}
)";

/// Texts as files of one call; throws with what is wrong with them.
Specs loaded(const std::vector<std::string>& texts) {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const std::string& text : texts)
    files.push_back(folder.write("file" + std::to_string(files.size()) + ".yaml", text));
  auto specs = load_any_specs(files, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  return std::move(*specs);
}

TEST(FilesOfAnyTool, HaveTheirMapperInAFileOfItsOwn) {
  const std::string notes =
      to_string(loaded({kSmallArch, "mapper: {algorithm: random-pruned, timeout: 100}\n",
                        "sparse_optimizations: {targets: []}\n"})
                    .warnings);
  EXPECT_THAT(notes, HasSubstr("file1.yaml:1:1: note: the section 'mapper' has no counterpart"));
  EXPECT_THAT(notes, HasSubstr("file2.yaml:1:1: note: the section 'sparse_optimizations' has no"));
}

TEST(FilesOfAnyTool, LeaveOptionsOfAMapperToSluice) {
  const Specs specs = loaded({kSmallArch, "mapper: {objective: energy}\n"});
  EXPECT_EQ(specs.mapper_options.at("objective"), "energy");
}

TEST(FilesOfAnyTool, PassOverFilesForAccelergy) {
  const std::string notes =
      to_string(loaded({kSmallArch, "compound_components: {classes: [{name: a}]}\n",
                        "compound_components: {classes: [{name: b}]}\n", "ART: {tables: []}\n"})
                    .warnings);
  EXPECT_THAT(notes, Not(HasSubstr("compound_components")));
  EXPECT_THAT(notes, Not(HasSubstr("ART")));
}

TEST(FilesOfAnyTool, HaveEnergiesAmongThem) {
  const Specs specs = loaded(
      {kSmallArch,
       "ERT: {tables: [{name: 'System.PE[0..3].Buf', actions: [{name: read, energy: 2.5}]}]}\n"});
  EXPECT_DOUBLE_EQ(specs.arch->components[2].actions[0].energy_j, 2.5e-12);
}

TEST(FilesOfAnyTool, MayHaveATableWithoutEnergies) {
  const Specs specs = loaded({kSmallArch, "ERT: {version: 0.4, tables: []}\n"});
  EXPECT_TRUE(std::isnan(specs.arch->components[2].actions[0].energy_j));
}

// 2 + 8 = 10 columns: names of either file.
TEST(FilesOfAnyTool, ShareVariables) {
  const Specs specs =
      loaded({R"(
architecture:
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Container {name: PE, spatial: {meshX: A + B}}
  - !Component {name: MAC, class: intmac, attributes: {datawidth: 8}}
)",
              "variables: {version: 0.4, A: 2}\n", "variables:\n- {version: 0.4}\n- {B: 8}\n"});
  EXPECT_EQ(specs.arch->components[1].spatial[0].fanout, 10);
}

// 8 buffers in 4 PEs, where Timeloop counts `instances` and not what stands around; 64 / 8 MACs
// each.
TEST(Fanouts, MayComeFromInstancesInsideAnArray) {
  const Specs specs = loaded({R"(
architecture:
  version: 0.3
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8}}
    subtree:
    - name: PE[0..3]
      local:
      - {name: Buf, class: SRAM, attributes: {entries: 64, word-bits: 8, instances: 8}}
      - {name: MAC, class: intmac, attributes: {datawidth: 8, instances: 64}}
)"});
  ASSERT_EQ(specs.arch->components.size(), 5U);
  EXPECT_EQ(specs.arch->components[1].name, "PE");
  EXPECT_EQ(specs.arch->components[1].spatial[0].fanout, 8);
  EXPECT_EQ(specs.arch->components[3].name, "MAC_array");
  EXPECT_EQ(specs.arch->components[3].spatial[0].fanout, 8);
}

/// A buffer of AccelForge's with a `total_latency`: a read takes 1 ns, a write 4 ns.
Component timed_buffer(const std::string& total_latency) {
  return loaded({R"(
arch:
  nodes:
  - !Memory
    name: Buffer
    size: inf
    total_latency: )" +
                 total_latency + R"(
    actions:
    - {name: read, energy: 1e-12, latency: 1e-9}
    - {name: write, energy: 1e-12, latency: 4e-9}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1e-12, latency: 1e-9}]}
)"})
      .arch->components[0];
}

TEST(AccelForgeTotalLatency, OfTheLongerActionIsTwoPorts) {
  const Component buffer = timed_buffer("max(read_latency, write_latency)");
  EXPECT_EQ(std::get<Memory>(buffer.kind).ports, Ports::kSeparate);
  EXPECT_FALSE(buffer.total_latency.has_value());
  EXPECT_DOUBLE_EQ(buffer.actions[0].throughput, 1e9);
  EXPECT_DOUBLE_EQ(buffer.actions[1].throughput, 0.25e9);
}

// (r + w) / 32 / 200e6: 6.4e9 of either a second, whatever their latency.
TEST(AccelForgeTotalLatency, OfCallsIsAThroughput) {
  const Component buffer = timed_buffer("(read_actions + write_actions) / 32 / 200e6");
  EXPECT_EQ(std::get<Memory>(buffer.kind).ports, Ports::kShared);
  EXPECT_DOUBLE_EQ(buffer.actions[0].throughput, 6.4e9);
  EXPECT_DOUBLE_EQ(buffer.actions[1].throughput, 6.4e9);
}

TEST(AccelForgeTotalLatency, SumsOverTheDictionaryOfActions) {
  const Component buffer = timed_buffer("sum(*action2latency.values())");
  EXPECT_FALSE(buffer.total_latency.has_value());
  EXPECT_DOUBLE_EQ(buffer.actions[1].throughput, 0.25e9);
}

// 3 reads and 2 writes: max(3 + 8, 2 * 8) = 16 ns; 9 and 2: max(9 + 8, 16) = 17 ns.
TEST(AccelForgeTotalLatency, MayBeAnyExpression) {
  const Component buffer =
      timed_buffer("max(read_latency + write_latency, 2 * action2latency['write'])");
  ASSERT_TRUE(buffer.total_latency.has_value());
  const auto seconds = [&](double reads, double writes) {
    ExpressionScope scope;
    scope.n_actions = 2;
    scope.action_field = [&](std::size_t a, const std::string& field) {
      return field == "n_calls" ? (a == 0 ? reads : writes) : buffer.actions[a].throughput;
    };
    return std::get<double>(*buffer.total_latency->evaluate(scope));
  };
  EXPECT_DOUBLE_EQ(seconds(3, 2), 16e-9);
  EXPECT_DOUBLE_EQ(seconds(9, 2), 17e-9);
}

TEST(FilesOfAnyTool, EnergiesNeedFilesThatTakeThem) {
  const TemporaryFolder folder;
  const auto specs = load_any_specs({folder.write("empty.yaml", "variables: {A: 1}\n")}, {},
                                    folder.write("ert.yaml", "GLB: {read: 1}\n"));
  ASSERT_FALSE(specs.has_value());
  EXPECT_THAT(to_string(specs.error()), HasSubstr("no file needs these energies"));
}

}  // namespace
}  // namespace sluice::testing
