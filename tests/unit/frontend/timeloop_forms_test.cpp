// What stands in other people's Timeloop files. All fixtures are made for these tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "sluice/frontend/import.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ImportedSpecs imported(const std::string& text, const ImportOptions& options = {}) {
  const TemporaryFolder folder;
  auto result = import_specs({folder.write("job.yaml", text)}, options);
  if (!result) throw std::runtime_error(to_string(result.error()));
  return std::move(*result);
}

constexpr const char* kArch = R"(
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: WIDE, datawidth: 8}}
  - !Component {name: buffer, class: SRAM, attributes: {width: 8, depth: 64, datawidth: 8}}
  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}
)";

TEST(TimeloopVariables, NameOneAnother) {
  const std::string job =
      std::string("variables: {WIDE: 2 * BLOCK, BLOCK: PES + 8, PES: 8}") + kArch;
  EXPECT_THAT(imported(job).arch, HasSubstr("bits_per_action: 32}"));
  ImportOptions options;
  options.variables = {{"PES", "24"}};
  EXPECT_THAT(imported(job, options).arch, HasSubstr("bits_per_action: 64}"));
}

TEST(TimeloopVariables, OfThemselvesHaveNoValue) {
  try {
    imported(std::string("variables: {WIDE: WIDE2 + 8, WIDE2: WIDE}") + kArch);
    FAIL() << "a value comes from nowhere";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown name 'WIDE"));
  }
}

TEST(TimeloopShapes, AreKnownByName) {
  for (const char* name : {"gemm-ABZ", "gemm_ABZ", "gemm-ABZ.yaml"})
    EXPECT_THAT(
        imported(std::string("problem: {instance: {M: 4, N: 3, K: 2}, shape: ") + name + "}")
            .workload,
        HasSubstr("Z[m,n] = A[m,k] * B[n,k]"));
  EXPECT_THAT(
      imported(
          "problem: {instance: {R: 1, S: 1, P: 2, Q: 2, C: 3, K: 4, N: 1}, shape: cnn-layer.yaml}")
          .workload,
      HasSubstr("Outputs["));
}

constexpr const char* kJob = R"(
variables: {WIDE: 8}
problem: {instance: {M: 4, N: 3, K: 2}, shape: gemm-ABZ}
architecture_constraints: {}
mapspace_constraints: {}
mapping:
- {target: DRAM, type: temporal, factors: M=4, permutation: MNK}
- {target: DRAM, type: bypass, keep: [A, B, Z], bypass: []}
- {target: DRAM, type: datatype, keep: [A, B, Z], bypass: []}
- {target: buffer, type: temporal, factors: N=3 K=2, permutation: KNM}
)";

TEST(TimeloopDirectives, MayBeRepeatedButNotContradicted) {
  const std::string job = std::string(kJob) + kArch;
  EXPECT_THAT(imported(job).mapping, HasSubstr("!Compute"));
  std::string other = job;
  other.replace(other.rfind("keep: [A, B, Z], bypass: []"), 27, "keep: [A, B], bypass: [Z]  ");
  try {
    imported(other);
    FAIL() << "one of two directives is dropped";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a second directive of this type for DRAM says something "
                                        "else than the first"));
  }
}

// In Timeloop a tile stays over the loops that do not move it, whatever is held further out.
TEST(TimeloopStorages, HaveNoOrderButThatOfATensorsOwn) {
  const std::string arch = imported(std::string(kJob) + kArch).arch;
  EXPECT_THAT(arch, HasSubstr("name: buffer\n    size: 512\n    tensors: {may_keep: All, "
                              "force_memory_hierarchy_order: false}"));
  EXPECT_THAT(arch, HasSubstr("name: DRAM\n    size: inf\n    tensors: {keep: All}"));
}

}  // namespace
}  // namespace sluice::testing
