#pragma once

#include "machine.h"
#include "referee/points/scalar.h"

namespace sluice::referee {

/// The loops right above one Einsum's compute, with nothing but tolls between them. Here most steps
/// are taken, so this walk keeps all lanes in one flat array, finds values by adding strides, and
/// knows beforehand which instances share messages. It does what Machine::compute does, in the same
/// order; a step in which anything is out of the ordinary is left to that.
class InnerLoops {
 public:
  /// Where they begin in a list of nodes; none where its Einsum needs the long way.
  static std::optional<std::size_t> begin_in(const Workload& workload, const Body& body);

  InnerLoops(Machine& machine, const Body& body, std::size_t begin);
  /// False where nothing was done: tiles too full of holes.
  bool run(const std::vector<Lane>& lanes, bool is_below_loop);
  /// Adds what was counted to the machine's tables.
  void count();

 private:
  struct Level {
    const LoopItem* loop = nullptr;
    std::optional<std::size_t> variable;  ///< place in the iteration space; none: idle
    std::int64_t first = 1, tile = 1;     ///< size of the first tile, and of the others
    std::int64_t noted = 0, largest = 0;  ///< tile sizes that the machine knows of
    std::int64_t last_whole = 0;          ///< what was cut last
    std::size_t dimension = 0;            ///< spatial: in InstancePlace
    std::vector<std::pair<std::size_t, std::int64_t>> steps;  ///< what a step adds to which sums
  };
  /// A tensor at the compute.
  struct Port {
    TensorId tensor;
    bool is_output = false;
    const Crossing* crossing = nullptr;
    std::vector<std::uint32_t> accesses;
    std::vector<AffineExpression> corner;  ///< indices of the first of the values of a point
    std::vector<Element> elements;         ///< the values of a point, from its corner
    std::vector<std::int64_t> extents;     ///< of those values, per rank
    bool is_produced = false;
    bool meets_makers = false;
    std::size_t element_sum = 0, position_sum = 0;  ///< places in a record
    bool is_direct = false;                ///< positions are places in the storage above itself
    std::vector<std::int64_t> strides;     ///< of positions
    std::vector<std::int64_t> positions;   ///< like `elements`, from the corner's
    std::vector<Element> access_elements;  ///< per access, from the corner
    std::vector<std::int64_t> access_positions;
  };
  /// An instance: where its spatial loops have brought it.
  struct Instance {
    Lane lane;  ///< without boxes
    std::size_t entry = 0;
    std::vector<std::size_t> inside;  ///< by turn of the next spatial loop; 0: not yet known
  };
  /// A lane with which the walk begins: where the values of each port are.
  struct Entry {
    std::vector<std::vector<Cell*>> views;  ///< by position; not of direct ports
    std::vector<Cell*> firsts;              ///< direct ports: the cell of position 0
    std::uint32_t maker = 0;
    bool is_filled = false;
  };
  /// Lanes that take steps together. A record: begin and size of the tile per variable, then sums
  /// over the variables: number of the point, and element and position per port; then its entry.
  struct Frame {
    std::vector<std::size_t> instances;
    std::vector<std::int64_t> records;
  };
  /// Instances that have worked together.
  struct Group {
    std::vector<const MessagePattern*> patterns;  ///< per port
    const MessagePattern* returning = nullptr;    ///< of partial sums
    std::vector<SparseElementSet*> seen;          ///< per instance
    std::vector<SparseElementSet*> drained;       ///< per instance: what was written above it
    std::int64_t steps = 0, steps_returning = 0, returned = 0;
  };
  enum class Sums { kNone, kSome, kAll };

  void add_port(TensorId tensor, bool is_output);
  bool bind(const std::vector<Lane>& lanes);
  std::int64_t find_ranges(const std::vector<Lane>& lanes);
  bool shape_port(std::size_t port, std::int64_t most_points);
  bool is_direct(std::size_t port) const;
  void find_steps();
  void find_port(std::size_t port, const IndexBox& ranges, Buffer& buffer, Entry& entry);
  void find_values(const Port& port, const IndexBox& ranges, Buffer& buffer,
                   std::vector<Cell*>& view);
  void begin_record(const Lane& lane, const IndexBox* ranges_of_ports, std::int64_t* record) const;
  std::size_t instance_of_entry(const Lane& lane, std::size_t entry);
  std::size_t instance_inside(std::size_t outer, std::size_t turn);

