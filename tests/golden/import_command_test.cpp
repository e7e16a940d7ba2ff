#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kJob = R"(
architecture:
  version: 0.2
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8}}
    - {name: GLB, class: SRAM, attributes: {word-bits: 8, depth: 64}}
    - {name: MAC, class: intmac, attributes: {word-bits: 8}}
problem:
  shape:
    name: GEMM
    dimensions: [M, N, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read-write: True}
  instance: {M: 4, N: 3, K: 2}
mapping:
- {target: DRAM, type: temporal, factors: M=4, permutation: MNK}
- {target: GLB, type: temporal, factors: N=3 K=2, permutation: KNM}
)";

std::vector<std::string> files_in(const std::string& folder) {
  return {folder + "/workload.yaml", folder + "/arch.yaml", folder + "/mapping.yaml"};
}

nlohmann::json evaluated(const std::string& folder) {
  std::vector<std::string> arguments = {"evaluate", "--json"};
  for (const std::string& file : files_in(folder)) arguments.push_back(file);
  const ProgramRun run = run_sluice(arguments);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  return nlohmann::json::parse(run.out)["mappings"][0];
}

TEST(Import, RefusesASettingThatTheFilesDoNotAskFor) {
  const TemporaryFolder folder;
  const std::string job = folder.write("job.yaml", kJob);
  const ProgramRun unknown = run_sluice({"import", job, "-o", folder / "out", "--set", "bacth=4"});
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("--set bacth=4: error: no file declares the variable 'bacth'"));
  const ProgramRun path =
      run_sluice({"import", job, "-o", folder / "out", "--set", "workload.rank_sizes.M=8"});
  EXPECT_EQ(path.exit_status, 2);
  EXPECT_THAT(path.err, HasSubstr("`import` sets variables, and no fields by their path"));
}

// 4 · 3 · 2 = 24 multiply-adds, one a cycle. Without energies all of them are null.
TEST(Import, WritesSpecsThatEvaluateTakesAsTheyAre) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_sluice({"import", folder.write("job.yaml", kJob), "-o", folder / "out"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.out, HasSubstr("Timeloop v3: wrote "));
  EXPECT_THAT(run.err, HasSubstr("note: no energies are given for DRAM.read"));
  const nlohmann::json cost = evaluated(folder / "out");
  EXPECT_TRUE(cost["energy_j"].is_null());
  EXPECT_EQ(cost["latency_cycles"], 24);
}

// GLB reads A and B 24 times each, and Z 24 − 12 times; it is filled with A 8, B 6 (which stays)
// and written 24 sums: 60 reads and 38 writes at 1 pJ. DRAM: A 8, B 6, Z 12 at 10 pJ. 24 MACs at
// 0.5 pJ.
TEST(Import, PricesWithTheEnergiesOfATable) {
  const TemporaryFolder folder;
  const std::string ert = folder.write("ert.yaml",
                                       "{DRAM: {read: 10, write: 10}, GLB: {read: 1, write: 1 pJ}, "
                                       "MAC: {compute: 0.5}}");
  const ProgramRun run =
      run_sluice({"import", folder.write("job.yaml", kJob), "-o", folder / "out", "--ert", ert});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_NEAR(evaluated(folder / "out")["energy_j"].get<double>(),
              (60 + 38 + 10 * (8 + 6 + 12) + 0.5 * 24) * 1e-12, 1e-18);
}

