#include "divisors.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sluice {
namespace {

constexpr std::int64_t kSmall = 1 << 12;  // primes that are tried; beyond, others are faster

std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t modulus) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(a) * b % modulus);
}

std::int64_t power(std::int64_t base, std::int64_t exponent, std::int64_t modulus) {
  std::int64_t result = 1;
  for (; exponent > 0; exponent /= 2, base = product(base, base, modulus))
    if (exponent % 2 == 1) result = product(result, base, modulus);
  return result;
}

/// Miller-Rabin, with bases that decide it below 2^64 (J. Sorenson and J. Webster, "Strong
/// pseudoprimes to twelve prime bases", 2017). Of odd numbers above the bases.
bool is_prime(std::int64_t n) {
  std::int64_t odd = n - 1;
  int twos = 0;
  for (; odd % 2 == 0; odd /= 2) ++twos;
  for (const std::int64_t base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    std::int64_t x = power(base, odd, n);
    bool passes = x == 1;
    for (int i = 0; i < twos && !passes; ++i, x = product(x, x, n)) passes = x == n - 1;
    if (!passes) return false;
  }
  return true;
}

/// Pollard's rho: a factor of a number that is not prime.
std::int64_t some_factor(std::int64_t n) {
  for (std::int64_t step = 1;; ++step) {
    const auto next = [&](std::int64_t x) { return (product(x, x, n) + step) % n; };
    std::int64_t slow = 2, fast = 2, factor = 1;
    while (factor == 1) {
      slow = next(slow);
      fast = next(next(fast));
      factor = std::gcd(slow > fast ? slow - fast : fast - slow, n);
    }
    if (factor != n) return factor;
  }
}

void split(std::int64_t n, std::vector<std::int64_t>* primes) {
  if (is_prime(n)) {
    primes->push_back(n);
    return;
  }
  const std::int64_t factor = some_factor(n);
  split(factor, primes);
  split(n / factor, primes);
}

}  // namespace

std::int64_t smallest_prime_of(std::int64_t value) {
  for (std::int64_t p = 2; p < kSmall && p * p <= value; ++p)
    if (value % p == 0) return p;
  return value < kSmall * kSmall ? value : factors_of(value).front().first;
}

std::vector<std::pair<std::int64_t, int>> factors_of(std::int64_t value) {
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; p < kSmall && p * p <= value; ++p)
    for (; value % p == 0; value /= p) primes.push_back(p);
  if (value >= kSmall * kSmall)
    split(value, &primes);
  else if (value > 1)
    primes.push_back(value);
  std::sort(primes.begin(), primes.end());
  std::vector<std::pair<std::int64_t, int>> factors;
  for (const std::int64_t p : primes) {
    if (factors.empty() || factors.back().first != p) factors.emplace_back(p, 0);
    ++factors.back().second;
  }
  return factors;
}

std::vector<std::int64_t> primes_of(std::int64_t value) {
  std::vector<std::int64_t> primes;
  for (const auto& [prime, times] : factors_of(value)) primes.push_back(prime);
  return primes;
}

std::vector<std::int64_t> divisors_of(std::int64_t value) {
  std::vector<std::int64_t> divisors = {1};
  for (const auto& [prime, times] : factors_of(value)) {
    const std::size_t n = divisors.size();
    for (std::size_t i = 0; i < n * static_cast<std::size_t>(times); ++i)
      divisors.push_back(divisors[divisors.size() - n] * prime);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

}  // namespace sluice
