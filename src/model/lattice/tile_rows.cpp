#include "tile_rows.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "chain_tensors.h"
#include "wide_vectors.h"

namespace sluice::tile_rows {

SLUICE_WIDE_VECTORS
void lower_blocks(const double* from, double* into, std::size_t n_blocks, std::size_t block,
                  std::size_t size) {
  for (std::size_t n = 0; n < n_blocks; ++n, from += block, into += block)
    for (std::size_t x = 0; x < size; ++x) into[x] = std::min(into[x], from[x]);
}

SLUICE_WIDE_VECTORS
void lower_parts(double* row, std::size_t n_blocks, std::size_t block, std::size_t size,
                 const Parts& parts) {
  constexpr std::size_t kTogether = 8;  // blocks: a number often waits for the one before
  std::size_t n = 0;
  for (; size == 1 && n + kTogether <= n_blocks; n += kTogether, row += kTogether * block)
    for (const auto& [from, into] : parts)
      for (std::size_t b = 0; b < kTogether; ++b)
        row[b * block + into] = std::min(row[b * block + into], row[b * block + from]);
  for (; n < n_blocks; ++n, row += block)
    for (const auto& [from, into] : parts) {
      const double* other = row + from * size;
      double* own = row + into * size;
      for (std::size_t x = 0; x < size; ++x) own[x] = std::min(own[x], other[x]);
    }
}

SLUICE_WIDE_VECTORS
void set_to_sums(const double* a, const double* b, const double* c, std::size_t count,
                 double* __restrict__ sums) {
  for (std::size_t x = 0; x < count; ++x) sums[x] = a[x] + b[x] + c[x];
}

SLUICE_WIDE_VECTORS
void take_room(const double* bits, std::size_t count, double* __restrict__ room) {
  for (std::size_t x = 0; x < count; ++x) room[x] -= bits[x];
}

SLUICE_WIDE_VECTORS
bool bar(const double* bits, std::size_t count, double* __restrict__ room) {
  constexpr double kBarred = std::numeric_limits<double>::infinity();
  std::int64_t n_fit = 0;
  for (std::size_t x = 0; x < count; ++x) {
    const bool fits = bits[x] <= room[x] && bits[x] < kBarred;
    n_fit += fits ? 1 : 0;
    room[x] = fits ? 0 : kBarred;
  }
  return n_fit > 0;
}

SLUICE_WIDE_VECTORS
void price_inputs(std::size_t count, FeedPrice price, double* row) {
  for (std::size_t x = 0; x < count; ++x) {
    const double fed = in_whole_actions(row[x] * price.apart, price.outer_whole);
    row[x] = price.share * (in_whole_actions(row[x], price.own_whole) * price.own_j +
                            std::max(0.0, fed - price.compulsory) * price.outer_j);
  }
}

SLUICE_WIDE_VECTORS
void price_outputs(std::size_t count, FeedPrice price, ReturnPrice back, double* row) {
  for (std::size_t x = 0; x < count; ++x) {
    const double drained = in_whole_actions(row[x] * price.apart, price.outer_whole);
    const double returned = std::max(0.0, row[x] - back.first_sums);
    row[x] = price.share *
             (row[x] * price.own_j + std::max(0.0, drained - price.compulsory) * price.outer_j +
              returned * back.own_j +
              in_whole_actions(returned * price.apart, back.outer_whole) * back.outer_j);
  }
}

SLUICE_WIDE_VECTORS
void lower_to_sums(const double* a, const double* b, const double* c, std::size_t count,
                   double* __restrict__ least) {
  for (std::size_t x = 0; x < count; ++x) {
    const double sum = a[x] + b[x] + c[x];
    least[x] = sum < least[x] ? sum : least[x];
  }
}

}  // namespace sluice::tile_rows
