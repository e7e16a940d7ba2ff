#include <fmt/core.h>

#include "sluice/support/version.h"

int main() {
  fmt::print("sluice {}\n", sluice::version());
  return 0;
}