  void walk(std::size_t level, bool is_below_loop);
  void walk_temporal(std::size_t level, bool is_below_loop);
  void walk_spatial(std::size_t level, bool is_below_loop);
  std::pair<std::int64_t, std::int64_t> steps_of(Level& level, const Frame& frame);
  void note_sizes(Level& level, std::int64_t whole);
  void note_size(Level& level, std::int64_t size);
  void keep_lanes(const Level& level, const Frame& outer, std::int64_t step, Frame& inner);
  void move(const Level& level, std::int64_t* record, std::int64_t distance) const {
    record[*level.variable] += distance;
    for (const auto& [sum, step] : level.steps) record[sum] += distance * step;
  }
  void move_all(const Level& level, const Frame& outer, std::int64_t step, Frame& inner) const;
  void place(const Level& level, Instance& instance, const Instance& outer, std::int64_t most,
             std::int64_t turn);

  Cell* cell_at(const Entry& entry, std::size_t port, std::int64_t position) const {
    return ports_[port].is_direct ? entry.firsts[port] + position
                                  : entry.views[port][static_cast<std::size_t>(position)];
  }
  void step(const Frame& frame);
  void step_the_long_way(const Frame& frame);
  std::vector<Lane> lanes_of(const Frame& frame) const;
  void fill(const Frame& frame);
  Group& group_of(const Frame& frame);
  bool is_ordinary(const Frame& frame, Group& group);
  bool is_regular(const Frame& frame, const Group& group) const;
  bool shares_ordinarily(const Frame& frame, const Group& group) const;
  bool prepare(const Frame& frame, Group& group, std::size_t& n_marked);
  bool read_operands(const std::int64_t* record, const Entry& entry, std::size_t instance);
  bool may_read(const Port& port, const Instance& instance, Element element) const;
  void finish(const Frame& frame, Group& group);
  void drain(const Frame& frame, const Group& group);
  void count_padding(const Frame& frame, const Group& group);
  void record(const Frame& frame);

  Machine& machine_;
  const ComputeItem& item_;
  const Einsum& einsum_;
  std::vector<Level> levels_;
  std::vector<Port> ports_;  ///< inputs in the order in which they are read, then the output
  std::size_t n_variables_ = 0, record_size_ = 0, number_sum_ = 0, entry_place_ = 0;
  bool has_padding_ = false;
  bool drops_results_ = false;  ///< what lies outside the output's ranks
  bool fills_ = false;          ///< storages above are filled when the first value is needed
  bool notes_makers_ = false;
  std::vector<Instance> instances_;  ///< the first one is none
  std::map<std::size_t, std::size_t> instance_of_id_;
  std::vector<Entry> entries_;
  std::size_t entries_to_fill_ = 0;
  std::vector<IndexBox> ranges_;  ///< per lane and port: of its values
  std::vector<Buffer*> buffers_;  ///< per lane and port: where they are
  std::vector<std::int64_t> index_;
  std::vector<Frame> frames_;  ///< per level, and those at the compute
  std::map<std::vector<std::size_t>, Group> groups_;
  Group* group_ = nullptr;  ///< that has worked last
  const std::vector<std::size_t>* group_instances_ = nullptr;
  Sums sums_ = Sums::kNone;  ///< which lanes of this step have partial sums to fetch
  bool are_steps_known_ = false;
  bool ends_in_points_ = false;  ///< every loop's last tile is one point, whatever is cut
  /// Lanes have moved alike since it was found out whether a step is regular, apart from values.
  bool is_checked_ = false, is_regular_ = false;
  RepeatedExpression expression_;
  std::vector<Cell> cells_;     ///< per lane: what it adds
  std::vector<Cell*> sums_at_;  ///< per lane: where its sum is
  std::vector<char> was_seen_;  ///< per lane
  std::int64_t points_ = 0, merged_ = 0;
};

}  // namespace sluice::referee
