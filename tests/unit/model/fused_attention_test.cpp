// Fused attention (FFM's running example), one head and four rows at a time, worked by hand.
//
//   QK[h,m,p] = Q[h,m,e] · K[h,p,e]    MX[h,m] = max QK    EX[h,m,p] = exp(QK − MX)
//   DN[h,m] = Σ EX    AV[h,m,f] = EX · V[h,p,f]    Z[h,m,f] = AV / DN
//   H 2, M 8, P 8, E 4, F 4, 8 bits a value. DRAM 64 pJ/bit, 64 bit/s; GB 1 pJ/bit, 512 bit/s.
//   SIMD: max, sub, add 1 pJ, 4/s; exp, div 4 pJ, 1/s.   MAC: 1 pJ, 16/s.
//
// Points: QK 2·8·8·4 = 512, MX EX DN 2·8·8 = 128 each, AV 512, Z 2·8·4 = 64.
// Time, compute: QK 512/16 = 32, MX 128/4 = 32, EX 128/4 + 128/1 = 160, DN 32, AV 32, Z 64/1 = 64;
// the memories are never slower: 352 s in all. DRAM: reads Q, K, V 64 values each (every value
// once), writes Z 64. 256 values · 8 bits · 64 pJ. GB (values): QK's first reads are free: 512 −
// 128 = 384, and MX and EX read it: + 128 + 128 = 640.
//   MX: 128 − 16 reads of the running maximum, and EX reads it 128 times: 240. EX: DN 128 + AV 512.
//   DN: 128 − 16, and Z reads it 64 times: 176. AV: 512 − 64, Z reads 64: 512. Q, K, V: 512 each,
//   one per product. Z: accumulating reads 0, drained once: 64.
// Energy: DRAM 256·8·64 = 131,072 pJ. GB: reads 512·3 + 640 + 240 + 640 + 176 + 512 + 64 = 3,808,
//   writes 64·4 + 512 + 3·128 + 512 = 1,664; 5,472 · 8 · 1 pJ = 43,776 pJ. Compute: 512 + 128 +
//   128·(1+4) + 128 + 512 + 64·4 = 2,176 pJ. Sum 177,024 pJ.
#include <gtest/gtest.h>

#include "sluice/model/evaluate.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

using Kind = OperationKind;

Workload attention() {
  WorkloadBuilder builder({{"h", 2}, {"m", 8}, {"p", 8}, {"e", 4}, {"f", 4}}, 8);
  builder.einsum("QK[h,m,p] = Q[h,m,e] * K[h,p,e]")
      .einsum("MX[h,m] = QK[h,m,p]", {}, Reduction::kMax)
      .einsum("EX[h,m,p] = QK[h,m,p] * MX[h,m]", {Kind::kSub, Kind::kExp}, Reduction::kNone)
      .einsum("DN[h,m] = EX[h,m,p]", {}, Reduction::kSum)
      .einsum("AV[h,m,f] = EX[h,m,p] * V[h,p,f]")
      .einsum("Z[h,m,f] = AV[h,m,f] * DN[h,m]", {Kind::kDiv}, Reduction::kNone);
  return builder.workload;
}

Arch machine(const std::string& buffer_size) {
  Arch arch;
  arch.components.push_back(memory("DRAM", "inf", "~Intermediates", 64e-12, 64));
  arch.components.push_back(memory("GB", buffer_size, "All", 1e-12, 512));
  arch.components.push_back(compute("SIMD", {{"max", 1e-12, 4, 1, 0},
                                             {"sub", 1e-12, 4, 1, 0},
                                             {"exp", 4e-12, 1, 1, 0},
                                             {"add", 1e-12, 4, 1, 0},
                                             {"div", 4e-12, 1, 1, 0}}));
  arch.components.back().enabled = expression("not (ops <= {mul_add})");
  arch.components.push_back(compute("MAC", {{"mul_add", 1e-12, 16, 1, 0}}));
  arch.components.back().enabled = expression("ops <= {mul_add}");
  return arch;
}

