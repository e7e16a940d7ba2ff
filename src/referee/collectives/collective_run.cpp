#include "sluice/referee/collective_run.h"

#include <algorithm>
#include <array>

#include "performers.h"
#include "sluice/support/error.h"

namespace sluice::referee {
namespace {

bool any(const TopologyFacts&) { return true; }
bool all_pairs(const TopologyFacts& topology) { return topology.links_all_pairs; }
bool grid(const TopologyFacts& topology) { return topology.is_grid; }

constexpr std::array kPerformers = {
    Performer{"recursive_doubling", perform_recursive_doubling, any},
    Performer{"recursive_halving_doubling", perform_halving_doubling, any},
    Performer{"ring", perform_ring, any},
    Performer{"tree", perform_tree, any},
    Performer{"direct", perform_direct, all_pairs},
    Performer{"per_dimension", perform_per_dimension, grid},
    Performer{"greedy_tree", perform_greedy_tree, any, false},
};

/// Which indices `rank` holds before or is owed after.
bool holds_before(const Task& task, int rank, std::int64_t index) {
  switch (task.type()) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kReduceScatter:
    case CollectiveType::kAllToAll:
      return true;
    case CollectiveType::kAllGather:
    case CollectiveType::kGather:
      return task.owner[static_cast<std::size_t>(index)] == rank;
    case CollectiveType::kBroadcast:
    case CollectiveType::kScatter:
      return rank == task.root();
  }
  return false;
}

bool is_owed(const Task& task, int rank, std::int64_t index) {
  switch (task.type()) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kAllGather:
    case CollectiveType::kBroadcast:
      return true;
    case CollectiveType::kReduceScatter:
    case CollectiveType::kScatter:
    case CollectiveType::kAllToAll:
      return task.owner[static_cast<std::size_t>(index)] == rank;
    case CollectiveType::kGather:
      return rank == task.root();
  }
  return false;
}

/// Items are told apart by whose vector they are of in an all_to_all alone.
int origin(const Task& task, int rank) {
  return task.type() == CollectiveType::kAllToAll ? rank : 0;
}

}  // namespace

std::span<const Performer> performers() { return kPerformers; }

std::vector<int> owners(std::int64_t values, int participants) {
  std::vector<int> result;
  for (int p = 0; p < participants; ++p) {
    const std::int64_t size = values / participants + (p < values % participants ? 1 : 0);
    result.insert(result.end(), static_cast<std::size_t>(size), p);
  }
  return result;
}

bool knows_algorithm(const std::string& algorithm) {
  const auto all = performers();
  return std::any_of(all.begin(), all.end(),
                     [&](const Performer& known) { return algorithm == known.algorithm; });
}

bool can_perform(const CollectiveRequest& request, const std::string& algorithm) {
  for (const Performer& performer : performers()) {
    if (algorithm != performer.algorithm) continue;
    for (const CollectiveDimension& dimension : request.group.over)
      if (!performer.fits(facts_of(request.group.networks[dimension.network].network.topology)))
        return false;
    CollectiveRequest nothing = request;
    nothing.values = 0;
    Board board(nothing, Reduction::kNone);
    return performer.perform(board, {nothing, {}});
  }
  return false;
}

CollectiveRun run_collective(const CollectiveRequest& request, const std::string& algorithm,
                             Reduction op, const std::vector<std::vector<double>>& data) {
  Board board(request, op);
  const int participants = board.participants();
  const Task task{request, owners(request.values, participants)};
  for (int rank = 0; rank < participants; ++rank)
    for (std::int64_t i = 0; i < request.values; ++i)
      if (holds_before(task, rank, i))
        board.buffer(rank)[{origin(task, rank), i}] =
            data.at(static_cast<std::size_t>(rank)).at(static_cast<std::size_t>(i));
  bool performed = false;
  for (const Performer& performer : kPerformers)
    if (algorithm == performer.algorithm) performed = performer.perform(board, task);
  SLUICE_CHECK(performed, algorithm + " has no " + collective_name(request.type));
  CollectiveRun run = board.run();
  run.results.resize(static_cast<std::size_t>(participants));
  const int origins = task.type() == CollectiveType::kAllToAll ? participants : 1;
  for (int rank = 0; rank < participants; ++rank)
    for (int from = 0; from < origins; ++from)
      for (std::int64_t i = 0; i < request.values; ++i) {
        if (!is_owed(task, rank, i)) continue;
        SLUICE_CHECK(board.has(rank, {from, i}), algorithm + " leaves a participant without");
        run.results[static_cast<std::size_t>(rank)][{from, i}] = board.buffer(rank).at({from, i});
      }
  return run;
}

}  // namespace sluice::referee
