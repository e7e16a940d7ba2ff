#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::fused {

/// A list of numbers of which few are different: a table of these, and two bytes a number (four,
/// where there are more than 65,536 of them).
class PackedValues {
 public:
  PackedValues() = default;
  explicit PackedValues(const std::vector<double>& values);

  std::size_t size() const { return wide_.empty() ? narrow_.size() : wide_.size(); }
  double operator[](std::size_t i) const { return different_[number(i)]; }
  /// Where in `different()` a number stands.
  std::uint32_t number(std::size_t i) const { return wide_.empty() ? narrow_[i] : wide_[i]; }
  /// In the order in which the list has them first.
  const std::vector<double>& different() const { return different_; }
  std::uint64_t hash() const;
  bool operator==(const PackedValues&) const = default;

 private:
  std::vector<double> different_;
  std::vector<std::uint16_t> narrow_;
  std::vector<std::uint32_t> wide_;  ///< instead
};

}  // namespace sluice::fused
