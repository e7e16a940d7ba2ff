#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "machine.h"
#include "referee/points/scalar.h"

namespace sluice::referee {
namespace {

std::vector<TensorId> input_tensors(const Einsum& einsum) {
  std::vector<TensorId> tensors;
  for (const TensorAccess& access : einsum.accesses)
    if (!access.is_output &&
        std::find(tensors.begin(), tensors.end(), access.tensor) == tensors.end())
      tensors.push_back(access.tensor);
  return tensors;
}

}  // namespace

bool Machine::is_point(EinsumId einsum, const Box& box) {
  const Einsum& of = workload_[einsum];
  for (std::size_t v = 0; v < box.size(); ++v) {
    if (box[v].size == 1) continue;
    complaints_.add(
        ComplaintKind::kCoverage,
        fmt::format("The loops of the Einsum {} leave a tile of {} in {} at the compute.", of.name,
                    box[v].size, workload_[of.iteration_space[v].variable].name));
    return false;
  }
  return true;
}

void Machine::mark_executed(EinsumId einsum, const Box& point) {
  const Einsum& of = workload_[einsum];
  std::size_t index = 0;
  std::vector<std::string> coordinates;
  for (std::size_t v = 0; v < point.size(); ++v) {
    const VariableRange& range = of.iteration_space[v];
    index = index * static_cast<std::size_t>(range.size) +
            static_cast<std::size_t>(point[v].begin - range.minimum);
  }
  if (executed_[einsum.index()][index]) {
    for (std::size_t v = 0; v < point.size(); ++v)
      coordinates.push_back(
          fmt::format("{}={}", workload_[of.iteration_space[v].variable].name, point[v].begin));
    complaints_.add(ComplaintKind::kRecomputation,
                    fmt::format("The Einsum {} computes the point {} twice.", of.name,
                                fmt::join(coordinates, ", ")));
  }
  executed_[einsum.index()][index] = true;
}

void Machine::compute(const ComputeItem& item, const Lanes& all_lanes) {
  const EinsumId einsum = item.einsum;
  if (workload_[einsum].is_copy_operation) {
    for (const Lane& lane : all_lanes) copy(einsum, lane);
    carry_copied(einsum, all_lanes);
    return;
  }
  Lanes lanes;
  for (const Lane& lane : all_lanes)
    if (is_point(einsum, lane.boxes.at(einsum))) lanes.push_back(lane);
  if (lanes.empty()) return;
  for (const Lane& lane : lanes) mark_executed(einsum, lane.boxes.at(einsum));
  ++compute_steps_;
  const std::vector<Cell> values = operands(einsum, lanes);
  count_operations(einsum, item.component, static_cast<std::int64_t>(lanes.size()));

  const TensorId tensor = workload_[einsum].output().tensor;
  fill_storages(einsum, tensor, lanes);
  const std::size_t end = program_.paths.at(einsum).links.at(tensor).size();
  const Crossing& crossing = transfers_.crossing(einsum, tensor, true, end);
  std::vector<Party> partial;
  std::vector<Party> results;
  for (const Lane& lane : lanes) {
    const Element element =
        points_.at(workload_[einsum], workload_[einsum].output(), lane.boxes.at(einsum));
    --missing_[tensor.index()][static_cast<std::size_t>(element)];
    partial.push_back({&lane, {element}, {}});
    results.push_back({&lane, {element}, {Cell{}}});
  }
  transfers_.drop_first_sights(crossing, partial);
  transfers_.fill(crossing, partial);
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const bool adds = !partial[l].cells.empty() && partial[l].cells[0].is_made;
    results[l].cells[0] = values[l];
    results[l].cells[0].was_read = !partial[l].cells.empty();
    if (adds)
      results[l].cells[0].value = combined(workload_[einsum].expression.reduction,
                                           partial[l].cells[0].value, values[l].value);
  }
  transfers_.drain(crossing, results);
  note_makers(einsum, lanes);
  note_moments(einsum, lanes);
  record_compute(item, lanes);
}

