#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "collective_team.h"
#include "referee/points/input_numbers.h"
#include "referee/program/lasting.h"
#include "referee/program/loop_schedule.h"
#include "referee/program/watch.h"
#include "referee/transfers/transfers.h"
#include "tensor_history.h"

namespace sluice::referee {

class InnerLoops;

/// Runs a program: walks its loops, keeps the buffers, computes the numbers.
class Machine {
 public:
  Machine(const Workload& workload, const Arch& arch, const Program& program,
          const PointMap& points, const InputNumbers& inputs, Facts& facts,
          const ExecutionOptions& options, Watch& watch, Complaints& complaints);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void run();

  const CountTable& counts() const { return transfers_.counts; }
  std::vector<NetworkCount> network_counts();
  std::vector<InstanceUse> instances() const;
  const ReservationTable& reservations() const { return reservations_; }
  std::int64_t merge_values() const { return transfers_.merge_values; }
  std::int64_t padding_values() const { return transfers_.padding_values; }
  std::int64_t compute_steps() const { return compute_steps_; }
  /// Whether tiles differ in a program with children that run at the same time.
  bool has_uneven_parts() const { return concurrent_runs_ > 0 && !uneven_.empty(); }
  /// Of a tensor that an Einsum makes.
  const Results& results(TensorId tensor) const { return results_[tensor.index()]; }

 private:
  friend class InnerLoops;
  using Lanes = std::vector<Lane>;
  using Schedules = std::vector<std::map<EinsumId, Walk>>;  ///< per lane
  /// Storages that wait for the children of a split below them.
  struct OpenStorage {
    const StorageItem* storage;
    const Lanes* lanes;
    bool reserves = true,
         releases = true;  ///< whose turn it is, where a split around does the rest
  };
  /// What the walk knows of the nodes above it.
  struct Above {
    std::vector<OpenStorage> open;        ///< closed for each Einsum after its child of a split
    std::vector<OpenStorage> unreserved;  ///< live from the first to the last child that uses them
    bool is_below_loop = false;           ///< a temporal loop of more than one step
    std::size_t n_loops = 0;              ///< of all kinds
    std::size_t open_from = 0;  ///< storages below fewer loops than these are not in `open`

    /// Below a loop. What stands above one of several steps waits for the loop to end; instances
    /// take no steps, all are done with a child before the next one.
    Above below_loop(bool has_steps, bool is_spatial) const;
  };

  void walk(const Body& body, std::size_t index, const Lanes& lanes, const Above& above);
  InnerLoops* inner_loops(const Body& body, std::size_t index);
  void stand(const LoopItem& loop, std::size_t dimension, std::int64_t most, std::int64_t turn,
             Lane& lane);
  void walk_storage(const StorageItem& storage, const Body& body, std::size_t index,
                    const Lanes& lanes, const Above& above);
  void walk_temporal(const LoopItem& loop, const Body& body, std::size_t index, const Lanes& lanes,
                     const Above& above);
  void walk_rotation(const LoopItem& loop, const Body& body, std::size_t index, const Lanes& lanes,
                     const Schedules& schedules, const Above& below);
  void hand_round(const StorageItem& storage, const Lanes& lanes);
  std::int64_t peer_of(const StorageItem& storage, const Lane& lane) const;
  Box share_of(const StorageItem& storage, const Lane& lane, std::int64_t share) const;
  void walk_spatial(const LoopItem& loop, const Body& body, std::size_t index, const Lanes& lanes,
                    const Above& above);
  void walk_split(const SplitItem& split, const Lanes& lanes, const Above& above);
  void walk_child(const Body& child, const Lanes& lanes, const Above& above);
  static Lanes lanes_of(const Body& child, const Lanes& lanes);
  static bool uses(const Body& child, const StorageItem& storage);
  Schedules schedules_of(const LoopItem& loop, const Lanes& lanes);
  static std::size_t step_count(const Schedules& schedules);
  static Lanes lanes_in_step(const Lanes& lanes, const Schedules& schedules, std::size_t step);
  Lanes lanes_of_instances(const LoopItem& loop, const Lanes& lanes, const Schedules& schedules);

