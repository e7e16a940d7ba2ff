#include "mapper/common/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <vector>

namespace sluice {
namespace {

TEST(ParallelFor, CallsTheBodyOnceForEachIndexWithAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 8}) {
    std::vector<int> calls(1000, 0);
    parallel_for(threads, calls.size(), [&](std::size_t i) { ++calls[i]; });
    EXPECT_THAT(calls, ::testing::Each(1)) << threads << " threads";
  }
}

TEST(ParallelFor, DoesNothingForAnEmptyRange) {
  parallel_for(2, 0, [](std::size_t) { FAIL(); });
}

TEST(ParallelFor, RunsMoreBodiesAtOnceThanTheMachineHasCores) {
  std::latch all_eight_are_running(8);
  parallel_for(8, 8, [&](std::size_t) { all_eight_are_running.arrive_and_wait(); });
  SUCCEED();
}

TEST(ParallelFor, ThrowsTheExceptionOfABody) {
  EXPECT_THROW(parallel_for(2, 100,
                            [](std::size_t i) {
                              if (i == 50) throw std::runtime_error("fifty");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace sluice
