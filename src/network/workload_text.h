#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// The YAML text of a workload, as its Einsums become known.
class WorkloadText {
 public:
  explicit WorkloadText(std::string name) : name_(std::move(name)) {}

  void add_rank(const std::string& rank, std::int64_t size) { sizes_[rank] = size; }
  /// R3: its variable r3 walks 3 values, and is in no tensor's rank.
  void add_window(const std::string& rank);
  /// Elements of this tensor that no Einsum writes are 0.
  void add_holes(const std::string& tensor) { holes_.insert(tensor); }
  /// An Einsum in YAML, with its indentation.
  void add_einsum(std::string einsum) { einsums_.push_back(std::move(einsum)); }

  std::string text() const;

 private:
  std::set<std::string> words() const;

  std::string name_;
  std::map<std::string, std::int64_t> sizes_;
  std::map<std::string, std::string> windows_;  ///< variables of windows, and how many values
  std::set<std::string> holes_;
  std::vector<std::string> einsums_;
};

}  // namespace sluice
