#include "sluice/frontend/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/model/evaluate.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDesign = R"(
architecture:
  version: 0.2
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8, block-size: 4, read_bandwidth: 8, write_bandwidth: 8}}
    subtree:
    - name: PE[0..3]
      local:
      - {name: RF, class: regfile, attributes: {word-bits: 8, depth: 16, meshX: 2, num-banks: 4}}
      - {name: MAC, class: intmac, attributes: {word-bits: 8, meshX: 2}}
)";

constexpr const char* kProblem = R"(
problem:
  shape:
    name: GEMM
    dimensions: [M, N, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read-write: True}
  instance: {M: 8, N: 4, K: 4}
)";

constexpr const char* kMapping = R"(
mapping:
- {target: DRAM, type: temporal, factors: M=0 N=2 K=1, permutation: KMN}
- {target: DRAM, type: spatial, factors: M=2 N=2 K=1, permutation: MNK, split: 1}
- {target: RF, type: temporal, factors: M2 N1 K4, permutation: [K, M, N]}
- {target: RF, type: bypass, keep: [B, Z], bypass: [A]}
)";

/// Imports texts as files of one job; throws with what is wrong with them.
ImportedSpecs imported(const std::vector<std::string>& texts, ImportOptions options = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const std::string& text : texts)
    files.push_back(folder.write("file" + std::to_string(files.size()) + ".yaml", text));
  auto result = import_specs(files, options);
  if (!result) throw std::runtime_error(to_string(result.error()));
  return std::move(*result);
}

std::string mistakes_in(const std::vector<std::string>& texts, const ImportOptions& options = {}) {
  try {
    imported(texts, options);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// Innermost first, so the loops of DRAM are n, m; M = 0 takes 8 / (2 · 2) = 2; tiles: m 4, then 2
// at the fanout, then 1.
TEST(TimeloopImport, TranslatesLoopsFanoutsAndBypass) {
  const ImportedSpecs specs = imported({kDesign, kProblem, kMapping});
  EXPECT_EQ(specs.format, "Timeloop v3");
  EXPECT_EQ(specs.mapping, R"(mapping:
  nodes:
  - !Storage {tensors: [A, B, Z], component: DRAM}
  - !Temporal {rank_variable: n, tile_shape: 2}
  - !Temporal {rank_variable: m, tile_shape: 4}
  - !Spatial {rank_variable: n, tile_shape: 1, component: PE, name: Y}
  - !Spatial {rank_variable: m, tile_shape: 2, component: PE, name: X}
  - !Storage {tensors: [B, Z], component: RF, incremental: true}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: Z, component: MAC}
)");
}

/// What evaluate says of imported specs: `of(component, tensor, action)` is a count.
class Evaluated {
 public:
  explicit Evaluated(const ImportedSpecs& specs) {
    auto loaded = load_specs_from_text({{"workload.yaml", specs.workload},
                                        {"arch.yaml", specs.arch},
                                        {"mapping.yaml", specs.mapping}},
                                       {});
    if (!loaded) throw std::runtime_error(to_string(loaded.error()));
    specs_ = std::move(*loaded);
    const auto problem = bind(*specs_.workload, *specs_.arch);
    if (!problem) throw std::runtime_error(to_string(problem.error()));
    const auto cost = evaluate(*problem, specs_.mappings.at(0));
    if (!cost) throw std::runtime_error(cost.error().front().message);
    cost_ = *cost;
  }

  double of(const std::string& component, const std::string& tensor,
            const std::string& action) const {
    double sum = 0;
    for (const EnergyRow& row : cost_.energy)
      if ((*specs_.arch)[row.component].name == component && row.tensor &&
          (*specs_.workload)[*row.tensor].name == tensor && row.action == action)
        sum += row.count.value_or(0);
    return sum;
  }

 private:
  Specs specs_;
  Cost cost_;
};

constexpr const char* kUneven = R"(
problem:
  shape:
    name: GEMM
    dimensions: [M, N, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read-write: True}
  instance: {M: 500, N: 4, K: 16}
mapping:
- {target: DRAM, type: temporal, factors: "M=8,8 N=1 K=8", permutation: KMN}
- {target: RF, type: temporal, factors: "M=64,52 N=4 K=2", permutation: KMN}
)";

