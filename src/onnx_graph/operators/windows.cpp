#include "onnx_graph/operators/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sluice/support/checked.h"

namespace sluice::onnx_graph {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;
/// An axis of size 1 has no variable.
constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);

std::vector<std::int64_t> list(const NodeContext& context, const std::string& name, std::size_t n,
                               std::int64_t otherwise, std::int64_t lowest) {
  std::vector<std::int64_t> values = context.integers(name);
  if (values.empty()) values.assign(n, otherwise);
  if (values.size() != n)
    context.fail(fmt::format("its attribute {} has {} numbers, not {}", name, values.size(), n));
  for (const std::int64_t value : values)
    if (value < lowest || value > kLargest)
      context.fail(fmt::format("its attribute {} is {}", name, value));
  return values;
}

std::vector<Window> bare_windows(const NodeContext& context, const Shape& input,
                                 std::vector<std::int64_t> kernel) {
  if (input.size() < 3)
    context.fail(fmt::format("its input [{}] has no plane", fmt::join(input, ", ")));
  const std::size_t n = input.size() - 2;
  if (const auto given = context.integers("kernel_shape"); !given.empty()) kernel = given;
  if (kernel.size() != n)
    context.fail(fmt::format("its window has {} dimensions, its plane {}", kernel.size(), n));
  const auto strides = list(context, "strides", n, 1, 1);
  const auto dilations = list(context, "dilations", n, 1, 1);
  const auto pads = list(context, "pads", 2 * n, 0, -kLargest);
  std::vector<Window> windows(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (kernel[i] < 1 || kernel[i] > kLargest)
      context.fail(fmt::format("its window is {} wide", kernel[i]));
    windows[i] = {kernel[i], strides[i], dilations[i], pads[i], pads[n + i], input[i + 2], 1};
  }
  return windows;
}

}  // namespace

std::int64_t reach(const Window& window) { return (window.size - 1) * window.dilation + 1; }

bool reaches_over(const Window& window) {
  return window.before > 0 ||
         (window.output - 1) * window.stride + reach(window) - window.before > window.input;
}

namespace {

constexpr std::int64_t kMostLooks = 1 << 16;

/// Whether one of the places of window `p` lies in the plane.
bool sees_plane(const Window& window, std::int64_t p) {
  const std::int64_t start = p * window.stride - window.before;
  if (start >= 0) return start < window.input;
  const std::int64_t first = (start % window.dilation + window.dilation) % window.dilation;
  return first < window.input && first <= start + (window.size - 1) * window.dilation;
}

/// Of the windows that begin before the plane the last ones, as many as differ: of a narrow plane,
/// wide steps may miss it.
std::vector<std::int64_t> windows_before(const Window& window) {
  const std::int64_t n =
      window.before <= 0 ? 0 : std::min(ceil_divide(window.before, window.stride), window.output);
  std::vector<std::int64_t> places;
  for (std::int64_t p = n; p-- > 0 && n - p <= std::min(window.dilation, kMostLooks);)
    places.push_back(p);
  return places;
}

}  // namespace

bool misses_plane(const Window& window) {
  const auto before = windows_before(window);
  return !sees_plane(window, 0) || !sees_plane(window, window.output - 1) ||
         std::any_of(before.begin(), before.end(),
                     [&](std::int64_t p) { return !sees_plane(window, p); });
}

std::optional<View> zeros_of_border(NodeContext& context, const std::vector<Window>& windows,
                                    Shape shape, const std::string& name, ElementType type) {
  const bool has_values = std::all_of(windows.begin(), windows.end(), [](const Window& window) {
    const auto before = windows_before(window);
    const std::int64_t inside =
        std::max<std::int64_t>(ceil_divide(window.before, window.stride), 0);
    return (inside < window.output && sees_plane(window, inside)) ||
           std::any_of(before.begin(), before.end(),
                       [&](std::int64_t p) { return sees_plane(window, p); });
  });
  if (has_values) return std::nullopt;
  Constant zeros;
  zeros.type = type;
  for (const Window& window : windows) shape.push_back(window.output);
  zeros.shape = std::move(shape);
  zeros.uniform = 0;
  return context.table(name, std::move(zeros));
}