TEST(Import, LeavesNothingToAGuessWhereASearchNeedsEnergies) {
  const TemporaryFolder folder;
  run_sluice({"import", folder.write("job.yaml", kJob), "-o", folder / "out"});
  const ProgramRun run =
      run_sluice({"map", folder / "out/workload.yaml", folder / "out/arch.yaml"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("out/arch.yaml:"));
  EXPECT_THAT(run.err, HasSubstr("error: the energies of DRAM (read, write), GLB (read, write) and "
                                 "MAC (compute) are null"));
  EXPECT_THAT(run.err, HasSubstr("give the actions an `energy`, or the component a "
                                 "`component_class` that knows it"));
}

// DRAM stands on line 7 of the job, and is the first that has no energy.
TEST(Map, SaysWhichEnergiesOfAnImportAreMissingAndHowToGiveThem) {
  const TemporaryFolder folder;
  const std::string job = folder.write("job.yaml", kJob);
  for (const char* command : {"map", "bounds"}) {
    const ProgramRun run = run_sluice({command, job});
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_THAT(run.err, HasSubstr("job.yaml:7:7: error: the energies of DRAM (read, write), GLB "
                                   "(read, write) and MAC (compute) are null"));
    EXPECT_THAT(run.err, HasSubstr("--ert FILE gives those of files of Timeloop"));
  }
}

TEST(Map, TellsNotesOfTheImportBesideItsErrors) {
  const TemporaryFolder folder;
  const std::string energies = folder.write("ert.yaml",
                                            "DRAM: {read: 64, write: 64}\n"
                                            "GLB: {raed: 8, write: 8}\n"
                                            "MAC: {compute: 1}\n");
  const ProgramRun run = run_sluice({"map", folder.write("job.yaml", kJob), "--ert", energies});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(
      run.err,
      HasSubstr("ert.yaml:2:13: warning: the energies of GLB for raed have no counterpart"));
  EXPECT_THAT(run.err, HasSubstr("did you mean 'read'?"));
  EXPECT_THAT(run.err, HasSubstr("job.yaml:8:7: error: the energy of the action read of GLB is "
                                 "null"));
}

constexpr const char* kMisspelt = R"(
architecture:
  version: 0.9
  nodes:
  - !Container
    name: system
    attributes: {technology: 45nm}
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8, shared_bandwith: 16}}
  - !Component {name: GLB, class: SRAM, attributes: {datawidth: 8, depht: 64}}
  - !Component {name: MAC, class: intmac, attributes: {datawidth: 8, width: 8}}
)";

TEST(Check, AsksWhetherUnknownAttributesOfTimeloopAreMisspelt) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"check", folder.write("arch.yaml", kMisspelt)});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.err, HasSubstr("warning: the attribute 'shared_bandwith' of DRAM has no "));
  EXPECT_THAT(run.err, HasSubstr("did you mean 'shared_bandwidth'?"));
  EXPECT_THAT(run.err, HasSubstr("warning: the attribute 'depht' of GLB has no counterpart"));
  EXPECT_THAT(run.err, HasSubstr("did you mean 'depth'?"));
  EXPECT_THAT(run.err, HasSubstr("note: GLB has no 'depth', 'entries' or 'sizeKB': its size is "));
  EXPECT_THAT(run.err, HasSubstr("arch.yaml:7:30: note: attributes for models of energy and area "
                                 "say nothing here: technology, width"));
  EXPECT_THAT(run.err, HasSubstr("arch.yaml:3:12: warning: version '0.9' of Timeloop's files is "
                                 "not known"));
  EXPECT_THAT(run.err, HasSubstr("versions are 0.1, 0.2, 0.3, 0.4"));
}

TEST(Check, AsksWhetherUnknownKeysOfAccelForgeAreMisspelt) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"check", folder.write("arch.yaml", R"(
arch:
  nodes:
  - !Memory
    name: DRAM
    size: inf
    enrgy_scale: 2
    tensors: {keep: All}
    actions: [{name: read, energy: 1, latency: 0}, {name: write, energy: 1, latency: 0}]
  - !Container {name: PE, spatial: [{name: X, fanout: 4, may_resue: All, usage_scale: 1}]}
  - !Compute {name: MAC, area_scale: 1, actions: [{name: compute, energy: 1, latency: 0}]}
)")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.err, HasSubstr("warning: 'enrgy_scale' of DRAM has no counterpart"));
  EXPECT_THAT(run.err, HasSubstr("did you mean 'energy_scale'?"));
  EXPECT_THAT(run.err, HasSubstr("warning: 'may_resue' of a spatial dimension of PE has no "));
  EXPECT_THAT(run.err, HasSubstr("did you mean 'may_reuse'?"));
}

TEST(Import, SaysWhatItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_sluice({"import", folder / "none.yaml", "-o", folder / "out"}).exit_status, 3);
  const ProgramRun run =
      run_sluice({"import", folder.write("x.yaml", "a: 1"), "-o", folder / "out"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("none of the files has a section that is known"));
}

