#include "oracle/problem/random_einsums.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "oracle/problem/dice.h"

namespace sluice::oracle {
namespace {

/// Appends Einsums of special kinds to a workload, or puts them in the place of its last ones.
class EinsumExtras {
 public:
  EinsumExtras(Dice& dice, ProblemSpec& spec) : dice_(dice), spec_(spec) {
    while (spec.einsums.size() > 2) spec.einsums.pop_back();
    for (auto& [rank, size] : spec.rank_sizes) size = std::min(size, 4);
    fit_convolutions();
    source_ = spec.einsums.back().output;
    if (source_.projection.size() < 2) source_ = spec.einsums.front().inputs.front();
    for (auto& [rank, index] : source_.projection) index = variable_of(rank, "_x");
  }

  /// S[m+1,n] = S[m,n] · T[m,n], then perhaps a reader of each step's state.
  void scan() {
    const AccessSpec state = state_access("S", "");
    add("SCAN", {source_, state}, state_access("S", " + 1"));
    if (dice_.chance(60))
      add("READ", {state_access("S", dice_.chance(50) ? "" : " + 1")}, output("O"));
  }

  /// B[m,n] = A[m,n], A[m+1,n] = B[m,n] · T[m,n]: B reads what A left in the step before.
  void cycle() {
    add("TAKE", {state_access("A", "")}, output("B"));
    AccessSpec taken = output("B");
    add("STEP", {taken, source_}, state_access("A", " + 1"));
    if (dice_.chance(40)) add("READ", {state_access("A", " + 1")}, output("O"));
  }

  /// R[m,a,b] = T[m,2*a+b]: a rank split in two.
  void reshape() {
    auto& [rank, index] = source_.projection.back();
    if (size_of(rank) % 2 != 0) return;
    AccessSpec result{"R", source_.projection};
    result.projection.pop_back();
    result.projection.emplace_back("RA", "a_x");
    result.projection.emplace_back("RB", "b_x");
    spec_.rank_sizes.emplace_back("RA", size_of(rank) / 2);
    spec_.rank_sizes.emplace_back("RB", 2);
    index = "2*a_x + b_x";
    add("SPLIT", {source_}, result);
  }

  /// O[p,q] = sum over r, s of T[p+r,q+s]: two windows at once.
  void pooling() {
    auto& columns = source_.projection.back();
    auto& rows = source_.projection[source_.projection.size() - 2];
    if (size_of(rows.first) < 2 || size_of(columns.first) < 2) return;
    AccessSpec result{"O", source_.projection};
    result.projection[result.projection.size() - 2] = {"PX", "p_x"};
    result.projection.back() = {"QX", "q_x"};
    spec_.rank_sizes.emplace_back("PX", size_of(rows.first) - 1);
    spec_.rank_sizes.emplace_back("QX", size_of(columns.first) - 1);
    rows.second = "p_x + r_x";
    columns.second = "q_x + s_x";
    add("POOL", {source_}, result);
    spec_.einsums.back().bounds = {"0 <= r_x < 2", "0 <= s_x < 2"};
  }

  /// O[d] = T[d,d] · V[d] of two ranks of a tensor, then perhaps another one, or who reads it; or a
  /// diagonal of zeros and T[m,n] summed over n, D[m,m], then perhaps who reads all of it, or only
  /// that.
  void diagonal() {
    auto& [rows, of_rows] = source_.projection[source_.projection.size() - 2];
    auto& [columns, of_columns] = source_.projection.back();
    if (dice_.chance(30)) return write_diagonal(rows, of_rows);
    spec_.rank_sizes.emplace_back("DX", std::min(size_of(rows), size_of(columns)));
    AccessSpec result{"O", source_.projection};
    result.projection.pop_back();
    result.projection.back() = {"DX", "d_x"};
    of_rows = of_columns = "d_x";
    std::vector<AccessSpec> inputs = {source_};
    if (dice_.chance(50)) inputs.push_back({"V", {{"DX", "d_x"}}});
    add("DIAGONAL", inputs, result);
    if (inputs.size() > 1) spec_.einsums.back().weight = "V";
    if (dice_.chance(30)) return;
    AccessSpec other = result;
    other.tensor = "P";
    if (dice_.chance(50))
      add("SECOND", {source_, result}, other);
    else
      add("READ", {result}, other);
  }

