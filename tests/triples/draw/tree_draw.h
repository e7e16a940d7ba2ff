#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "triples/draw/draw.h"

namespace sluice::triples {

/// What all kinds of mappings are drawn from.
class TreeDraw {
 protected:
  /// Where each tensor is backed: in DRAM, or in GB above or below the shared loops, or in the
  /// branches of its Einsums; kElsewhere where a derived draw sees to it.
  enum class Home { kOutside, kBufferAbove, kBufferBelow, kBranches, kElsewhere };

  TreeDraw(Dice& dice, Triple& triple, const Workload& workload);

  // --- names
  bool has(const std::string& component) const;
  const ComponentSpec& component(const std::string& name) const;
  int fanout_of(const std::string& component_name, const std::string& dimension) const;
  std::vector<std::size_t> all_einsums() const;
  static NodeSpec storage(const std::string& component, std::vector<std::string> tensors);
  NodeSpec loop_over(const std::vector<RankVariableId>& variables, std::int64_t tile) const;

  // --- above the split
  /// The DRAM nodes of what is backed outside, and a toll.
  void back_outside(std::vector<NodeSpec>& list);
  void add_toll(std::vector<NodeSpec>& list, const std::string& toll,
                const std::vector<std::size_t>& einsums);
  void shared_loop(std::vector<NodeSpec>& list, bool is_spatial);
  /// Spatial loops over the instances of the outermost memory, above all that it holds.
  void port_loops(std::vector<NodeSpec>& list);
  void backing_in_buffer(std::vector<NodeSpec>& list, Home home);
  /// A buffer node above the split, of a tensor that is backed outside; for all or for one Einsum.
  void private_above(std::vector<NodeSpec>& list);

  // --- one Einsum
  /// Everything below the shared part.
  void nest(std::vector<NodeSpec>& list, std::size_t e);
  /// Temporal loops with nodes in GB.
  void outer_part(std::vector<NodeSpec>& list, std::size_t e);
  bool draw_fork(std::size_t e);
  void add_port(std::vector<NodeSpec>& list, std::size_t e);
  /// A tile that peers share, and the loop in which it goes round; false where there is no room.
  bool rotation(std::vector<NodeSpec>& list, std::size_t e);
  /// Temporal loops with nodes in RF, down to the compute.
  void inner_part(std::vector<NodeSpec>& list, std::size_t e, bool on_fork);
  std::vector<NodeSpec> loops(std::size_t e, std::int64_t n);
  void spatial_loop(std::vector<NodeSpec>& list, std::size_t e, const std::string& component_name,
                    const std::string& dimension);
  void insert_storages(std::vector<NodeSpec>& list, std::size_t e, const std::string& memory_name,
                       int percent);

  /// One thing that is likely to be against the rules.
  void spoil();

  /// A smaller tile.
  std::int64_t tile_below(std::int64_t tile);
  /// Variables of the Einsums that walk one rank of a tensor they exchange, readers first.
  std::vector<RankVariableId> shared_class();

  using Tiles = std::map<RankVariableId, std::int64_t>;
  Dice& dice_;
  Triple& triple_;
  const Workload& w_;
  TensorRoles roles_;
  bool perfect_;
  int rotations_percent_ = 0;                ///< of the nests that have a tile which peers share
  std::vector<Tiles> tiles_;                 ///< per Einsum
  std::vector<Home> homes_;                  ///< per tensor
  std::vector<std::set<std::string>> held_;  ///< per Einsum: "memory/tensor"

 private:
  /// Adds the other variables of a class that has one in common: readers of readers come first.
  static void join(std::vector<RankVariableId>& variables,
                   const std::vector<RankVariableId>& others);
  /// Rows that the readers of windows on what an Einsum makes along `made` need at a time; 0 if
  /// there is none.
  std::int64_t rows_for_windows(std::size_t maker, RankVariableId made,
                                const std::vector<RankVariableId>& walked);
  void in_buffer_everywhere(const std::string& tensor);
  RankVariableId any_variable(std::size_t e);
  /// The smallest tile that an Einsum has of the variables; 0 where none has any.
  std::int64_t smallest_tile(const std::vector<RankVariableId>& variables) const;
  void enter_loop(const std::vector<RankVariableId>& variables, std::int64_t tile);
  bool indexes_all(const std::vector<RankVariableId>& variables) const;
  void port_loop(std::vector<NodeSpec>& list, const ComponentSpec& component,
                 const DimensionSpec& dimension);
  /// Temporal loops with nodes in the memory between DRAM and GB, if there is one.
  void middle_part(std::vector<NodeSpec>& list, std::size_t e);
  std::vector<NodeSpec> last_loops(std::size_t e);
  static bool reads_a_window(const Einsum& einsum, TensorId tensor);
};

}  // namespace sluice::triples
