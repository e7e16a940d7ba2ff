"""Rows of documents as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def made(kind: Callable[..., Kind], row: Mapping[str, Any], **changed: Any) -> Kind:
    """The object that a row describes; lists become tuples, ``changed`` goes before the row.

    >>> made(dict, {"a": [1, 2], "b": 3}, b=4)
    {'a': (1, 2), 'b': 4}
    """
    keys = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return kind(**{**keys, **changed})


def all_made(kind: Callable[..., Kind], rows: Iterable[Mapping[str, Any]]) -> tuple[Kind, ...]:
    return tuple(made(kind, row) for row in rows)
