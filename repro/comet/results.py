"""What has been found: the best mapping of each template and case, and where its time and energy go."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import attention
from cases import search, search_attention, set_variables
from tables_and_plots import write_csv
from templates import DISTRIBUTED as SPREAD
from templates import LAYERNORM, SOFTMAX, TEMPLATES, WIDE

SINGLE, DISTRIBUTED = "fused_gemm_single", "fused_gemm_dist"
TEXT = WIDE.name  # the variant comet_text
FUSED = ["fused_dist", SINGLE, DISTRIBUTED]


# The other reading of what the paper leaves open, all of it at once: transfers from parent to child wait for memories alone
# (eq. 1, 2), 32 lanes, DRAM of 20 pJ/bit with its pins, hops of 2 mm; with all-reduces of M x N values (TEXT).
JOINT = {"TRANSFERS_WAIT": False, "LANES": 32, "DRAM_PINS": 15, "CORE_HOP": 2, "CLUSTER_HOP": 2}
HOP = 1.107 + 0.12 * 2  # pJ/bit of such a hop: router and wire (library/components/MeshLink.yaml)
JOINT_ENERGIES = {  # the same mappings with other energies of a hop (pJ/bit) and of DRAM
    "joint, wires without routers (0.24 pJ/bit a hop)": {"CoreMesh": 0.24 / HOP, "ClusterMesh": 0.24 / HOP},
    "joint, hops of 0.19 and 0.35 pJ/bit": {"CoreMesh": 0.19 / HOP, "ClusterMesh": 0.35 / HOP},
    "joint, hops of 0.19 and 0.35 pJ/bit, DRAM 25 pJ/bit": {"CoreMesh": 0.19 / HOP, "ClusterMesh": 0.35 / HOP, "DRAM": 1.25},
}


@dataclass
class Results:
    found: dict  # workload, case, template: Found
    parts: dict  # the same: latency and energy by part

    def cases(self, workload):
        return sorted({case for name, case, _ in self.found if name == workload})

    def gains(self, workload, template, quantity="latency_s"):
        """Unfused over template, for every case in which the template fits."""
        for case in self.cases(workload):
            one, other = self.found[workload, case, "unfused"], self.found[workload, case, template]
            if other.latency_s is not None:
                yield case, getattr(one, quantity) / getattr(other, quantity)

    def best_gain(self, workload, templates=FUSED):
        """Of the fastest fused template of each case, the geometric mean."""
        gains = [dict(self.gains(workload, template)) for template in templates]
        return geometric_mean(max(gain.get(case, 0) for gain in gains) for case in self.cases(workload))

    def means(self):
        return [
            self.best_gain(SOFTMAX.name),
            self.best_gain(TEXT),
            self.best_gain(LAYERNORM.name),
            geometric_mean(gain for _, gain in self.gains("self_attention", "flash")),
            geometric_mean(gain for _, gain in self.gains("self_attention", "flash", "energy_j")),
        ]


MEANS = {  # of Results.means: title, what the paper says
    "GEMM-Softmax, latency": 1.42,
    "GEMM-Softmax, all-reduces of M x N values, latency": 1.42,
    "GEMM-LayerNorm, latency": 3.46,
    "flash attention, latency": 1.82,
    "flash attention, energy": 1.54,
}


def with_flash_of_2022(results):
    """The same with FlashAttention of 2022 where that of 2023 was."""

    def swapped(table):
        return {(*key[:2], "flash"): table[key] for key in table if key[2] == "flash_2022"}

    return Results({**results.found, **swapped(results.found)}, {**results.parts, **swapped(results.parts)})


def write_means(base, joint, path):
    """Base and joint variant beside each other, either also with FlashAttention of 2022, the joint one with other energies."""
    variants = {"base": base, "base, FlashAttention of 2022": with_flash_of_2022(base)}
    variants |= {"joint": joint, "joint, FlashAttention of 2022": with_flash_of_2022(joint)}
    variants |= {name: with_energies(joint, factors) for name, factors in JOINT_ENERGIES.items()}
    rows = [["the paper", *MEANS.values()], *([name, *(f"{mean:.3f}" for mean in found.means())] for name, found in variants.items())]
    write_csv(path, ["variant", *MEANS], rows)


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def side_by_side(function, arguments):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda one: function(*one), arguments))


def search_all(sluice, cases, attentions, variations, chosen=None):
    """The best mapping of each template. `chosen`: (workload, case, template): that choice alone."""
    chosen = chosen or {}
    keys = [(operation, case, template) for operation in (SOFTMAX, LAYERNORM) for case in cases for template in TEMPLATES]
    keys += [(WIDE, case, template) for case in cases for template in SPREAD]
    one = lambda op, case, t: search(sluice, op, case, t, variations, chosen.get((op.name, case, t)))  # noqa: E731
    found = {(operation.name, case, template): best for (operation, case, template), best in zip(keys, side_by_side(one, keys))}
    for case in cases:
        for template in TEMPLATES:  # what has no all-reduce is the same
            found.setdefault((TEXT, case, template), found[SOFTMAX.name, case, template])
    keys = [(case, template) for case in attentions for template in attention.TEMPLATES]
    one = lambda c, t: search_attention(sluice, c, t, variations, chosen.get(("self_attention", c, t)))  # noqa: E731
    found.update({("self_attention", *key): best for key, best in zip(keys, side_by_side(one, keys))})
    return found


def with_parts(sluice, found):
    """With the breakdowns of all mappings."""
    return priced_again(sluice, found, {})


def priced_again(sluice, found, variations):
    """The same mappings on a machine with other variables (a map: one value for either platform)."""

    def again(best):
        platform = "cloud" if "comet_cloud" in best.problem else "edge"
        here = {name: value[platform] if isinstance(value, dict) else value for name, value in variations.items()}
        priced = sluice.detail([*best.problem, *set_variables(here)], best.nodes)
        return replace(best, latency_s=priced["latency_s"], energy_j=priced["energy_j"]), breakdown(priced)

    once = {id(best): best for best in found.values() if best.nodes}
    pairs = dict(zip(once, side_by_side(again, [(best,) for best in once.values()])))
    fits = {key: pairs[id(best)] for key, best in found.items() if id(best) in pairs}
    return Results({**found, **{key: best for key, (best, _) in fits.items()}}, {key: parts for key, (_, parts) in fits.items()})


def breakdown(priced):
    """Latency by part and energy by component of a mapping."""
    latency = {name.removesuffix("_s"): seconds for name, seconds in priced["breakdown"].items()}
    implicit = min(latency["optional_stall"], waiting_for_networks(priced["latency"]))
    latency["optional_stall"] -= implicit
    energy = {}
    for row in priced["energy"]:
        energy[row["component"]] = energy.get(row["component"], 0) + row["energy_j"]
    return {"latency": {**latency, "implicit_collectives": implicit}, "energy": energy}


def waiting_for_networks(rows):
    """Seconds by which networks are busy longer than anything else, Einsum by Einsum: implicit collectives."""
    seconds = 0
    for einsum in {row["einsum"] for row in rows}:
        mine = [row for row in rows if row["einsum"] == einsum]
        networks = [row["latency_s"] for row in mine if row["component"].endswith("Mesh")]
        others = [row["latency_s"] for row in mine if not row["component"].endswith("Mesh")]
        seconds += max(0, max(networks, default=0) - max(others, default=0))
    return seconds


def with_energies(results, factors):
    """The same mappings where a component's energies are multiplied."""
    parts = {
        key: {**part, "energy": {name: joules * factors.get(name, 1) for name, joules in part["energy"].items()}}
        for key, part in results.parts.items()
    }
    found = {
        key: replace(one, energy_j=sum(parts[key]["energy"].values())) if key in parts else one
        for key, one in results.found.items()
    }
    return Results(found, parts)
