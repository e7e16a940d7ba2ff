#include "model/latency/tile_pipeline.h"

#include <algorithm>

namespace sluice {

void TilePipeline::add(const TileStep& step) {
  const auto slots = std::max(static_cast<std::size_t>(buffers_.slots), step.fills_s.size());
  for (double fill_s : step.fills_s) {
    if (fill_steps_.size() >= slots) {
      fills_end_s_ = std::max(fills_end_s_, slot_free_s_.front());
      fill_steps_.pop_front();
      slot_free_s_.pop_front();
    }
    fills_end_s_ += fill_s;
    fill_steps_.push_back(n_steps_);
    slot_free_s_.push_back(0);  // known when this step ends
  }
  double start_s = std::max(compute_end_s_, step.fills_s.empty() ? 0 : fills_end_s_);
  for (const Drain& drain : {last_drain_, drain_before_}) {
    if (drain.step < 0) continue;
    if (!buffers_.double_output && drain.step == n_steps_ - 1)
      start_s = std::max(start_s, drain.end_s);
    if (buffers_.double_output && drain.step == n_steps_ - 2)
      start_s = std::max({start_s, drain.end_s, compute_start_s_ + drain.time_s});
  }
  if (n_steps_ == 0)
    first_start_s_ = start_s;
  else
    waits_s_ += start_s - compute_end_s_;
  compute_start_s_ = start_s;
  compute_end_s_ = start_s + step.compute_s;
  busy_s_ += step.compute_s;
  for (std::size_t f = fill_steps_.size(); f-- > 0 && fill_steps_[f] == n_steps_;)
    slot_free_s_[f] = compute_end_s_;
  if (step.drain_s > 0) {
    double drain_start_s = std::max(compute_end_s_, last_drain_.end_s);
    if (buffers_.shared_port) drain_start_s = std::max(drain_start_s, fills_end_s_);
    drain_before_ = last_drain_;
    last_drain_ = {n_steps_, step.drain_s, drain_start_s + step.drain_s};
    if (buffers_.shared_port) fills_end_s_ = last_drain_.end_s;
  }
  ++n_steps_;
}

double TilePipeline::end_s() const { return std::max(compute_end_s_, last_drain_.end_s); }

PipelineTimes TilePipeline::times() const {
  PipelineTimes result;
  result.fill_s = first_start_s_;
  result.compute_s = busy_s_;
  result.drain_s = end_s() - compute_end_s_;
  result.stall_s = waits_s_;
  return result;
}

}  // namespace sluice