// RF holds 64·4 values of Z, 64·2 of A, 2·4 of B: 392 words.
// M = 500 in tiles of 64, the last of 52; Z rests in RF while the 8 steps of k pass: written once.
// A moves at each of them, once each value; B at each, of 8 · 8 tiles of 2 · 4 values.
TEST(TimeloopImport, KeepsTilesInPlaceWhereFactorsDoNotDivide) {
  std::string arch = kDesign;
  const Evaluated uneven(
      imported({arch.replace(arch.find("depth: 16"), 9, "depth: 392"), kUneven}));
  EXPECT_EQ(uneven.of("DRAM", "Z", "write"), 500 * 4);
  EXPECT_EQ(uneven.of("DRAM", "Z", "read"), 0);
  EXPECT_EQ(uneven.of("DRAM", "A", "read"), 500 * 16);
  EXPECT_EQ(uneven.of("DRAM", "B", "read"), 8 * 8 * 2 * 4);
}

/// kDesign with energies of the hops below DRAM.
std::string networked() {
  std::string arch = kDesign;
  const std::string place = "word-bits: 8, block-size: 4,";
  arch.insert(arch.find(place), "energy-per-hop: 0.5, router-energy: 0.25, ");
  return arch;
}

// A bypasses RF, which stands behind the network.
TEST(TimeloopImport, WritesTheRulesOfTimeloopsNetworks) {
  const ImportedSpecs specs = imported({networked(), kProblem, kMapping});
  EXPECT_THAT(specs.arch, HasSubstr(R"(  - !Network
    name: DRAM_network
    topology: mesh
    entry: edge
    layout: packed
    returning_sums: free
    repeated_values: free
    link_bandwidth: inf
    hop_energy: 7.5e-13
    bits_per_hop_energy: 8
)"));
}

TEST(TimeloopImport, LeavesOutNetworksOfOneInstance) {
  const std::string mapping = R"(
mapping:
- {target: DRAM, type: temporal, factors: M=0 N=4 K=1, permutation: KMN}
- {target: DRAM, type: spatial, factors: M=1 N=1 K=1, permutation: MNK, split: 1}
- {target: RF, type: temporal, factors: M2 N1 K4, permutation: [K, M, N]}
)";
  EXPECT_THAT(imported({networked(), kProblem, mapping}).arch, Not(HasSubstr("!Network")));
  EXPECT_THAT(imported({networked(), kProblem}).arch, HasSubstr("!Network"));
}

// Transfers over a network are not counted where an instance keeps a tile of a different size.
TEST(TimeloopImport, NotesWhereTilesCannotStay) {
  const std::string mapping = R"(
mapping:
- {target: DRAM, type: temporal, factors: "M=3,2 N=2 K=2", permutation: KMN}
- {target: DRAM, type: spatial, factors: M=1 N=2 K=1, permutation: NMK, split: 1}
- {target: RF, type: temporal, factors: "M=3,2 N1 K2", permutation: [K, M, N]}
)";
  const ImportedSpecs specs = imported({networked(), kProblem, mapping});
  EXPECT_THAT(to_string(specs.notes),
              HasSubstr("Z in RF is moved at each visit; in Timeloop it stays while its tile does. "
                        "The model cannot price the incremental node of Z in RF: a loop does not "
                        "divide evenly, and it crosses a network."));
  EXPECT_THAT(specs.mapping, Not(HasSubstr("incremental")));
  EXPECT_GT(Evaluated(specs).of("DRAM", "Z", "write"), 32);
}

