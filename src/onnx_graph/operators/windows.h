#pragma once

#include <optional>
#include <vector>

#include "onnx_graph/lower/lowering.h"

namespace sluice::onnx_graph {

/// One spatial dimension of a convolution or pool.
struct Window {
  std::int64_t size = 1, stride = 1, dilation = 1, before = 0, after = 0;
  std::int64_t input = 1, output = 1;
};

/// Places from the first to the last value of a window, both included.
std::int64_t reach(const Window& window);

/// Attributes `kernel_shape`, `strides`, `dilations`, `pads`, `auto_pad`, `ceil_mode` over an input
/// of shape [N, C, D1, D2, …]. `kernel`: where it is known from weights.
std::vector<Window> read_windows(const NodeContext& context, const Shape& input,
                                 std::vector<std::int64_t> kernel);

/// The same with a stretch of the input for each input value (ConvTranspose).
std::vector<Window> read_transposed_windows(const NodeContext& context, const Shape& input,
                                            std::vector<std::int64_t> kernel);

/// Whether a window reads, or writes, beside the plane.
bool reaches_over(const Window& window);

/// Whether a window lies beside the plane with all of its values.
bool misses_plane(const Window& window);

/// Where no window at all has a value of the plane: zeros, of these channels and the output's
/// plane.
std::optional<View> zeros_of_border(NodeContext& context, const std::vector<Window>& windows,
                                    Shape shape, const std::string& name, ElementType type);

/// What windows that see padding alone make is 0, although no Einsum writes it.
void fill_border(NodeContext& context, const View& made, const std::vector<Window>& windows);

/// An input whose spatial dimensions are ranks of their own, whole from border to border where
/// windows reach over it; a copy where they are not.
View with_whole_planes(NodeContext& context, View view, const std::vector<Window>& windows);

/// One plane of windows: axes over its output, and over the values of a window.
struct WindowAxes {
  std::vector<std::size_t> output, window;
};
WindowAxes add_window_axes(NodeContext& context, const std::vector<Window>& windows);

/// stride · p + dilation · r − before, per spatial dimension; none of size 1 are in it.
std::vector<Index> window_indices(const std::vector<Window>& windows, const WindowAxes& axes);

/// An access of [N, C, D…] with indices for N and C by axes and for the plane by `plane`.
CascadeAccess plane_access(const View& view, const std::vector<std::size_t>& batch,
                           const std::vector<std::size_t>& channels,
                           const std::vector<Index>& plane);

/// The dimension of an axis: itself, or nothing where it has size 1.
std::vector<std::size_t> group_of(const NodeContext& context, std::size_t axis);

}  // namespace sluice::onnx_graph