void fill_border(NodeContext& context, const View& made, const std::vector<Window>& windows) {
  if (std::any_of(windows.begin(), windows.end(), misses_plane))
    context.cascade().tensors[made.tensor].initial = 0;
}

std::vector<Window> read_windows(const NodeContext& context, const Shape& input,
                                 std::vector<std::int64_t> kernel) {
  std::vector<Window> windows = bare_windows(context, input, std::move(kernel));
  const std::string automatic = context.text("auto_pad", "NOTSET");
  const bool rounds_up = context.integer("ceil_mode", 0) != 0;
  for (Window& window : windows) {
    if (automatic == "VALID") window.before = window.after = 0;
    if (automatic.starts_with("SAME")) {
      window.output = ceil_divide(window.input, window.stride);
      const std::int64_t pad = std::max<std::int64_t>(
          (window.output - 1) * window.stride + reach(window) - window.input, 0);
      window.before = automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
      window.after = pad - window.before;
      continue;
    }
    const std::int64_t room = window.input + window.before + window.after - reach(window);
    if (room < 0)
      context.fail(fmt::format("its window of {} is larger than the padded plane of {}",
                               reach(window), window.input + window.before + window.after));
    window.output = (rounds_up ? ceil_divide(room, window.stride) : room / window.stride) + 1;
    if (rounds_up && (window.output - 1) * window.stride >= window.input + window.before)
      --window.output;  // a window that would begin behind the plane
  }
  return windows;
}

std::vector<Window> read_transposed_windows(const NodeContext& context, const Shape& input,
                                            std::vector<std::int64_t> kernel) {
  std::vector<Window> windows = bare_windows(context, input, std::move(kernel));
  const std::size_t n = windows.size();
  const auto more = list(context, "output_padding", n, 0, 0);
  const auto wanted = context.integers("output_shape");
  const std::string automatic = context.text("auto_pad", "NOTSET");
  if (!wanted.empty() && wanted.size() < n) context.fail("its output_shape is too short");
  for (const std::int64_t size : wanted)
    if (size < 1 || size > kLargest)
      context.fail(fmt::format("its attribute output_shape is {}", size));
  for (std::size_t i = 0; i < n; ++i) {
    Window& window = windows[i];
    const std::int64_t whole = (window.input - 1) * window.stride + more[i] + reach(window);
    std::int64_t pad = window.before + window.after;
    if (automatic == "VALID") pad = window.before = 0;
    const bool is_same = automatic.starts_with("SAME");
    if (!wanted.empty() || is_same) {
      const std::int64_t size =
          wanted.empty() ? window.input * window.stride : wanted[wanted.size() - n + i];
      pad = std::max<std::int64_t>(whole - size, 0);
      window.before = automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
    }
    window.output = whole - pad;
    // What is asked for may be larger than what the windows reach: zeros at its end.
    if (!wanted.empty()) window.output = std::max(window.output, wanted[wanted.size() - n + i]);
    if (window.output < 1) context.fail("its output would have no values");
  }
  return windows;
}

