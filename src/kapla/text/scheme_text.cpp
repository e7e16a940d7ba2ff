#include "sluice/kapla/scheme_text.h"

#include <algorithm>
#include <cmath>

#include "directive_text.h"
#include "scheme_fields.h"

namespace sluice::kapla {
namespace {

Partition partition_of(const SchemeFields& fields) {
  const auto order = fields.numbers<4>("part_order");
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != std::array<std::int64_t, 4>{0, 1, 2, 3})
    fields.complain("part_order", "must have 0, 1, 2 and 3 once");
  const auto dims = fields.rows<std::int64_t, 4, 2>("part_dims");
  Partition partition;
  for (std::size_t i = 0; i < order.size(); ++i) {
    partition.order[i] = static_cast<Divided>(order[i]);
    partition.parts[i] = {dims[i][0], dims[i][1]};
  }
  return partition;
}

Scheme scheme_of(const SchemeFields& fields, const SourceLocation& place) {
  Scheme scheme;
  scheme.place = place;
  scheme.run = fields.text("run");
  scheme.layer = fields.text("layer");
  const auto sequence = fields.numbers<3>("seq");
  scheme.segment = sequence[0];
  scheme.region = sequence[1];
  scheme.slot = sequence[2];
  scheme.nodes = fields.number("nodes");
  scheme.partition = partition_of(fields);
  scheme.blocking = fields.rows<std::int64_t, 3, 3>("tvals");
  scheme.orders = fields.rows<std::int64_t, 2, 3>("orders");
  scheme.unit_size = fields.rows<double, 2, 3>("unit_size");
  const auto is_dram = fields.switches<2>("is_dram");
  scheme.source_is_dram = is_dram[0];
  scheme.destination_is_dram = is_dram[1];
  if (fields.has("directives")) scheme.directives = read_directives(fields);
  return scheme;
}

/// Published lines give hops between nodes, a sum of averages, to a thousandth.
double to_a_thousandth(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

Result<Scheme> read_scheme(const std::string& line, const SourceLocation& place) {
  try {
    const SchemeFields fields(line);
    return scheme_of(fields, place);
  } catch (const SchemeMistake& mistake) {
    Diagnostic diagnostic;
    diagnostic.location = place;
    diagnostic.location.column = mistake.column();
    diagnostic.message = mistake.what();
    return tl::unexpected(Diagnostics{diagnostic});
  }
}

std::string with_cost(const std::string& line, const SchemeCost& cost) {
  Json object = Json::parse(line);
  object["size"] = cost.size;
  object["fetch"] = cost.fetch;
  object["access"] = cost.access;
  object["remote_gbuf"] = cost.remote_buffer;
  object["nhops"] = cost.hops;
  object["node_hops"] = to_a_thousandth(cost.node_hops);
  object["ops"] = cost.operations;
  object["proc_time"] = cost.array_cycles;
  object["bus_time"] = cost.bus_cycles;
  object["dram_time"] = cost.dram_cycles;
  object["cost"] = cost.energy_j;
  return object.dump();
}

}  // namespace sluice::kapla
