#include "model/bind/divisors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice {
namespace {

using Factors = std::vector<std::pair<std::int64_t, int>>;

TEST(Divisors, OfSmallNumbersAreTheirDivisors) {
  for (std::int64_t n = 1; n <= 5000; ++n) {
    std::vector<std::int64_t> divisors, primes;
    for (std::int64_t d = 1; d <= n; ++d)
      if (n % d == 0) divisors.push_back(d);
    for (const std::int64_t d : divisors)
      if (d > 1 && std::count_if(divisors.begin(), divisors.end(),
                                 [&](std::int64_t own) { return d % own == 0; }) == 2)
        primes.push_back(d);
    ASSERT_EQ(divisors_of(n), divisors) << n;
    ASSERT_EQ(primes_of(n), primes) << n;
    if (n > 1) {
      ASSERT_EQ(smallest_prime_of(n), primes.front()) << n;
    }
  }
}

// Around the square of the primes that are tried one by one: 4091, 4093, 4099 and 4111 are primes.
TEST(Divisors, AreFoundOnBothSidesOfWhatIsTried) {
  EXPECT_EQ(factors_of(4093LL * 4093), (Factors{{4093, 2}}));
  EXPECT_EQ(factors_of(4091LL * 4099), (Factors{{4091, 1}, {4099, 1}}));
  EXPECT_EQ(factors_of(4099LL * 4099), (Factors{{4099, 2}}));
  EXPECT_EQ(factors_of(4099LL * 4111 * 4111), (Factors{{4099, 1}, {4111, 2}}));
  EXPECT_EQ(smallest_prime_of(4099LL * 4111), 4099);
}

TEST(Divisors, OfTheLargestSizesAreFoundAtOnce) {
  EXPECT_EQ(factors_of(9007199254740881),
            (Factors{{9007199254740881, 1}}));  // the prime below 2^53
  EXPECT_EQ(factors_of(std::int64_t{1} << 53), (Factors{{2, 53}}));
  EXPECT_EQ(factors_of(94906249LL * 94906249), (Factors{{94906249, 2}}));
  EXPECT_EQ(factors_of(94906247LL * 94906249), (Factors{{94906247, 1}, {94906249, 1}}));
  EXPECT_EQ(divisors_of(std::int64_t{1} << 53).size(), 54U);
}

}  // namespace
}  // namespace sluice