/// A convolution along P on two levels, with this order of the loops over P and M above the buffer.
std::string notes_of_window(const std::string& permutation) {
  return to_string(imported({R"(
architecture:
  version: 0.3
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8}}
    - {name: L2, class: SRAM, attributes: {word-bits: 8, entries: 64}}
    - {name: MAC, class: intmac, attributes: {datawidth: 8}}
problem:
  shape:
    name: Conv
    dimensions: [P, R, M]
    data-spaces:
    - {name: I, projection: [[[P], [R]]]}
    - {name: W, projection: [[[M]], [[R]]]}
    - {name: O, projection: [[[M]], [[P]]], read-write: True}
  instance: {P: 8, R: 3, M: 2}
mapping:
- {target: DRAM, type: temporal, factors: P=4 M=2 R=1, permutation: )" +
                             permutation + R"(}
- {target: L2, type: temporal, factors: P=2 M=1 R=3, permutation: PRM}
- {target: L2, type: bypass, keep: [I], bypass: [W, O]}
)"})
                       .notes);
}

// The permutation is read from its end: P stands outside of M, which does not move I.
TEST(TimeloopImport, NotesWindowsThatSlideAboveALoopThatDoesNotMoveThem) {
  EXPECT_THAT(notes_of_window("MPR"), HasSubstr("the window of I in L2 slides along P"));
  EXPECT_THAT(notes_of_window("PMR"), Not(HasSubstr("slides along")));
}

TEST(TimeloopImport, NotesWhatItLeavesOutAndNeverTakesAnEnergyForZero) {
  const ImportedSpecs specs = imported({kDesign, kProblem, kMapping});
  const std::string notes = to_string(specs.notes);
  EXPECT_THAT(notes, HasSubstr("models of energy and area say nothing here: num_banks"));
  EXPECT_THAT(notes, HasSubstr("no energies are given for DRAM.read, DRAM.write, RF.read"));
  EXPECT_THAT(specs.arch, HasSubstr("{name: read, energy: null"));
  EXPECT_THAT(specs.arch, Not(HasSubstr("energy: 0")));
}

// An access of DRAM moves 4 words of 8 bits; 8 words a cycle are 2 accesses a cycle.
TEST(TimeloopImport, TakesEnergiesOfAccessesFromATable) {
  const TemporaryFolder folder;
  ImportOptions options;
  options.energy_file = folder.write("ert.yaml", R"(
ERT:
  version: 0.3
  tables:
  - {name: "System.DRAM", actions: [{name: read, energy: 100}, {name: write, energy: 120}]}
  - {name: "System.PE[0..3].RF", actions: [{name: read, energy: 1}, {name: write, energy: 2 pJ}]}
  - {name: "System.PE[0..3].MAC", actions: [{name: compute, energy: 0.5}]}
)");
  const ImportedSpecs specs = imported({kDesign, kProblem, kMapping}, options);
  EXPECT_THAT(specs.arch, HasSubstr("{name: read, energy: 1e-10, throughput: 2000000000, "
                                    "bits_per_action: 32}"));
  EXPECT_THAT(specs.arch, HasSubstr("{name: write, energy: 2e-12"));
  EXPECT_THAT(specs.arch, HasSubstr("{name: compute, energy: 5e-13"));
}

/// Energies of all actions of kDesign, and those in `more`, as lines of `COMPONENT: {ACTION:
/// energy}`.
ImportOptions with_energies(const TemporaryFolder& folder, const std::string& lines) {
  ImportOptions options;
  options.energy_file = folder.write("ert.yaml", lines);
  return options;
}

