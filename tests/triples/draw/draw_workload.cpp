#include <algorithm>

#include "sluice/frontend/load.h"
#include "triples/draw/draw.h"
#include "triples/draw/workload_forms.h"

namespace sluice::triples {
namespace {

std::string output_name(const std::string& einsum) { return einsum.substr(0, einsum.find('[')); }

/// As the reader names Einsums that make parts of one tensor.
std::string free_name(const Triple& triple, const std::string& tensor) {
  const auto makes = [&](const EinsumSpec& e) { return output_name(e.text) == tensor; };
  const auto n = std::count_if(triple.einsums.begin(), triple.einsums.end(), makes);
  return n == 0 ? tensor : tensor + "_" + std::to_string(n + 1);
}

/// Of collectives: sizes that several instances share evenly.
std::vector<std::int64_t> sizes_for(bool is_large, Purpose purpose) {
  if (purpose != Purpose::kAny)
    return is_large ? std::vector<std::int64_t>{2, 2, 3, 4, 4, 6}
                    : std::vector<std::int64_t>{2, 3, 4, 4, 6, 8};
  return is_large ? std::vector<std::int64_t>{1, 2, 2, 3, 4}
                  : std::vector<std::int64_t>{1, 2, 3, 4, 4, 5, 6};
}

int weight_of(const WorkloadForm& form, Purpose purpose) {
  switch (purpose) {
    case Purpose::kAny:
      return form.weight;
    case Purpose::kCollectives:
      return form.collective_weight;
    case Purpose::kRegions:
      return form.collective_weight + form.region_weight;
  }
  return 1;
}

/// The forms of one kind, most often the plain ones.
const std::vector<WorkloadForm>& draw_forms(Dice& dice, const Kinds& kinds, Purpose purpose) {
  const bool is_any = purpose == Purpose::kAny;
  if (is_any && kinds.several_makers && dice.chance(12)) return parts_forms();
  if (kinds.windowed_outputs && dice.chance(is_any ? 14 : 8)) return windowed_forms();
  if (is_any && kinds.ports && dice.chance(13)) return common_variable_forms();
  if (is_any && kinds.many_loops && dice.chance(6)) return many_loops_forms();
  if (is_any && kinds.outer_cycles && dice.chance(32)) return cycle_forms();
  return plain_forms();
}

void turn_maxima_into_minima(Triple& triple) {
  for (EinsumSpec& einsum : triple.einsums)
    if (const std::size_t at = einsum.text.find("max("); at != std::string::npos)
      einsum.text.replace(at, 3, "min");
}

}  // namespace

bool has_copies(const Triple& triple) {
  return std::any_of(triple.einsums.begin(), triple.einsums.end(),
                     [](const EinsumSpec& einsum) { return einsum.is_copy; });
}

void draw_workload(Dice& dice, Triple& triple, const Kinds& kinds, Purpose purpose) {
  const std::vector<WorkloadForm>& forms = draw_forms(dice, kinds, purpose);
  std::vector<const WorkloadForm*> drawn;
  for (const WorkloadForm& form : forms)
    drawn.insert(drawn.end(), static_cast<std::size_t>(weight_of(form, purpose)), &form);
  const WorkloadForm& form = *dice.any(drawn);
  const std::vector<std::int64_t> sizes =
      &forms == &many_loops_forms()
          ? std::vector<std::int64_t>{1, 2, 2, 3}
          : sizes_for(form.einsums.size() + form.ranks.size() > 5, purpose);
  for (const std::string& rank : form.ranks) triple.rank_sizes.emplace_back(rank, dice.any(sizes));
  if (form.einsums.back().starts_with("U[n,m]") &&
      dice.chance(70))  // a transposed reader reads all of it
    triple.rank_sizes[1].second = triple.rank_sizes[0].second;
  triple.bounds = form.bounds;
  for (const std::string& text : form.einsums)
    triple.einsums.push_back(
        {text, free_name(triple, output_name(text)), false, dice.chance(4) ? 2 : 1});
  if (purpose != Purpose::kAny && dice.chance(30)) turn_maxima_into_minima(triple);
  for (EinsumSpec& einsum : triple.einsums)
    if (einsum.text == einsum.name + "[m,n] = T[m,n]") einsum.is_copy = dice.chance(80);
  if (form.einsums[0].starts_with("T[X:3*p") || form.einsums[0].starts_with("T[X:2*p,"))
    triple.initial = "T: 2";
  if (form.einsums[0].starts_with("R[i+1") && dice.chance(50)) triple.initial = "R: -inf";
  if (form.einsums[0].starts_with("S[i+1") || form.einsums.back().starts_with("S["))
    triple.initial = "S: 2";
  if (&forms == &cycle_forms() && triple.initial.empty() && dice.chance(50))
    triple.initial = "A: 0";
  if (dice.chance(20) && !has_copies(triple))
    triple.bits_per_value = output_name(triple.einsums[0].text) + ": 4, Other: 16";
  if (dice.chance(8)) triple.n_instances = 2;
  if (dice.chance(10)) triple.persistent = "Inputs - Intermediates";
}

std::optional<Workload> workload_of(const Triple& triple) {
  Triple bare = triple;
  bare.components.clear();
  std::string text = to_yaml(bare);
  text = text.substr(0, text.find("arch:\n"));
  auto specs = load_specs_from_text({{"triple.yaml", text}}, {});
  if (!specs || !specs->workload) return std::nullopt;
  return std::move(specs->workload);
}

}  // namespace sluice::triples
