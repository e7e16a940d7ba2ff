#include "sluice/model/evaluate.h"
#include "triples/draw/draw.h"

namespace sluice::triples {
namespace {

Kinds without_rotations(Kinds kinds) {
  kinds.rotations = false;
  return kinds;
}

/// Memories whose actions move several bits; of most, parts cost as much as whole ones.
void draw_whole_actions(std::uint64_t seed, Triple& triple) {
  Dice dice(seed ^ 0xB10C5B10C5ULL);  // so that triples without them stay what they were
  if (!dice.chance(20)) return;
  for (ComponentSpec& component : triple.components) {
    if (component.kind != ComponentSpec::Kind::kMemory || !dice.chance(60)) continue;
    component.bits_per_action = dice.any(std::vector<int>{8, 16, 24, 40, 64});
    component.whole_actions = dice.chance(75);
  }
}

Triple plain_triple(std::uint64_t seed, const Kinds& kinds) {
  Dice dice(seed);
  while (true) {
    Triple triple;
    draw_workload(dice, triple, kinds);
    const auto workload = workload_of(triple);
    if (!workload) continue;
    draw_arch(dice, triple);
    draw_components(dice, triple, *workload, kinds);
    draw_mapping(dice, triple, *workload, without_rotations(kinds));
    draw_incremental(dice, triple);
    draw_networks(dice, triple, kinds);
    for (ComponentSpec& component : triple.components)
      component.frees_drains = component.kind == ComponentSpec::Kind::kMemory && dice.chance(12);
    return triple;
  }
}

/// Collectives and regions have loops of their own above everything.
Kinds without_ports(Kinds kinds) {
  kinds.ports = kinds.many_loops = false;
  return kinds;
}

/// A region triple of the ordinary form, if this draw gives one.
std::optional<Triple> draw_region_triple(Dice& dice, const Kinds& kinds, Forwards forwards) {
  Triple triple;
  const Purpose purpose = dice.chance(80) ? Purpose::kRegions : Purpose::kAny;
  draw_workload(dice, triple, kinds, purpose);
  const auto workload = workload_of(triple);
  if (!workload) return std::nullopt;
  draw_arch(dice, triple, purpose);
  draw_components(dice, triple, *workload, without_ports(kinds));
  if (!draw_regions(dice, triple, *workload, forwards)) return std::nullopt;
  if (kinds.nested_regions && dice.chance(forwards == Forwards::kMost ? 40 : 80))
    put_in_region(dice, triple);
  draw_networks(dice, triple, kinds, Purpose::kCollectives);
  for (ComponentSpec& component : triple.components) {
    component.is_packed = component.is_packed && dice.chance(4);
    component.frees_repeats = component.frees_repeats && dice.chance(50);
  }
  return triple;
}

/// Trees are the rarest by themselves.
std::vector<bool Kinds::*> kinds_of_forwards(const Kinds& kinds) {
  std::vector<bool Kinds::*> wanted;
  for (bool Kinds::*kind : {&Kinds::forwards_by_channels, &Kinds::forwards_by_rows,
                            &Kinds::forwards_by_trees, &Kinds::forwards_by_trees})
    if (kinds.*kind) wanted.push_back(kind);
  return wanted;
}

bool is_legal(const Triple& triple) {
  const auto loaded = load(triple, nullptr);
  return loaded && evaluate(loaded->problem, loaded->mapping).has_value();
}

}  // namespace

namespace {

Triple triple_of_any_kind(std::uint64_t seed, const Kinds& kinds) {
  if (Dice(seed ^ 0xC011EC71FEULL).chance(13)) return collective_triple(seed, kinds);
  if (!kinds_of_forwards(kinds).empty() && Dice(seed ^ 0xF02A4D5EEDULL).chance(15))
    return forward_triple(seed, kinds);
  if (Dice(seed ^ 0x5E61055EEDULL).chance(kinds.forwards ? 16 : 8))
    return region_triple(seed, kinds);
  if (kinds.rotations && Dice(seed ^ 0x707A7E707A7EULL).chance(22))
    return rotation_triple(seed, kinds);
  Triple triple = plain_triple(seed, kinds);
  if (triple.einsums.size() > 1 && Dice(seed ^ 0x9191919191ULL).chance(12))
    make_concurrent(triple, seed);
  return triple;
}

}  // namespace

Triple random_triple(std::uint64_t seed, const Kinds& kinds) {
  Triple triple = triple_of_any_kind(seed, kinds);
  if (kinds.whole_actions) draw_whole_actions(seed, triple);
  return triple;
}

Triple concurrent_triple(std::uint64_t seed, const Kinds& kinds) {
  Triple triple = plain_triple(seed, kinds);
  make_concurrent(triple, seed);
  return triple;
}

Triple collective_triple(std::uint64_t seed, const Kinds& kinds) {
  Dice dice(seed ^ 0xC011EC71FEC011ULL);
  while (true) {
    Triple triple;
    draw_workload(dice, triple, kinds, Purpose::kCollectives);
    const auto workload = workload_of(triple);
    if (!workload) continue;
    draw_arch(dice, triple, Purpose::kCollectives);
    draw_components(dice, triple, *workload, without_ports(kinds));
    const bool in_place = dice.chance(50);
    if (!(in_place ? draw_in_place_collectives(dice, triple, *workload)
                   : draw_exchanges(dice, triple, *workload)))
      continue;
    if (dice.chance(50)) draw_incremental(dice, triple);
    draw_networks(dice, triple, kinds, Purpose::kCollectives);
    if (dice.chance(in_place ? 25 : 6)) make_concurrent(triple, seed);
    return triple;
  }
}

Triple rotation_triple(std::uint64_t seed, const Kinds& kinds) {
  Dice dice(seed ^ 0x5A4ED5A4EDULL);
  while (true) {
    Triple triple;
    draw_workload(dice, triple, kinds, dice.chance(50) ? Purpose::kCollectives : Purpose::kAny);
    const auto workload = workload_of(triple);
    if (!workload) continue;
    draw_arch(dice, triple);
    draw_components(dice, triple, *workload, kinds);
    draw_mapping(dice, triple, *workload, kinds);
    if (!kinds_of(triple).rotations) continue;
    draw_networks(dice, triple, kinds, Purpose::kCollectives);
    for (ComponentSpec& component : triple.components) {
      component.is_packed = component.is_packed && dice.chance(5);
      if (component.topology == "tree" && dice.chance(90)) component.topology = "ring";
    }
    if (dice.chance(30)) put_in_region(dice, triple);
    return triple;
  }
}

Triple region_triple(std::uint64_t seed, const Kinds& kinds) {
  Dice dice(seed ^ 0x5E6105E6105ULL);
  if (dice.chance(10)) {
    Triple triple = dice.chance(80) ? collective_triple(seed, kinds) : plain_triple(seed, kinds);
    make_concurrent(triple, seed);
    share_out(dice, triple);
    return triple;
  }
  if (dice.chance(30)) {
    Triple triple = dice.chance(40)   ? collective_triple(seed, kinds)
                    : dice.chance(30) ? concurrent_triple(seed, kinds)
                                      : plain_triple(seed, kinds);
    put_in_region(dice, triple);
    return triple;
  }
  while (true)
    if (const auto triple = draw_region_triple(dice, kinds, Forwards::kSome)) return *triple;
}

Triple forward_triple(std::uint64_t seed, const Kinds& kinds) {
  Dice dice(seed ^ 0xF02A4DF02A4DULL);
  const auto wanted = dice.any(kinds_of_forwards(kinds));
  while (true) {
    auto triple = draw_region_triple(dice, kinds, Forwards::kMost);
    if (!triple) continue;
    if (wanted == &Kinds::forwards_by_trees) grow_trees(*triple);
    if (kinds_of(*triple).*wanted && (is_legal(*triple) || dice.chance(35))) return *triple;
  }
}

}  // namespace sluice::triples