// 0.5 pJ a cycle of 1 ns are 0.5 mW; 0.25 pJ a cycle 0.25 mW; powers stay what they are.
TEST(TimeloopImport, TakesLeakageFromATable) {
  const TemporaryFolder folder;
  const ImportOptions options = with_energies(folder, R"(
DRAM: {read: 1, write: 1, leak: 2 mW}
RF: {read: 1, write: 1, leakage: 0.5}
MAC: {leak: 0.25 pJ}
)");
  const ImportedSpecs specs = imported({kDesign, kProblem, kMapping}, options);
  EXPECT_THAT(specs.arch, HasSubstr("name: DRAM\n    size: inf\n    tensors: {keep: All}\n"
                                    "    draining_reads: free\n    leak_power: 0.002\n"));
  EXPECT_THAT(specs.arch, HasSubstr("leak_power: 0.0005\n"));
  EXPECT_THAT(specs.arch, HasSubstr("name: MAC\n    actions:\n"));
  EXPECT_THAT(to_string(specs.notes), HasSubstr("the leakage of MAC, 0.00025 W in each instance, "
                                                "is left out, as Timeloop does"));
}

// A cycle of 4 ns: 1 pJ a cycle is 0.25 mW.
TEST(TimeloopImport, DividesLeakageByTheCycleOfTheArchitecture) {
  const TemporaryFolder folder;
  std::string arch = kDesign;
  const std::string system = "- name: System\n";
  arch.insert(arch.find(system) + system.size(), "    attributes: {global_cycle_seconds: 4e-9}\n");
  const ImportOptions options = with_energies(folder, "DRAM: {read: 1, write: 1, leak: 1}\n");
  EXPECT_THAT(imported({arch}, options).arch, HasSubstr("leak_power: 0.00025\n"));
}

TEST(TimeloopImport, SaysWhichSectionTakesThePlaceOfAnother) {
  const std::string notes = to_string(imported({kDesign, kProblem, kDesign}).notes);
  EXPECT_THAT(notes,
              HasSubstr("file0.yaml:2:1: note: the section 'architecture' here is left out: "));
  EXPECT_THAT(notes, HasSubstr("file2.yaml:2 takes its place"));
}

TEST(TimeloopImport, SaysWhyASectionOfAccelForgeIsLeftOut) {
  const std::string notes =
      to_string(imported({kDesign, kProblem, "arch: {nodes: [!Compute {name: MAC}]}\n"}).notes);
  EXPECT_THAT(notes, HasSubstr("the section 'arch' is AccelForge's and left out: with "
                               "'architecture' at "));
}

// 4 instances, of which meshY 2 leaves 2 columns.
TEST(TimeloopImport, TakesInstancesAndRowsFromAttributes) {
  std::string arch = kDesign;
  arch.replace(arch.find("PE[0..3]"), 8, "PE");
  for (int i = 0; i < 2; ++i) arch.replace(arch.find("meshX: 2"), 8, "instances: 4, meshY: 2");
  const ImportedSpecs specs = imported({arch});
  EXPECT_THAT(specs.arch, HasSubstr("    - {name: X, fanout: 2}\n    - {name: Y, fanout: 2}\n"));
  arch.replace(arch.find("meshY: 2"), 8, "meshY: 3");
  EXPECT_THAT(mistakes_in({arch}), HasSubstr("meshY 3 does not fit the 4 instances of RF"));
}

TEST(TimeloopImport, NotesAttributesThatContradictEachOther) {
  std::string arch = kDesign;
  arch.insert(arch.find("depth: 16"), "datawidth: 16, entries: 32, ");
  arch.insert(arch.find("block-size: 4"), "global_cycle_seconds: 5e-9, ");
  const std::string notes = to_string(imported({arch}).notes);
  EXPECT_THAT(notes, HasSubstr("'datawidth' is left out: another name of it says 8"));
  EXPECT_THAT(notes, HasSubstr("RF gives its size more than once: 'entries' counts"));
  EXPECT_THAT(notes, HasSubstr("'global_cycle_seconds' of DRAM has no counterpart"));
}

TEST(TimeloopImport, NotesDirectivesThatFitNoLevel) {
  const std::string odd = std::string(kMapping) + "- {target: PE, type: bypass, bypass: [A]}\n";
  EXPECT_THAT(to_string(imported({kDesign, kProblem, odd}).notes),
              HasSubstr("this directive is left out: nothing at PE takes one of its type"));
}

