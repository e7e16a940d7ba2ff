#include "runs.h"

#include <algorithm>
#include <utility>

#include "classes.h"
#include "sluice/arch/outermost_memory.h"

namespace sluice::chains {

bool Run::exchanges(TensorId tensor) const {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

Runs::Runs(const sampling::MapSpace& space)
    : space_(space), outermost_(outermost_memory(space.problem().arch)) {
  for (std::size_t first = 0; first < space.n_einsums(); ++first)
    for (std::size_t last = first + 1; last < std::min(space.n_einsums(), first + kLongest); ++last)
      if (auto run = run_of(first, last)) runs_.push_back(*std::move(run));
}

const Run* Runs::find(std::size_t first, std::size_t last) const {
  const std::pair wanted(first, last);  // they ascend
  const auto at = std::lower_bound(
      runs_.begin(), runs_.end(), wanted,
      [](const Run& run, const auto& other) { return std::pair(run.first, run.last) < other; });
  return at == runs_.end() || std::pair(at->first, at->last) != wanted ? nullptr : &*at;
}

std::optional<std::size_t> Runs::local_number(std::size_t e, TensorId tensor) const {
  const int number = space_.problem()[EinsumId(e)].local_tensor[tensor.index()];
  return number < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(number));
}

std::optional<Run> Runs::run_of(std::size_t first, std::size_t last) const {
  const BoundProblem& problem = space_.problem();
  Run run{first, last, {}, {}, {}};
  for (std::size_t e = first; e <= last; ++e) {
    if (space_.shape(e).is_copy) return std::nullopt;
    for (const TensorId id : problem[EinsumId(e)].tensors) {
      const std::vector<EinsumId> users = problem.roles.users(id);
      const auto maker = problem.roles.sole_maker(id);
      const bool is_inside = std::all_of(users.begin(), users.end(), [&](EinsumId user) {
        return first <= user.index() && user.index() <= last;
      });
      if (maker && maker->index() == e && users.size() > 1 && is_inside &&
          !problem.workload[id].persistent)
        run.tensors.push_back(id);
    }
  }
  // Each with the next one: all hang together.
  for (std::size_t e = first; e < last; ++e) {
    const bool is_tied =
        std::any_of(run.tensors.begin(), run.tensors.end(), [&](const TensorId own) {
          const std::vector<EinsumId> users = problem.roles.users(own);
          const auto is_before = [&](EinsumId user) { return user.index() <= e; };
          return std::any_of(users.begin(), users.end(), is_before) &&
                 !std::all_of(users.begin(), users.end(), is_before);
        });
    if (!is_tied) return std::nullopt;
  }
  for (std::size_t e = first; e <= last; ++e)
    if (std::none_of(run.tensors.begin(), run.tensors.end(),
                     [&](const TensorId own) { return local_number(e, own).has_value(); }))
      return std::nullopt;
  run.loops = common_loops(run);
  const BoundCompute& compute = problem[EinsumId(first)].computes.front();
  for (const ComponentId component : compute.path)
    if (may_hold(run, component) && has_room(run, component)) run.memories.push_back(component);
  if (run.memories.empty()) return std::nullopt;
  return run;
}

/// An inner memory, on the way of all the Einsums, that may back what they exchange.
bool Runs::may_hold(const Run& run, ComponentId memory) const {
  if (!space_.problem().arch[memory].is_memory() || memory == outermost_) return false;
  for (std::size_t e = run.first; e <= run.last; ++e) {
    const auto& path = space_.problem()[EinsumId(e)].computes.front().path;
    if (std::find(path.begin(), path.end(), memory) == path.end()) return false;
    const std::vector<std::uint32_t>& shared = space_.shared_tensors(e);
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const TensorId id = space_.shape(e).tensors[shared[i]].id;
      const auto has_place = [&](const sampling::BackingGroup& group) {
        return group.places[i] == sampling::BackingGroup::Place{memory, false};
      };
      const auto& backings = space_.backings(e);
      if (run.exchanges(id) && std::none_of(backings.begin(), backings.end(), has_place))
        return false;
    }
  }
  return true;
}

