#include "packed_values.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "mapper/common/key_hash.h"

namespace sluice::fused {
namespace {

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value + 0.0);  // -0 is 0
}

/// Numbers different values in the order in which they are asked for first.
class Numbering {
 public:
  explicit Numbering(std::vector<double>* different) : different_(*different) { rehash(64); }

  std::uint32_t number(double value) {
    if (2 * different_.size() >= slots_.size()) rehash(4 * slots_.size());
    std::uint32_t& slot = slot_of(value);
    if (slot == kFree) {
      slot = static_cast<std::uint32_t>(different_.size());
      different_.push_back(value);
    }
    return slot;
  }

 private:
  static constexpr std::uint32_t kFree = ~0U;

  std::uint32_t& slot_of(double value) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;  // of a product the upper bits are mixed
    std::uint64_t bits = bits_of(value);
    bits ^= bits >> 29U;
    std::size_t at = bits * kOdd >> shift_;
    while (slots_[at] != kFree && different_[slots_[at]] != value)
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }

  void rehash(std::size_t size) {
    slots_.assign(size, kFree);
    shift_ = 64 - std::countr_zero(size);
    for (std::uint32_t i = 0; i < different_.size(); ++i) slot_of(different_[i]) = i;
  }

  std::vector<double>& different_;
  std::vector<std::uint32_t> slots_;  // a power of two of them
  int shift_ = 0;                     // leaves as many bits as their number has
};

}  // namespace

PackedValues::PackedValues(const std::vector<double>& values) {
  constexpr std::uint32_t kMostNarrow = std::numeric_limits<std::uint16_t>::max();
  Numbering numbering(&different_);
  narrow_.reserve(values.size());
  double last = 0;
  std::uint32_t number = 0;
  for (const double value : values) {
    if (value != last || different_.empty()) number = numbering.number(value);  // often the same
    last = value;
    if (number > kMostNarrow && wide_.empty()) {
      wide_.reserve(values.size());
      wide_.assign(narrow_.begin(), narrow_.end());
      narrow_ = {};
    }
    if (wide_.empty())
      narrow_.push_back(static_cast<std::uint16_t>(number));
    else
      wide_.push_back(number);
  }
}

std::uint64_t PackedValues::hash() const {
  std::uint64_t hash = size();
  for (const double value : different_) hash = KeyHash::mix(hash ^ KeyHash::mix(bits_of(value)));
  constexpr std::size_t kAtOnce = 4;
  for (std::size_t i = 0; i < size(); i += kAtOnce) {
    std::uint64_t numbers = 0;
    for (std::size_t k = i; k < std::min(i + kAtOnce, size()); ++k)
      numbers = std::rotl(numbers, 16) ^ number(k);
    hash = KeyHash::mix(hash ^ numbers);
  }
  return hash;
}

}  // namespace sluice::fused
