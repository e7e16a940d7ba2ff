#include "cli/io/interrupt.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

TEST(Interrupt, SetsTheFlagInsteadOfEndingTheProcess) {
  const InterruptGuard guard;
  EXPECT_FALSE(guard.flag());
  raise(SIGINT);
  EXPECT_TRUE(guard.flag());
}

TEST(Interrupt, TheSecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        const InterruptGuard guard;
        raise(SIGINT);
        raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupt, StartsAfreshEachTime) {
  {
    const InterruptGuard guard;
    raise(SIGTERM);
  }
  const InterruptGuard guard;
  EXPECT_FALSE(guard.flag());
}

}  // namespace
}  // namespace sluice::cli
