#pragma once

#include <string>

namespace sluice {

/// Numbers for people: three significant digits and a prefix. Never parsed back; the result
/// document carries the exact values.

/// "22.8 J", "3.41 µs" (`ascii`: "3.41 us"), "0 J", "inf s"; prefixes from q to Q, beyond them an
/// exponent.
std::string human_si(double value, const std::string& unit, bool ascii = false);

/// A size: "128 MiB", "1.5 KiB", "32 B", and in bits where it is no whole number of bytes: "12
/// bit".
std::string human_size(double bits);

/// The same of at least this size, where digits are rounded away: "1.04 KiB" of 1,056 bytes.
std::string human_size_at_least(double bits);

/// A count: "12", "3,500", "2.1 M", "3.4e+18".
std::string human_count(double count);

/// A share of one: "54.0 %", "0.03 %"; "-" where it is NaN (a share of nothing).
std::string human_percent(double share);

}  // namespace sluice
