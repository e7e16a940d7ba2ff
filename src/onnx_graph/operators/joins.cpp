#include "onnx_graph/operators/joins.h"

#include <algorithm>

#include "onnx_graph/operators/operators.h"

namespace sluice::onnx_graph {
namespace {

class Join {
 public:
  Join(NodeContext& context, std::vector<View> views, std::size_t axis, ElementType type)
      : context_(context),
        cascade_(context.cascade()),
        views_(std::move(views)),
        axis_(axis),
        type_(type) {
    for (View& view : views_) view = context_.current(std::move(view));
    for (const std::string& name : context_.lowering().outputs)
      if (const auto found = context_.lowering().values.find(name);
          found != context_.lowering().values.end() && found->second.view)
        put_out_.insert(found->second.view->tensor);
  }

  View run() {
    match_other_dimensions();
    std::int64_t total = 0;
    for (const View& view : views_) total += size_of(view.dimensions[axis_]);
    std::set<std::size_t> used;
    for (std::size_t d = 0; d < views_[0].dimensions.size(); ++d)
      axes_.push_back(d == axis_ ? std::vector<std::size_t>{cascade_.add_axis("K", total)}
                                 : context_.axes_for(views_[0], d, "I", used));
    joined_ = context_.new_tensor(context_.output_name(), type_, axes_);
    int bits = 0;
    for (const View& view : views_) bits = std::max(bits, cascade_.tensors[view.tensor].bits);
    cascade_.tensors[joined_].bits = bits;
    const View result = view_of(cascade_, joined_, axes_);
    std::map<std::size_t, std::size_t> n_parts;  // a tensor that is several parts is copied
    for (const View& view : views_) ++n_parts[view.tensor];
    std::size_t last_maker = find_last_maker();
    const auto merges = [&](const View& view, std::int64_t offset) {
      return n_parts[view.tensor] == 1 && may_merge(view.tensor, last_maker)
                 ? placement_of(view, offset)
                 : std::nullopt;
    };
    for (const View& view : views_)  // copies come last: nobody may read the others before
      if (!merges(view, 0)) last_maker = cascade_.einsums.empty() ? 0 : cascade_.einsums.size() - 1;
    std::int64_t offset = 0;
    for (const View& view : views_) {
      if (const auto placement = merges(view, offset))
        merge(view.tensor, *placement);
      else
        copy(view, offset);
      offset += size_of(view.dimensions[axis_]);
    }
    return result;
  }

 private:
  void match_other_dimensions() {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t d = 0; d < views_[0].dimensions.size(); ++d) {
        if (d == axis_) continue;
        std::vector<std::pair<std::size_t, std::size_t>> same;
        for (std::size_t v = 0; v < views_.size(); ++v) same.emplace_back(v, d);
        if (views_.size() > 1) context_.match(views_, same);
      }
  }

  /// The last Einsum so far that makes one of the parts.
  std::size_t find_last_maker() const {
    std::size_t last = 0;
    for (std::size_t e = 0; e < cascade_.einsums.size(); ++e)
      for (const View& view : views_)
        if (cascade_.einsums[e].output.tensor == view.tensor) last = e;
    return last;
  }

  /// Nothing may read a part before all parts are there, and the graph must not ask for it alone.
  bool may_merge(std::size_t tensor, std::size_t last_maker) const {
    const CascadeTensor& part = cascade_.tensors[tensor];
    if (part.kind != TensorKind::kMade || part.initial || put_out_.count(tensor) > 0) return false;
    for (std::size_t e = 0; e <= last_maker; ++e)
      for (const CascadeAccess& access : cascade_.einsums[e].inputs)
        if (access.tensor == tensor) return false;
    return true;
  }

  /// Nothing where a part is not a whole tensor, every rank as it is.
  std::optional<Placement> placement_of(const View& view, std::int64_t offset) const {
    const CascadeTensor& tensor = cascade_.tensors[view.tensor];
    const std::vector<std::size_t>& ranks = cascade_.tensors[joined_].ranks;
    Placement placement;
    placement.tensor = joined_;
    placement.offset = offset;
    std::set<std::size_t> found;
    if (view.dimensions[axis_].size() > 1) return std::nullopt;
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      if (d == axis_) placement.joined_rank = placement.rank_of.size();
      if (d == axis_ && view.dimensions[d].empty()) {  // a part of size 1 has no rank there
        placement.rank_of.push_back(static_cast<std::size_t>(-1));
        continue;
      }
      for (const Digit& digit : view.dimensions[d]) {
        std::optional<std::size_t> rank;
        for (std::size_t r = 0; r < view.projection.size(); ++r)
          if (view.projection[r].is_plain() && view.projection[r].terms[0].variable == digit.slot &&
              cascade_.axes[tensor.ranks[r]].size == digit.size)
            rank = r;
        if (!rank || !found.insert(*rank).second) return std::nullopt;
        placement.rank_of.push_back(*rank);
      }
    }
    if (found.size() != tensor.ranks.size() || placement.rank_of.size() != ranks.size())
      return std::nullopt;
    return placement;
  }