  /// O[p,n] = sum over r of T[p+r,n] · V[p+r,n]: one loop moves the windows of two inputs.
  void correlation() {
    auto& [rank, index] = source_.projection[static_cast<std::size_t>(dice_.below(2))];
    const int window = dice_.one_of({2, 2, 3});
    const int rows = size_of(rank);
    if (rows < window) return;
    AccessSpec result = output("O");
    for (auto& [of_result, at] : result.projection)
      if (of_result == rank) std::tie(of_result, at) = std::pair("PX", "p_x");
    spec_.rank_sizes.emplace_back("PX", rows - window + 1);
    index = "p_x + r_x";
    AccessSpec other{"V", {{rank, index}}};
    if (dice_.chance(50)) other.projection = source_.projection;
    add("PAIR", {source_, other}, result);
    spec_.einsums.back().weight = "V";
    spec_.einsums.back().bounds = {"0 <= r_x < " + std::to_string(window)};
  }

  /// D[s*m+r,n] = T[m,n] · W[r] summed over m and r, then perhaps a reader of it.
  void scatter() {
    auto& [rank, index] = source_.projection[dice_.below(static_cast<int>(2))];
    const int window = dice_.one_of({2, 2, 3});
    const int stride = dice_.one_of({1, 1, 2, 2, 3});
    AccessSpec result = output("D");
    AccessSpec weight{"F", {{"FR", "r_x"}}};
    for (auto& [of_result, at] : result.projection) {
      if (of_result != rank) continue;
      of_result = "DX";
      at = (stride > 1 ? std::to_string(stride) + "*" : "") + index + " + r_x";
    }
    if (dice_.chance(30)) weight.projection.push_back(source_.projection.back());
    // Sometimes a point behind the last one that is made.
    spec_.rank_sizes.emplace_back(
        "DX", stride * (size_of(rank) - 1) + window + (dice_.chance(10) ? 1 : 0));
    spec_.rank_sizes.emplace_back("FR", window);
    add("SCATTER", {source_, weight}, result);
    spec_.einsums.back().weight = "F";
    spec_.einsums.back().bounds = {"0 <= r_x < " + std::to_string(window)};
    if (!dice_.chance(stride > window ? 60 : 40)) return;
    if (stride > window || dice_.chance(30)) spec_.filled = {"D"};
    for (auto& [of_result, at] : result.projection)
      if (of_result == "DX") at = "dx_x";
    AccessSpec last = result;
    last.tensor = "O";
    add("READ", {result}, last);
  }

  /// U[m,n] = T[m,n] · P[n], U[m,k+N] = sum over n of T[m,n] · Q[n,k], then perhaps who reads all,
  /// the last part, or what lies across the border.
  void parts() {
    if (spec_.einsums.size() > 1 && dice_.chance(60)) {
      source_ = spec_.einsums.front().output;
      if (source_.projection.size() < 2) source_ = spec_.einsums.front().inputs.front();
      for (auto& [rank, index] : source_.projection) index = variable_of(rank, "_x");
      spec_.einsums.resize(1);
    }
    const auto axis = static_cast<std::size_t>(dice_.below(2));
    const auto [rank, index] = source_.projection[axis];
    const int first = size_of(rank), last = dice_.one_of({1, 2, 2, 3});
    const auto part = [&, axis = axis](const std::string& of_rank, const std::string& at) {
      AccessSpec access = output("U");
      access.projection[axis] = {of_rank, at};
      return access;
    };
    spec_.rank_sizes.emplace_back("UX", first + last);
    spec_.rank_sizes.emplace_back("KX", last);
    add("FIRST", {source_, {"P", {{rank, index}}}}, part("UX", index));
    spec_.einsums.back().weight = "P";
    const std::string offset = " + " + std::to_string(first);
    AccessSpec weight{"Q", {{rank, index}, {"KX", "k_x"}}};
    add("LAST", {source_, weight}, part("UX", "k_x" + offset));
    spec_.einsums.back().weight = "Q";
    const int reader = dice_.below(100);
    AccessSpec result = part("UX", "u_x");
    if (reader < 40) {
      result.tensor = "O";
      add("READ", {part("UX", "u_x")}, result);
    } else if (reader < 60) {
      result = part("KX", "k_x");
      result.tensor = "O";
      const std::string across = " + " + std::to_string(std::max(first - 1, 1));
      add("READ", {part("UX", "k_x" + (dice_.chance(50) ? offset : across))}, result);
    }
  }

  /// R[m] = sum over n of T[m,n], O[m,n] = T[m,n] · R[m]: O needs all of a row's sum.
  void normalise() {
    AccessSpec sum{"R", source_.projection};
    sum.projection.pop_back();
    add("SUM", {source_}, sum);
    add("NORM", {source_, sum}, output("O"));
  }

 private:
  int& size_of(const std::string& rank) {
    for (auto& [name, size] : spec_.rank_sizes)
      if (name == rank) return size;
    spec_.rank_sizes.emplace_back(rank, 1);
    return spec_.rank_sizes.back().second;
  }

