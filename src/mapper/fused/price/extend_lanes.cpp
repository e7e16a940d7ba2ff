#include "extend_lanes.h"

#include "model/lattice/wide_vectors.h"

namespace sluice::fused {
namespace {

/// Half of the lanes; the compiler makes smaller vectors of it where the processor has no such.
constexpr std::size_t kHalf = LaneWork::kLanes / 2;
using Half [[gnu::vector_size(kHalf * sizeof(double))]] = double;
/// The same, anywhere in memory.
using AnyHalf
    [[gnu::vector_size(kHalf * sizeof(double)), gnu::aligned(sizeof(double)), gnu::may_alias]] =
        double;

const AnyHalf& half(const double* at) { return *reinterpret_cast<const AnyHalf*>(at); }
AnyHalf& half(double* at) { return *reinterpret_cast<AnyHalf*>(at); }

}  // namespace

SLUICE_WIDE_VECTORS
void extend_lanes(const LaneWork& work, const LaneResults& results) {
  const std::size_t stride = results.stride;
  for (std::size_t x = 0; x < stride; x += LaneWork::kLanes) {
    double* open = results.open + x;
    for (const LaneWork::Open& own : work.open) {
      Half a = Half{} + own.factor, b = a;
      if (own.column != nullptr) {
        a *= half(own.column + x);
        b *= half(own.column + x + kHalf);
      }
      half(open) = a;
      half(open + kHalf) = b;
      open += stride;
    }
    Half energy_a{}, energy_b{}, exceeds_a{}, exceeds_b{};
    Half latency_a = Half{} + work.least_latency, latency_b = latency_a;
    const LaneWork::Term* term = work.terms.data();
    const LaneWork::Share* share = work.shares.data();
    double* into = results.rows + x;
    for (const LaneWork::Row& row : work.rows) {
      Half a = Half{} + row.sum, b = a;
      for (const auto* last = work.terms.data() + row.terms; term != last; ++term) {
        a += term->weight * half(term->column + x);
        b += term->weight * half(term->column + x + kHalf);
      }
      half(into) = a;
      half(into + kHalf) = b;
      into += stride;
      if (row.bounds == LaneWork::Bounds::kNothing) continue;
      a += row.untouched;
      b += row.untouched;
      for (const auto* last = work.shares.data() + row.shares; share != last; ++share) {
        const double* own = results.open + share->open * stride + x;
        a += share->factor * half(own);
        b += share->factor * half(own + kHalf);
      }
      if (row.bounds == LaneWork::Bounds::kEnergy) {
        energy_a = a;
        energy_b = b;
      } else if (row.bounds == LaneWork::Bounds::kLatency) {
        latency_a = latency_a < a ? a : latency_a;
        latency_b = latency_b < b ? b : latency_b;
      } else {
        exceeds_a = a <= row.limit ? exceeds_a : Half{} + 1;
        exceeds_b = b <= row.limit ? exceeds_b : Half{} + 1;
      }
    }
    half(results.energy + x) = energy_a;
    half(results.energy + x + kHalf) = energy_b;
    half(results.latency + x) = latency_a;
    half(results.latency + x + kHalf) = latency_b;
    half(results.exceeds + x) = exceeds_a;
    half(results.exceeds + x + kHalf) = exceeds_b;
  }
}

}  // namespace sluice::fused
