#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "canonical_part.h"
#include "sluice/network/layer_graph.h"

namespace sluice {
namespace {

constexpr std::size_t kLongestPeriod = 512;
// How much a layer has, in Einsums. A convolution counts for six: it has many more mappings.
constexpr std::size_t kLittle = 8;  ///< repetitions up to this are put together
constexpr std::size_t kMuch = 48;   ///< more is cut
constexpr std::size_t kConvolution = 6;

/// Einsums [first, first + period · times) repeat with that period.
struct Repeat {
  std::size_t first = 0, period = 0, times = 0;
  std::size_t end() const { return first + period * times; }
};

class LayerFinder {
 public:
  LayerFinder(const Workload& workload, const std::set<std::string>& own) {
    std::unordered_map<std::string, std::size_t> kinds;
    for (std::size_t e = 0; e < workload.einsums.size(); ++e)
      kinds_.push_back(
          kinds.emplace(to_yaml(canonical_part(workload, e, e + 1, own).workload), kinds.size())
              .first->second);
    for (const Einsum& einsum : workload.einsums)
      loads_.push_back(loads_.back() + (has_windows(einsum) ? kConvolution : 1));
    find_crossing_bits(workload);
  }

  std::vector<std::size_t> run() {
    divide(0, kinds_.size());
    std::sort(starts_.begin(), starts_.end());
    return std::move(starts_);
  }

 private:
  /// Bits that stay from before each Einsum to it or further; inside a recurrence no layer begins.
  void find_crossing_bits(const Workload& workload) {
    const std::size_t n = workload.einsums.size();
    std::vector<std::size_t> first(workload.tensors.size(), n), last(workload.tensors.size(), 0);
    std::vector<double> bits(workload.tensors.size());
    for (std::size_t e = 0; e < n; ++e)
      for (const TensorAccess& access : workload.einsums[e].accesses) {
        const std::size_t t = access.tensor.index();
        first[t] = std::min(first[t], e);
        last[t] = e;
        bits[t] = access.bits_per_value;
      }
    const TensorRoles roles = tensor_roles(workload);
    crossing_bits_.assign(n + 2, 0);
    open_states_.assign(n + 2, 0);
    for (std::size_t t = 0; t < workload.tensors.size(); ++t) {
      if (!roles.is_made(TensorId(t)) || first[t] >= last[t]) continue;
      const double size = bits[t] * static_cast<double>(tensor_volume(workload, TensorId(t)));
      crossing_bits_[first[t] + 1] += size;
      crossing_bits_[last[t] + 1] -= size;
      if (first[t] == roles.makers[t].front().index()) continue;
      ++open_states_[first[t] + 1];  // it is read before it is made
      --open_states_[last[t] + 1];
    }
    std::partial_sum(crossing_bits_.begin(), crossing_bits_.end(), crossing_bits_.begin());
    std::partial_sum(open_states_.begin(), open_states_.end(), open_states_.begin());
  }

  static bool has_windows(const Einsum& einsum) {
    return std::any_of(einsum.accesses.begin(), einsum.accesses.end(), [](const TensorAccess& a) {
      return std::any_of(a.projection.begin(), a.projection.end(),
                         [](const AffineExpression& index) { return index.is_window(); });
    });
  }

  std::size_t load(std::size_t begin, std::size_t end) const { return loads_[end] - loads_[begin]; }

  bool may_start(std::size_t e) const { return open_states_[e] == 0; }

  /// Einsums [begin, end) as layers.
  void divide(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    const Repeat best = longest_repeat(begin, end);
    const bool is_most = 2 * best.period * best.times > end - begin;
    if (best.times < 2 || (load(begin, end) <= kMuch && !is_most)) return cut(begin, end);
    divide(begin, best.first);
    add(best);
    divide(best.end(), end);
  }

  /// The one that covers most Einsums; of several the one with the shortest period.
  Repeat longest_repeat(std::size_t begin, std::size_t end) const {
    Repeat best;
    for (std::size_t period = 1; period <= std::min(kLongestPeriod, (end - begin) / 2); ++period)
      for (std::size_t from = begin; from + period < end;) {
        std::size_t to = from;
        while (to + period < end && kinds_[to] == kinds_[to + period]) ++to;
        const Repeat found{from, period, (to - from) / period + 1};
        if (found.times >= 2 && found.period * found.times > best.period * best.times &&
            has_starts(found))
          best = found;
        from = to + 1;
      }
    return best;
  }

  bool has_starts(const Repeat& repeat) const {
    for (std::size_t i = 0; i < repeat.times; ++i)
      if (!may_start(repeat.first + i * repeat.period)) return false;
    return may_start(repeat.end()) || repeat.end() == kinds_.size();
  }

  /// Several repetitions make one layer where they are short.
  void add(const Repeat& repeat) {
    std::size_t together = 1;
    const std::size_t once = load(repeat.first, repeat.first + repeat.period);
    for (std::size_t n = 1; n < repeat.times && n * once <= kLittle; ++n)
      if (repeat.times % n == 0) together = n;
    const std::size_t length = together * repeat.period;
    const std::size_t before = starts_.size();
    cut(repeat.first, repeat.first + length);
    const std::vector<std::size_t> of_first(starts_.begin() + static_cast<std::ptrdiff_t>(before),
                                            starts_.end());
    for (std::size_t at = repeat.first + length; at < repeat.end(); at += length)
      for (const std::size_t start : of_first) starts_.push_back(at + start - repeat.first);
  }

  /// At the narrowest places.
  void cut(std::size_t begin, std::size_t end) {
    starts_.push_back(begin);
    if (load(begin, end) <= kMuch) return;
    std::size_t high = begin + 1;
    while (load(begin, high + 1) <= kMuch) ++high;
    std::size_t at = high;
    for (std::size_t e = high; e-- > begin + 1 && 2 * load(begin, e) >= kMuch;)
      if (may_start(e) && (!may_start(at) || crossing_bits_[e] < crossing_bits_[at])) at = e;
    while (at < end && !may_start(at)) ++at;
    if (at < end) cut(at, end);
  }

  std::vector<std::size_t> kinds_;        ///< of Einsums that are equal but for names
  std::vector<std::size_t> loads_ = {0};  ///< of all Einsums before each
  // Where a layer begins with that Einsum:
  std::vector<double> crossing_bits_;
  std::vector<int> open_states_;  ///< of recurrences
  std::vector<std::size_t> starts_;
};

}  // namespace

std::vector<std::size_t> layer_starts(const Workload& workload, const std::set<std::string>& own) {
  return LayerFinder(workload, own).run();
}

}  // namespace sluice
