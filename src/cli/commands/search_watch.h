#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/io/progress.h"
#include "commands.h"
#include "report/document/result_document.h"
#include "sluice/mapper/incumbent.h"

namespace sluice::cli {

/// In text: J, s or J·s.
const char* unit_of(Objective objective, bool ascii);

/// What a search has in hand while it runs: the progress line says how good it is, and the folder
/// that `-o` names holds it, as an interrupted search would leave it. Both on a thread of their
/// own, so that no search waits for a disk, and searches that say nothing for long are seen to run.
class SearchWatch {
 public:
  /// `result`: what is known before the search; `earlier`: what an earlier one, whose mapping the
  /// folder holds, had reached.
  SearchWatch(const Mapper& mapper, const RunResult& result, const OutputArguments& output,
              std::optional<double> earlier, ProgressLine* progress);
  ~SearchWatch();
  SearchWatch(const SearchWatch&) = delete;
  SearchWatch& operator=(const SearchWatch&) = delete;

  Incumbent* incumbent() { return &incumbent_; }
  /// The mapping of the earlier search, which the folder holds, is the incumbent.
  void go_on_from(double objective, MappedResult mapped);
  void show(const std::string& phase, double fraction);
  /// No mapping's objective is below `bound`.
  void take_bound(double bound);
  /// Ends the writing, before the result itself is written. Throws what went wrong with it.
  void finish();

 private:
  void take(double objective, const MappedResult& mapped);
  void run();
  ProgressDetail detail() const;
  void show_again();
  void write(const MappedResult& mapped);
  void stop();

  RunResult snapshot_;
  std::string folder_;
  ProgressLine* progress_;
  std::atomic<double> best_, bound_;
  std::mutex showing_;  ///< what is shown last is what was known last
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<MappedResult> latest_;   ///< not yet written
  std::optional<MappedResult> written_;  ///< what the folder holds
  double written_bound_ = 0;
  bool done_ = false;
  std::exception_ptr failure_;
  Incumbent incumbent_;
  std::thread thread_;  ///< last: it uses all of the others
};

}  // namespace sluice::cli