Mapping fused(const Workload& workload, const Arch& arch) {
  const MappingBuilder b(workload, arch);
  const auto rows = [&](const char* einsum) {
    return NodeList{b.temporal("m", 1), b.temporal("p", 1), b.compute(einsum, "SIMD")};
  };
  Mapping mapping;
  mapping.nodes = {b.storage("DRAM", {"Q", "K", "V", "Z"}),
                   b.temporal("h", 1),
                   b.storage("GB", {"K", "V"}),
                   b.temporal("m", 4),
                   b.storage("GB", {"QK", "MX", "EX", "DN", "AV"}),
                   b.sequential({{b.storage("GB", {"Q"}), b.temporal("m", 1), b.temporal("p", 1),
                                  b.temporal("e", 1), b.compute("QK", "MAC")},
                                 rows("MX"),
                                 rows("EX"),
                                 rows("DN"),
                                 {b.temporal("m", 1), b.temporal("f", 1), b.temporal("p", 1),
                                  b.compute("AV", "MAC")},
                                 {b.storage("GB", {"Z"}), b.temporal("m", 1), b.temporal("f", 1),
                                  b.compute("Z", "SIMD")}})};
  return mapping;
}

struct Evaluated {
  Workload workload = attention();
  Arch arch = machine("2048");
  Cost cost;
  Evaluated() {
    const auto result = evaluate(bound(workload, arch), fused(workload, arch));
    if (!result) throw std::runtime_error(messages(result.error()));
    cost = *result;
  }
  Values moved(const std::string& component, const std::string& action) const {
    return values(cost, workload, arch, component, action);
  }
};

TEST(FusedAttention, TakesTheTimeWorkedByHand) {
  EXPECT_DOUBLE_EQ(Evaluated().cost.latency_s, 352);
}

TEST(FusedAttention, TakesTheEnergyWorkedByHand) {
  EXPECT_NEAR(Evaluated().cost.energy_j, 177024e-12, 1e-18);
}

TEST(FusedAttention, MovesTheValuesWorkedByHand) {
  Evaluated evaluated;
  EXPECT_EQ(evaluated.moved("DRAM", "read"), (Values{{"Q", 64}, {"K", 64}, {"V", 64}}));
  EXPECT_EQ(evaluated.moved("DRAM", "write"), (Values{{"Z", 64}}));
  EXPECT_EQ(evaluated.moved("GB", "read"), (Values{{"Q", 512},
                                                   {"K", 512},
                                                   {"V", 512},
                                                   {"QK", 640},
                                                   {"MX", 240},
                                                   {"EX", 640},
                                                   {"DN", 176},
                                                   {"AV", 512},
                                                   {"Z", 64}}));
  EXPECT_EQ(evaluated.moved("GB", "write"), (Values{{"Q", 64},
                                                    {"K", 64},
                                                    {"V", 64},
                                                    {"Z", 64},
                                                    {"QK", 512},
                                                    {"MX", 128},
                                                    {"EX", 128},
                                                    {"DN", 128},
                                                    {"AV", 512}}));
}

// K and V of one head live throughout: 2 · 8·4 = 64 values. In EX: QK and EX of four rows, 4·8
// each, and MX of four rows: 64 + 32 + 32 + 4 = 132 values of 8 bits. (QK dies after EX; Q and Z
// hold one row.)
TEST(FusedAttention, PeaksInTheExponential) {
  const Evaluated evaluated;
  ASSERT_EQ(evaluated.cost.occupancy.size(), 2U);
  EXPECT_DOUBLE_EQ(evaluated.cost.occupancy[1].peak_bits, 1056);
}

TEST(FusedAttention, ExceedsASmallerBufferAndSaysWhere) {
  const Workload workload = attention();
  const Arch arch = machine("1024");
  const auto result = evaluate(bound(workload, arch), fused(workload, arch));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(messages(result.error()),
            "GB holds 1,024 bits; the Einsum EX needs 1,056 (K 256 = [1×8×4] × 8 bits, V 256 = "
            "[1×8×4] × 8 bits, "
            "QK 256 = [1×4×8] × 8 bits, EX 256 = [1×4×8] × 8 bits, MX 32 = [1×4] × 8 bits), 32 too "
            "many.\n");
}

}  // namespace
}  // namespace sluice::testing
