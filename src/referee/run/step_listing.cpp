#include <fmt/format.h>

#include <iterator>

#include "sluice/referee/execute.h"

namespace sluice {
namespace {

std::string transfer_text(const ExecutionStep& step, const Arch& arch) {
  const char* what = step.kind == ExecutionStep::Kind::kFill    ? "fill "
                     : step.kind == ExecutionStep::Kind::kDrain ? "drain"
                                                                : "share";
  std::string text =
      fmt::format("{} {:<24} {} reads {}, {} writes {}", what, step.points, arch[*step.from].name,
                  step.read, arch[*step.to].name, step.written);
  if (step.instances > 1) text += fmt::format(" ({} instances)", step.instances);
  return text;
}

std::string step_text(const ExecutionStep& step, const Workload& workload, const Arch& arch) {
  switch (step.kind) {
    case ExecutionStep::Kind::kFill:
    case ExecutionStep::Kind::kDrain:
    case ExecutionStep::Kind::kCollective:
      return transfer_text(step, arch);
    case ExecutionStep::Kind::kCompute:
      return fmt::format("do    {:<24} {} x{}", step.points, arch[*step.from].name, step.instances);
    case ExecutionStep::Kind::kReserve:
      return fmt::format("hold  {:<24} {} bits in {}", workload[*step.tensor].name, step.bits,
                         arch[*step.to].name);
    case ExecutionStep::Kind::kRelease:
      return fmt::format("free  {:<24} {} bits in {}", workload[*step.tensor].name, step.bits,
                         arch[*step.to].name);
  }
  return {};
}

}  // namespace

std::string_view step_listing_head() { return "# step  loops           Einsum    what happens\n"; }

void list_step(std::int64_t number, const ExecutionStep& step, const Workload& workload,
               const Arch& arch, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{:>6}  {:<14}  {:<8}  {}\n", number,
                 fmt::format("[{}]", fmt::join(step.loop_steps, " ")), workload[step.einsum].name,
                 step_text(step, workload, arch));
}

}  // namespace sluice
