#pragma once

#include <sluice/model/collective_algorithm.h>

/// An all_reduce in two steps: everyone sends all values to rank 0, which combines them with its
/// own and sends the result to everyone.
class Star final : public sluice::CollectiveAlgorithm {
 public:
  std::string name() const override { return "star"; }
  bool performs(sluice::CollectiveType type) const override {
    return type == sluice::CollectiveType::kAllReduce;
  }
  void count(sluice::CollectiveTally& tally) const override {
    const std::int64_t values = tally.request().values;
    for (std::int64_t rank = 1; rank < tally.participants(); ++rank)
      tally.send(rank, 0, values, sluice::CollectiveTally::Arrival::kCombined);
    tally.end_step();
    for (std::int64_t rank = 1; rank < tally.participants(); ++rank) tally.send(0, rank, values);
    tally.end_step();
  }
};
