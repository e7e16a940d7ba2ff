#include "performers.h"

namespace sluice::referee {
namespace {

using Sender = Board::Sender;

void all_to_owners(Board& board, const Task& task) {
  for (int from = 0; from < board.participants(); ++from)
    for (int to = 0; to < board.participants(); ++to)
      if (from != to)
        board.send(from, to,
                   board.items(from,
                               [&](const CollectiveItem& item) {
                                 return task.owner[static_cast<std::size_t>(item.second)] == to;
                               }),
                   Sender::kForgets);
  board.end_step();
}

void all_to_all(Board& board) {
  for (int from = 0; from < board.participants(); ++from)
    for (int to = 0; to < board.participants(); ++to)
      if (from != to) board.send(from, to, board.items(from), Sender::kKeeps);
  board.end_step();
}

}  // namespace

bool perform_direct(Board& board, const Task& task) {
  switch (task.type()) {
    case CollectiveType::kAllReduce:
      all_to_owners(board, task);
      all_to_all(board);
      break;
    case CollectiveType::kReduceScatter:
    case CollectiveType::kScatter:  // only the root has anything to give
    case CollectiveType::kAllToAll:
      all_to_owners(board, task);
      break;
    case CollectiveType::kAllGather:
    case CollectiveType::kBroadcast:  // only the root has anything to tell
      all_to_all(board);
      break;
    case CollectiveType::kGather:
      for (int from = 0; from < board.participants(); ++from)
        if (from != task.root()) board.send(from, task.root(), board.items(from), Sender::kForgets);
      board.end_step();
      break;
  }
  return true;
}

}  // namespace sluice::referee