View with_whole_planes(NodeContext& context, View view, const std::vector<Window>& windows) {
  view = context.current(std::move(view));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Digits& digits = view.dimensions[i + 2];
    const Window& window = windows[i];
    const bool is_bordered = window.before != 0 || reaches_over(window);
    bool fits = digits.size() <= 1 && (!digits.empty() || !is_bordered) &&
                (digits.empty() || !is_repeated(view, digits));
    if (fits && is_bordered && !digits.empty()) {
      fits = false;
      const CascadeTensor& tensor = context.cascade().tensors[view.tensor];
      for (std::size_t r = 0; r < view.projection.size(); ++r) {
        const Index& index = view.projection[r];
        if (index.terms.size() != 1 || index.terms[0].variable != digits[0].slot) continue;
        const std::int64_t step = index.terms[0].coefficient;
        const std::int64_t last = index.constant + step * (digits[0].size - 1);
        const std::int64_t rank = context.cascade().axes[tensor.ranks[r]].size;
        fits = step > 0 && index.constant - step < 0 && last + step >= rank;
      }
    }
    if (fits) continue;
    if (digits.empty() && window.input == 1) {
      // A plane one value high: nothing around it is read but zeros; the rank is there anyway.
      std::set<std::size_t> used;
      std::vector<std::vector<std::size_t>> axes, ranks;
      for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
        axes.push_back(context.axes_for(view, d, "I", used));
        ranks.push_back(axes.back());
      }
      CascadeEinsum einsum;
      for (const auto& group : ranks)
        for (const std::size_t axis : group) einsum.output.indices.push_back(Index::of(axis));
      std::size_t place = 0;
      for (std::size_t d = 0; d < i + 2; ++d) place += ranks[d].size();
      const std::size_t single = context.cascade().add_axis("U", 1);
      ranks[i + 2] = {single};
      einsum.output.indices.insert(
          einsum.output.indices.begin() + static_cast<std::ptrdiff_t>(place), Index{});
      einsum.output.tensor =
          context.new_tensor(context.output_name() + "_plane", ElementType::kUndefined, ranks);
      context.cascade().tensors[einsum.output.tensor].bits =
          context.cascade().tensors[view.tensor].bits;
      einsum.inputs = {context.access(view, axes)};
      einsum.expression = read(0);
      const std::size_t tensor = einsum.output.tensor;
      context.add(std::move(einsum));
      view = view_of(context.cascade(), tensor, ranks);
      continue;
    }
    view = context.copied(view, ElementType::kUndefined, context.output_name() + "_plane");
  }
  return view;
}

WindowAxes add_window_axes(NodeContext& context, const std::vector<Window>& windows) {
  static const std::array<std::array<const char*, 3>, 3> letters = {
      {{"P", "", ""}, {"P", "Q", ""}, {"O", "P", "Q"}}};
  static const std::array<std::array<const char*, 3>, 3> inner = {
      {{"R", "", ""}, {"R", "S", ""}, {"T", "R", "S"}}};
  WindowAxes axes;
  const std::size_t n = windows.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto axis = [&](std::int64_t size, const char* letter) {
      return size == 1 ? kNoAxis : context.cascade().add_axis(letter, size);
    };
    const char* const letter = n <= 3 ? letters[n - 1][i] : "P";
    // Only windows may reach over a border: one alone keeps its variable.
    const bool is_window = windows[i].output > 1 || reaches_over(windows[i]);
    axes.output.push_back(is_window ? context.cascade().add_axis(letter, windows[i].output)
                                    : kNoAxis);
    axes.window.push_back(axis(windows[i].size, n <= 3 ? inner[n - 1][i] : "R"));
  }
  return axes;
}

std::vector<Index> window_indices(const std::vector<Window>& windows, const WindowAxes& axes) {
  std::vector<Index> indices;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Index index;
    if (axes.output[i] != kNoAxis) index.terms.push_back({axes.output[i], windows[i].stride});
    if (axes.window[i] != kNoAxis) index.terms.push_back({axes.window[i], windows[i].dilation});
    index.constant = -windows[i].before;
    indices.push_back(std::move(index));
  }
  return indices;
}

CascadeAccess plane_access(const View& view, const std::vector<std::size_t>& batch,
                           const std::vector<std::size_t>& channels,
                           const std::vector<Index>& plane) {
  std::vector<Index> by_slot(view.n_slots);
  const auto place = [&](std::size_t dimension, const std::vector<std::size_t>& axes) {
    for (std::size_t i = 0; i < view.dimensions[dimension].size(); ++i)
      by_slot[view.dimensions[dimension][i].slot] = Index::of(axes[i]);
  };
  place(0, batch);
  place(1, channels);
  for (std::size_t i = 0; i < plane.size(); ++i)
    if (!view.dimensions[i + 2].empty()) by_slot[view.dimensions[i + 2][0].slot] = plane[i];
  CascadeAccess access;
  access.tensor = view.tensor;
  for (const Index& index : view.projection) access.indices.push_back(substitute(index, by_slot));
  return access;
}

std::vector<std::size_t> group_of(const NodeContext&, std::size_t axis) {
  return axis == kNoAxis ? std::vector<std::size_t>() : std::vector<std::size_t>{axis};
}

}  // namespace sluice::onnx_graph
