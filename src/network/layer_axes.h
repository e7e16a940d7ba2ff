#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

/// The variable of a rank.
inline std::string lower(std::string rank) {
  rank[0] = static_cast<char>(rank[0] - 'A' + 'a');
  return rank;
}

/// A rank of a tensor, and the variable that walks it: that of another rank, from `begin` on.
struct Axis {
  std::string rank;    ///< of the tensor; empty: none
  std::string walker;  ///< the rank whose variable walks it
  std::int64_t begin = 0;

  Axis() = default;
  explicit Axis(const std::string& own) : rank(own), walker(own) {}
  Axis(std::string of, std::string walked_by, std::int64_t from)
      : rank(std::move(of)), walker(std::move(walked_by)), begin(from) {}

  bool is_none() const { return rank.empty(); }
  std::string variable() const { return lower(walker); }
  std::string index() const { return index_at(is_none() ? "" : variable()); }
  /// `,k3`, `,C2:k3+64`
  std::string index_at(const std::string& variable) const {
    if (is_none()) return "";
    if (rank == upper(variable) && begin == 0) return "," + variable;
    return fmt::format(",{}:{}{}", rank, variable, begin > 0 ? fmt::format("+{}", begin) : "");
  }

 private:
  static std::string upper(std::string variable) {
    variable[0] = static_cast<char>(variable[0] - 'a' + 'A');
    return variable;
  }
};

/// A tensor as one layer makes it or another one reads it; a plane of one row or column has none.
struct TensorView {
  std::string name;
  Axis channel, row, column;

  std::string access() const {
    return fmt::format("{}[n{}{}{}]", name, channel.index(), row.index(), column.index());
  }
};

/// The ranks of a layer's weights.
struct WeightRanks {
  std::string name;
  std::string made, read;   ///< channels; `made` is empty of depthwise ones
  std::string row, column;  ///< of the window; empty: one
  /// How channels are walked; rows and columns by their own variables.
  std::string access(const std::string& made_by, const Axis& read_by) const {
    std::string indices = made.empty() ? "" : Axis(made, made_by, 0).index();
    indices += Axis(read, read_by.walker, read_by.begin).index();
    for (const std::string& rank : {row, column})
      if (!rank.empty()) indices += "," + lower(rank);
    return fmt::format("{}[{}]", name, indices.substr(1));
  }
};

}  // namespace sluice
