#include "onnx_graph/fold/fold.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "onnx_graph/fold/selections.h"
#include "onnx_graph/model/read_model.h"
#include "sluice/support/checked.h"

namespace sluice::onnx_graph {
namespace {

/// Thrown where a node cannot be folded; caught in `fold`.
struct NotKnown {};

/// Numbers of any type as doubles, or as integers where all operands are integers.
class Folder {
 public:
  Folder(const Node& node, const std::vector<Known>& inputs, std::int64_t opset)
      : node_(node), inputs_(inputs), opset_(opset) {}

  std::vector<Constant> run() {
    static const std::map<std::string, std::vector<Constant> (Folder::*)()> table = {
        {"Constant", &Folder::constant},
        {"ConstantOfShape", &Folder::constant_of_shape},
        {"Shape", &Folder::shape},
        {"Size", &Folder::size},
        {"Gather", &Folder::gather},
        {"Concat", &Folder::concat},
        {"Slice", &Folder::slice},
        {"Split", &Folder::split},
        {"Reshape", &Folder::reshape},
        {"Flatten", &Folder::reshape_flat},
        {"Squeeze", &Folder::squeeze},
        {"Unsqueeze", &Folder::unsqueeze},
        {"Identity", &Folder::identity},
        {"Cast", &Folder::cast},
        {"Transpose", &Folder::transpose},
        {"Range", &Folder::range},
        {"Trilu", &Folder::triangle},
        {"Expand", &Folder::expand},
        {"Where", &Folder::where},
        {"ReduceProd", &Folder::reduce},
        {"ReduceSum", &Folder::reduce},
        {"ReduceMax", &Folder::reduce},
        {"ReduceMin", &Folder::reduce},
        {"NonZero", &Folder::non_zero},
        {"Compress", &Folder::compress},
        {"GatherElements", &Folder::gather_elements},
        {"GatherND", &Folder::gather_nd},
        {"ScatterElements", &Folder::scatter_elements},
        {"Scatter", &Folder::scatter_elements},
        {"ScatterND", &Folder::scatter_nd},
        {"CumSum", &Folder::running_sum},
    };
    if (const auto found = table.find(node_.type); found != table.end())
      return (this->*found->second)();
    return elementwise();
  }

 private:
  const Known& in(std::size_t i) const {
    if (i >= inputs_.size() || !inputs_[i].is_there) throw NotKnown{};
    return inputs_[i];
  }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i].is_there; }
  const Constant& numbers(std::size_t i) const {
    const Constant* constant = in(i).constant;
    if (constant == nullptr || !constant->has_numbers() ||
        count_of(constant->shape) > kMostFoldedNumbers)
      throw NotKnown{};
    return *constant;
  }
  /// The same of more numbers, those of a table of one value among them.
  Constant all_numbers(std::size_t i) const {
    const Constant* constant = in(i).constant;
    if (constant == nullptr || count_of(constant->shape) > kMostNumbersOfATensor) throw NotKnown{};
    if (constant->has_numbers()) return *constant;
    if (!constant->uniform) throw NotKnown{};
    Constant filled = empty_constant(constant->type, constant->shape);
    const auto n = static_cast<std::size_t>(count_of(constant->shape));
    if (filled.integers)
      filled.integers->assign(n, static_cast<std::int64_t>(*constant->uniform));
    else
      filled.reals->assign(n, *constant->uniform);
    return filled;
  }
  std::vector<std::int64_t> whole(std::size_t i) const {
    const Constant& constant = numbers(i);
    if (!constant.integers) throw NotKnown{};
    return *constant.integers;
  }
  std::int64_t attribute(const std::string& name, std::int64_t otherwise) const {
    const Attribute* found = node_.find(name);
    return found == nullptr ? otherwise : found->i;
  }
  std::optional<std::vector<std::int64_t>> axes(std::size_t input) const {
    if (const Attribute* found = node_.find("axes")) return found->ints;
    if (has(input)) return whole(input);
    return std::nullopt;
  }
  static std::size_t axis(std::int64_t axis, std::size_t rank) {
    const auto n = static_cast<std::int64_t>(rank);
    if (axis < -n || axis >= n) throw NotKnown{};
    return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
  }
  static Constant whole_numbers(Shape shape, std::vector<std::int64_t> numbers) {
    Constant result;
    result.type = ElementType::kInt64;
    result.shape = std::move(shape);
    result.integers = std::move(numbers);
    return result;
  }
  /// The same numbers in another shape.
  static Constant shaped(const Constant& from, Shape shape) {
    if (count_of(shape) != count_of(from.shape)) throw NotKnown{};
    Constant result = from;
    result.shape = std::move(shape);
    return result;
  }

