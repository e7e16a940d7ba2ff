#include "performers.h"

namespace sluice::referee {
namespace {

using Sender = Board::Sender;

/// A binomial tree over all participants, counted from the root.
class Binomial {
 public:
  Binomial(Board& board, const Task& task, int root) : board_(board), task_(task), root_(root) {
    while (span_ < board.participants()) span_ *= 2;
  }

  /// Towards the root, leaves first.
  void collect() {
    for (int distance = 1; distance < span_; distance *= 2) {
      for (int child = distance; child < board_.participants(); child += 2 * distance)
        board_.send(rank(child), rank(child - distance), board_.items(rank(child)),
                    Sender::kForgets);
      board_.end_step();
    }
  }

  void broadcast() {
    for (int distance = span_ / 2; distance >= 1; distance /= 2) {
      for (int parent = 0; parent + distance < board_.participants(); parent += 2 * distance)
        board_.send(rank(parent), rank(parent + distance), board_.items(rank(parent)),
                    Sender::kKeeps);
      board_.end_step();
    }
  }

  void scatter() {
    for (int distance = span_ / 2; distance >= 1; distance /= 2) {
      for (int parent = 0; parent + distance < board_.participants(); parent += 2 * distance)
        board_.send(rank(parent), rank(parent + distance),
                    board_.items(rank(parent),
                                 [&](const CollectiveItem& item) {
                                   return place_of_owner(item) >= parent + distance;
                                 }),
                    Sender::kForgets);
      board_.end_step();
    }
  }

 private:
  int rank(int place) const { return (place + root_) % board_.participants(); }
  int place_of_owner(const CollectiveItem& item) const {
    const int owner = task_.owner[static_cast<std::size_t>(item.second)];
    return (owner - root_ + board_.participants()) % board_.participants();
  }

  Board& board_;
  const Task& task_;
  int root_;
  int span_ = 1;
};

}  // namespace

bool perform_tree(Board& board, const Task& task) {
  switch (task.type()) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kAllGather: {
      Binomial tree(board, task, 0);
      tree.collect();
      tree.broadcast();
      return true;
    }
    case CollectiveType::kReduceScatter: {
      Binomial tree(board, task, 0);
      tree.collect();
      tree.scatter();
      return true;
    }
    case CollectiveType::kBroadcast:
      Binomial(board, task, task.root()).broadcast();
      return true;
    case CollectiveType::kGather:
      Binomial(board, task, task.root()).collect();
      return true;
    case CollectiveType::kScatter:
      Binomial(board, task, task.root()).scatter();
      return true;
    case CollectiveType::kAllToAll:
      return false;
  }
  return false;
}

}  // namespace sluice::referee