  /// The part's makers write into the joined tensor, and whoever reads it reads there.
  void merge(std::size_t tensor, const Placement& placement) {
    context_.lowering().parts[tensor] = placement;
    const auto move = [&](CascadeAccess& access) {
      if (access.tensor != tensor) return;
      access.tensor = joined_;
      access.indices = placement.moved(access.indices);
    };
    for (CascadeEinsum& einsum : cascade_.einsums) {
      move(einsum.output);
      for (CascadeAccess& access : einsum.inputs) move(access);
    }
    for (auto& [name, value] : context_.lowering().values) {
      if (!value.view || value.view->tensor != tensor) continue;
      value.view->tensor = joined_;
      value.view->projection = placement.moved(value.view->projection);
    }
  }

  void copy(const View& view, std::int64_t offset) {
    std::set<std::size_t> used;
    std::vector<std::vector<std::size_t>> axes;
    CascadeEinsum einsum;
    for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
      axes.push_back(context_.axes_for(view, d, "I", used));
      if (d != axis_) {
        for (const std::size_t axis : axes.back()) einsum.output.indices.push_back(Index::of(axis));
        continue;
      }
      Index index;
      index.constant = offset;
      std::int64_t weight = 1;
      for (std::size_t i = axes.back().size(); i-- > 0;) {
        index.terms.insert(index.terms.begin(), Index::Term{axes.back()[i], weight});
        weight *= view.dimensions[d][i].size;
      }
      einsum.output.indices.push_back(index);
    }
    einsum.output.tensor = joined_;
    einsum.inputs = {context_.access(view, axes)};
    einsum.expression = read(0);
    context_.add(std::move(einsum));
  }

  NodeContext& context_;
  Cascade& cascade_;
  std::vector<View> views_;
  std::size_t axis_;
  ElementType type_;
  std::vector<std::vector<std::size_t>> axes_;
  std::size_t joined_ = 0;
  std::set<std::size_t> put_out_;  ///< tensors that the graph asks for by themselves
};

/// Each value of a dimension, `times` times.
void repeat_each(View& view, std::size_t dimension, std::int64_t times) {
  View repeated = view;
  repeated.dimensions.emplace_back();
  repeat(repeated, repeated.dimensions.size() - 1, times);
  view.n_slots = repeated.n_slots;
  view.dimensions[dimension].push_back(repeated.dimensions.back()[0]);
}

/// Nothing where a run's digits do not come apart from the others.
std::optional<std::vector<View>> parts_of(const View& data, std::size_t axis,
                                          const std::vector<Run>& runs) {
  std::vector<View> parts;
  for (const Run& run : runs) {
    auto part = sliced(data, axis, run.start, run.step, run.count);
    if (!part) return std::nullopt;
    if (run.times > 1) repeat_each(*part, axis, run.times);
    parts.push_back(std::move(*part));
  }
  return parts;
}

void concatenate(NodeContext& context) {
  const Value first = context.in(0);
  std::vector<View> views;
  bool is_nonnegative = true;
  const std::size_t axis = context.axis(context.integer("axis", 1), first.shape.size());
  for (std::size_t i = 0; i < context.n_inputs(); ++i) {
    const Shape& shape = context.in(i).shape;
    Shape other = shape;
    if (other.size() == first.shape.size()) other[axis] = first.shape[axis];
    if (other != first.shape)
      context.fail("shapes of its inputs differ along other axes than its own");
    if (shape[axis] == 0) continue;
    views.push_back(context.view(i));
    is_nonnegative &= context.in(i).is_nonnegative;
  }
  if (views.empty()) return context.set_constant(0, empty_constant(first.type, first.shape), {});
  if (views.size() == 1) return context.set(0, views[0], first.type, is_nonnegative);
  const View result = join(context, std::move(views), axis, first.type);
  context.set(0, result, first.type, is_nonnegative);
}

}  // namespace

View join(NodeContext& context, std::vector<View> views, std::size_t axis, ElementType type) {
  return Join(context, std::move(views), axis, type).run();
}

std::vector<Run> runs_of(const std::vector<std::int64_t>& places) {
  std::vector<Run> runs;
  for (std::size_t i = 0, next = 0; i < places.size(); i = next) {
    while (next < places.size() && places[next] == places[i]) ++next;
    const auto times = static_cast<std::int64_t>(next - i);
    Run* last = runs.empty() ? nullptr : &runs.back();
    const bool fits = last != nullptr && last->times == times &&
                      (last->count == 1 || places[i] == last->start + last->count * last->step);
    if (!fits) {
      runs.push_back({places[i], 1, 1, times});
      continue;
    }
    if (last->count == 1) last->step = places[i] - last->start;
    ++last->count;
  }
  return runs;
}

View gathered(NodeContext& context, View data, std::size_t axis, const std::vector<Run>& runs,
              ElementType type) {
  auto parts = parts_of(data, axis, runs);
  if (!parts) {
    data = context.copied(data, type, context.output_name() + "_copied");
    parts = parts_of(data, axis, runs);
  }
  return parts->size() == 1 ? parts->front() : join(context, std::move(*parts), axis, type);
}

void add_joins(OperatorTable& table) { table["Concat"] = concatenate; }

}  // namespace sluice::onnx_graph
