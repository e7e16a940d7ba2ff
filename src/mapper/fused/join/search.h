#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "join.h"
#include "mapper/fused/exchange/row_groups.h"
#include "mapper/fused/graph/through_bounds.h"
#include "mapper/fused/tiles/loop_search.h"
#include "mapper/space/template_lists.h"

namespace sluice::fused {

/// The whole search for one workload: pmappings of every Einsum (equal ones once), then the join.
class Search {
 public:
  Search(const BoundProblem& problem, const MapperOptions& options, const MapperControl& control);
  tl::expected<MapperResult, NoMapping> run();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kJoinBeam = 32;  // entries a group in a scout's join
  static constexpr std::size_t kTileBeam = 8;   // partial tile shapes a list in a scout's pricing

  bool has_chains() const;
  TileSearchContext tile_context(std::size_t einsum) const;
  void make_shapes(const TemplateLimits& limits);
  bool draw();
  void draw_some(std::size_t most_rounds, std::size_t most_in_vain);
  bool may_draw() const;
  bool has_more_than(std::size_t templates) const;
  void draw_first();
  void draw_more();
  std::size_t most_templates() const;
  std::size_t most_in_time() const;
  bool may_leave_it() const;
  bool are_too_many_in_time() const;
  bool takes_too_long(double seconds, double share) const;
  bool is_too_many() const;
  std::optional<MapperResult> draw_only(Clock::time_point start);
  void find_isomorphic();
  bool is_alike(std::size_t a, std::size_t b) const;
  void find_tracked();
  [[nodiscard]] bool compile_templates();
  ExchangeGraph connect(std::size_t beam);
  JoinResult join(std::size_t beam);
  void find_least();
  std::vector<SearchBound> bounds();
  double bound_of_all() const;
  EnergyLatency least_by_bounds(std::size_t einsum) const;
  std::vector<EnergyLatency> known_costs() const;
  bool starts_near_bound() const;
  void take_incumbent();
  void take_known();
  bool uses_incumbent() const;
  void offer(MappedResult mapped);
  bool bounds_apply() const;
  bool is_whole() const;
  double epsilon() const { return bounds_apply() ? options_.epsilon : 0; }
  void scout();
  void explore(const std::vector<SearchBound>& bounds, std::size_t beam);
  std::vector<std::size_t> pricing_order() const;
  ExchangeRequest exchange_request(std::size_t einsum, const ExchangeAgreement* agreement,
                                   bool coarse) const;
  void keep_promising(const TileSearchContext& context);
  static void keep_priced(const RowGroups& rows, const PmappingTable& table, ExchangeSpace* space);
  static void keep_agreed(const ExchangeRequest& request, ExchangeSpace* space);
  void find_starts(const TileSearchContext& context);
  std::vector<std::uint32_t> order_of_templates(const TileSearchContext& context) const;
  bool knows_limit() const { return std::isfinite(limit_); }
  SearchBound known_bound() const;
  bool knows_mapping() const;
  bool follows_paths() const;
  double rows_to_price(std::size_t e) const;
  bool has_short_graph() const;
  bool may_end_early() const;
  RowGroups rows_of(std::size_t e) const;
  void put_down(std::size_t e, PmappingTable priced, std::size_t* done);
  ExchangeAgreement find_exchanges(const std::vector<SearchBound>& bounds, bool coarse);
  void price_all(const std::vector<SearchBound>& bounds, ExchangeAgreement agreement,
                 std::size_t beam);
  std::vector<std::vector<EnergyLatency>> bound_rows(const TileSearchContext& context);
  ThroughBounds find_paths(const std::vector<SearchBound>& bounds,
                           const ExchangeAgreement& agreement);
  ExchangeGraph connect_rows(const std::vector<ThroughBounds::Costs>& costs);
  SearchBound below(double limit) const;
  void keep_paths(ThroughBounds* paths);
  void price_along(const std::vector<SearchBound>& bounds, const SearchBound& limit,
                   std::size_t beam, ThroughBounds* paths);
  std::vector<std::size_t> order_along_paths() const;
  void scout_along(const std::vector<SearchBound>& bounds, const ThroughBounds& all, double root);
  JoinResult search_along_paths(const std::vector<SearchBound>& bounds,
                                const ExchangeAgreement& agreement);
  JoinResult search_priced();
  JoinResult search_in_rounds(
      ThroughBounds all, const std::function<void(const ThroughBounds& all, double root)>& scout,
      const std::function<void(const SearchBound& limit, ThroughBounds* paths)>& narrow);
  JoinResult join_within(const ExchangeGraph& graph, double within, std::size_t beam);
  JoinResult search_exactly();
  GraphOptions graph_options() const;
  PmappingTable price(const TileSearchContext& of_einsum, const RowGroups& rows);
  static void agree(const ExchangeRequest& request, const ExchangeSpace& space,
                    ExchangeAgreement* agreement);
  JoinContext join_context(const ExchangeGraph& graph) const;
  MappedResult finish(const JoinedMapping& joined) const;
  std::vector<JoinedMapping> select(std::vector<JoinedMapping> mappings) const;
  void keep_best_so_far(MapperResult* result) const;
  void keep_incumbent(MapperResult* result) const;
  bool is_good_enough(const MapperResult& result, const JoinResult& join) const;
  MapperResult nothing_yet(double seconds) const;
  NoMapping no(const JoinResult& join) const;
  std::optional<std::size_t> first_without_mapping() const;
  NoMapping explain_alone(std::size_t einsum) const;
  NoMapping explain_join(const JoinResult& join) const;
  NoMapping explain(const JoinResult& join) const;
  void tell_bound() const;
  std::function<void(double)> least_teller();
  bool cancelled() const { return is_cancelled(control_.cancel); }