  /// One step of a pipelined split, as its loops reach it.
  struct Step {
    Lanes lanes;
    Above above;
    /// Between the steps' loops and the split, outermost first.
    std::vector<std::pair<const StorageItem*, Lanes>> storages;
    std::vector<std::int64_t> loop_steps;
    std::vector<std::pair<std::size_t, std::size_t>> runs;  ///< of the loops in between
  };
  /// A child of a split and the collectives that belong to it.
  struct Branch {
    const Body* child = nullptr;
    std::vector<CollectiveStep> collectives;
  };
  /// The tiles of a storage between the steps' loops and the split.
  struct TilesInFlight {
    ReservationTable number;                   ///< of steps that have one
    std::map<MemoryInstance, double> largest;  ///< bits of one of them
    ReservationTable alone;                    ///< as it would be reserved for a step on its own
  };
  /// What is there at the same time while a split's children run: each part with what it holds.
  struct Parts {
    std::vector<ReservationTable> branches;
    std::map<const StorageItem*, TilesInFlight> tiles;
    /// Of storages that a child holds as long as the split runs: bits.
    std::map<const StorageItem*, std::map<MemoryInstance, double>> kept;
  };
  /// A tensor that goes from one child of a pipelined split to later ones.
  struct Forward {
    TensorId tensor;
    ComponentId memory;
    EinsumId maker;
    const StorageItem* sender = nullptr;
    std::size_t from = 0;                                               ///< branch
    std::vector<std::pair<const StorageItem*, std::size_t>> receivers;  ///< and their branches
  };
  void walk_pipeline(const Body& body, const Lanes& lanes, const Above& above);
  void find_steps(const Body& body, std::size_t index, Step step, std::deque<Step>& steps);
  std::vector<Branch> branches_of(const SplitItem& split);
  void run_concurrently(const SplitItem& split, std::deque<Step>& steps, const Above& above);
  void run_branch(const SplitItem& split, const std::vector<Branch>& branches, std::size_t branch,
                  const Step& step, std::size_t number, Parts& parts);
  Lanes lanes_in_region(const SplitItem& split, const Branch& branch, std::size_t number,
                        const Lanes& lanes);
  static bool is_used(const std::vector<Branch>& branches, std::size_t begin, std::size_t end,
                      const StorageItem& storage);
  void end_tiles(const std::vector<Branch>& branches, std::size_t branch, const Step& step,
                 std::size_t number, Parts& parts);
  void begin_tile(const StorageItem& storage, const Lanes& lanes, std::size_t number,
                  bool is_below_loop, Parts& parts);
  void end_tile(const StorageItem& storage, const Lanes& lanes, std::size_t number, Parts& parts);
  std::map<MemoryInstance, double> tiles_of_step(const StorageItem& storage, const Lanes& lanes);
  void reserve_parts(const Parts& parts);
  void keep(const StorageItem& storage, const Lanes& lanes, double tiles, bool is_double,
            Parts& parts);

  /// Messages of one step between the instances of one memory.
  struct Delivery {
    std::vector<ComponentId> networks;
    std::vector<std::int64_t> longest;  ///< per network, the links of the longest route
    CollectiveRun run;
    std::int64_t values = 0, instances = 0;  ///< that are sent, and that get some
    /// Who gets which of an instance's values.
    std::map<std::pair<InstancePlace, Points>, std::multiset<InstancePlace>> messages;
  };
  std::vector<Forward> forwards_of(const SplitItem& split, const std::vector<Branch>& branches);
  void forward(const SplitItem& split, const Forward& forward, const std::vector<Branch>& branches,
               const Step& step, std::size_t number);
  Lanes lanes_of_forwarded(const SplitItem& split, const std::vector<Branch>& branches,
                           std::size_t branch, const Step& step, const StorageItem& storage);
  std::map<Element, double> send_to(const Forward& forward, const Lanes& makers, const Lane& taker,
                                    std::size_t n_common, Points missing, Delivery& delivery);
  void deliver(const Forward& forward, Delivery& delivery);
  void hand_on(const Forward& forward, const InstancePlace& from, const InstancePlace& to,
               std::int64_t values, std::vector<std::int64_t>& way, Delivery& delivery);
  void end_delivery(const Forward& forward, const std::vector<std::int64_t>& key,
                    const Delivery& delivery);
  void keep_forwarded(const SplitItem& split, const Forward& forward,
                      const std::vector<Branch>& branches, const std::deque<Step>& steps,
                      Parts& parts);
  void open_receiving(const StorageItem& storage, const Lanes& lanes);
  void note_moments(EinsumId einsum, const Lanes& lanes);
  void check_moments(EinsumId reader, TensorId tensor, Element element);

  void collect(const CollectiveStep& item, const Lanes& lanes);

