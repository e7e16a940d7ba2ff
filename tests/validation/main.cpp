// Runs the validation tests, then says how much of the reference data was there to compare with.
#include <gmock/gmock.h>

#include <iostream>

#include "support/golden_count.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const int status = RUN_ALL_TESTS();
  std::cout << sluice::testing::golden_summary() << std::endl;
  return status;
}
