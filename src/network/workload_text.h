#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sluice/network/network_workload.h"

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
  /// An input in the role of weights that does not stay: a gradient.
  void add_passing(const std::string& tensor) { passing_.insert(tensor); }
  /// An Einsum in YAML, with its indentation; the line of its layer in the table.
  void add_einsum(std::string einsum, int table_line) {
    einsums_.push_back({std::move(einsum), table_line});
  }

  NetworkWorkload workload() const;

 private:
  struct EinsumText {
    std::string yaml;
    int table_line = 0;
  };
  std::set<std::string> words() const;

  std::string name_;
  std::map<std::string, std::int64_t> sizes_;
  std::map<std::string, std::string> windows_;  ///< variables of windows, and how many values
  std::set<std::string> holes_, passing_;
  std::vector<EinsumText> einsums_;
};

}  // namespace sluice
