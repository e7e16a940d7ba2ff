#include "triples/draw/collective_draw.h"

#include <algorithm>

namespace sluice::triples {
namespace {

bool has_member(const std::vector<std::size_t>& list, std::size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool share_one(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::size_t value) { return has_member(b, value); });
}

}  // namespace

bool CollectiveDraw::has_dimension(const std::string& dimension) const {
  const std::vector<DimensionSpec>& spatial = component(component_of(dimension)).spatial;
  return std::any_of(spatial.begin(), spatial.end(),
                     [&](const DimensionSpec& d) { return d.name == dimension; });
}

std::size_t CollectiveDraw::maker_of(TensorId tensor) const {
  return roles_.makers[tensor.index()].front().index();
}

std::vector<std::size_t> CollectiveDraw::readers_of(TensorId tensor) const {
  std::vector<std::size_t> readers;
  for (EinsumId reader : roles_.consumers[tensor.index()])
    if (reader.index() != maker_of(tensor)) readers.push_back(reader.index());
  return readers;
}

bool CollectiveDraw::walks(const Einsum& einsum, RankVariableId variable) {
  return std::any_of(einsum.iteration_space.begin(), einsum.iteration_space.end(),
                     [&](const VariableRange& range) { return range.variable == variable; });
}

bool CollectiveDraw::touches(const TensorAccess& access, RankVariableId variable) {
  return std::any_of(
      access.projection.begin(), access.projection.end(),
      [&](const AffineExpression& index) { return index.coefficient_of(variable) != 0; });
}

bool CollectiveDraw::is_irrelevant(const Einsum& einsum, TensorId tensor, RankVariableId variable) {
  return std::none_of(einsum.accesses.begin(), einsum.accesses.end(),
                      [&](const TensorAccess& access) {
                        return access.tensor == tensor && touches(access, variable);
                      });
}

NodeSpec CollectiveDraw::collective(const std::string& type, TensorId tensor,
                                    const std::string& source, const std::string& destination) {
  NodeSpec node;
  node.kind = NodeSpec::Kind::kCollective;
  node.type = type;
  node.names = {w_[tensor].name};
  node.component = source;
  node.destination = destination;
  if (type == "all_reduce" || type == "reduce_scatter")
    node.op = reduction_name(w_.einsums[maker_of(tensor)].expression.reduction);
  std::vector<std::string> algorithms = {
      "", "auto", "auto", "auto", "ring", "ring", "tree", "tree", "recursive_halving_doubling"};
  if (dice_.chance(50)) algorithms.insert(algorithms.end(), 2, "greedy_tree");
  if (dice_.chance(20)) algorithms.insert(algorithms.end(), {"direct", "per_dimension"});
  if (dice_.chance(type == "all_reduce" || type == "all_gather" ? 80 : 3))
    algorithms.insert(algorithms.end(), 2, "recursive_doubling");
  node.algorithm = dice_.any(algorithms);
  return node;
}

NodeSpec CollectiveDraw::split() {
  if (!collectives_.empty() && dice_.chance(9)) spoil_collective();
  std::vector<Group> groups;
  for (std::size_t e : all_einsums()) groups.push_back({e});
  if (groups.size() > 2 && dice_.chance(30)) {
    const std::size_t first = dice_.chance(65) ? groups.size() - 2 : 0;
    groups[first].push_back(first + 1);
    groups.erase(groups.begin() + static_cast<long>(first) + 1);
  }
  return split_of(groups);
}

bool CollectiveDraw::belongs_inside(const Drawn& collective, const Group& inside) {
  return has_member(inside, collective.maker) &&
         (share_one(collective.readers, inside) || (collective.in_place && dice_.chance(50)));
}

/// What an inner split does not take waits for its place in the outer one: before its first reader.
NodeSpec CollectiveDraw::split_of(const std::vector<Group>& groups) {
  NodeSpec split;
  split.kind = NodeSpec::Kind::kSequential;
  std::vector<Drawn> waiting;
  for (const Group& group : groups) {
    put_collectives(split, waiting, group);
    if (group.size() > 1) {
      split.children.push_back({inner_split(group)});
    } else {
      split.children.push_back(branch(group.front()));
    }
    for (std::size_t c = 0; c < collectives_.size();) {
      if (!has_member(group, collectives_[c].maker)) {
        ++c;
        continue;
      }
      waiting.push_back(collectives_[c]);
      collectives_.erase(collectives_.begin() + static_cast<long>(c));
    }
  }
  put_collectives(split, waiting, {});
  return split;
}

/// Behind the last child, or before the next one, which may not read what they bring.
void CollectiveDraw::put_collectives(NodeSpec& split, std::vector<Drawn>& waiting,
                                     const Group& next) {
  for (std::size_t c = 0; c < waiting.size();) {
    if (!next.empty() && !share_one(waiting[c].readers, next) && dice_.chance(25)) {
      ++c;
      continue;
    }
    split.children.push_back({waiting[c].node});
    waiting.erase(waiting.begin() + static_cast<long>(c));
  }
}

NodeSpec CollectiveDraw::inner_split(const Group& group) {
  std::vector<Drawn> outside;
  for (std::size_t c = 0; c < collectives_.size();) {
    if (belongs_inside(collectives_[c], group)) {
      ++c;
      continue;
    }
    outside.push_back(collectives_[c]);
    collectives_.erase(collectives_.begin() + static_cast<long>(c));
  }
  std::vector<Group> single;
  for (std::size_t e : group) single.push_back({e});
  NodeSpec inner = split_of(single);
  collectives_.insert(collectives_.end(), outside.begin(), outside.end());
  return inner;
}

/// Something that is likely to be wrong.
void CollectiveDraw::spoil_collective() {
  const auto at = static_cast<std::size_t>(dice_.below(collectives_.size()));
  NodeSpec& node = collectives_[at].node;
  node.root.clear();  // `over` may lose what it names
  switch (dice_.below(7)) {
    case 0:
      collectives_.erase(collectives_.begin() + static_cast<long>(at));
      break;
    case 1:
      node.op.clear();
      node.type = dice_.text_of({"gather", "all_gather", "broadcast", "scatter", "all_to_all"});
      break;
    case 2:
      if (!node.op.empty()) node.op = dice_.text_of({"sum", "max", "min"});
      break;
    case 3:
      node.over[0] = dice_.text_of({"x", "y"});
      break;
    case 4:
      node.component = dice_.text_of({"GB", "RF"});
      break;
    case 5:
      node.destination = dice_.text_of({"GB", "RF"});
      break;
    default:
      if (node.over.size() > 1)
        node.over.pop_back();
      else
        collectives_[at].readers.clear();  // somewhere behind its maker
      break;
  }
}

}  // namespace sluice::triples
