#pragma once

#include <sluice/model/latency_policy.h>

/// Every second of work is followed by one of waiting: twice as long as under `overlap`.
class Doubled final : public sluice::LatencyMethod {
 public:
  std::string name() const override { return "doubled"; }
  sluice::LatencyBreakdown latency(const sluice::CountedMapping& counted) const override {
    const double busy_s = counted.overlap_s();
    return {{"busy", busy_s}, {"waiting", busy_s}};
  }
};
