#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::fused {

/// A partial assignment extended by states side by side: what is the same for all of them.
struct LaneWork {
  static constexpr std::size_t kLanes = 8;  ///< states at a time: columns go on as far

  struct Open {
    double factor;         ///< of the product before
    const double* column;  ///< factor of the class; null: none
  };
  struct Term {
    const double* column;
    double weight;
  };
  struct Share {
    std::uint32_t open;  ///< product
    double factor;
  };
  enum class Bounds : std::uint8_t { kNothing, kEnergy, kLatency, kLimit };
  struct Row {
    double sum;         ///< before
    double untouched;   ///< least sum of what is not begun yet
    std::size_t terms;  ///< where those of the next row begin
    std::size_t shares;
    Bounds bounds;
    double limit;
  };

  std::vector<Open> open;
  std::vector<Row> rows;
  std::vector<Term> terms;    ///< of products that close
  std::vector<Share> shares;  ///< of open products in the least values of rows
  double least_latency;
};

/// Numbers of `stride` states, a multiple of LaneWork::kLanes, in rows of as many.
struct LaneResults {
  std::size_t stride;
  double *rows, *open;
  double *energy, *latency;  ///< of the cheapest completion, leakage aside
  double* exceeds;           ///< 0 where no limit is exceeded for certain, else 1
};

void extend_lanes(const LaneWork& work, const LaneResults& results);

}  // namespace sluice::fused
