#include "model/visits/index_runs.h"

#include <algorithm>

#include "sluice/support/checked.h"

namespace sluice {

IndexRuns joined(IndexRuns runs) {
  std::sort(runs.begin(), runs.end(),
            [](const IndexRun& a, const IndexRun& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const IndexRun& run : runs) {
    if (kept > 0 && run.begin <= runs[kept - 1].end)
      runs[kept - 1].end = std::max(runs[kept - 1].end, run.end);
    else
      runs[kept++] = run;
  }
  runs.resize(kept);
  return runs;
}

IndexRuns sums_of(const IndexRuns& a, const IndexRuns& b) {
  const IndexRuns& fewer = a.size() < b.size() ? a : b;
  const IndexRuns& more = a.size() < b.size() ? b : a;
  IndexRuns all;
  for (const IndexRun& left : fewer) {
    IndexRuns moved;
    moved.reserve(more.size());
    for (const IndexRun& right : more)
      moved.push_back({left.begin + right.begin, left.end + right.end - 1});
    moved = joined(std::move(moved));
    all.insert(all.end(), moved.begin(), moved.end());
  }
  return joined(std::move(all));
}

IndexRuns within(IndexRuns runs, std::int64_t end) {
  for (IndexRun& run : runs) run = {std::max<std::int64_t>(run.begin, 0), std::min(run.end, end)};
  std::erase_if(runs, [](const IndexRun& run) { return run.begin >= run.end; });
  return runs;
}

std::int64_t size_of(const IndexRuns& runs) {
  std::int64_t size = 0;
  for (const IndexRun& run : runs) size += run.end - run.begin;
  return size;
}

namespace {

/// Sweeps over one rank: between two neighbouring ends the same boxes are there.
std::int64_t swept_volume(std::vector<const RunBox*> boxes, std::size_t rank) {
  if (boxes.empty()) return 0;
  if (rank == boxes.front()->size()) return 1;
  const auto run_of = [rank](const RunBox* box) -> const IndexRun& { return (*box)[rank]; };
  std::vector<std::int64_t> ends;
  for (const RunBox* box : boxes) {
    ends.push_back(run_of(box).begin);
    ends.push_back(run_of(box).end);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::sort(boxes.begin(), boxes.end(),
            [&](const RunBox* a, const RunBox* b) { return run_of(a).begin < run_of(b).begin; });
  std::int64_t volume = 0;
  std::size_t next = 0;
  std::vector<const RunBox*> here;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    std::erase_if(here, [&](const RunBox* box) { return run_of(box).end <= ends[i]; });
    for (; next < boxes.size() && run_of(boxes[next]).begin <= ends[i]; ++next)
      here.push_back(boxes[next]);
    volume =
        checked_add(volume, checked_multiply(ends[i + 1] - ends[i], swept_volume(here, rank + 1)));
  }
  return volume;
}

}  // namespace

std::int64_t united_volume(const std::vector<RunBox>& boxes) {
  std::vector<const RunBox*> all;
  for (const RunBox& box : boxes) all.push_back(&box);
  return swept_volume(std::move(all), 0);
}

}  // namespace sluice