  /// A storage and the instances in which it stands.
  struct Held {
    const StorageItem* storage = nullptr;
    Lanes lanes;
  };
  /// A collective that brings a tensor from its maker's storage to those of the readers.
  struct Exchange {
    const CollectiveNode* node = nullptr;
    EinsumId maker;
    Held giver;
    std::vector<Held> takers;
  };
  bool is_exchanged(TensorId tensor) const;
  void exchange(const CollectiveStep& item, const SplitItem& split, const Lanes& lanes,
                bool is_below_loop);
  void find_lanes(const Body& body, std::size_t index, const Lanes& lanes,
                  const StorageItem& storage, Lanes& found);
  Held held_below(const SplitItem& split, const StorageItem& storage, const Lanes& lanes);
  std::vector<const StorageItem*> takers_of(TensorId tensor) const;
  bool spreads_beside(const CollectiveNode& node, EinsumId einsum, EinsumId other) const;
  bool is_made_in_parts(const Exchange& exchange) const;
  std::vector<CollectiveTeam> teams_of_exchange(const Exchange& exchange);
  const Lane* lane_at(const Held& held, const InstancePlace& place) const;
  Points wanted_at(const Exchange& exchange, const InstancePlace& place) const;
  std::optional<std::vector<Points>> order_of(const Exchange& exchange, const CollectiveTeam& team,
                                              const std::vector<Points>& given) const;
  void exchange_in_team(const Exchange& exchange, const CollectiveTeam& team);
  std::vector<double> vector_of(const Exchange& exchange, const Lane& lane, const Points& tile,
                                const Points& order);
  void bring(const Exchange& exchange, const InstancePlace& place, Element element, double value);
  void check_brought(const Exchange& exchange);
  void open_taking(const StorageItem& storage, const Lanes& lanes);
  void close_taking(const StorageItem& storage);
  void collect_team(const CollectiveNode& node, EinsumId maker, const Link& backing,
                    const CollectiveTeam& team);
  std::string algorithm_of(const CollectiveNode& node, EinsumId maker, const CollectiveTeam& team,
                           CollectiveRequest request);
  void count_collective(const CollectiveNode& node, EinsumId maker,
                        const CollectiveRequest& request, const CollectiveRun& run);
  void record_collective(const CollectiveNode& node, EinsumId maker, const CollectiveTeam& team,
                         const Points& points, double values);
  std::vector<std::int64_t> copy_of(TensorId tensor, EinsumId user, const Lane& lane) const;
  bool reaches_split(const Body& body, std::size_t index, const Lanes& lanes) const;
  void note_tiles(const LoopItem& loop, const Lane& lane, const std::map<EinsumId, Walk>& schedule);
  void note_steps(const LoopItem& loop, const std::map<EinsumId, Walk>& schedule);
  void note_tile(const LoopItem& loop, EinsumId einsum, std::size_t variable, std::int64_t size);
  void note_step(const LoopItem& loop, EinsumId einsum, std::int64_t size);
  void check_tiles();

  void note_instances(const StorageItem& storage, const Lanes& lanes);
  void open_backing(const StorageItem& storage, const Lanes& lanes);
  void open_for_einsums(const StorageItem& storage, const Lanes& lanes);
  bool stays_open(const StorageItem& storage, EinsumId einsum, const Box& box, Buffer& buffer);
  void close_for(const StorageItem& storage, EinsumId einsum, const Lanes& lanes);
  std::size_t link_of(const StorageItem& storage, EinsumId einsum) const;
  void drain_parties(const StorageItem& storage, EinsumId einsum, std::vector<Party> parties);
  void open_incremental(const StorageItem& storage, EinsumId einsum, const Lanes& lanes);
  void move_incremental(const StorageItem& storage, EinsumId einsum, const Lane& lane);
  /// Incremental storages from links[first] on, the innermost one first, give back what they hold
  /// in the instances below one instance of links[below]'s storage; in all where `instances` is
  /// null.
  void give_back(EinsumId einsum, TensorId tensor, std::size_t first, std::size_t below,
                 const std::set<std::size_t>* instances);
  void give_back_to_others(EinsumId maker, std::size_t open_from);
  void bring_in(const StorageItem& storage, const Lane& lane, Buffer& buffer, const Points& fresh);
  const Cell* last_slice_beside(const StorageItem& storage, const Lane& lane, Element element);
  bool stands_behind(const StorageItem& storage, const StorageItem& other) const;
  std::vector<const LoopItem*> loops_above(const StorageItem& storage) const;
  void send_off(TensorId tensor, const Buffer& buffer, const Points& dropped);
  void reserve(const StorageItem& storage, const Lanes& lanes, bool is_double);
  void release(const StorageItem& storage, const Lanes& lanes, bool is_double);
  void release_open(const OpenStorage& open, bool is_double);
  void keep_reserved(const StorageItem& storage, const Lanes& lanes);
  void release_kept(std::size_t begin);

