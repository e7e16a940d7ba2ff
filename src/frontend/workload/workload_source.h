#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/notation/einsum_text.h"
#include "frontend/yaml/yaml_node.h"
#include "sluice/support/expression.h"
#include "sluice/workload/operation.h"

namespace sluice {

// A workload as it is written, every part with its place, before names are resolved.

/// A stretch of a scalar's text, for diagnostics.
struct SourcePlace {
  const YamlNode* node = nullptr;
  std::size_t offset = 0;
};

struct AccessSource {
  std::string tensor;
  std::vector<AxisText> axes;
  bool is_output = false;
  SourcePlace place;
  std::optional<double> bits_per_value;
};

struct BoundSource {
  BoundText bound;
  const YamlNode* place = nullptr;
};

/// `name: source`, with the number of tensors that the source must have.
struct RenameSource {
  std::string name;
  Expression source;
  const YamlNode* place = nullptr;
  std::optional<Expression> expected_count;
  const YamlNode* count_place = nullptr;
};

/// A set of tensors, evaluated for every Einsum.
struct SetSource {
  Expression tensors;
  const YamlNode* place = nullptr;
};

/// Bits of the tensors of a set; `Other` stands for those that no other key covers.
struct BitsSource {
  bool is_other = false;
  Expression tensors;
  double bits = 0;
  const YamlNode* place = nullptr;
};

struct EinsumSource {
  std::string name;
  std::string name_in_layer;  ///< of one that `repeat` made: without the number of its layer
  const YamlNode* place = nullptr;
  std::vector<AccessSource> accesses;  ///< the output last
  ScalarExpression expression;
  bool is_copy_operation = false;
  std::int64_t n_instances = 1;
  std::vector<BoundSource> bounds;
  std::vector<RenameSource> renames;
  std::vector<BitsSource> bits;
};

struct RankSizeSource {
  std::string name;
  std::int64_t size = 0;
  const YamlNode* place = nullptr;
};

struct InitialSource {
  std::string tensor;
  double value = 0;
  const YamlNode* place = nullptr;
};

struct RenamesOfEinsum {
  std::string einsum;  ///< or `default`
  const YamlNode* place = nullptr;
  std::vector<RenameSource> renames;
};

struct WorkloadSource {
  std::string name;
  const YamlNode* place = nullptr;
  std::vector<RankSizeSource> rank_sizes;
  std::vector<BoundSource> bounds;
  std::vector<BitsSource> bits;
  std::vector<SetSource> persistent;  ///< their union
  std::vector<InitialSource> initial;
  std::vector<EinsumSource> einsums;
  std::vector<RenamesOfEinsum> renames;
  std::int64_t n_instances = 1;
  /// What could not be read, so that nothing is said about what depends on it.
  bool has_bad_sizes = false;
  bool has_bad_bits = false;
  bool has_bad_einsums = false;
};

}  // namespace sluice
