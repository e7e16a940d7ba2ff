#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "machine.h"
#include "scalar.h"

namespace sluice::sim {
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
  Lanes lanes;
  for (const Lane& lane : all_lanes)
    if (is_point(einsum, lane.boxes.at(einsum))) lanes.push_back(lane);
  if (lanes.empty()) return;
  for (const Lane& lane : lanes) mark_executed(einsum, lane.boxes.at(einsum));
  if (workload_[einsum].is_copy_operation) {
    copy(einsum, lanes);
    return;
  }
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
    partial.push_back({&lane, {element}, {}});
    results.push_back({&lane, {element}, {Cell{}}});
  }
  transfers_.drop_first_sights(crossing, partial);
  transfers_.fill(crossing, partial);
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const bool adds = !partial[l].cells.empty() && partial[l].cells[0].is_made;
    results[l].cells[0] = values[l];
    if (adds)
      results[l].cells[0].value = combined(workload_[einsum].expression.reduction,
                                           partial[l].cells[0].value, values[l].value);
  }
  transfers_.drain(crossing, results);
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
      if (!cell.is_made)
        complaints_.add(ComplaintKind::kAbsentValue,
                        fmt::format("The Einsum {} reads {} before anybody has made it.", of.name,
                                    points_.name(access.tensor, element)));
      return cell.value;
    };
    values.push_back({expression_value(of.expression, operand), true});
  }
  return values;
}

void Machine::count_operations(EinsumId einsum, ComponentId compute, std::int64_t points) {
  const std::vector<Action>& actions = arch_[compute].actions;
  if (actions.size() == 1 && actions[0].name == "compute") {
    transfers_.counts.add(einsum, compute, std::nullopt, "compute", points);
    return;
  }
  for (const OperationCount& count : operations_per_point(workload_[einsum].expression))
    transfers_.counts.add(einsum, compute, std::nullopt, std::string(operation_name(count.kind)),
                          count.per_point * points);
}

/// A copy moves every value once, from the backing storage of its input to that of its output. The
/// storages in between do not exist for it. In one memory both are the same bits.
void Machine::copy(EinsumId einsum, const Lanes& lanes) {
  const Einsum& of = workload_[einsum];
  const TensorAccess& input = of.accesses.front();
  const TensorAccess& output = of.output();
  const Path& path = program_.paths.at(einsum);
  const Link& from = path.links.at(input.tensor).front();
  const Link& to = path.links.at(output.tensor).front();
  const bool is_alias = from.storage->component == to.storage->component;
  std::set<std::pair<std::size_t, Element>> sent;
  for (const Lane& lane : lanes) {
    const Box& point = lane.boxes.at(einsum);
    const Element source = points_.at(of, input, point);
    const Element target = points_.at(of, output, point);
    Cell* read = buffers_.at(*from.storage, einsum, lane.ids[from.spatial_depth]).find(source);
    Cell* written = buffers_.at(*to.storage, einsum, lane.ids[to.spatial_depth]).find(target);
    if (!read || !written || !read->is_made) {
      complaints_.add(ComplaintKind::kAbsentValue,
                      fmt::format("The Einsum {} copies {} before anybody has made it.", of.name,
                                  points_.name(input.tensor, source)));
      continue;
    }
    *written = *read;
    if (is_alias) continue;
    if (sent.insert({lane.ids[from.spatial_depth], source}).second)
      transfers_.counts.add(einsum, from.storage->component, input.tensor, "read", 1);
    transfers_.counts.add(einsum, to.storage->component, input.tensor, "write", 1);
  }
}

}  // namespace sluice::sim