  using HeldWhere = std::pair<const StorageItem*, InstancePlace>;
  using Moments = std::optional<std::pair<std::size_t, std::size_t>>;
  /// What a storage that lasts holds in the steps of a loop around it.
  struct HeldInSteps {
    double first_bits = 0;           ///< in the first step in which it has a tile
    std::size_t first_begin = 0;     ///< when that began
    double bits = 0;                 ///< in the last one so far
    std::size_t begin = 0, end = 0;  ///< of that
    Moments further = std::nullopt;  ///< in that: when a loop inside says what it is
  };
  /// A temporal loop, and when its step began.
  struct RunningLoop {
    std::size_t id = 0;
    std::size_t begin = 0;
    std::map<HeldWhere, HeldInSteps> held;
  };
  /// What the branches of a split hold of one tensor in one instance.
  struct HeldInBranches {
    std::size_t owner = 0;
    std::size_t begin = 0, end = 0, first_child = 0, last_child = 0;
    double bits = 0;
  };
  struct RunningSplit {
    const ReservationTable* table = nullptr;
    std::size_t child = 0;
    std::map<std::pair<TensorId, MemoryInstance>, HeldInBranches> held;
  };
  void begin_step();
  void end_step();
  void keep_lasting(const StorageItem& storage, const Lanes& lanes, bool is_double);
  void hold_in_step(RunningLoop& loop, const HeldWhere& where, double bits, const Moments& further);
  void reserve_held(const HeldWhere& where, const HeldInSteps& held);
  void end_lasting();
  static bool is_of_branches(const StorageItem& storage);
  void note_branch(const StorageItem& storage, const InstancePlace& place, double bits);
  void end_branches();
  bool is_forever(const StorageItem& storage) const;
  std::int64_t repetitions(const StorageItem& storage) const;
  double reserved_bits(const StorageItem& storage, const Lane& lane, bool is_double);
  std::optional<IndexBox> box_of_tile(const StorageItem& storage, const Lane& lane) const;
  std::int64_t count_tile(const StorageItem& storage, const Lane& lane) const;
  InstancePlace instance_of(ComponentId component, const InstancePlace& place) const;

  void compute(const ComputeItem& item, const Lanes& lanes);
  /// Where a copy takes its values from, what they pass, and where they end.
  struct CopyWay {
    Link from, to;
    std::vector<const Link*> between;  ///< from outside in
    std::size_t end = 0;               ///< order in which the last of the two is written
  };
  void copy(EinsumId einsum, const Lane& lane);
  CopyWay copy_way(EinsumId einsum) const;
  void carry_copied(EinsumId einsum, const Lanes& lanes);
  void count_copied(EinsumId einsum, TensorId input, TensorId output, const CopyWay& way);
  bool passes(ComponentId toll, bool is_down) const;
  bool exists_for(const StorageItem& storage, EinsumId einsum) const;
  Points tile_of(const StorageItem& storage, const Lane& lane) const;
  bool is_point(EinsumId einsum, const Box& box);
  void mark_executed(EinsumId einsum, const Box& point);
  void fill_storages(EinsumId einsum, TensorId tensor, const Lanes& lanes);
  void fill_storage(EinsumId einsum, TensorId tensor, std::size_t link, const Lanes& lanes);
  std::vector<Cell> operands(EinsumId einsum, const Lanes& lanes);
  void note_makers(EinsumId einsum, const Lanes& lanes);
  void check_complete(EinsumId reader, TensorId tensor, Element element);
  bool meets_maker(EinsumId reader, TensorId tensor, Element element, const Lane& lane) const;
  bool works_beside_maker(TensorId tensor, Element element) const;
  void check_makers(EinsumId reader, TensorId tensor, Element element, const Lane& lane);
  std::size_t common_spatial_loops(EinsumId a, EinsumId b) const;
  void count_operations(EinsumId einsum, ComponentId compute, std::int64_t points);
  void find_initial_values();
  void find_own_dimensions();

  void share_reservations();
  bool records() const { return static_cast<bool>(options_.on_step); }
  void record(ExecutionStep step);
  void record_reservation(ExecutionStep::Kind kind, const StorageItem& storage,
                          std::int64_t instances, double bits);
  void record_compute(const ComputeItem& item, const Lanes& lanes);
  void record_transfer(ExecutionStep::Kind kind, const Crossing& crossing,
                       const std::vector<Party>& parties, std::int64_t at_parent);