  std::vector<Constant> constant() {
    Constant result;
    for (const char* name : {"value", "sparse_value"})
      if (const Attribute* a = node_.find(name); a != nullptr && a->tensor) return {*a->tensor};
    if (const Attribute* a = node_.find("value_int")) return {whole_numbers({}, {a->i})};
    if (const Attribute* a = node_.find("value_ints"))
      return {whole_numbers({static_cast<std::int64_t>(a->ints.size())}, a->ints)};
    if (const Attribute* a = node_.find("value_float")) {
      result.reals = {{a->f}};
      return {result};
    }
    if (const Attribute* a = node_.find("value_floats")) {
      result.shape = {static_cast<std::int64_t>(a->floats.size())};
      result.reals = a->floats;
      return {result};
    }
    throw NotKnown{};
  }

  std::vector<Constant> constant_of_shape() {
    Constant result;
    result.shape = whole(0);
    if (result.shape.size() > 32) throw NotKnown{};
    for (const std::int64_t size : result.shape)
      if (size < 0) throw NotKnown{};
    double value = 0;
    if (const Attribute* a = node_.find("value"); a != nullptr && a->tensor) {
      result.type = a->tensor->type;
      if (a->tensor->has_numbers() && count_of(a->tensor->shape) == 1) value = a->tensor->number(0);
    }
    result.uniform = value;
    const std::int64_t n = count_of(result.shape);
    if (n > 4096) return {result};
    if (is_integer(result.type))
      result.integers.emplace(static_cast<std::size_t>(n), static_cast<std::int64_t>(value));
    else
      result.reals.emplace(static_cast<std::size_t>(n), value);
    return {result};
  }

  std::vector<Constant> shape() {
    const Shape& shape = in(0).shape;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto bounded = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = bounded(attribute("start", 0)),
                       end = bounded(attribute("end", rank));
    std::vector<std::int64_t> sizes;
    for (std::int64_t d = start; d < end; ++d) sizes.push_back(shape[static_cast<std::size_t>(d)]);
    return {whole_numbers({static_cast<std::int64_t>(sizes.size())}, sizes)};
  }

  std::vector<Constant> size() { return {whole_numbers({}, {count_of(in(0).shape)})}; }

  std::vector<Constant> identity() {
    const Constant* constant = in(0).constant;
    if (constant == nullptr) throw NotKnown{};
    return {*constant};
  }

  std::vector<Constant> gather() {
    const Constant& data = numbers(0);
    const std::size_t at = axis(attribute("axis", 0), data.shape.size());
    const std::vector<std::int64_t> indices = whole(1);
    std::size_t before = 1, after = 1;
    for (std::size_t d = 0; d < at; ++d) before *= static_cast<std::size_t>(data.shape[d]);
    for (std::size_t d = at + 1; d < data.shape.size(); ++d)
      after *= static_cast<std::size_t>(data.shape[d]);
    Shape shape(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(at));
    shape.insert(shape.end(), in(1).shape.begin(), in(1).shape.end());
    shape.insert(shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                 data.shape.end());
    if (count_of(shape) > kMostFoldedNumbers) throw NotKnown{};
    std::vector<std::size_t> places;
    const std::int64_t n = data.shape[at];
    for (std::size_t b = 0; b < before; ++b)
      for (std::int64_t index : indices) {
        if (index < 0) index += n;
        if (index < 0 || index >= n) throw NotKnown{};
        for (std::size_t a = 0; a < after; ++a)
          places.push_back(
              (b * static_cast<std::size_t>(n) + static_cast<std::size_t>(index)) * after + a);
      }
    return {picked(data, {shape, places})};
  }

