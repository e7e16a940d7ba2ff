#pragma once

#include <functional>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// What operators with graphs inside need of the walk.
struct BodyWalk {
  std::function<void(const Graph&)> run;                   ///< all of its nodes
  std::function<bool(const std::string& name)> is_broken;  ///< reported already
  std::function<void()> give_up;                           ///< this node, without another mistake
};

/// Of a condition that is known before the run, the branch that is taken; else the longer one.
void choose_branch(NodeContext& context, const BodyWalk& walk);
/// The body as often as it runs, each time on its own.
void unroll_scan(NodeContext& context, const BodyWalk& walk);
void unroll_loop(NodeContext& context, const BodyWalk& walk);

}  // namespace sluice::onnx_graph