  const BoundProblem& problem_;
  const MapperOptions& options_;
  const MapperControl& control_;
  std::optional<BoundProblem> constrained_;
  const BoundProblem* chained_ = nullptr;  // TileSearchContext::chained
  std::vector<EinsumShape> shapes_;        // per Einsum
  TemplateLists templates_;
  std::vector<std::vector<CompiledTemplate>> compiled_;     // per Einsum (of equal ones the first)
  std::shared_ptr<std::vector<StateTables>> state_tables_;  // per Einsum; those of its draws, too
  std::vector<ExchangeSpace> spaces_;                       // per Einsum (of equal ones the first)
  /// The objective of a known mapping; infinite: none is known.
  double limit_ = std::numeric_limits<double>::infinity();
  bool is_limit_known_ = false;       // limit_: MapperControl::known_objective
  std::vector<EnergyLatency> least_;  // per Einsum: what it costs at least
  bool starts_from_mapping_ = false;  // others had found one when the search began
  std::optional<std::vector<SearchBound>> first_bounds_;  // where no scout was needed
  std::vector<std::size_t> same_as_;                      // per Einsum: first one explored alike
  std::vector<std::size_t> distinct_;                   // Einsums that are the first of their kind
  std::vector<std::shared_ptr<PmappingTable>> tables_;  // per Einsum, shared by equal ones
  std::vector<TrackedMemory> tracked_;
  std::vector<bool> unlimited_;
  std::vector<RowGroups> rows_;              // per distinct Einsum: of its exchanges
  std::vector<std::size_t> order_;           // in which distinct Einsums are priced along paths
  std::optional<MappedResult> best_so_far_;  // the scout's
  mutable std::atomic<double> met_objective_{std::numeric_limits<double>::infinity()};
  double open_bound_ = 0;  // objective of what is not searched: at least; 0: not known
  // Where the pmappings of the only Einsum are whole mappings:
  std::vector<LoopStarts> starts_;  // per template
  std::size_t rounds_drawn_ = 0;
  SearchStatistics statistics_;
};

}  // namespace sluice::fused
