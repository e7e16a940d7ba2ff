#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx_graph/operators/joins.h"
#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

constexpr std::int64_t kMostPlaces = 1 << 20;

/// One dimension: its size before and after, the factor between places, and the part of the input
/// that is looked at.
struct Stretch {
  std::int64_t from = 1, to = 1;
  double scale = 1, start = 0, end = 1;
};

/// Where the operator finds what, which changed with opset 11.
struct Reading {
  explicit Reading(const NodeContext& context)
      : is_old(context.opset() < 11 || context.node().type == "Upsample"),
        mode(context.text("mode", "nearest")),
        transform(
            context.text("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel")),
        rounding(context.text("nearest_mode", is_old ? "floor" : "round_prefer_floor")) {}

  bool is_old;
  std::string mode, transform, rounding;
};

std::vector<double> scales_of(NodeContext& context, bool is_old) {
  const std::size_t input = is_old ? 1 : 2;
  if (context.has(input)) {
    const auto& constant = context.in(input).constant;
    if (!constant || !constant->reals)
      throw NodeMistake{"its scales are not known before the run", "", true};
    return *constant->reals;
  }
  const Attribute* given = context.node().find("scales");
  return given == nullptr ? std::vector<double>() : given->floats;
}

/// One factor for all of these dimensions: the smallest or largest one that the sizes ask for.
void keep_aspect_ratio(std::vector<Stretch*>& stretches, bool is_larger) {
  double scale = stretches[0]->scale;
  for (const Stretch* stretch : stretches)
    scale = is_larger ? std::max(scale, stretch->scale) : std::min(scale, stretch->scale);
  for (Stretch* stretch : stretches) {
    stretch->scale = scale;
    stretch->to = static_cast<std::int64_t>(scale * static_cast<double>(stretch->from) + 0.5);
  }
}

void put_sizes(NodeContext& context, std::vector<Stretch*>& stretches) {
  const std::vector<std::int64_t> sizes = context.integers(3);
  if (sizes.size() != stretches.size()) context.fail("its sizes do not fit its input");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    stretches[i]->to = sizes[i];
    stretches[i]->scale = static_cast<double>(sizes[i]) / static_cast<double>(stretches[i]->from);
  }
  const std::string policy = context.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") keep_aspect_ratio(stretches, policy == "not_smaller");
}

void put_scales(NodeContext& context, std::vector<Stretch*>& stretches, bool is_old) {
  const std::vector<double> scales = scales_of(context, is_old);
  if (scales.size() != stretches.size()) context.fail("its scales do not fit its input");
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const double size = std::floor(static_cast<double>(stretches[i]->from) * scales[i]);
    if (!(size >= 1 && size < 0x1p31)) context.fail("its scales leave no size");
    stretches[i]->to = static_cast<std::int64_t>(size);
    stretches[i]->scale = scales[i];
  }
}

std::vector<Stretch> stretches_of(NodeContext& context, const Shape& input, bool is_old) {
  std::vector<Stretch> all;
  for (const std::int64_t size : input) all.push_back({size, size});
  std::vector<Stretch*> named;
  for (const std::int64_t axis : context.integers("axes"))
    named.push_back(&all[context.axis(axis, input.size())]);
  if (named.empty())
    for (Stretch& stretch : all) named.push_back(&stretch);
  if (!is_old && context.has(3))
    put_sizes(context, named);
  else
    put_scales(context, named, is_old);
  for (const Stretch& stretch : all)
    if (stretch.to < 1) context.fail("a size of its result is below 1");
  if (context.text("coordinate_transformation_mode", "") != "tf_crop_and_resize") return all;
  const auto& roi = context.in(1).constant;
  if (!roi || !roi->reals || roi->reals->size() != 2 * named.size())
    throw NodeMistake{"the region that it looks at is not known before the run", "", true};
  for (std::size_t i = 0; i < named.size(); ++i) {
    named[i]->start = (*roi->reals)[i];
    named[i]->end = (*roi->reals)[named.size() + i];
  }
  return all;
}