// A smaller dimension: the tile that the constraint asks for is larger.
TEST(Map, TellsMistakesInConstraintsOfTimeloopAtTheirPlace) {
  const TemporaryFolder folder;
  std::string job = kJob;
  job.resize(job.find("mapping:"));
  const std::string file = folder.write("job.yaml", job);
  const std::string constraints = folder.write("constraints.yaml", R"(
constraints:
  targets:
  - {target: DRAM, type: temporal, permutation: MNK}
  - target: GLB
    type: temporal
    factors: [N<=2, M=4]
)");
  const ProgramRun run = run_sluice({"map", file, constraints, "--set", "workload.rank_sizes.M=2"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err,
              HasSubstr(constraints + ":7:21: error: the tile of m is to have at least 4"));
  EXPECT_THAT(run.err, HasSubstr("factors: [N<=2, M=4]"));
}

// What messages call a constraint says where it stands.
TEST(Map, NamesConstraintsOfTimeloopByTheirPlace) {
  const TemporaryFolder folder;
  std::string job = kJob;
  job.resize(job.find("mapping:"));
  const std::string file = folder.write("job.yaml", job);
  const std::string ert = folder.write("ert.yaml",
                                       "{DRAM: {read: 10, write: 10}, GLB: {read: 1, write: 1}, "
                                       "MAC: {compute: 0.5}}");
  const std::string constraints = folder.write("constraints.yaml", R"(
constraints:
  targets:
  - {target: GLB, type: bypass, bypass: [A, B, Z]}
  - target: GLB
    type: temporal
    factors: [M=3]
)");
  const ProgramRun run = run_sluice({"map", file, constraints, "--ert", ert});
  EXPECT_EQ(run.exit_status, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("tile of M at GLB (constraints.yaml:7:15)"));
}

// Each buffer has room for one tensor; the tile of Z outlasts those of A and B.
TEST(Import, LeavesTheMappingsOfTimeloopInTheSpace) {
  const TemporaryFolder folder;
  const std::string job = folder.write("job.yaml", R"(
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 8, datawidth: 8}}
  - !Component {name: bufA, class: SRAM, attributes: {width: 8, depth: 16, datawidth: 8}, constraints: {dataspace: {keep: [A], bypass: [B, Z]}}}
  - !Component {name: bufB, class: SRAM, attributes: {width: 8, depth: 256, datawidth: 8}, constraints: {dataspace: {keep: [B], bypass: [A, Z]}}}
  - !Component {name: regZ, class: SRAM, attributes: {width: 8, depth: 1, datawidth: 8}, constraints: {dataspace: {keep: [Z], bypass: [A, B]}}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
problem: {instance: {M: 16, N: 16, K: 16}, shape: gemm-ABZ}
ERT:
  version: 0.4
  tables:
  - {name: DRAM, actions: [{name: read, energy: 100}, {name: write, energy: 100}]}
  - {name: bufA, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}
  - {name: bufB, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}
  - {name: regZ, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}
  - {name: mac, actions: [{name: compute, energy: 1}]}
)");
  const std::string mapping = folder.write("mapping.yaml", R"(
mapping:
- {target: DRAM, type: temporal, factors: [M=16, N=1, K=1], permutation: [M, N, K]}
- {target: bufA, type: dataspace, keep: [A], bypass: [B, Z]}
- {target: bufA, type: temporal, factors: [M=1, N=1, K=1], permutation: [M, N, K]}
- {target: bufB, type: dataspace, keep: [B], bypass: [A, Z]}
- {target: bufB, type: temporal, factors: [M=1, N=16, K=16], permutation: [K, N, M]}
- {target: regZ, type: dataspace, keep: [Z], bypass: [A, B]}
- {target: regZ, type: temporal, factors: [M=1, N=1, K=1], permutation: [M, N, K]}
)");
  const auto energy_of = [](const std::vector<std::string>& arguments) {
    const ProgramRun run = run_sluice(arguments);
    EXPECT_EQ(run.exit_status, 0) << run.err;
    return nlohmann::json::parse(run.out)["mappings"][0]["energy_j"].get<double>();
  };
  const double timeloops = energy_of({"evaluate", job, mapping, "--json"});
  EXPECT_NEAR(timeloops, 97.5e-9, 0.05e-9);
  EXPECT_LE(energy_of({"map", job, "--objective", "energy", "--json"}), timeloops * (1 + 1e-9));
}

TEST(Import, IsSearchedForLatencyWithoutEnergies) {
  const TemporaryFolder folder;
  const std::string job = folder.write("job.yaml", kJob);
  const ProgramRun run = run_sluice({"map", job, "--objective", "latency", "--json"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["guarantee"]["kind"], "optimal");
  EXPECT_TRUE(document["mappings"][0]["energy_j"].is_null());
  EXPECT_DOUBLE_EQ(document["mappings"][0]["latency_s"].get<double>(), 24e-9);
  EXPECT_EQ(run_sluice({"map", job, "--objective", "energy"}).exit_status, 2);
}

}  // namespace
}  // namespace sluice::testing