  /// One entry of a shape whose number is in a file that is not there: -1, what is left. Where
  /// there are several, the reshape that reads them says so.
  Constant entry(std::size_t i) const {
    const Constant* constant = in(i).constant;
    if (constant == nullptr || constant->has_numbers() || constant->shape != Shape{1} ||
        constant->type != ElementType::kInt64)
      return numbers(i);
    return whole_numbers({1}, {-1});
  }

  /// Of vectors: those of shapes.
  std::vector<Constant> concat() {
    Constant result = entry(0);
    if (result.shape.size() != 1) throw NotKnown{};
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
      const Constant next = entry(i);
      if (next.shape.size() != 1 || next.integers.has_value() != result.integers.has_value())
        throw NotKnown{};
      if (result.integers)
        result.integers->insert(result.integers->end(), next.integers->begin(),
                                next.integers->end());
      else
        result.reals->insert(result.reals->end(), next.reals->begin(), next.reals->end());
      result.shape[0] += next.shape[0];
      if (result.shape[0] > kMostFoldedNumbers) throw NotKnown{};
    }
    return {result};
  }

  std::vector<Constant> slice() {
    const auto list = [&](const char* name, std::size_t input) {
      if (const Attribute* found = node_.find(name)) return found->ints;
      return has(input) ? whole(input) : std::vector<std::int64_t>();
    };
    const auto starts = list("starts", 1), ends = list("ends", 2), steps = list("steps", 4);
    auto places = list("axes", 3);
    for (std::size_t d = 0; places.size() < starts.size(); ++d)
      places.push_back(static_cast<std::int64_t>(d));
    if (starts.size() != ends.size() || places.size() != starts.size() ||
        (!steps.empty() && steps.size() != starts.size()))
      throw NotKnown{};
    Constant result = numbers(0);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t along = axis(places[i], result.shape.size());
      result =
          taken(result, along,
                range_of(starts[i], ends[i], steps.empty() ? 1 : steps[i], result.shape[along]));
    }
    return {result};
  }

  /// Indices from `start` to before `end`, as slices count them.
  static std::vector<std::int64_t> range_of(std::int64_t start, std::int64_t end, std::int64_t step,
                                            std::int64_t n) {
    if (step == 0 || step > n + 1 || step < -n - 1) throw NotKnown{};
    const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
    const auto bounded = [&](std::int64_t at) {
      return at < -n ? lowest : std::clamp(at < 0 ? at + n : at, lowest, highest);
    };
    std::vector<std::int64_t> indices;
    for (std::int64_t at = bounded(start); step > 0 ? at < bounded(end) : at > bounded(end);
         at += step)
      indices.push_back(at);
    return indices;
  }

  /// These indices of a dimension.
  static Constant taken(const Constant& data, std::size_t along,
                        const std::vector<std::int64_t>& indices) {
    std::size_t before = 1, after = 1;
    for (std::size_t d = 0; d < along; ++d) before *= static_cast<std::size_t>(data.shape[d]);
    for (std::size_t d = along + 1; d < data.shape.size(); ++d)
      after *= static_cast<std::size_t>(data.shape[d]);
    const auto n = static_cast<std::size_t>(data.shape[along]);
    std::vector<std::size_t> places;
    for (std::size_t b = 0; b < before; ++b)
      for (const std::int64_t index : indices)
        for (std::size_t a = 0; a < after; ++a)
          places.push_back((b * n + static_cast<std::size_t>(index)) * after + a);
    Shape shape = data.shape;
    shape[along] = static_cast<std::int64_t>(indices.size());
    return picked(data, {shape, places});
  }

  std::vector<Constant> split() {
    const Constant& data = numbers(0);
    const std::size_t along = axis(attribute("axis", 0), data.shape.size());
    const std::size_t n = node_.outputs.size();
    const std::int64_t size = data.shape[along];
    std::vector<std::int64_t> parts;
    if (const Attribute* found = node_.find("split"))
      parts = found->ints;
    else if (has(1))
      parts = whole(1);
    else if (n > 0 && size % static_cast<std::int64_t>(n) == 0)
      parts.assign(n, size / static_cast<std::int64_t>(n));
    if (parts.size() != n) throw NotKnown{};
    std::vector<Constant> results;
    std::int64_t at = 0;
    for (const std::int64_t part : parts) {
      if (part < 0 || part > size - at) throw NotKnown{};
      results.push_back(taken(data, along, range_of(at, at + part, 1, size)));
      at += part;
    }
    return results;
  }

  std::vector<Constant> reshape() {
    const Constant* data = in(0).constant;
    if (data == nullptr) throw NotKnown{};
    Shape shape = node_.find("shape") != nullptr ? node_.find("shape")->ints : whole(1);
    std::int64_t known = 1;
    std::optional<std::size_t> open;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 0 && d < data->shape.size()) shape[d] = data->shape[d];
      if (shape[d] == -1 && !open) {
        open = d;
        continue;
      }
      if (shape[d] < 1) throw NotKnown{};
      known = checked_multiply(known, shape[d]);
    }
    if (open) shape[*open] = count_of(data->shape) / known;
    return {shaped(*data, shape)};
  }

  std::vector<Constant> reshape_flat() {
    const Constant* data = in(0).constant;
    if (data == nullptr) throw NotKnown{};
    const std::int64_t at = attribute("axis", 1);
    if (at < 0 || at > static_cast<std::int64_t>(data->shape.size())) throw NotKnown{};
    const auto middle = data->shape.begin() + at;
    return {shaped(*data, {count_of(Shape(data->shape.begin(), middle)),
                           count_of(Shape(middle, data->shape.end()))})};
  }

  std::vector<Constant> squeeze() {
    const Constant* data = in(0).constant;
    if (data == nullptr) throw NotKnown{};
    const auto gone = axes(1);
    Shape shape;
    for (std::size_t d = 0; d < data->shape.size(); ++d) {
      bool leaves = !gone && data->shape[d] == 1;
      if (gone)
        for (const std::int64_t a : *gone) leaves |= axis(a, data->shape.size()) == d;
      if (!leaves) shape.push_back(data->shape[d]);
    }
    return {shaped(*data, shape)};
  }

  std::vector<Constant> unsqueeze() {
    const Constant* data = in(0).constant;
    const auto added = axes(1);
    if (data == nullptr || !added) throw NotKnown{};
    const std::size_t rank = data->shape.size() + added->size();
    if (rank > 32) throw NotKnown{};
    std::vector<std::size_t> at;
    for (const std::int64_t a : *added) at.push_back(axis(a, rank));
    std::sort(at.begin(), at.end());
    Shape shape = data->shape;
    for (const std::size_t d : at) {
      if (d > shape.size()) throw NotKnown{};
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), 1);
    }
    return {shaped(*data, shape)};
  }

  std::vector<Constant> cast() {
    const auto type = static_cast<ElementType>(attribute("to", 1));
    const Constant* data = in(0).constant;
    if (data == nullptr) throw NotKnown{};
    Constant result = *data;
    result.type = type;
    if (!data->has_numbers()) return {result};
    if (is_integer(type) && data->reals) {
      result.integers.emplace();
      result.reals.reset();
      for (const double value : *data->reals) {
        if (!(std::abs(value) < 0x1p62)) throw NotKnown{};
        result.integers->push_back(type == ElementType::kBool ? (value != 0 ? 1 : 0)
                                                              : static_cast<std::int64_t>(value));
      }
    } else if (!is_integer(type) && data->integers) {
      result.reals.emplace(data->integers->begin(), data->integers->end());
      result.integers.reset();
    } else if (type == ElementType::kBool && data->integers) {
      for (std::int64_t& value : *result.integers) value = value != 0 ? 1 : 0;
    }
    return {result};
  }

  std::vector<Constant> transpose() {
    const Constant& data = numbers(0);
    const std::size_t rank = data.shape.size();
    std::vector<std::size_t> order;
    if (const Attribute* found = node_.find("perm"))
      for (const std::int64_t a : found->ints) order.push_back(axis(a, rank));
    else
      for (std::size_t d = rank; d-- > 0;) order.push_back(d);
    if (order.size() != rank || std::set<std::size_t>(order.begin(), order.end()).size() != rank)
      throw NotKnown{};
    std::vector<std::size_t> strides(rank, 1);
    for (std::size_t d = rank; d-- > 1;)
      strides[d - 1] = strides[d] * static_cast<std::size_t>(data.shape[d]);
    Shape shape;
    for (const std::size_t d : order) shape.push_back(data.shape[d]);
    if (count_of(shape) != count_of(data.shape)) throw NotKnown{};
    std::vector<std::size_t> places;
    const auto n = static_cast<std::size_t>(count_of(shape));
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t rest = i, place = 0;
      for (std::size_t d = rank; d-- > 0;) {
        place += rest % static_cast<std::size_t>(shape[d]) * strides[order[d]];
        rest /= static_cast<std::size_t>(shape[d]);
      }
      places.push_back(place);
    }
    return {picked(data, {shape, places})};
  }

  std::vector<Constant> triangle() {
    Constant result = all_numbers(0);
    const std::size_t rank = result.shape.size();
    if (rank < 2) throw NotKnown{};
    const std::int64_t rows = result.shape[rank - 2], columns = result.shape[rank - 1];
    const std::int64_t diagonal = has(1) ? whole(1).at(0) : 0;
    const bool is_upper = attribute("upper", 1) != 0;
    for (std::int64_t i = 0, n = count_of(result.shape); i < n; ++i) {
      const std::int64_t place = i % columns - i / columns % rows;
      if (is_upper ? place >= diagonal : place <= diagonal) continue;
      if (result.integers) (*result.integers)[static_cast<std::size_t>(i)] = 0;
      if (result.reals) (*result.reals)[static_cast<std::size_t>(i)] = 0;
    }
    result.uniform.reset();
    return {result};
  }

  std::vector<Constant> non_zero() { return {places_of_non_zero(all_numbers(0))}; }

  std::vector<Constant> compress() {
    const Shape& shape = numbers(0).shape;
    std::optional<std::size_t> along;
    if (node_.find("axis") != nullptr) along = axis(attribute("axis", 0), shape.size());
    return selected(compressed(shape, whole(1), along));
  }

  std::vector<Constant> gather_elements() { return selected(indexed_elements()); }
  std::vector<Constant> scatter_elements() { return written(indexed_elements()); }
  std::vector<Constant> gather_nd() { return selected(indexed_blocks(batch_dimensions())); }
  std::vector<Constant> scatter_nd() { return written(indexed_blocks(0)); }

  std::optional<Selection> indexed_elements() const {
    const Shape& shape = numbers(0).shape;
    return elements_at(shape, indices(), axis(attribute("axis", 0), shape.size()));
  }

  std::optional<Selection> indexed_blocks(std::size_t batch) const {
    return blocks_at(numbers(0).shape, indices(), batch);
  }

  const Constant& indices() const {
    const Constant& found = numbers(1);
    if (!found.integers) throw NotKnown{};
    return found;
  }

  std::size_t batch_dimensions() const {
    const std::int64_t batch = attribute("batch_dims", 0);
    if (batch < 0) throw NotKnown{};
    return static_cast<std::size_t>(batch);
  }

  std::vector<Constant> selected(const std::optional<Selection>& selection) const {
    if (!selection) throw NotKnown{};
    return {picked(numbers(0), *selection)};
  }

  std::vector<Constant> written(const std::optional<Selection>& selection) const {
    const Attribute* reduction = node_.find("reduction");
    if (!selection || (reduction != nullptr && reduction->s != "none")) throw NotKnown{};
    const auto result = scattered(numbers(0), *selection, numbers(2));
    if (!result) throw NotKnown{};
    return {*result};
  }

  std::vector<Constant> running_sum() {
    const Constant& data = numbers(0);
    const std::size_t along = axis(whole(1).at(0), data.shape.size());
    return {
        running_sums(data, along, attribute("exclusive", 0) != 0, attribute("reverse", 0) != 0)};
  }

  std::vector<Constant> range() {
    const auto start = whole(0), limit = whole(1), step = whole(2);
    if (start.size() != 1 || limit.size() != 1 || step.size() != 1 || step[0] < 1) throw NotKnown{};
    std::vector<std::int64_t> numbers;
    for (std::int64_t at = start[0]; at < limit[0]; at = checked_add(at, step[0])) {
      if (numbers.size() >= static_cast<std::size_t>(kMostFoldedNumbers)) throw NotKnown{};
      numbers.push_back(at);
    }
    return {whole_numbers({static_cast<std::int64_t>(numbers.size())}, numbers)};
  }

  /// For each place of the common shape the places in the operands.
  std::vector<std::vector<std::size_t>> places(const std::vector<Shape>& shapes, Shape& common) {
    std::size_t rank = 0;
    for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
    common.assign(rank, 1);
    for (const Shape& shape : shapes)
      for (std::size_t i = 0; i < shape.size(); ++i) {
        std::int64_t& size = common[rank - shape.size() + i];
        if (shape[i] != 1 && size != 1 && shape[i] != size) throw NotKnown{};
        if (shape[i] != 1) size = shape[i];
      }
    const std::int64_t n = count_of(common);
    if (n > kMostFoldedNumbers) throw NotKnown{};
    std::vector<std::vector<std::size_t>> result(shapes.size());
    for (std::size_t s = 0; s < shapes.size(); ++s)
      for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t rest = i, place = 0, stride = 1;
        for (std::size_t d = rank; d-- > 0;) {
          const std::int64_t at = rest % common[d];
          rest /= common[d];
          const std::size_t missing = rank - shapes[s].size();
          if (d < missing) continue;
          const std::int64_t size = shapes[s][d - missing];
          place += (size == 1 ? 0 : at) * stride;
          stride *= size;
        }
        result[s].push_back(static_cast<std::size_t>(place));
      }
    return result;
  }

  std::vector<Constant> expand() {
    const Constant& data = numbers(0);
    Shape common;
    const auto at = places({data.shape, whole(1)}, common);
    return {picked(data, {common, at[0]})};
  }

  std::vector<Constant> where() {
    const std::vector<std::int64_t> condition = whole(0);
    const Constant &a = numbers(1), &b = numbers(2);
    if (a.integers.has_value() != b.integers.has_value()) throw NotKnown{};
    Shape common;
    const auto at = places({in(0).shape, a.shape, b.shape}, common);
    Constant result;
    result.type = a.type;
    result.shape = common;
    if (a.integers) result.integers.emplace();
    if (a.reals) result.reals.emplace();
    for (std::size_t i = 0; i < at[0].size(); ++i) {
      const bool first = condition[at[0][i]] != 0;
      if (a.integers)
        result.integers->push_back(first ? (*a.integers)[at[1][i]] : (*b.integers)[at[2][i]]);
      else
        result.reals->push_back(first ? (*a.reals)[at[1][i]] : (*b.reals)[at[2][i]]);
    }
    return {result};
  }

  std::vector<Constant> reduce() {
    const Constant& data = numbers(0);
    if (data.shape.size() != 1 || !data.integers || data.integers->empty()) throw NotKnown{};
    std::int64_t value = (*data.integers)[0];
    for (std::size_t i = 1; i < data.integers->size(); ++i) {
      const std::int64_t next = (*data.integers)[i];
      if (node_.type == "ReduceProd") value = checked_multiply(value, next);
      if (node_.type == "ReduceSum") value = checked_add(value, next);
      if (node_.type == "ReduceMax") value = std::max(value, next);
      if (node_.type == "ReduceMin") value = std::min(value, next);
    }
    return {whole_numbers(attribute("keepdims", 1) != 0 ? Shape{1} : Shape{}, {value})};
  }

  using OfTwo = double (*)(double, double);
  using OfOne = double (*)(double);

  std::vector<Constant> elementwise() {
    static const std::map<std::string, OfTwo> two = {
        {"Add", [](double a, double b) { return a + b; }},
        {"Sub", [](double a, double b) { return a - b; }},
        {"Mul", [](double a, double b) { return a * b; }},
        {"Div", [](double a, double b) { return a / b; }},
        {"Pow", [](double a, double b) { return std::pow(a, b); }},
        {"Min", [](double a, double b) { return std::min(a, b); }},
        {"Max", [](double a, double b) { return std::max(a, b); }},
        {"Mod", [](double a, double b) { return a - b * std::floor(a / b); }},
        {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
        {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
        {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
        {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
        {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
        {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
        {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    };
    static const std::map<std::string, OfOne> one = {
        {"Sqrt", [](double a) { return std::sqrt(a); }},
        {"Neg", [](double a) { return -a; }},
        {"Abs", [](double a) { return std::abs(a); }},
        {"Exp", [](double a) { return std::exp(a); }},
        {"Log", [](double a) { return std::log(a); }},
        {"Floor", [](double a) { return std::floor(a); }},
        {"Ceil", [](double a) { return std::ceil(a); }},
        {"Reciprocal", [](double a) { return 1 / a; }},
        {"Not", [](double a) { return a == 0 ? 1.0 : 0.0; }},
        {"Cos", [](double a) { return std::cos(a); }},
        {"Sin", [](double a) { return std::sin(a); }},
    };
    if (const auto found = two.find(node_.type); found != two.end() && inputs_.size() == 2) {
      Shape common;
      const Constant &a = numbers(0), &b = numbers(1);
      const auto at = places({a.shape, b.shape}, common);
      std::vector<double> values;
      for (std::size_t i = 0; i < at[0].size(); ++i)
        values.push_back(found->second(a.number(at[0][i]), b.number(at[1][i])));
      return {of_values(a, common, values)};
    }
    if (const auto found = one.find(node_.type); found != one.end() && inputs_.size() == 1) {
      const Constant& a = numbers(0);
      std::vector<double> values;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count_of(a.shape)); ++i)
        values.push_back(found->second(a.number(i)));
      return {of_values(a, a.shape, values)};
    }
    throw NotKnown{};
  }

  /// Results of whole numbers are whole (divisions towards zero), those of comparisons Booleans.
  Constant of_values(const Constant& like, const Shape& shape, const std::vector<double>& values) {
    static const std::vector<std::string> truths = {
        "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Not"};
    Constant result;
    const bool is_truth = std::find(truths.begin(), truths.end(), node_.type) != truths.end();
    result.type = is_truth ? ElementType::kBool : like.type;
    result.shape = shape;
    if (!is_truth && !like.integers) {
      result.reals = values;
      return result;
    }
    result.integers.emplace();
    for (const double value : values) {
      if (!(std::abs(value) < 0x1p53)) throw NotKnown{};
      result.integers->push_back(static_cast<std::int64_t>(value));
    }
    return result;
  }

  const Node& node_;
  const std::vector<Known>& inputs_;
  std::int64_t opset_;
};

}  // namespace

std::optional<std::vector<Constant>> fold(const Node& node, const std::vector<Known>& inputs,
                                          std::int64_t opset) {
  try {
    return Folder(node, inputs, opset).run();
  } catch (const NotKnown&) {
    return std::nullopt;
  }
}

}  // namespace sluice::onnx_graph