TEST(TimeloopImport, LeavesOutWhatIsNotEnabledWithANote) {
  const ImportedSpecs specs = imported({R"(
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8, meshX: 3}}
  - !Component {name: GLB, class: SRAM, enabled: false, attributes: {depth: 4, width: 8, datawidth: 8}}
  - !Component {name: MAC, class: intmac}
)"});
  EXPECT_THAT(specs.arch, Not(HasSubstr("GLB")));
  EXPECT_THAT(to_string(specs.notes), HasSubstr("GLB is not enabled and left out"));
  EXPECT_THAT(to_string(specs.notes),
              HasSubstr("the attribute 'meshX' of DRAM has no counterpart"));
}

constexpr const char* kMappingOfTwo = R"(
mapping:
- {target: DRAM, type: temporal, factors: M=0 N=4 K=1, permutation: KMN}
- {target: DRAM, type: spatial, factors: M=2 N=1 K=1, permutation: MNK, split: 1}
- {target: RF, type: temporal, factors: M2 N1 K4, permutation: [K, M, N]}
)";

// Two of the four PEs have work: half of 1 pJ a cycle of 1 ns.
TEST(TimeloopImport, LeaksInTheInstancesThatTheMappingUses) {
  const TemporaryFolder folder;
  const ImportOptions options = with_energies(folder, "RF: {read: 1, write: 1, leak: 1}\n");
  const ImportedSpecs two = imported({kDesign, kProblem, kMappingOfTwo}, options);
  EXPECT_THAT(two.arch, HasSubstr("leak_power: 0.0005\n"));
  EXPECT_THAT(to_string(two.notes),
              HasSubstr("2 of 4 instances of RF leak, those that the mapping uses"));
  const ImportedSpecs all = imported({kDesign, kProblem, kMapping}, options);
  EXPECT_THAT(all.arch, HasSubstr("leak_power: 0.001\n"));
  EXPECT_THAT(to_string(all.notes), Not(HasSubstr("those that the mapping uses")));
}

/// kDesign, whose four RFs are words of one memory.
std::string arch_of_a_cluster(const std::string& attributes) {
  std::string arch = kDesign;
  const std::string own = "word-bits: 8, depth: 16";
  arch.replace(arch.find(own), own.size(), own + attributes);
  return arch;
}

// One access serves all four PEs, or the two that have work: a quarter of 6 pJ each, or half.
TEST(TimeloopImport, SpreadsAnAccessOverTheInstancesOfACluster) {
  const TemporaryFolder folder;
  const ImportOptions options = with_energies(folder, "RF: {read: 6, write: 6}\n");
  const std::string arch = arch_of_a_cluster(", width: 32, cluster-size: 4");
  for (const std::string& quarter :
       {imported({arch}, options).arch, imported({arch, kProblem, kMapping}, options).arch}) {
    EXPECT_THAT(quarter, HasSubstr("{name: read, energy: 1.5e-12"));
    EXPECT_THAT(quarter, HasSubstr("{name: write, energy: 1.5e-12"));
  }
  const ImportedSpecs two = imported({arch, kProblem, kMappingOfTwo}, options);
  EXPECT_THAT(two.arch, HasSubstr("{name: read, energy: 3e-12"));
  EXPECT_THAT(to_string(two.notes),
              HasSubstr("4 instances of RF make a cluster, of which an access serves all that are "
                        "used: 2, so each is charged 0.5 of its energy"));
}

// 32 bits in blocks of one word of 8.
TEST(TimeloopImport, FindsTheSizeOfAClusterFromWidthAndBlock) {
  const TemporaryFolder folder;
  const ImportOptions options = with_energies(folder, "RF: {read: 6, write: 6}\n");
  EXPECT_THAT(imported({arch_of_a_cluster(", width: 32, block-size: 1")}, options).arch,
              HasSubstr("{name: read, energy: 1.5e-12"));
}