/// Where a place of the result lies in the input.
double origin(const std::string& transform, const Stretch& stretch, double place) {
  const auto from = static_cast<double>(stretch.from), to = static_cast<double>(stretch.to);
  if (transform == "asymmetric") return place / stretch.scale;
  if (transform == "align_corners") return stretch.to == 1 ? 0 : place * (from - 1) / (to - 1);
  if (transform == "tf_crop_and_resize") {
    const double length = (stretch.end - stretch.start) * (from - 1);
    return stretch.start * (from - 1) + (stretch.to == 1 ? length / 2 : place * length / (to - 1));
  }
  if (transform == "tf_half_pixel_for_nn") return (place + 0.5) / stretch.scale;
  if (transform == "pytorch_half_pixel" && stretch.to == 1) return 0;
  const double half_pixel = (place + 0.5) / stretch.scale - 0.5;
  if (transform != "half_pixel_symmetric") return half_pixel;
  return from / 2 * (1 - to / (from * stretch.scale)) + half_pixel;
}

double nearest(const std::string& rounding, double x) {
  const double low = std::floor(x);
  if (rounding == "floor") return low;
  if (rounding == "ceil") return std::ceil(x);
  return rounding == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

/// The places of the input that a dimension of the result reads; nothing where some lie beside it.
std::optional<std::vector<std::int64_t>> places_of(const Reading& how, const Stretch& stretch) {
  if (stretch.to > kMostPlaces) return std::nullopt;
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place < stretch.to; ++place) {
    const double x = origin(how.transform, stretch, static_cast<double>(place));
    const auto last = static_cast<double>(stretch.from - 1);
    if (how.transform == "tf_crop_and_resize" && !(x >= 0 && x <= last)) return std::nullopt;
    places.push_back(static_cast<std::int64_t>(std::clamp(nearest(how.rounding, x), 0.0, last)));
  }
  return places;
}

/// Nothing where a dimension reads values beside the input, or too irregularly.
std::optional<View> known_neighbours(NodeContext& context, const Reading& how,
                                     const std::vector<Stretch>& stretches, ElementType type) {
  std::vector<std::vector<Run>> runs;
  for (const Stretch& stretch : stretches) {
    const auto places = places_of(how, stretch);
    if (!places) return std::nullopt;
    runs.push_back(runs_of(*places));
    if (runs.back().size() > kMostRuns) return std::nullopt;
  }
  View view = context.view(0);
  for (std::size_t d = 0; d < runs.size(); ++d)
    view = gathered(context, std::move(view), d, runs[d], type);
  return view;
}

/// As many reads as the result has values, of the first ones, or evenly.
View stand_in(NodeContext& context, const std::vector<Stretch>& stretches, ElementType type) {
  View view = context.view(0);
  for (std::size_t d = 0; d < stretches.size(); ++d) {
    const auto [from, to] = std::pair(stretches[d].from, stretches[d].to);
    if (to % from == 0) {
      view = gathered(context, std::move(view), d, {{0, 1, from, to / from}}, type);
    } else if (to < from) {
      view = context.slice(view, d, 0, from / to, to, type);
    } else {
      view = context.slice(view, d, 0, 1, 1, type);
      repeat(view, d, to);
    }
  }
  return view;
}

/// Known neighbours are views, or runs that are copied. What other modes compute is priced: linear
/// takes two values of each resized dimension, a product and a sum each; cubic four.
void resize(NodeContext& context) {
  const Value input = context.in(0);
  const Reading how(context);
  const std::vector<Stretch> stretches = stretches_of(context, input.shape, how.is_old);
  if (how.mode == "nearest") {
    if (const auto view = known_neighbours(context, how, stretches, input.type))
      return context.set(0, *view, input.type, input.is_nonnegative);
    context.approximate(
        fmt::format("its neighbours are more than {} runs at equal distances, or lie beside the "
                    "input: one copy for each value",
                    kMostRuns));
    const View view = stand_in(context, stretches, input.type);
    return context.set(0,
                       context.pointwise({view}, context.output_name(), input.type,
                                         [](const auto& x) { return x[0]; }),
                       input.type, input.is_nonnegative);
  }
  double taps = 1;
  for (const Stretch& stretch : stretches)
    if (stretch.from != stretch.to) taps *= how.mode == "cubic" ? 4 : 2;
  context.approximate(
      fmt::format("{} interpolation: {} products and sums a value", how.mode, taps));
  const View view = stand_in(context, stretches, input.type);
  context.set(0,
              context.pointwise({view}, context.output_name(), input.type,
                                [&](const auto& x) {
                                  Expr sum = x[0] * number(1 / taps);
                                  for (int i = 1; i < static_cast<int>(taps) && i < 64; ++i)
                                    sum = std::move(sum) + x[0] * number(1 / taps);
                                  return sum;
                                }),
              input.type, input.is_nonnegative);
}

}  // namespace

void add_resizes(OperatorTable& table) { table["Resize"] = table["Upsample"] = resize; }

}  // namespace sluice::onnx_graph
