#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAccelForge = R"(
variables: {W: 8, WIDE: W * 2}
workload:
  rank_sizes: {M: 4, K: 2, N: 3}
  bits_per_value: {Inputs: W, Z: WIDE}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"]
arch:
  variables: {DEPTH: 64, STEP: 1}
  nodes:
  - !Memory {name: GLB, size: DEPTH * W, tensors: {keep: All}, actions: [{name: read, energy: STEP, energy_scale: 2}, {name: write, energy: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1}]}
)";

constexpr const char* kTemplate = R"({% set DEPTH = 64 %}
{% set HALF = DEPTH // 2 %}
{% set BATCH = BATCH | default(1) %}
arch:
  nodes:
  - !Memory {name: GLB, size: {{ HALF * BATCH }}, tensors: {keep: All}, actions: [{name: read, energy: 1, energy_scale: 2}, {name: write, energy: 1}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1}]}
)";

constexpr const char* kTimeloop = R"(
variables: {WIDTH: 8, DEPTH: 64, global_cycle_seconds: 1e-9}
architecture:
  version: 0.4
  nodes:
  - !Component {name: GLB, class: SRAM, attributes: {datawidth: WIDTH, depth: DEPTH}}
  - !Component {name: MAC, class: intmac, attributes: {datawidth: WIDTH}}
)";

/// A file, imported with settings.
struct Import {
  explicit Import(const std::string& text, const std::vector<std::string>& settings) {
    std::vector<std::string> arguments = {"import", folder.write("job.yaml", text), "-o",
                                          folder / "out"};
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(setting);
    }
    run = run_sluice(arguments);
  }

  std::string file(const std::string& name) const { return read_text(folder / ("out/" + name)); }

  TemporaryFolder folder;
  ProgramRun run;
};

// 32 · 4 = 128 bits; 3 J · 2 = 6 J.
TEST(ImportSettings, SetVariablesOfAccelForgeAndOfItsArchitecture) {
  const Import import(kAccelForge, {"W=4", "DEPTH=32", "STEP=3"});
  EXPECT_EQ(import.run.exit_status, 0) << import.run.err;
  EXPECT_THAT(import.file("workload.yaml"), HasSubstr("variables: {W: 4, WIDE: W * 2}"));
  EXPECT_THAT(import.file("arch.yaml"), HasSubstr("size: 128\n"));
  EXPECT_THAT(import.file("arch.yaml"), HasSubstr("energy: 6"));
}

// 10 ÷ 2 · 3 = 15 bits.
TEST(ImportSettings, SetWhatATemplateSetsByItself) {
  const Import import(kTemplate, {"DEPTH=10", "BATCH=3"});
  EXPECT_EQ(import.run.exit_status, 0);
  EXPECT_EQ(import.run.err.find("no file asks"), std::string::npos) << import.run.err;
  EXPECT_THAT(import.file("arch.yaml"), HasSubstr("size: 15\n"));
}

// 16 · 4 = 64 bits; 1 ÷ 2 ns = 500 MHz.
TEST(ImportSettings, SetVariablesOfTimeloop) {
  const Import import(kTimeloop, {"WIDTH=4", "DEPTH=16", "global_cycle_seconds=2e-9"});
  EXPECT_EQ(import.run.exit_status, 0) << import.run.err;
  EXPECT_THAT(import.file("arch.yaml"), HasSubstr("size: 64\n"));
  EXPECT_THAT(import.file("arch.yaml"), HasSubstr("clock: 500000000\n"));
}

TEST(ImportSettings, OfUnknownNamesAskWhatWasMeant) {
  for (const char* text : {kAccelForge, kTimeloop}) {
    const Import import(text, {"DEPHT=32"});
    EXPECT_EQ(import.run.exit_status, 2);
    EXPECT_THAT(import.run.err,
                HasSubstr("--set DEPHT=32: error: no file declares the variable 'DEPHT'"));
    EXPECT_THAT(import.run.err, HasSubstr("did you mean 'DEPTH'?"));
  }
  EXPECT_THAT(Import(kTemplate, {"DEPHT=32"}).run.err, HasSubstr("did you mean 'DEPTH'?"));
}

TEST(ImportSettings, OfValuesThatAreNoneAreErrors) {
  for (const char* text : {kAccelForge, kTimeloop}) {
    const Import unknown(text, {"DEPTH=2 * DEPHT"});
    EXPECT_EQ(unknown.run.exit_status, 2);
    EXPECT_THAT(unknown.run.err, HasSubstr("--set DEPTH=2 * DEPHT: error: unknown name 'DEPHT'"));
    EXPECT_THAT(unknown.run.err, HasSubstr("did you mean 'DEPTH'?"));
    const Import broken(text, {"DEPTH=4x"});
    EXPECT_EQ(broken.run.exit_status, 2);
    EXPECT_THAT(broken.run.err, HasSubstr("--set DEPTH=4x: error: "));
  }
}

}  // namespace
}  // namespace sluice::testing