// What is wrong with the architecture that an import writes stands at the component's place.
TEST(TimeloopImport, NamesTheComponentThatCannotBeImported) {
  const std::string mistakes = mistakes_in({R"(
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: DRAM, class: SRAM, attributes: {depth: 4, width: 8, datawidth: 8}}
  - !Component {name: MAC, class: intmac}
)"});
  EXPECT_THAT(mistakes, HasSubstr("file0.yaml:6:5: error: the architecture cannot be imported: two "
                                  "components are called 'DRAM'"));
}

// DRAM has blocks of 4 words, RF of one.
TEST(TimeloopImport, RoundsAccessesOfBlocksUp) {
  const std::string arch = imported({kDesign, kProblem, kMapping}).arch;
  const std::string rounds = "    partial_actions: whole\n";
  EXPECT_THAT(arch, HasSubstr("name: DRAM\n    size: inf\n    tensors: {keep: All}\n"
                              "    draining_reads: free\n" +
                              rounds));
  EXPECT_EQ(arch.find(rounds), arch.rfind(rounds));
}

TEST(TimeloopImport, NotesEnergiesThatNobodyAsksFor) {
  const TemporaryFolder folder;
  const ImportOptions options = with_energies(folder, R"(
DRAM: {read: 1, write: 2, update: 3, gated_read: 0, metadata_read: 4}
GLB: {read: 5}
)");
  const std::string notes = to_string(imported({kDesign, kProblem, kMapping}, options).notes);
  EXPECT_THAT(notes,
              HasSubstr("the energies of DRAM for metadata_read, update have no counterpart"));
  EXPECT_THAT(notes, HasSubstr("the architecture has no component GLB: its energies are left out"));
}

TEST(TimeloopImport, ReadsConvolutionsWithStridesAndDilations) {
  const ImportedSpecs specs = imported({R"(
problem: {shape: cnn-layer, R: 3, S: 3, P: 4, Q: 5, C: 2, K: 6, N: 1, Wstride: 2, Hdilation: 3}
)"});
  EXPECT_THAT(specs.workload,
              HasSubstr("Outputs[n,k,q,p] = Weights[c,k,r,s] * Inputs[n,c,RRP:r+2*p,RSQ:3*s+q]"));
  EXPECT_THAT(specs.workload, HasSubstr("rank_sizes: {R: 3, S: 3, P: 4, Q: 5, C: 2, K: 6, N: 1}"));
  EXPECT_THAT(specs.workload,
              HasSubstr("renames: {input: Inputs - Weights, weight: Weights, output: Outputs}"));
}

TEST(TimeloopImport, ReadsVersionFour) {
  const ImportedSpecs specs = imported({R"(
architecture:
  version: 0.4
  nodes:
  - !Container {name: system, attributes: {technology: 45nm}}
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Container {name: PE, spatial: {meshX: 2, meshY: 2}}
  - !Component {name: RF, class: regfile, attributes: {depth: 16, width: 8, datawidth: 8}}
  - !Component {name: MAC, class: intmac}
)",
                                        kProblem, R"(
mapping:
- {target: DRAM, type: temporal, factors: [M=2, N=2], permutation: [K, M, N]}
- {target: PE, type: spatial, factors: [M=2, N=2], permutation: [M, N], split: 1}
- {target: RF, type: temporal, factors: [M=2, K=4], permutation: [K, M]}
- {target: RF, type: dataspace, keep: [B, Z], bypass: [A]}
)"});
  EXPECT_EQ(specs.format, "Timeloop v4");
  EXPECT_EQ(specs.mapping, imported({kDesign, kProblem, kMapping}).mapping);
}

constexpr const char* kTemplate = R"(
workload:
  rank_sizes: {M: {{M}}, K: 4}
  bits_per_value: {All: 8}
  einsums:
  {% for i in range(N) %}
  - "T{{i+1}}[m] = T{{i}}[m] * W{{i}}[k]"
  {% endfor %}
)";

