"""``map``, ``bounds``, ``sweep`` and ``design``: made from the option table by python/tools/generate_map.py. Do not edit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping as Map, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ._api import FileName, search, search_bounds
from ._bounds import BoundsResult
from ._design import DesignResult, DesignWorkloads, search_design
from ._extensions import Extension, LatencyPolicy, Mapper
from ._progress import OnProgress
from ._result import Result
from ._specs import Settings, SpecLike, Training
from ._sweep import OneOrMore, SweepResult, Vary, search_points

if TYPE_CHECKING:
    from ._cluster import Client


def map(
    workload: SpecLike,
    arch: Optional[SpecLike] = None,
    *specs: SpecLike,
    set: Optional[Settings] = None,
    constraints: Optional[SpecLike] = None,
    training: Optional[Training] = None,
    ert: Optional[FileName] = None,
    extensions: Iterable[Extension] = (),
    on_progress: Optional[OnProgress] = None,
    why: bool = False,
    mapper: Union[str, Mapper, None] = None,
    objective: Union[str, Sequence[str], None] = None,
    latency: Union[str, LatencyPolicy, None] = None,
    max_fused_loops: Union[int, float, str, None] = None,
    max_fused_loops_per_rank: Union[int, float, str, None] = None,
    imperfect_factors: Optional[str] = None,
    row_fusion: Optional[bool] = None,
    einsum_orders: Optional[str] = None,
    epsilon: Union[float, str, None] = None,
    max_templates: Union[int, float, str, None] = None,
    top: Union[int, float, str, None] = None,
    threads: Union[int, float, str, None] = None,
    budget: Union[float, str, None] = None,
    memory: Union[float, str, None] = None,
    seed: Union[int, float, str, None] = None,
    disable_rules: Union[str, Sequence[str], None] = None,
) -> Result:
    """Finds the best mapping of a workload on an architecture.

    Whatever is not given is as in the specs, else as on the command line. Runs without the
    interpreter's lock; Ctrl-C raises :class:`Interrupted`, which has what was found by then. Where
    no mapping is legal, the result says so: its ``status`` is ``no_mapping``, it has a ``reason``,
    and its ``best`` raises :class:`NoMappingError`.

    :param workload: a file, a name of the library, a :class:`Workload` or :class:`Specs`
    :param specs: further files, names and objects, merged into these two; later ones win
    :param set: variables and fields: ``{"BATCH": 4, "arch.Buffer.size": "64 KiB"}``
    :param constraints: what the mapping must meet
    :param training: makes a training step of the workload
    :param ert: energies per action, for files of Timeloop or AccelForge (docs/importing.md)
    :param extensions: mappers, latency policies and component classes that specs and options name
    :param on_progress: is called with a :class:`Progress`, in the thread of the caller
    :param why: explains the best mapping, by searches of its own (docs/why.md): ``result.why``
    :param mapper: Search method; where none is given and fused cannot do what is asked, compound;
        for long networks with equal layers, layers first: a name that `sluice list mappers` shows
        (or an instance of a :class:`Mapper`). Default: ``fused``
    :param objective: What to minimise: energy, latency, edp; several with commas: their Pareto
        front; with resources: memory peaks too. Default: ``edp``
    :param latency: Latency policy: how busy times become latency, as in `sluice evaluate`: overlap,
        pipeline, staged, segment (or an instance of a :class:`LatencyPolicy`). Default: ``overlap``
    :param max_fused_loops: Most loops that an Einsum may share with others: 0 … inf. Default:
        ``inf``
    :param max_fused_loops_per_rank: Most shared loops over one rank: 1 … inf. Default: ``1``
    :param imperfect_factors: Which of the outermost loops over a variable may have a smaller last
        tile; only for fused, exhaustive and (unfused) compound: none, unfused, all. Default:
        ``none``
    :param row_fusion: Let an Einsum that reads windows of what another makes (`2*p+r`) take it row
        by row; only for fused and exhaustive: true, false. Default: ``false``
    :param einsum_orders: Run the Einsums in the order written, or try the other orders that respect
        the dependencies: as-written, explore. Default: ``as-written``
    :param epsilon: With one objective: a mapping that is at most this share worse than the optimum
        is good enough: 0 … 1. Default: ``0``
    :param max_templates: Most templates of an Einsum (where tensors stand, which loops there are)
        that fused tries one by one; of more it draws some, and proves nothing: 1 … inf. Default:
        ``100000``
    :param top: How many mappings to report, best first: 1 … 1000. Default: ``1``
    :param threads: Threads to search with; the command line takes one a processor where none is
        given: 1 … 1024 (one a processor where none is given). Default: ``1``
    :param budget: Stop searching after this time, or so many mappings priced (not for fused), with
        the best so far: `60s`, `500ms`, `5min`, `1e6evals`, `60s,1e6evals`, none (a number is
        seconds). Default: ``none``
    :param memory: End the search with the best so far where the program takes this much memory; the
        command line takes half of the machine's where none is given: `8GiB`, `500MB`, none (a
        number is bytes; half of the machine's where none is given). Default: ``none``
    :param seed: Seed of every random choice: 0 … 2^64 - 1. Default: ``0``
    :param disable_rules: Switch off pruning rules, to check that the optimum does not move:
        dominance, convex_hull, bounds, isomorphic_einsums, reservation_relevance, dead_ends,
        graph_first, held_bounds, redundant_templates, chains; none. Default: ``none``

    >>> import sluice as sl
    >>> result = sl.map("matmul", "simple", set={"M": 64}, threads=1)
    >>> result.status, result.guarantee.kind
    ('ok', 'optimal')
    >>> result.best.edp_js == result.best.energy_j * result.best.latency_s
    True
    """
    return search(
        [workload, *([] if arch is None else [arch]), *specs],
        settings=set,
        constraints=constraints,
        training=training,
        ert=ert,
        extensions=extensions,
        on_progress=on_progress,
        why=why,
        options={
            "mapper": mapper,
            "objective": objective,
            "latency": latency,
            "max_fused_loops": max_fused_loops,
            "max_fused_loops_per_rank": max_fused_loops_per_rank,
            "imperfect_factors": imperfect_factors,
            "row_fusion": row_fusion,
            "einsum_orders": einsum_orders,
            "epsilon": epsilon,
            "max_templates": max_templates,
            "top": top,
            "threads": threads,
            "budget": budget,
            "memory": memory,
            "seed": seed,
            "disable_rules": disable_rules,
        },
    )


def bounds(
    workload: SpecLike,
    arch: Optional[SpecLike] = None,
    *specs: SpecLike,
    vary: Optional[Vary] = None,
    set: Optional[Settings] = None,
    constraints: Optional[SpecLike] = None,
    training: Optional[Training] = None,
    ert: Optional[FileName] = None,
    max_fused_loops: Union[int, float, str, None] = None,
    max_fused_loops_per_rank: Union[int, float, str, None] = None,
    imperfect_factors: Optional[str] = None,
    epsilon: Union[float, str, None] = None,
    max_templates: Union[int, float, str, None] = None,
    threads: Union[int, float, str, None] = None,
    budget: Union[float, str, None] = None,
    memory: Union[float, str, None] = None,
    seed: Union[int, float, str, None] = None,
    disable_rules: Union[str, Sequence[str], None] = None,
) -> BoundsResult:
    """Finds the least traffic, energy and latency that any mapping of `fused`'s space needs.

    :param vary: does it for each value of a variable or field: ``{"arch.Buffer.size": "16KiB..1MiB:x2"}``
    :param max_fused_loops: Most loops that an Einsum may share with others: 0 … inf. Default:
        ``inf``
    :param max_fused_loops_per_rank: Most shared loops over one rank: 1 … inf. Default: ``1``
    :param imperfect_factors: Which of the outermost loops over a variable may have a smaller last
        tile; only for fused, exhaustive and (unfused) compound: none, unfused, all. Default:
        ``none``
    :param epsilon: With one objective: a mapping that is at most this share worse than the optimum
        is good enough: 0 … 1. Default: ``0``
    :param max_templates: Most templates of an Einsum (where tensors stand, which loops there are)
        that fused tries one by one; of more it draws some, and proves nothing: 1 … inf. Default:
        ``100000``
    :param threads: Threads to search with; the command line takes one a processor where none is
        given: 1 … 1024 (one a processor where none is given). Default: ``1``
    :param budget: Stop searching after this time, or so many mappings priced (not for fused), with
        the best so far: `60s`, `500ms`, `5min`, `1e6evals`, `60s,1e6evals`, none (a number is
        seconds). Default: ``none``
    :param memory: End the search with the best so far where the program takes this much memory; the
        command line takes half of the machine's where none is given: `8GiB`, `500MB`, none (a
        number is bytes; half of the machine's where none is given). Default: ``none``
    :param seed: Seed of every random choice: 0 … 2^64 - 1. Default: ``0``
    :param disable_rules: Switch off pruning rules, to check that the optimum does not move:
        dominance, convex_hull, bounds, isomorphic_einsums, reservation_relevance, dead_ends,
        graph_first, held_bounds, redundant_templates, chains; none. Default: ``none``
    """
    return search_bounds(
        [workload, *([] if arch is None else [arch]), *specs],
        vary=vary,
        settings=set,
        constraints=constraints,
        training=training,
        ert=ert,
        options={
            "max_fused_loops": max_fused_loops,
            "max_fused_loops_per_rank": max_fused_loops_per_rank,
            "imperfect_factors": imperfect_factors,
            "epsilon": epsilon,
            "max_templates": max_templates,
            "threads": threads,
            "budget": budget,
            "memory": memory,
            "seed": seed,
            "disable_rules": disable_rules,
        },
    )


def sweep(
    workload: OneOrMore,
    arch: Optional[OneOrMore] = None,
    *specs: SpecLike,
    vary: Optional[Vary] = None,
    points: Sequence[Map[str, Any]] = (),
    output: Union[str, os.PathLike[str], None] = None,
    jobs: Optional[int] = None,
    client: Optional[Client] = None,
    set: Optional[Settings] = None,
    constraints: Optional[SpecLike] = None,
    training: Optional[Training] = None,
    ert: Optional[FileName] = None,
    on_progress: Optional[OnProgress] = None,
    mapper: Optional[str] = None,
    objective: Union[str, Sequence[str], None] = None,
    latency: Optional[str] = None,
    max_fused_loops: Union[int, float, str, None] = None,
    max_fused_loops_per_rank: Union[int, float, str, None] = None,
    imperfect_factors: Optional[str] = None,
    row_fusion: Optional[bool] = None,
    einsum_orders: Optional[str] = None,
    epsilon: Union[float, str, None] = None,
    max_templates: Union[int, float, str, None] = None,
    top: Union[int, float, str, None] = None,
    threads: Union[int, float, str, None] = None,
    budget: Union[float, str, None] = None,
    memory: Union[float, str, None] = None,
    seed: Union[int, float, str, None] = None,
    disable_rules: Union[str, Sequence[str], None] = None,
) -> SweepResult:
    """Searches every variant, and keeps what was found in a database (docs/sweeps.md).

    The same sweep, the same database and the same numbers as ``sluice sweep``. A search that the
    database has is not done again; what ends the sweep, Ctrl-C (:class:`Interrupted`) or a killed
    process, loses no run that was finished.

    :param workload: one, or a list of them; or a file with a section ``sweep``
    :param vary: a grid: ``{"arch.Buffer.size": "16KiB..1MiB:x2", "M": [256, 512]}``; the last varies fastest
    :param points: more points, each with its settings
    :param set: variables and fields of all points
    :param output: the SQLite file; None: nothing is kept
    :param jobs: searches at a time; one a processor where none is given
    :param client: a ``dask.distributed.Client``, whose workers search; each search has one thread there
        where ``threads`` says nothing else
    :param on_progress: is called with a :class:`Progress`, in the thread of the caller
    :param mapper: Search method; where none is given and fused cannot do what is asked, compound;
        for long networks with equal layers, layers first: a name that `sluice list mappers` shows.
        Default: ``fused``
    :param objective: What to minimise: energy, latency, edp; several with commas: their Pareto
        front; with resources: memory peaks too. Default: ``edp``
    :param latency: Latency policy: how busy times become latency, as in `sluice evaluate`: overlap,
        pipeline, staged, segment. Default: ``overlap``
    :param max_fused_loops: Most loops that an Einsum may share with others: 0 … inf. Default:
        ``inf``
    :param max_fused_loops_per_rank: Most shared loops over one rank: 1 … inf. Default: ``1``
    :param imperfect_factors: Which of the outermost loops over a variable may have a smaller last
        tile; only for fused, exhaustive and (unfused) compound: none, unfused, all. Default:
        ``none``
    :param row_fusion: Let an Einsum that reads windows of what another makes (`2*p+r`) take it row
        by row; only for fused and exhaustive: true, false. Default: ``false``
    :param einsum_orders: Run the Einsums in the order written, or try the other orders that respect
        the dependencies: as-written, explore. Default: ``as-written``
    :param epsilon: With one objective: a mapping that is at most this share worse than the optimum
        is good enough: 0 … 1. Default: ``0``
    :param max_templates: Most templates of an Einsum (where tensors stand, which loops there are)
        that fused tries one by one; of more it draws some, and proves nothing: 1 … inf. Default:
        ``100000``
    :param top: How many mappings to report, best first: 1 … 1000. Default: ``1``
    :param threads: Threads to search with; the command line takes one a processor where none is
        given: 1 … 1024 (one a processor where none is given). Default: ``1``
    :param budget: Stop searching after this time, or so many mappings priced (not for fused), with
        the best so far: `60s`, `500ms`, `5min`, `1e6evals`, `60s,1e6evals`, none (a number is
        seconds). Default: ``none``
    :param memory: End the search with the best so far where the program takes this much memory; the
        command line takes half of the machine's where none is given: `8GiB`, `500MB`, none (a
        number is bytes; half of the machine's where none is given). Default: ``none``
    :param seed: Seed of every random choice: 0 … 2^64 - 1. Default: ``0``
    :param disable_rules: Switch off pruning rules, to check that the optimum does not move:
        dominance, convex_hull, bounds, isomorphic_einsums, reservation_relevance, dead_ends,
        graph_first, held_bounds, redundant_templates, chains; none. Default: ``none``

    >>> import sluice as sl
    >>> runs = sl.sweep("matmul", "simple", set={"M": 64}, vary={"N": [64, 128]}, threads=1)
    >>> [run.settings for run in runs], runs.best.settings
    ([{'N': '64'}, {'N': '128'}], {'N': '64'})
    >>> runs[1].edp_js == sl.map("matmul", "simple", set={"M": 64, "N": 128}).best.edp_js
    True
    """
    return search_points(
        workload,
        arch,
        specs,
        vary=vary,
        points=points,
        output=output,
        jobs=jobs,
        client=client,
        settings=set,
        constraints=constraints,
        training=training,
        ert=ert,
        on_progress=on_progress,
        options={
            "mapper": mapper,
            "objective": objective,
            "latency": latency,
            "max_fused_loops": max_fused_loops,
            "max_fused_loops_per_rank": max_fused_loops_per_rank,
            "imperfect_factors": imperfect_factors,
            "row_fusion": row_fusion,
            "einsum_orders": einsum_orders,
            "epsilon": epsilon,
            "max_templates": max_templates,
            "top": top,
            "threads": threads,
            "budget": budget,
            "memory": memory,
            "seed": seed,
            "disable_rules": disable_rules,
        },
    )


def design(
    workload: DesignWorkloads,
    arch: Optional[SpecLike] = None,
    *specs: SpecLike,
    variables: Optional[Vary] = None,
    area: Union[float, str, None] = None,
    power: Union[float, str, None] = None,
    set: Optional[Settings] = None,
    constraints: Optional[SpecLike] = None,
    training: Optional[Training] = None,
    ert: Optional[FileName] = None,
    on_progress: Optional[OnProgress] = None,
    mapper: Optional[str] = None,
    objective: Union[str, Sequence[str], None] = None,
    latency: Optional[str] = None,
    max_fused_loops: Union[int, float, str, None] = None,
    max_fused_loops_per_rank: Union[int, float, str, None] = None,
    imperfect_factors: Optional[str] = None,
    row_fusion: Optional[bool] = None,
    einsum_orders: Optional[str] = None,
    epsilon: Union[float, str, None] = None,
    max_templates: Union[int, float, str, None] = None,
    threads: Union[int, float, str, None] = None,
    budget: Union[float, str, None] = None,
    memory: Union[float, str, None] = None,
    seed: Union[int, float, str, None] = None,
    disable_rules: Union[str, Sequence[str], None] = None,
) -> DesignResult:
    """Finds the best sizes, fanouts and bandwidths within budgets of area and power (docs/sweeps.md).

    The same search and the same numbers as ``sluice design``: without trying every design, it proves
    which one has the least objective, summed over all workloads, each mapped as well as the mapper can.
    Ctrl-C raises :class:`Interrupted`, which has the best design by then. Where no design keeps to the
    budgets, the result's ``status`` is ``no_design``, and its ``best`` raises :class:`NoMappingError`.

    :param workload: one, or a list of them, each as it is or as a :class:`DesignWorkload`; or a file with a
        section ``design``, which says all but ``set`` and search options
    :param variables: the grid: ``{"arch.Buffer.size": "32KiB..4MiB:x2", "arch.MAC.lane.fanout": [64, 128]}``
    :param area: the budget of area: ``"20 mm2"``, a number is m²
    :param power: the budget of power of each workload, energy ÷ latency: ``"5 W"``, a number is W
    :param set: variables and fields of all workloads
    :param on_progress: is called with a :class:`Progress`, in the thread of the caller
    :param mapper: Search method; where none is given and fused cannot do what is asked, compound;
        for long networks with equal layers, layers first: a name that `sluice list mappers` shows.
        Default: ``fused``
    :param objective: What to minimise: energy, latency, edp; several with commas: their Pareto
        front; with resources: memory peaks too. Default: ``edp``
    :param latency: Latency policy: how busy times become latency, as in `sluice evaluate`: overlap,
        pipeline, staged, segment. Default: ``overlap``
    :param max_fused_loops: Most loops that an Einsum may share with others: 0 … inf. Default:
        ``inf``
    :param max_fused_loops_per_rank: Most shared loops over one rank: 1 … inf. Default: ``1``
    :param imperfect_factors: Which of the outermost loops over a variable may have a smaller last
        tile; only for fused, exhaustive and (unfused) compound: none, unfused, all. Default:
        ``none``
    :param row_fusion: Let an Einsum that reads windows of what another makes (`2*p+r`) take it row
        by row; only for fused and exhaustive: true, false. Default: ``false``
    :param einsum_orders: Run the Einsums in the order written, or try the other orders that respect
        the dependencies: as-written, explore. Default: ``as-written``
    :param epsilon: With one objective: a mapping that is at most this share worse than the optimum
        is good enough: 0 … 1. Default: ``0``
    :param max_templates: Most templates of an Einsum (where tensors stand, which loops there are)
        that fused tries one by one; of more it draws some, and proves nothing: 1 … inf. Default:
        ``100000``
    :param threads: Threads to search with; the command line takes one a processor where none is
        given: 1 … 1024 (one a processor where none is given). Default: ``1``
    :param budget: Stop searching after this time, or so many mappings priced (not for fused), with
        the best so far: `60s`, `500ms`, `5min`, `1e6evals`, `60s,1e6evals`, none (a number is
        seconds). Default: ``none``
    :param memory: End the search with the best so far where the program takes this much memory; the
        command line takes half of the machine's where none is given: `8GiB`, `500MB`, none (a
        number is bytes; half of the machine's where none is given). Default: ``none``
    :param seed: Seed of every random choice: 0 … 2^64 - 1. Default: ``0``
    :param disable_rules: Switch off pruning rules, to check that the optimum does not move:
        dominance, convex_hull, bounds, isomorphic_einsums, reservation_relevance, dead_ends,
        graph_first, held_bounds, redundant_templates, chains; none. Default: ``none``

    >>> import sluice as sl
    >>> found = sl.design("matmul", "simple", variables={"arch.GlobalBuffer.size": "16KiB..256KiB:x4"}, set={"M": 64})
    >>> found.is_proven, found.n_designs, found.best.settings
    (True, 3, {'arch.GlobalBuffer.size': '256KiB'})
    >>> found.best.objective == sl.map("matmul", found.best.arch, set={"M": 64}).best.edp_js
    True
    """
    return search_design(
        workload,
        arch,
        specs,
        variables=variables,
        area=area,
        power=power,
        settings=set,
        constraints=constraints,
        training=training,
        ert=ert,
        on_progress=on_progress,
        options={
            "mapper": mapper,
            "objective": objective,
            "latency": latency,
            "max_fused_loops": max_fused_loops,
            "max_fused_loops_per_rank": max_fused_loops_per_rank,
            "imperfect_factors": imperfect_factors,
            "row_fusion": row_fusion,
            "einsum_orders": einsum_orders,
            "epsilon": epsilon,
            "max_templates": max_templates,
            "threads": threads,
            "budget": budget,
            "memory": memory,
            "seed": seed,
            "disable_rules": disable_rules,
        },
    )
