#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "output_folder.h"
#include "sluice/model/binding.h"
#include "sluice/referee/execute.h"

namespace sluice::cli {

/// The steps of a run as they happen, in two files: a trace that Perfetto and chrome://tracing open
/// (a row for each memory and each compute; one value moved is one microsecond of the row that
/// reads it; reservations are counters), and `FILE.txt`, a line a step. Both are there only once
/// the run is over. Throws Failure(kFileTrouble).
class TraceFiles {
 public:
  TraceFiles(const std::filesystem::path& file, const BoundProblem& problem);

  void add(const ExecutionStep& step);
  void publish();

 private:
  void begin_event();
  void add_reservation(const ExecutionStep& step);
  void add_work(const ExecutionStep& step);

  const BoundProblem& problem_;
  AtomicFile trace_, listing_;
  std::string text_;  ///< of an event, or of a line
  std::map<ComponentId, double> reserved_;
  std::int64_t now_ = 0, n_steps_ = 0;
  bool is_first_event_ = true;
};

}  // namespace sluice::cli