TEST(AccelForgeImport, RendersTemplatesWithTheirVariables) {
  ImportOptions options;
  options.variables = {{"M", "16"}, {"N", "2"}};
  const ImportedSpecs specs = imported({kTemplate}, options);
  EXPECT_EQ(specs.format, "AccelForge");
  EXPECT_THAT(specs.workload, HasSubstr("rank_sizes: {M: 16, K: 4}"));
  EXPECT_THAT(specs.workload, HasSubstr("T2[m] = T1[m] * W1[k]"));
}

// The template's lines: the Einsum of the loop stands in the 7th, what follows the loop in the 9th.
// Rendered they are the 9th (of the second time) and the 12th.
TEST(AccelForgeImport, NamesTheTemplatesLine) {
  ImportOptions options;
  options.variables = {{"M", "16"}, {"N", "2"}};
  const std::string text = kTemplate;
  EXPECT_THAT(mistakes_in({text + "  n_instances: many\n"}, options), HasSubstr("file0.yaml:9:"));
  std::string broken = text;
  broken.replace(broken.find("[k]"), 3, "[k");
  EXPECT_THAT(mistakes_in({broken}, options), HasSubstr("file0.yaml:7:"));
}

TEST(AccelForgeImport, SaysWhatATemplateLacks) {
  ImportOptions options;
  EXPECT_THAT(mistakes_in({kTemplate}), HasSubstr("file0.yaml:3:"));
  EXPECT_THAT(mistakes_in({kTemplate}), HasSubstr("'M' and 'N' are undefined"));
  EXPECT_THAT(mistakes_in({kTemplate}), HasSubstr("--set NAME=VALUE"));
  options.python = "no-such-python";
  EXPECT_THAT(mistakes_in({kTemplate}, options), HasSubstr("install python3 and python3-jinja2"));
}

TEST(AccelForgeImport, LeavesNumbersOfComponentModelsUnknown) {
  const ImportedSpecs specs = imported({R"(
arch:
  nodes:
  - !Memory {name: DRAM, component_class: LPDDR4, size: inf, tensors: {keep: All}}
  - !Compute {name: MAC, component_class: IntMAC, total_latency: sum(a.n_calls for a in actions)}
)"});
  EXPECT_THAT(specs.arch, HasSubstr("{name: read, energy: null, throughput: null}"));
  EXPECT_THAT(specs.arch, HasSubstr("{name: compute, energy: null}"));
  EXPECT_THAT(to_string(specs.notes),
              HasSubstr("the component models of DRAM, MAC are AccelForge's"));
  EXPECT_THAT(to_string(specs.notes),
              HasSubstr("read of DRAM has no throughput: its time is unknown"));
}

constexpr const char* kLeaking = R"(
arch:
  clock: CLOCK
  nodes:
  - !Memory {name: DRAM, size: inf, leak_power: 1, tensors: {keep: All}}
  - !Compute {name: MAC, total_latency: sum(a.n_calls for a in actions)}
)";

// 3 pJ a cycle at 500 MHz are 1.5 mW; the table wins over the file, as for energies.
TEST(AccelForgeImport, TakesLeakageFromATable) {
  const TemporaryFolder folder;
  const ImportOptions options = with_energies(folder, "DRAM: {read: 1, write: 1, leak: 3}\n");
  std::string arch = kLeaking;
  arch.replace(arch.find("CLOCK"), 5, "500 MHz");
  const std::string text = imported({arch}, options).arch;
  EXPECT_THAT(text, HasSubstr("leak_power: 0.0015\n"));
  EXPECT_THAT(text, Not(HasSubstr("leak_power: 1\n")));
}

TEST(AccelForgeImport, NeedsAClockForLeakagePerCycle) {
  const TemporaryFolder folder;
  const ImportOptions options = with_energies(folder, "DRAM: {read: 1, write: 1, leak: 3}\n");
  std::string arch = kLeaking;
  arch.erase(arch.find("  clock: CLOCK\n"), 15);
  EXPECT_THAT(mistakes_in({arch}, options), HasSubstr("the architecture has no clock"));
}

}  // namespace
}  // namespace sluice::testing
