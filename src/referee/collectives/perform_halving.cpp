#include <algorithm>

#include "performers.h"

namespace sluice::referee {
namespace {

using Sender = Board::Sender;

/// The algorithms for powers of two, among the first 2^k participants counted from `root`; each of
/// the others (an *extra*) is folded onto the participant 2^k before it.
class Hypercube {
 public:
  Hypercube(Board& board, const Task& task, int root) : board_(board), task_(task), root_(root) {
    while (core_ * 2 <= board.participants()) core_ *= 2;
  }

  int rank(int place) const { return (place + root_) % board_.participants(); }
  int place(int rank) const {
    return (rank - root_ + board_.participants()) % board_.participants();
  }
  int core() const { return core_; }
  /// The core place that acts for the owner of an item.
  int acting(const CollectiveItem& item) const {
    return place(task_.owner[static_cast<std::size_t>(item.second)]) % core_;
  }

  template <class Wanted>
  void extras_send(Sender sender, Wanted wanted) {
    for (int extra = core_; extra < board_.participants(); ++extra)
      board_.send(rank(extra), rank(extra - core_),
                  board_.items(rank(extra), [&](const auto& item) { return wanted(extra, item); }),
                  sender);
    board_.end_step();
  }
  template <class Wanted>
  void extras_receive(Sender sender, Wanted wanted) {
    for (int extra = core_; extra < board_.participants(); ++extra)
      board_.send(
          rank(extra - core_), rank(extra),
          board_.items(rank(extra - core_), [&](const auto& item) { return wanted(extra, item); }),
          sender);
    board_.end_step();
  }

  /// Everyone gives its partner whatever is the business of the partner's half.
  template <class Business>
  void halve(Business business) {
    for (int distance = core_ / 2; distance >= 1; distance /= 2) {
      for (int p = 0; p < core_; ++p)
        board_.send(rank(p), rank(p ^ distance),
                    board_.items(rank(p),
                                 [&](const auto& item) {
                                   return (business(item) & distance) != (p & distance);
                                 }),
                    Sender::kForgets);
      board_.end_step();
    }
  }

  /// Everyone gives its partner all it has.
  void exchange_all() {
    for (int distance = 1; distance < core_; distance *= 2) {
      for (int p = 0; p < core_; ++p)
        board_.send(rank(p), rank(p ^ distance), board_.items(rank(p)), Sender::kKeeps);
      board_.end_step();
    }
  }

  /// From place 0 outwards: half of what one holds goes on.
  template <class Business>
  void scatter(Business business) {
    for (int distance = core_ / 2; distance >= 1; distance /= 2) {
      for (int p = 0; p < core_; p += 2 * distance)
        board_.send(
            rank(p), rank(p + distance),
            board_.items(rank(p), [&](const auto& item) { return business(item) >= p + distance; }),
            Sender::kForgets);
      board_.end_step();
    }
  }

  void gather() {
    for (int distance = 1; distance < core_; distance *= 2) {
      for (int p = distance; p < core_; p += 2 * distance)
        board_.send(rank(p), rank(p - distance), board_.items(rank(p)), Sender::kForgets);
      board_.end_step();
    }
  }

  bool is_of(int place, const CollectiveItem& item) const {
    return task_.owner[static_cast<std::size_t>(item.second)] == rank(place);
  }
  bool lacks(int place, const CollectiveItem& item) const { return !board_.has(rank(place), item); }

 private:
  Board& board_;
  const Task& task_;
  int root_;
  int core_ = 1;
};

}  // namespace

bool perform_recursive_doubling(Board& board, const Task& task) {
  Hypercube cube(board, task, 0);
  const auto all = [](int, const auto&) { return true; };
  const auto lacking = [&](int extra, const auto& item) { return cube.lacks(extra, item); };
  if (task.type() == CollectiveType::kAllReduce)
    cube.extras_send(Sender::kForgets, all);
  else if (task.type() == CollectiveType::kAllGather)
    cube.extras_send(Sender::kKeeps, all);
  else
    return false;
  cube.exchange_all();
  cube.extras_receive(Sender::kKeeps, lacking);
  return true;
}

bool perform_halving_doubling(Board& board, const Task& task) {
  Hypercube cube(board, task, is_rooted(task.type()) ? task.root() : 0);
  const auto acting = [&](const CollectiveItem& item) { return cube.acting(item); };
  // A whole vector that passes through everyone is cut into as many blocks as there are in the
  // core.
  const std::vector<int> core_owner = owners(task.request.values, cube.core());
  const auto core_block = [&](const CollectiveItem& item) {
    return core_owner[static_cast<std::size_t>(item.second)];
  };
  const auto all = [](int, const auto&) { return true; };
  const auto lacking = [&](int extra, const auto& item) { return cube.lacks(extra, item); };
  const auto own = [&](int extra, const auto& item) { return cube.is_of(extra, item); };
  switch (task.type()) {
    case CollectiveType::kAllReduce:
      cube.extras_send(Sender::kForgets, all);
      cube.halve(core_block);
      cube.exchange_all();
      cube.extras_receive(Sender::kKeeps, lacking);
      return true;
    case CollectiveType::kReduceScatter:
      cube.extras_send(Sender::kForgets, all);
      cube.halve(acting);
      cube.extras_receive(Sender::kForgets, own);
      return true;
    case CollectiveType::kAllGather:
      cube.extras_send(Sender::kKeeps, all);
      cube.exchange_all();
      cube.extras_receive(Sender::kKeeps, lacking);
      return true;
    case CollectiveType::kBroadcast:
      cube.scatter(core_block);
      cube.exchange_all();
      cube.extras_receive(Sender::kKeeps, lacking);
      return true;
    case CollectiveType::kGather:
      cube.extras_send(Sender::kForgets, all);
      cube.gather();
      return true;
    case CollectiveType::kScatter:
      cube.scatter(acting);
      cube.extras_receive(Sender::kForgets, own);
      return true;
    case CollectiveType::kAllToAll:
      cube.extras_send(Sender::kForgets,
                       [&](int extra, const auto& item) { return !cube.is_of(extra, item); });
      cube.halve(acting);
      cube.extras_receive(Sender::kForgets, own);
      return true;
  }
  return false;
}

}  // namespace sluice::referee
