#include <map>
#include <set>

#include "performers.h"

namespace sluice::referee {
namespace {

using Sender = Board::Sender;

/// Who hands on to whom, as the participants join one by one.
class GrownTree {
 public:
  GrownTree(Board& board, const Task& task, int root) : board_(board), task_(task) {
    joined_ = {root};
    rounds_[root] = 0;
    std::set<int> waiting;
    for (int rank = 0; rank < board.participants(); ++rank)
      if (rank != root) waiting.insert(rank);
    while (!waiting.empty()) {
      int next = -1, over = -1;
      for (const int rank : waiting)
        for (const int member : joined_)
          if (next < 0 || links(member, rank) < links(over, next)) {
            next = rank;
            over = member;
          }
      waiting.erase(next);
      joined_.push_back(next);
      parent_[next] = over;
      rounds_[next] = rounds_[over] + 1;
      last_ = std::max(last_, rounds_[next]);
    }
  }

  void collect() {
    for (int round = last_; round > 0; --round) {
      for (const auto& [child, parent] : parent_)
        if (rounds_[child] == round)
          board_.send(child, parent, board_.items(child), Sender::kForgets);
      board_.end_step();
    }
  }

  void broadcast() {
    for (int round = 1; round <= last_; ++round) {
      for (const auto& [child, parent] : parent_)
        if (rounds_[child] == round)
          board_.send(parent, child, board_.items(parent), Sender::kKeeps);
      board_.end_step();
    }
  }

  void scatter() {
    for (int round = 1; round <= last_; ++round) {
      for (const auto& [child, parent] : parent_)
        if (rounds_[child] == round)
          board_.send(parent, child,
                      board_.items(parent,
                                   [&, receiver = child](const CollectiveItem& item) {
                                     return stands_below(owner(item), receiver);
                                   }),
                      Sender::kForgets);
      board_.end_step();
    }
  }

 private:
  std::int64_t links(int from, int to) const {
    std::int64_t sum = 0;
    for (const std::int64_t on_network :
         links_between(task_.request.group, place_of_rank(task_.request.group, from),
                       place_of_rank(task_.request.group, to)))
      sum += on_network;
    return sum;
  }

  int owner(const CollectiveItem& item) const {
    return task_.owner[static_cast<std::size_t>(item.second)];
  }

  bool stands_below(int rank, int ancestor) const {
    while (rank != ancestor) {
      const auto parent = parent_.find(rank);
      if (parent == parent_.end()) return false;
      rank = parent->second;
    }
    return true;
  }

  Board& board_;
  const Task& task_;
  std::vector<int> joined_;  ///< in this order
  std::map<int, int> parent_, rounds_;
  int last_ = 0;
};

}  // namespace

bool perform_greedy_tree(Board& board, const Task& task) {
  if (task.type() == CollectiveType::kAllToAll) return false;
  GrownTree tree(board, task, is_rooted(task.type()) ? task.root() : 0);
  const bool spreads_only =
      task.type() == CollectiveType::kBroadcast || task.type() == CollectiveType::kScatter;
  if (!spreads_only) tree.collect();
  if (task.type() == CollectiveType::kScatter || task.type() == CollectiveType::kReduceScatter)
    tree.scatter();
  else if (task.type() != CollectiveType::kGather)
    tree.broadcast();
  return true;
}

}  // namespace sluice::referee