/// The right-hand side in every lane.
std::vector<Cell> Machine::operands(EinsumId einsum, const Lanes& lanes) {
  const Einsum& of = workload_[einsum];
  std::map<TensorId, std::vector<Party>> read;
  for (TensorId tensor : input_tensors(of)) {
    fill_storages(einsum, tensor, lanes);
    const std::size_t end = program_.paths.at(einsum).links.at(tensor).size();
    const Crossing& crossing = transfers_.crossing(einsum, tensor, false, end);
    std::vector<Party>& parties = read[tensor];
    for (const Lane& lane : lanes)
      parties.push_back({&lane, points_.touched(of, tensor, false, lane.boxes.at(einsum)), {}});
    transfers_.fill(crossing, parties);
  }
  std::vector<Cell> values;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const auto operand = [&](std::uint32_t index) {
      const TensorAccess& access = of.accesses[index];
      const Party& party = read[access.tensor][l];
      const Element element = points_.at(of, access, lanes[l].boxes.at(einsum));
      const auto place = std::lower_bound(party.points.begin(), party.points.end(), element);
      const Cell& cell = party.cells[static_cast<std::size_t>(place - party.points.begin())];
      if (!points_.is_inside(access.tensor, element)) return cell.value;  // a zero
      check_makers(einsum, access.tensor, element, lanes[l]);
      check_moments(einsum, access.tensor, element);
      if (cell.is_made)
        check_complete(einsum, access.tensor, element);
      else
        complaints_.add(ComplaintKind::kAbsentValue,
                        fmt::format("The Einsum {} reads {} before anybody has made it.", of.name,
                                    points_.name(access.tensor, element)));
      return cell.value;
    };
    values.push_back({expression_value(of.expression, operand), true});
  }
  return values;
}

/// Spatial loops that two Einsums have in common: their instances run through both, apart.
std::size_t Machine::common_spatial_loops(EinsumId a, EinsumId b) const {
  const auto& of_a = program_.paths.at(a).spatial;
  const auto& of_b = program_.paths.at(b).spatial;
  std::size_t common = 0;
  while (common < of_a.size() && common < of_b.size() && of_a[common] == of_b[common]) ++common;
  return common;
}

void Machine::note_makers(EinsumId einsum, const Lanes& lanes) {
  const TensorAccess& output = workload_[einsum].output();
  for (EinsumId reader : facts_.roles().consumers[output.tensor.index()]) {
    if (common_spatial_loops(einsum, reader) == 0) continue;
    std::vector<std::size_t> runs;
    for (const LoopItem* loop : program_.paths.at(einsum).spatial) runs.push_back(runs_[loop->id]);
    Makers& makers = makers_[output.tensor.index()];
    for (const Lane& lane : lanes)
      makers.note(points_.at(workload_[einsum], output, lane.boxes.at(einsum)),
                  makers.number_of({einsum, lane.turns, runs}));
    return;
  }
}

/// Of a sum nobody may read a part.
void Machine::check_complete(EinsumId reader, TensorId tensor, Element element) {
  const std::int32_t missing = missing_[tensor.index()][static_cast<std::size_t>(element)];
  if (missing <= 0) return;
  complaints_.add(ComplaintKind::kAbsentValue,
                  fmt::format("The Einsum {} reads {} with {} of its sum still missing.",
                              workload_[reader].name, points_.name(tensor, element),
                              missing == 1 ? "a term" : fmt::format("{} terms", missing)));
}

/// Below a common spatial loop an instance does not wait for the others: of what is made while the
/// loop runs it may only read what it has made itself. When the loop runs again (in the next step
/// of a loop above it), what all of them have made is there.
bool Machine::meets_maker(EinsumId reader, TensorId tensor, Element element,
                          const Lane& lane) const {
  const std::vector<const LoopItem*>& loops = program_.paths.at(reader).spatial;
  return makers_[tensor.index()].any_of(element, [&](const Maker& maker) {
    const std::size_t common = common_spatial_loops(maker.einsum, reader);
    std::size_t apart = 0;
    while (apart < common && maker.turns[apart] == lane.turns[apart]) ++apart;
    return apart < common && maker.runs[apart] == runs_[loops[apart]->id];
  });
}

void Machine::check_makers(EinsumId reader, TensorId tensor, Element element, const Lane& lane) {
  if (meets_maker(reader, tensor, element, lane))
    complaints_.add(
        ComplaintKind::kAbsentValue,
        fmt::format("The Einsum {} reads {}, which another instance makes while it runs.",
                    workload_[reader].name, points_.name(tensor, element)));
}

void Machine::count_operations(EinsumId einsum, ComponentId compute, std::int64_t points) {
  const std::vector<Action>& actions = arch_[compute].actions;
  if (actions.size() == 1 && actions[0].name == "compute") {
    transfers_.counts.add(einsum, compute, std::nullopt, "compute", points, 0);
    return;
  }
  for (const OperationCount& count : operations_per_point(workload_[einsum].expression))
    transfers_.counts.add(einsum, compute, std::nullopt, std::string(operation_name(count.kind)),
                          count.per_point * points, 0);
}