double Runs::bits_of(TensorId tensor, ComponentId memory) const {
  const std::size_t e = space_.problem().roles.sole_maker(tensor)->index();
  const std::size_t t = *local_number(e, tensor);
  double bits = space_.problem()[EinsumId(e)].components[memory.index()].bits_per_value[t];
  for (std::size_t v = 0; v < space_.shape(e).sizes.size(); ++v)
    if (space_.shape(e).tensors[t].relevance[v] != Relevance::kIrrelevant)
      bits *= static_cast<double>(space_.shape(e).sizes[v]);
  return bits;
}

double Runs::bits_of(const Run& run, ComponentId memory) const {
  double bits = 0;
  for (const TensorId own : run.tensors) bits += bits_of(own, memory);
  return bits;
}

double Runs::room(const Run& run, ComponentId memory) const {
  return space_.problem()[EinsumId(run.first)].components[memory.index()].size_bits;
}

/// Below all steps of all common loops.
bool Runs::has_room(const Run& run, ComponentId memory) const {
  double steps = 1;
  for (const CommonLoop& loop : run.loops) steps *= static_cast<double>(loop.size);
  return bits_of(run, memory) / steps <= this->room(run, memory);
}

std::vector<CommonLoop> Runs::common_loops(const Run& run) const {
  // Numbers of variables, Einsum by Einsum, then of ranks, tensor by tensor.
  std::vector<std::size_t> first_variable;
  std::size_t size = 0;
  for (std::size_t e = run.first; e <= run.last; ++e) {
    first_variable.push_back(size);
    size += space_.shape(e).sizes.size();
  }
  std::vector<std::size_t> first_rank;
  for (const TensorId own : run.tensors) {
    first_rank.push_back(size);
    size += space_.problem().workload[own].ranks.size();
  }
  Classes classes(size);
  for (std::size_t e = run.first; e <= run.last; ++e)
    for (std::size_t k = 0; k < run.tensors.size(); ++k) {
      const auto t = local_number(e, run.tensors[k]);
      const auto n_ranks = static_cast<std::int32_t>(
          space_.problem().workload[run.tensors[k]].ranks.size());  // diagonals have other numbers
      for (std::size_t v = 0; t && v < space_.shape(e).sizes.size(); ++v)
        if (const std::int32_t rank = space_.shape(e).shared_rank(*t, v, false);
            rank >= 0 && rank < n_ranks)
          classes.join(first_variable[e - run.first] + v,
                       first_rank[k] + static_cast<std::size_t>(rank));
    }
  std::vector<CommonLoop> loops;
  for (std::size_t v = 0; v < space_.shape(run.first).sizes.size(); ++v) {
    const std::size_t wanted = classes.of(v);
    CommonLoop loop{{}, space_.shape(run.first).sizes[v]};
    bool is_common = loop.size > 1;
    for (std::size_t e = run.first; e <= run.last && is_common; ++e) {
      std::size_t n = 0;
      for (std::size_t own = 0; own < space_.shape(e).sizes.size(); ++own) {
        if (classes.of(first_variable[e - run.first] + own) != wanted) continue;
        ++n;
        loop.variables.push_back(own);
      }
      is_common = n == 1 && space_.shape(e).sizes[loop.variables.back()] == loop.size;
      for (std::size_t k = 0; k < run.tensors.size() && is_common; ++k)
        if (const auto t = local_number(e, run.tensors[k])) {
          const auto is_shared = [&](bool spatial) {
            return space_.shape(e).shared_rank(*t, loop.variables.back(), spatial) >= 0;
          };
          is_common = is_shared(false);
          loop.may_spread = loop.may_spread && is_shared(true);
        }
    }
    if (is_common) loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace sluice::chains
