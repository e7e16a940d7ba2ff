"""Why a mapping is as it is: what ``map(…, why=True)`` found (docs/why.md)."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import dataclass
from typing import Any

from ._rows import all_made, made

__all__ = [
    "Answer",
    "BusyComponent",
    "EinsumAccount",
    "ExchangeChoice",
    "Explanation",
    "HoldingChoice",
    "ShadowPrice",
]


@dataclass(frozen=True)
class Answer:
    """What a search for one question found; numbers are None where it found no mapping."""

    status: str  #: ``found``, ``no_mapping`` (there is none), ``nothing_found`` or ``not_searched``
    objective: float | None
    energy_j: float | None
    latency_s: float | None
    guarantee: str | None
    bound: float | None  #: no objective is below
    reason: str | None


@dataclass(frozen=True)
class BusyComponent:
    component: str
    latency_s: float | None


@dataclass(frozen=True)
class EinsumAccount:
    """What an Einsum costs in the mapping, waits for, and would cost alone."""

    einsum: str
    energy_j: float | None
    latency_s: float | None  #: of the component that it waits for
    collectives_s: float | None  #: in addition
    objective_part: float | None  #: by how much the objective would be less without its costs
    busy: tuple[BusyComponent, ...]  #: longest first
    compute_use: float | None  #: 0 … 1
    alone: Answer | None  #: None: it is the only Einsum


@dataclass(frozen=True)
class ExchangeChoice:
    """A tensor that one Einsum makes for others, and the other choice for it."""

    tensor: str
    einsum: str  #: that makes it
    component: str | None  #: the outermost memory that holds it
    fused: bool
    other: Answer


@dataclass(frozen=True)
class HoldingChoice:
    """A tensor that a memory may hold but need not, and the other choice for it."""

    tensor: str
    component: str
    held: bool
    other: Answer


@dataclass(frozen=True)
class ShadowPrice:
    """What twice as much of one thing would bring."""

    component: str
    what: str  #: ``throughput``, ``size`` or ``fanout``
    dimension: str | None
    before: float | None  #: actions a second, bit/s of networks; bits; instances
    after: float | None
    set: tuple[str, ...]  #: to give to ``set``
    answer: Answer


@dataclass(frozen=True)
class Explanation:
    """Why a mapping is as it is. ``summary`` of the result prints it."""

    status: str  #: ``ok`` or ``interrupted``
    objective: float | None  #: of the mapping that is explained: J, s or J·s
    questions: int  #: how many searches there are
    answered: int  #: how many were made
    einsums: tuple[EinsumAccount, ...]  #: in order of execution
    exchanges: tuple[ExchangeChoice, ...]
    holdings: tuple[HoldingChoice, ...]  #: of a workload of one Einsum
    shadow_prices: tuple[ShadowPrice, ...]  #: in the order of the components


def _answer(row: Map[str, Any] | None) -> Answer | None:
    return None if row is None else made(Answer, row)


def _account(row: Map[str, Any]) -> EinsumAccount:
    return made(EinsumAccount, row, busy=all_made(BusyComponent, row["busy"]), alone=_answer(row["alone"]))


def _price(row: Map[str, Any]) -> ShadowPrice:
    names = {"from": "before", "to": "after", "with": "answer"}  # words of Python
    renamed = {names.get(key, key): value for key, value in row.items()}
    return made(ShadowPrice, renamed, answer=_answer(row["with"]))


def explanation_from(row: Map[str, Any]) -> Explanation:
    """From the key ``why`` of a result document."""
    return made(
        Explanation,
        row,
        einsums=tuple(_account(item) for item in row["einsums"]),
        exchanges=tuple(made(ExchangeChoice, item, other=_answer(item["other"])) for item in row["exchanges"]),
        holdings=tuple(made(HoldingChoice, item, other=_answer(item["other"])) for item in row["holdings"]),
        shadow_prices=tuple(_price(item) for item in row["shadow_prices"]),
    )