/// A copy moves every value once, from the backing storage of its input to that of its output,
/// through the storages in between that are written above both ends. Other storages do not exist
/// for it, nor do its loops count. In one memory both are the same bits.
void Machine::copy(EinsumId einsum, const Lane& lane) {
  const Einsum& of = workload_[einsum];
  const TensorAccess& input = of.accesses.front();
  const TensorAccess& output = of.output();
  const CopyWay way = copy_way(einsum);
  for_each_point(lane.boxes.at(einsum), [&](const Box& point) {
    mark_executed(einsum, point);
    const Element source = points_.at(of, input, point);
    const Element target = points_.at(of, output, point);
    Cell* read =
        buffers_.at(*way.from.storage, einsum, lane.ids[way.from.spatial_depth]).find(source);
    Cell* written =
        buffers_.at(*way.to.storage, einsum, lane.ids[way.to.spatial_depth]).find(target);
    if (!read || !written || !read->is_made) {
      complaints_.add(ComplaintKind::kAbsentValue,
                      fmt::format("The Einsum {} copies {} before anybody has made it.", of.name,
                                  points_.name(input.tensor, source)));
      return;
    }
    *written = {read->value, true, false};
    --missing_[output.tensor.index()][static_cast<std::size_t>(target)];
    count_copied(einsum, input.tensor, output.tensor, way);
  });
}

void Machine::carry_copied(EinsumId einsum, const Lanes& lanes) {
  const Einsum& of = workload_[einsum];
  const CopyWay way = copy_way(einsum);
  const ComponentId from = way.from.storage->component;
  const ComponentId to = way.to.storage->component;
  if (from == to) return;
  std::vector<const Link*> stops = {from < to ? &way.from : &way.to};
  for (const Link* link : way.between)
    if (!link->storage->is_toll) stops.push_back(link);
  stops.push_back(from < to ? &way.to : &way.from);
  const TensorId tensor = of.accesses.front().tensor;
  std::vector<Party> parties;
  for (const Lane& lane : lanes)
    parties.push_back({&lane, points_.touched(of, tensor, false, lane.boxes.at(einsum)), {}});
  for (std::size_t s = 0; s + 1 < stops.size(); ++s) {
    const Link &outer = *stops[s], &inner = *stops[s + 1];
    const std::size_t depth = std::max(outer.spatial_depth, inner.spatial_depth);
    transfers_.copy_over_networks(
        {einsum, tensor, outer.storage->component, inner.storage->component, outer.spatial_depth,
         depth, std::vector<bool>(depth, false), false, 0},
        parties, visits_[inner.storage->id]);
  }
}

Machine::CopyWay Machine::copy_way(EinsumId einsum) const {
  const Einsum& of = workload_[einsum];
  const Path& path = program_.paths.at(einsum);
  CopyWay way{path.links.at(of.accesses.front().tensor).front(),
              path.links.at(of.output().tensor).front(),
              {}};
  way.end = std::max(way.from.storage->order_as_written(einsum),
                     way.to.storage->order_as_written(einsum));
  const ComponentId from = way.from.storage->component;
  const ComponentId to = way.to.storage->component;
  const TensorId outer = from < to ? of.accesses.front().tensor : of.output().tensor;
  for (const Link& link : path.links.at(outer))
    if (std::min(from, to) < link.storage->component &&
        link.storage->component < std::max(from, to) &&
        link.storage->order_as_written(einsum) < way.end)
      way.between.push_back(&link);
  return way;
}

void Machine::count_copied(EinsumId einsum, TensorId input, TensorId output, const CopyWay& way) {
  const ComponentId from = way.from.storage->component;
  const ComponentId to = way.to.storage->component;
  if (from == to) return;
  const auto count = [&](ComponentId component, TensorId width_of, const char* action) {
    transfers_.counts.add(einsum, component, input, action, 1,
                          facts_.bits_per_value(einsum, component, width_of));
  };
  count(from, input, "read");
  for (const Link* link : way.between) {
    const StorageItem* storage = link->storage;
    if (!storage->is_toll) count(storage->component, storage->tensor, "write");
    if (!storage->is_toll || passes(storage->component, from < to))
      count(storage->component, storage->tensor, "read");
  }
  count(to, output, "write");
}

/// Whether a toll charges for what goes down, or up.
bool Machine::passes(ComponentId toll, bool is_down) const {
  const auto direction = std::get<Toll>(arch_[toll].kind).direction;
  return direction == Toll::Direction::kUpAndDown ||
         direction == (is_down ? Toll::Direction::kDown : Toll::Direction::kUp);
}

}  // namespace sluice::referee
