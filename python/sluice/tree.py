"""Nodes of a mapping, outermost first. Keys and their meaning: docs/specs.md, docs/model.md.

>>> from sluice import Mapping
>>> print(Mapping([Storage(["A", "Z"], "DRAM"), Temporal("m", 1), Compute("Z", "ALU")]).to_yaml(), end="")
mapping:
  nodes:
    - !Storage
      tensors: [A, Z]
      component: DRAM
    - !Temporal
      rank_variable: m
      tile_shape: 1
    - !Compute
      einsum: Z
      component: ALU
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._errors import mistake
from ._yaml import Tagged, as_list, checked_items, without_none

__all__ = [
    "Collective",
    "Compute",
    "Nested",
    "Node",
    "Parallel",
    "Pipeline",
    "Sequential",
    "Spatial",
    "Storage",
    "Temporal",
]


class Node:
    """A node of a loop tree: its keys as in spec files, and the nodes below it."""

    def __init__(self, nodes: Iterable[Node] | None = None, **keys: Any) -> None:
        self.keys: dict[str, Any] = without_none(keys)
        self.nodes: tuple[Node, ...] | None = None if nodes is None else tuple(checked_nodes(nodes))

    @property
    def kind(self) -> str:
        return type(self).__name__

    def tagged(self) -> Tagged:
        if self.nodes is None:
            return Tagged(self.kind, self.keys)
        return Tagged(self.kind, {**self.keys, "nodes": [node.tagged() for node in self.nodes]})

    def to_json(self) -> dict[str, Any]:
        """As in result documents."""
        value: dict[str, Any] = {"node": self.kind, **self.keys}
        if self.nodes is not None:
            value["nodes"] = [node.to_json() for node in self.nodes]
        return value

    def walk(self) -> Iterable[Node]:
        """This node and all below it, outermost first."""
        yield self
        for node in self.nodes or ():
            yield from node.walk()

    def __repr__(self) -> str:
        keys = ", ".join(f"{key}={value!r}" for key, value in self.keys.items())
        below = "" if self.nodes is None else f", {len(self.nodes)} nodes"
        return f"{self.kind}({keys}{below})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]


def checked_nodes(nodes: Iterable[Node]) -> list[Node]:
    """The nodes.

    :raises TypeError: where one is no node of a mapping
    """
    return checked_items(nodes, (Node,), "the nodes of a mapping", "nodes of sluice.tree, such as tree.Storage")


class Storage(Node):
    """Keeps a tile of each tensor in a memory for everything below it."""

    def __init__(self, tensors: str | Sequence[str], component: str, **more: Any) -> None:
        super().__init__(tensors=as_list(tensors), component=component, **more)


class Temporal(Node):
    """A loop, one step after the other; ``tile_shape`` is the tile inside it."""

    def __init__(self, rank_variable: str | Sequence[str], tile_shape: int, **more: Any) -> None:
        super().__init__(rank_variable=rank_variable, tile_shape=tile_shape, **more)


class Spatial(Node):
    """A loop whose steps are spread over the dimension ``name`` of a component."""

    def __init__(
        self, rank_variable: str | Sequence[str], tile_shape: int, component: str, name: str, **more: Any
    ) -> None:
        super().__init__(
            rank_variable=rank_variable, tile_shape=tile_shape, name=name, component=component, **more
        )


class Compute(Node):
    """Computes an Einsum."""

    def __init__(self, einsum: str, component: str) -> None:
        super().__init__(einsum=einsum, component=component)


class Nested(Node):
    """A branch of a split."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        super().__init__(nodes)


class Collective(Node):
    """Communication among the instances of spatial dimensions (docs/collectives.md)."""

    def __init__(self, type: str, tensor: str, *, src: str, over: str | Sequence[str], **more: Any) -> None:
        super().__init__(type=type, tensor=tensor, src=src, over=as_list(over), **more)


class _Split(Node):
    def __init__(self, nodes: Iterable[Node], **more: Any) -> None:
        super().__init__(nodes, **more)


class Sequential(_Split):
    """Branches one after the other."""


class Pipeline(_Split):
    """Branches at the same time, each one step behind the branch before."""


class Parallel(_Split):
    """Branches at the same time."""


_KINDS: dict[str, type[Node]] = {
    kind.__name__: kind
    for kind in (Storage, Temporal, Spatial, Compute, Nested, Collective, Sequential, Pipeline, Parallel)
}


def nodes_from_json(rows: Iterable[Mapping[str, Any]]) -> list[Node]:
    """Nodes as in result documents."""
    made: list[Node] = []
    for row in rows:
        if row.get("node") not in _KINDS:
            raise mistake(f"a mapping has no node `{row.get('node')}`", f"nodes: {', '.join(_KINDS)}")
        keys = {key: value for key, value in row.items() if key not in ("node", "nodes")}
        below = nodes_from_json(row["nodes"]) if "nodes" in row else None
        node = _KINDS[row["node"]].__new__(_KINDS[row["node"]])
        Node.__init__(node, below, **keys)
        made.append(node)
    return made
