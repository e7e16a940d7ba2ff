"""Specs built in code, as the YAML text that the readers of spec files take.

One key a line, so that the line of a diagnostic says what is meant.
"""

from __future__ import annotations

import json
import math
import numbers
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_~][A-Za-z0-9_ ./*|&()~+-]*(?<! )|[0-9]+(\.[0-9]+)?( [A-Za-z][A-Za-z0-9/]*)?")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "~", "y", "n"}


@dataclass(frozen=True)
class Tagged:
    """``!Memory`` and its keys."""

    tag: str
    keys: Mapping[str, Any]


def scalar_text(value: Any) -> str:
    """A number, truth value or text on one line.

    >>> [scalar_text(v) for v in (True, 3, 0.5, float("inf"), "7 pJ/bit", "a: b", None)]
    ['true', '3', '0.5', 'inf', '7 pJ/bit', '"a: b"', 'null']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        number = float(value)
        if math.isnan(number):
            return "null"
        return repr(number) if math.isfinite(number) else ("inf" if number > 0 else "-inf")
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        if hasattr(value, "item"):  # a truth value of NumPy
            return scalar_text(value.item())
        raise TypeError(f"a spec holds numbers, texts, lists and maps, not {type(value).__name__}")
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, (Mapping, Tagged, list, tuple, set, frozenset))


def _lines(value: Any) -> Iterator[str]:
    """The lines of a value that stands on lines of its own."""
    if isinstance(value, Tagged):
        yield f"!{value.tag}" if value.keys else f"!{value.tag} {{}}"
        yield from _lines(value.keys)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry(f"{scalar_text(key)}:", item)
    else:
        for item in value:
            body = list(_lines(item)) if not _is_flow(item) else [_flow(item)]
            yield f"- {body[0]}"
            yield from ("  " + line for line in body[1:])


def _is_flow(value: Any) -> bool:
    """Whether it stands on one line: scalars, lists of scalars, and what is empty."""
    if _is_scalar(value):
        return True
    if isinstance(value, Tagged):
        return False
    return not value or (not isinstance(value, Mapping) and all(map(_is_scalar, value)))


def _flow(value: Any) -> str:
    if _is_scalar(value):
        return scalar_text(value)
    if isinstance(value, Mapping):
        return "{}"
    # A comma or bracket inside a plain text would end it here.
    return "[" + ", ".join(scalar_text(item) for item in value) + "]"


def _entry(key: str, item: Any) -> Iterator[str]:
    if _is_flow(item):
        yield f"{key} {_flow(item)}"
        return
    lines = list(_lines(item))
    if isinstance(item, Tagged):
        yield f"{key} {lines.pop(0)}"
    else:
        yield key
    yield from ("  " + line for line in lines)


def yaml_text(sections: Mapping[str, Any]) -> str:
    """A spec file of these sections."""
    return "\n".join(_lines(sections)) + "\n"


def without_none(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}


def checked_items(items: Any, kinds: tuple[type, ...], what: str, expected: str) -> list[Any]:
    """The items, each of which is of one of the kinds.

    :raises TypeError: says what was expected, and what is there instead
    """
    if isinstance(items, (str, Mapping)) or not hasattr(items, "__iter__"):
        raise TypeError(f"{what} are a list of {expected}, not {_kind_of(items)}")
    checked = list(items)
    for number, item in enumerate(checked, 1):
        if not isinstance(item, kinds):
            raise TypeError(f"{what} are {expected}, not {_kind_of(item)} (number {number})")
    return checked


def _kind_of(value: Any) -> str:
    """Of nodes with their module: architectures and mappings both have a ``Compute``."""
    kind = value if isinstance(value, type) else type(value)
    module = f"{kind.__module__}." if kind.__module__.startswith("sluice.") else ""
    return f"{'the class ' if isinstance(value, type) else ''}{module}{kind.__name__}"


def as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) or not hasattr(value, "__iter__") else list(value)
