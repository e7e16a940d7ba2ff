#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sluice/sweep/sweep.h"
#include "support/run_program.h"

namespace sluice::testing {

inline constexpr const char* kSmallWorkload = R"(
variables: {M: 16}
workload:
  rank_sizes: {M: M, K: 16, N: 16}
  bits_per_value: {All: 8}
  einsums:
  - "Z[m,n] = A[m,k] * B[k,n]"
)";

/// Memories with areas and leakage; larger buffers cost more energy a bit.
inline constexpr const char* kSmallArch = R"(
variables: {BUFFER: 64 B}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: All}, area: 0,
             actions: [{name: read, energy: 10 pJ/bit, throughput: 8 GB/s}, {name: write, energy: 10 pJ/bit, throughput: 8 GB/s}]}
  - !Memory {name: Buffer, size: BUFFER, tensors: {keep: All}, area: BUFFER / 1 B * 1e-9 m2, leak_power: 1 uW,
             actions: [{name: read, energy: 0.01 * sqrt(BUFFER / 1 bit) * 1 pJ/bit, throughput: 16 GB/s},
                       {name: write, energy: 0.01 * sqrt(BUFFER / 1 bit) * 1 pJ/bit, throughput: 16 GB/s}]}
  - !Compute {name: MAC, area: 1e-8 m2, spatial: [{name: lane, fanout: 4}],
              actions: [{name: compute, energy: 0.5 pJ, throughput: 1 GHz}]}
)";

/// The two files, and a request that searches them.
class SmallSpecs {
 public:
  SmallSpecs()
      : workload_(folder_.write("w.yaml", kSmallWorkload)),
        arch_(folder_.write("a.yaml", kSmallArch)) {}

  SweepRequest request(const std::vector<std::string>& vary = {}) const {
    SweepRequest request;
    request.workloads = {workload_};
    request.architectures = {arch_};
    for (const std::string& text : vary) request.grid.push_back(*varied_field(text));
    request.options = {{"threads", "1"}};
    return request;
  }

  const std::string& workload() const { return workload_; }
  const std::string& arch() const { return arch_; }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  std::string workload_, arch_;
};

}  // namespace sluice::testing
