#include "model/latency/tile_pipeline.h"

#include <algorithm>
#include <cmath>

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
    ++n_fills_;
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
    ++n_drains_;
    drain_before_ = last_drain_;
    last_drain_ = {n_steps_, step.drain_s, drain_start_s + step.drain_s};
    if (buffers_.shared_port) fills_end_s_ = last_drain_.end_s;
  }
  ++n_steps_;
}

void TilePipeline::count_from_now() {
  const double now_s = compute_end_s_;
  before_s_ += now_s;
  for (double* time_s : {&fills_end_s_, &compute_start_s_, &compute_end_s_, &last_drain_.end_s,
                         &drain_before_.end_s})
    *time_s -= now_s;
  for (double& free_s : slot_free_s_) free_s -= now_s;
}

TilePipeline::Used TilePipeline::used_since(const TilePipeline& before) const {
  const bool fills = n_fills_ > before.n_fills_, drains = n_drains_ > before.n_drains_;
  return {fills, drains, fills || (drains && buffers_.shared_port)};
}

bool TilePipeline::stands_as(const TilePipeline& before) const {
  constexpr double kRounding = 1e-9;
  const double passed_s = compute_end_s_ - before.compute_end_s_;
  const std::int64_t n_steps = n_steps_ - before.n_steps_;
  const auto has_moved = [&](double now_s, double before_s) {
    return std::abs(now_s - before_s - passed_s) <= kRounding * passed_s;
  };
  const auto has_drained = [&](const Drain& now, const Drain& then) {
    return then.step >= 0 && now.step == then.step + n_steps && now.time_s == then.time_s &&
           has_moved(now.end_s, then.end_s);
  };
  if (!has_moved(compute_start_s_, before.compute_start_s_)) return false;
  const auto [fills, drains, moves_fills] = used_since(before);
  if (drains && !(has_drained(last_drain_, before.last_drain_) &&
                  has_drained(drain_before_, before.drain_before_)))
    return false;
  if (moves_fills && !has_moved(fills_end_s_, before.fills_end_s_)) return false;
  if (!fills) return true;
  if (slot_free_s_.size() != before.slot_free_s_.size()) return false;
  for (std::size_t f = 0; f < slot_free_s_.size(); ++f)
    if (fill_steps_[f] != before.fill_steps_[f] + n_steps ||
        !has_moved(slot_free_s_[f], before.slot_free_s_[f]))
      return false;
  return true;
}

void TilePipeline::repeat_since(const TilePipeline& before, double times) {
  const double passed_s =
      times * (compute_end_s_ + before_s_ - before.compute_end_s_ - before.before_s_);
  const auto passed_steps = static_cast<std::int64_t>(times) * (n_steps_ - before.n_steps_);
  busy_s_ += times * (busy_s_ - before.busy_s_);
  waits_s_ += times * (waits_s_ - before.waits_s_);
  before_s_ += passed_s;
  // What the steps do not use stays where it was: so much further back.
  const auto [fills, drains, moves_fills] = used_since(before);
  if (!drains)
    for (Drain* drain : {&last_drain_, &drain_before_}) {
      drain->end_s -= passed_s;
      if (drain->step >= 0) drain->step = std::max<std::int64_t>(-1, drain->step - passed_steps);
    }
  if (!moves_fills) fills_end_s_ -= passed_s;
  if (!fills)
    for (double& free_s : slot_free_s_) free_s -= passed_s;
}

double TilePipeline::end_s() const {
  return before_s_ + std::max(compute_end_s_, last_drain_.end_s);
}

PipelineTimes TilePipeline::times() const {
  PipelineTimes result;
  result.fill_s = first_start_s_;
  result.compute_s = busy_s_;
  result.drain_s = std::max(0.0, last_drain_.end_s - compute_end_s_);
  result.stall_s = waits_s_;
  return result;
}

}  // namespace sluice
