"""Search options: values of Python as the texts that the option table reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping as Map
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import _sluice
from ._errors import mistake
from ._extensions import Extension, LatencyPolicy, Mapper


@dataclass(frozen=True)
class Option:
    name: str
    type: str  #: integer, number, choice, choices, switch, budget or size
    range: str
    default: str
    help: str


@lru_cache(maxsize=None)
def option_table() -> tuple[Option, ...]:
    """All search options, as docs/options.md lists them."""
    return tuple(Option(**row) for row in json.loads(_sluice.option_table()))


def _number_text(value: Any) -> str:
    if isinstance(value, int):  # all of its digits: seeds have 64 bits
        return str(value)
    number = float(value)
    if number == float("inf"):
        return "inf"
    return str(int(number)) if number.is_integer() else repr(number)


def option_text(option: Option, value: Any) -> str:
    """
    >>> table = {o.name: o for o in option_table()}
    >>> option_text(table["budget"], 10), option_text(table["objective"], ["energy", "latency"])
    ('10s', 'energy,latency')
    >>> option_text(table["max_fused_loops"], float("inf")), option_text(table["row_fusion"], True)
    ('inf', 'true')
    >>> option_text(table["seed"], 2**63 + 1)
    '9223372036854775809'
    """
    if getattr(value, "ndim", None) == 0:  # of NumPy
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        text = _number_text(value)
        if option.type == "budget":
            return text + "s"
        if option.type == "size":
            return repr(float(value) / 2**10) + "KiB"
        return text
    if isinstance(value, Iterable):
        return ",".join(str(item) for item in value)
    return str(value)


def option_texts(values: Map[str, Any]) -> tuple[dict[str, str], list[Extension]]:
    """Those that are given, as text; mappers and policies among them are named, and returned."""
    table = {option.name: option for option in option_table()}
    texts: dict[str, str] = {}
    extensions: list[Extension] = []
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, type) and issubclass(value, (Mapper, LatencyPolicy)):
            raise TypeError(f"{name} takes an instance, {value.__name__}(), not the class")
        if isinstance(value, (Mapper, LatencyPolicy)):
            extensions.append(value)
            value = value.name
        texts[name] = option_text(table[name], value)
    return texts, extensions


def texts_by_name(values: Map[str, Any], what: str, instead: str) -> dict[str, str]:
    """Of a search that must know mappers and policies by their names."""
    texts, given = option_texts(values)
    if given:
        raise mistake(f"{what} takes mappers and latency policies by name, not as objects of Python", instead)
    return texts