  const Workload& workload_;
  const Arch& arch_;
  const Program& program_;
  const PointMap& points_;
  const InputNumbers& inputs_;
  Facts& facts_;
  const ExecutionOptions& options_;
  Watch& watch_;
  Complaints& complaints_;
  BufferTable buffers_;
  Transfers transfers_;
  ReservationTable reservations_;
  InstanceNumbers numbers_;
  std::vector<std::size_t> first_dimension_;  ///< per component: its first place in InstancePlace
  /// Per component: the places in InstancePlace that tell its instances apart.
  std::vector<std::vector<std::size_t>> own_dimensions_;
  std::vector<std::size_t> owner_;        ///< per storage: who owns its reservation
  std::vector<std::size_t> runs_;         ///< per loop: how often it was started
  std::vector<std::int64_t> shifts_;      ///< per storage: by how many peers its shares have gone
  std::vector<std::int64_t> visits_;      ///< per storage: how often it was opened
  std::vector<std::int64_t> loop_steps_;  ///< step of each temporal loop above
  std::vector<std::vector<bool>> executed_;  ///< per Einsum and iteration point
  /// Per tensor and copy (those that a collective brings together): points brought in so far.
  std::vector<std::map<std::vector<std::int64_t>, ElementSet>> born_;
  std::vector<Results> results_;  ///< per tensor
  std::vector<ElementSet> made_;  ///< per tensor: points that its Einsum makes
  /// Per tensor and point: steps of its Einsum that have not added to it yet.
  std::vector<std::vector<std::int32_t>> missing_;
  std::vector<Makers> makers_;  ///< per tensor
  std::vector<bool> is_state_;  ///< per tensor: read by an Einsum before it is made
  std::map<std::pair<const StorageItem*, std::size_t>, Buffer*> resting_;
  /// Of memories with whole actions: who works there.
  std::map<std::tuple<EinsumId, ComponentId, TensorId>, std::set<std::size_t>> instances_;
  /// Per incremental storage below a loop, and its place: the most that it has held.
  std::map<std::pair<const StorageItem*, InstancePlace>, double> kept_bits_;
  /// Storages whose values go from step to step of a loop: ids of both.
  const std::map<std::size_t, std::size_t> lasting_;
  /// Of these: bits and instances of the `hold` that stands.
  std::map<const StorageItem*, std::pair<double, std::int64_t>> recorded_;
  std::vector<RunningLoop> running_;  ///< temporal loops above, outermost first
  std::vector<RunningSplit> splits_;  ///< sequential splits above, outermost first
  /// Per incremental storage, Einsum and instance: who opened it last.
  std::map<std::pair<const StorageItem*, EinsumId>, std::map<std::size_t, Lane>> keepers_;
  /// Per loop, Einsum and variable: the largest tile outside it, and its tile shape.
  std::map<std::tuple<std::size_t, EinsumId, RankVariableId>, std::pair<std::int64_t, std::int64_t>>
      tiles_seen_;
  /// Per loop and Einsum: the size of its tiles; Einsums for which they differ.
  std::map<std::pair<std::size_t, EinsumId>, std::int64_t> tile_of_loop_;
  EinsumSet uneven_;
  CollectiveUses collective_uses_;
  /// Per tensor and instance of a memory: what a collective has brought there in this step.
  std::map<TensorId, std::map<InstancePlace, std::map<Element, double>>> brought_;
  /// Per tensor: readers' storages that are reserved, and whether twice in a double buffer.
  std::map<TensorId, std::pair<std::vector<Held>, bool>> taken_;
  std::set<TensorId> given_;  ///< whose maker's storage is reserved until the collective
  Lanes participants_;        ///< of the collective that runs
  ReservationTable* reserved_ = &reservations_;  ///< where what is reserved now is noted
  /// Of the pipelined and parallel splits around, outermost first.
  std::vector<Parts*> parts_;
  /// Per storage of a reader: the step that its child works on, and per step and instance what was
  /// forwarded to it.
  std::map<const StorageItem*, std::size_t> step_of_;
  std::map<std::tuple<const StorageItem*, std::size_t, std::size_t>, std::map<Element, double>>
      forwarded_;
  std::vector<Moment> moments_;
  std::vector<MomentsMade> moments_of_;  ///< per tensor
  std::size_t concurrent_runs_ = 0;
  std::int64_t compute_steps_ = 0;
  /// By the list at whose end they stand; null where the Einsum needs the long way.
  std::map<const Body*, std::pair<std::size_t, std::unique_ptr<InnerLoops>>> inner_loops_;
};

}  // namespace sluice::referee