  /// The sizes that a convolution's image needs, after sizes were cut.
  void fit_convolutions() {
    for (const EinsumSpec& einsum : spec_.einsums)
      visit_windows(einsum, [](int window, int stride, int& rows, int& results) {
        rows = std::max(rows, window);
        results = (rows - window) / stride + 1;
      });
  }

  /// The sizes that images need, after a rank of results grew.
  void grow_images() {
    for (std::size_t i = spec_.einsums.size(); i-- > 0;)
      visit_windows(spec_.einsums[i], [](int window, int stride, int& rows, const int& results) {
        rows = std::max(rows, stride * (results - 1) + window);
      });
  }

  /// Calls `visit(window, stride, rows, results)` for the windowed rank of a convolution.
  template <class Visit>
  void visit_windows(const EinsumSpec& einsum, const Visit& visit) {
    if (einsum.bounds.empty()) return;
    const int window = einsum.bounds[0].back() - '0';
    for (std::size_t r = 0; r < einsum.inputs[0].projection.size(); ++r) {
      const auto& [rank, index] = einsum.inputs[0].projection[r];
      if (index.find('+') == std::string::npos) continue;
      visit(window, index[0] == '2' ? 2 : 1, size_of(rank),
            size_of(einsum.output.projection[r].first));
    }
  }

  void write_diagonal(const std::string& rank, const std::string& index) {
    spec_.rank_sizes.emplace_back("DX", size_of(rank));
    spec_.rank_sizes.emplace_back("DY", size_of(rank));
    spec_.filled = {"D"};
    add("DIAGONAL", {source_}, {"D", {{"DX", index}, {"DY", index}}});
    if (dice_.chance(30)) return;
    const bool reads_all = dice_.chance(50);
    add("READ", {{"D", {{"DX", "d_x"}, {"DY", reads_all ? "e_x" : "d_x"}}}},
        {"O", {{"DX", "d_x"}}});
  }

  AccessSpec output(const std::string& name) const { return {name, source_.projection}; }

  AccessSpec state_access(const std::string& name, const std::string& offset) {
    AccessSpec access{name, source_.projection};
    const std::string rank = name + "STEP";
    int& steps = size_of(source_.projection[0].first);
    steps = std::max(steps, 2);
    grow_images();
    const int slices = steps + 1;
    size_of(rank) = slices;
    access.projection[0] = {rank, access.projection[0].second + offset};
    return access;
  }

  void add(const std::string& name, std::vector<AccessSpec> inputs, AccessSpec result) {
    EinsumSpec einsum;
    einsum.name = name;
    einsum.inputs = std::move(inputs);
    einsum.output = std::move(result);
    spec_.einsums.push_back(std::move(einsum));
  }

  Dice& dice_;
  ProblemSpec& spec_;
  AccessSpec source_;
};

void add_of_one_kind(Dice& dice, ProblemSpec& spec, const Extras& extras) {
  const int kind = dice.below(100);
  if (extras.windowed_outputs && dice.chance(20)) {
    EinsumExtras(dice, spec).scatter();
  } else if (extras.recurrences && kind < 12) {
    EinsumExtras(dice, spec).scan();
  } else if (extras.cycles && kind >= 12 && kind < 28) {
    EinsumExtras(dice, spec).cycle();
  } else if (extras.double_variables && kind >= 28 && kind < 35) {
    EinsumExtras(dice, spec).reshape();
  } else if (extras.double_variables && kind >= 35 && kind < 42) {
    EinsumExtras(dice, spec).pooling();
  } else if (extras.normalisations && kind >= 42 && kind < 50) {
    EinsumExtras(dice, spec).normalise();
  } else if (extras.shared_windows && kind >= 50 && kind < 69) {
    EinsumExtras(dice, spec).correlation();
  }
}

}  // namespace

std::string variable_of(const std::string& rank, const char* ending) {
  std::string name;
  for (const char c : rank) name += static_cast<char>(std::tolower(c));
  return name + ending;
}

void add_einsums(Dice& dice, ProblemSpec& spec, std::uint64_t seed, const Extras& extras) {
  Dice parts(seed ^ 0x7F4A7C159E3779B9ULL);  // so that seeds without parts stay what they were
  if (extras.several_makers && parts.chance(10)) return EinsumExtras(parts, spec).parts();
  Dice own(seed ^ 0x2B5A5D6C8F3E1A97ULL);  // likewise
  if (extras.diagonals && own.chance(8)) return EinsumExtras(own, spec).diagonal();
  add_of_one_kind(dice, spec, extras);
}

}  // namespace sluice::oracle
