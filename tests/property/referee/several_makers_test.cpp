// Tensors that several Einsums make in parts: counts and occupancy by hand, and what each mapper
// finds is executed as it is priced.
#include <gtest/gtest.h>

#include "settled_differences.h"
#include "sluice/mapper/registry.h"
#include "sluice/mapper/run_mapper.h"

namespace sluice {
namespace {

using settled::Settled;
using settled::workload_of;

const std::string kParts =
    workload_of(R"x("T[m,N:a] = A[m] * F[a]", "T[m,N:b+2] = A[m] * H[b]", "Z[m,n] = exp(T[m,n])")x",
                "M: 4, A: 2, B: 3");

const char* const kAlone = R"(
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: [m], tile_shape: 1}
      - !Temporal {rank_variable: [a], tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: [m], tile_shape: 1}
      - !Temporal {rank_variable: [b], tile_shape: 1}
      - !Compute {einsum: T_2, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: [m], tile_shape: 1}
      - !Temporal {rank_variable: [n], tile_shape: 1}
      - !Compute {einsum: Z, component: MAC}
)";

// 4 · 2 and 4 · 3 values are written, 4 · 5 read: all of T is there, once, from the first maker on.
TEST(SeveralMakers, WriteTheirPartsAndTheReaderReadsAll) {
  const Settled parts(kParts,
                      "  - !Storage {tensors: [A, F, H, Z], component: DRAM}\n"
                      "  - !Storage {tensors: [T], component: GB}\n" +
                          std::string(kAlone));
  ASSERT_TRUE(parts.legal);
  EXPECT_EQ(parts.count("GB", "T", "write"), 4 * 2 + 4 * 3);
  EXPECT_EQ(parts.count("GB", "T", "read"), 4 * 5);
  EXPECT_EQ(parts.peak_bits("GB"), 4 * 5 * 8);
}

// A slice of m at a time: 5 values.
TEST(SeveralMakers, ShareALoopOverARankThatAllOfThemWalkWhole) {
  const Settled fused(kParts, R"(
  - !Storage {tensors: [A, F, H, Z], component: DRAM}
  - !Temporal {rank_variable: [m], tile_shape: 1}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: [a], tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: [b], tile_shape: 1}
      - !Compute {einsum: T_2, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: [n], tile_shape: 1}
      - !Compute {einsum: Z, component: MAC}
)");
  ASSERT_TRUE(fused.legal);
  EXPECT_EQ(fused.peak_bits("GB"), 5 * 8);
}

// Nobody reads T, and each maker writes its part.
TEST(SeveralMakers, OfAResultHoldAllOfItTogether) {
  const Settled result(
      workload_of(R"("T[N:a] = A[a] * F[]", "T[N:b+2] = B[b] * F[]")", "A: 2, B: 3"),
      R"(
  - !Storage {tensors: [A, B, F], component: DRAM}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: [a], tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: [b], tile_shape: 1}
      - !Compute {einsum: T_2, component: MAC}
)");
  ASSERT_TRUE(result.legal);
  EXPECT_EQ(result.peak_bits("GB"), 5 * 8);
  EXPECT_EQ(result.count("GB", "T", "write"), 5);
}

// Before T_2 has made its part nobody may read it.
TEST(SeveralMakers, AreAllReadAfterTheLastOne) {
  const Settled early(kParts, R"(
  - !Storage {tensors: [A, F, H, Z], component: DRAM}
  - !Storage {tensors: [T], component: GB}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: [m], tile_shape: 1}
      - !Temporal {rank_variable: [a], tile_shape: 1}
      - !Compute {einsum: T, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: [m], tile_shape: 1}
      - !Temporal {rank_variable: [n], tile_shape: 1}
      - !Compute {einsum: Z, component: MAC}
    - !Nested
      nodes:
      - !Temporal {rank_variable: [m], tile_shape: 1}
      - !Temporal {rank_variable: [b], tile_shape: 1}
      - !Compute {einsum: T_2, component: MAC}
)");
  EXPECT_FALSE(early.legal);
}

class MapperOfParts : public ::testing::TestWithParam<const char*> {};

TEST_P(MapperOfParts, FindsWhatIsExecutedAsItIsPriced) {
  const auto problem =
      settled::Settled::load(kParts + settled::kArch +
                             "  - !Storage {tensors: [A, F, H, Z, T], component: DRAM}" + kAlone)
          .problem;
  MapperOptions options;
  options.budget_evaluations = 500;
  const auto outcome = run_mapper(*standard_mappers().find(GetParam()), problem, options, {});
  ASSERT_TRUE(outcome.has_value());
  const triples::LoadedTriple best{problem, outcome->mappings.front().mapping};
  EXPECT_EQ(triples::differences(best), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(All, MapperOfParts,
                         ::testing::Values("fused", "compound", "exhaustive", "random", "anneal",
                                           "genetic", "iterative"));

}  // namespace
}  // namespace sluice
