#include "trace_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace sluice::cli {
namespace {

constexpr int kMemoryProcess = 1;

/// As a JSON string.
std::string quoted(const std::string& text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string step_name(const ExecutionStep& step, const Workload& workload) {
  switch (step.kind) {
    case ExecutionStep::Kind::kFill:
      return "fill " + step.points;
    case ExecutionStep::Kind::kDrain:
      return "drain " + step.points;
    case ExecutionStep::Kind::kCollective:
      return "collective " + step.points;
    default:
      return workload[step.einsum].name + " " + step.points;
  }
}

}  // namespace

TraceFiles::TraceFiles(const std::filesystem::path& file, const BoundProblem& problem)
    : problem_(problem), trace_(file), listing_(file.string() + ".txt") {
  trace_.write("{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [");
  listing_.write(step_listing_head());
  for (std::size_t c = 0; c < problem.arch.components.size(); ++c) {
    begin_event();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
                   kMemoryProcess, c, quoted(problem.arch.components[c].name));
    trace_.write(text_);
  }
}

void TraceFiles::begin_event() {
  text_ = is_first_event_ ? "\n" : ",\n";
  is_first_event_ = false;
}

void TraceFiles::add(const ExecutionStep& step) {
  begin_event();
  if (step.kind == ExecutionStep::Kind::kReserve || step.kind == ExecutionStep::Kind::kRelease)
    add_reservation(step);
  else
    add_work(step);
  trace_.write(text_);
  text_.clear();
  list_step(n_steps_++, step, problem_.workload, problem_.arch, text_);
  listing_.write(text_);
}

void TraceFiles::add_reservation(const ExecutionStep& step) {
  double& bits = reserved_[*step.to];
  bits += step.kind == ExecutionStep::Kind::kReserve ? step.bits : -step.bits;
  fmt::format_to(std::back_inserter(text_),
                 R"({{"name":{},"ph":"C","pid":{},"ts":{},"args":{{"bits":{}}}}})",
                 quoted("reserved in " + problem_.arch[*step.to].name), kMemoryProcess, now_, bits);
}

void TraceFiles::add_work(const ExecutionStep& step) {
  const bool is_compute = step.kind == ExecutionStep::Kind::kCompute;
  const std::int64_t duration =
      is_compute ? 1 : std::max<std::int64_t>(1, std::max(step.read, step.written));
  const auto end = std::back_inserter(text_);
  fmt::format_to(end, R"({{"name":{},"cat":"{}","ph":"X","ts":{},"dur":{},"pid":{},"tid":{},)",
                 quoted(step_name(step, problem_.workload)), is_compute ? "compute" : "transfer",
                 now_, duration, kMemoryProcess, (is_compute ? *step.from : *step.to).index());
  fmt::format_to(end, R"("args":{{"einsum":{},"loop_steps":[{}],"instances":{})",
                 quoted(problem_.workload[step.einsum].name), fmt::join(step.loop_steps, ","),
                 step.instances);
  if (!is_compute)
    fmt::format_to(end, R"(,"from":{},"to":{},"values_read":{},"values_written":{})",
                   quoted(problem_.arch[*step.from].name), quoted(problem_.arch[*step.to].name),
                   step.read, step.written);
  text_ += "}}";
  now_ += duration;
}

void TraceFiles::publish() {
  trace_.write("\n]}\n");
  listing_.publish();
  trace_.publish();
}

}  // namespace sluice::cli
