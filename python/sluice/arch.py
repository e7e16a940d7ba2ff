"""Nodes of an architecture built in code. Keys and their meaning: docs/specs.md.

What is wrong with one is said when the architecture is read, at the line of its YAML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from ._yaml import Tagged, checked_items, without_none

__all__ = ["Action", "Compute", "Container", "Dimension", "Fork", "Memory", "Network", "Node", "Toll"]

Number = Union[float, int, str]  #: with a unit where it is a text: ``"7 pJ/bit"``


class Action:
    """What a component can be asked to do, and what that costs."""

    def __init__(
        self,
        name: str,
        *,
        energy: Number | None = None,
        throughput: Number | None = None,
        bits_per_action: Number | None = None,
        values_per_action: Number | None = None,
        **more: Any,
    ) -> None:
        self.keys = without_none(
            {
                "name": name,
                "energy": energy,
                "throughput": throughput,
                "bits_per_action": bits_per_action,
                "values_per_action": values_per_action,
                **more,
            }
        )


class Dimension:
    """One dimension of a fanout."""

    def __init__(
        self,
        name: str,
        fanout: int | str,
        *,
        may_reuse: str | None = None,
        reuse: str | None = None,
        min_usage: Number | None = None,
    ) -> None:
        self.keys = without_none(
            {"name": name, "fanout": fanout, "may_reuse": may_reuse, "reuse": reuse, "min_usage": min_usage}
        )


class Node:
    """A node of the hierarchy. Any key that spec files know may be given by name."""

    def __init__(
        self,
        name: str | None,
        *,
        actions: Iterable[Action] | None = None,
        spatial: Mapping[str, int] | Sequence[Dimension] | None = None,
        **keys: Any,
    ) -> None:
        of_node = f"of {type(self).__name__} {name}"
        dimensions = (
            [Dimension(dimension, fanout) for dimension, fanout in spatial.items()]
            if isinstance(spatial, Mapping)
            else None
            if spatial is None
            else checked_items(spatial, (Dimension,), f"the spatial dimensions {of_node}", "sluice.Dimension")
        )
        given = None if actions is None else checked_items(actions, (Action,), f"the actions {of_node}", "sluice.Action")
        self.keys = without_none(
            {
                "name": name,
                **keys,
                "spatial": None if dimensions is None else [dimension.keys for dimension in dimensions],
                "actions": None if given is None else [action.keys for action in given],
            }
        )

    def tagged(self) -> Tagged:
        return Tagged(type(self).__name__, self.keys)


def _tensors(keep: str | None, may_keep: str | None, back: str | None, given: Any) -> Any:
    chosen = without_none({"keep": keep, "may_keep": may_keep, "back": back})
    return {**chosen, **(given or {})} or None


class Memory(Node):
    """Holds tiles of tensors: of those in ``keep`` always, of those in ``may_keep`` where that pays."""

    def __init__(
        self,
        name: str,
        *,
        size: Number,
        keep: str | None = None,
        may_keep: str | None = None,
        back: str | None = None,
        tensors: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(name, size=size, tensors=_tensors(keep, may_keep, back, tensors), **more)


class Toll(Node):
    """Charges for what crosses it, and holds nothing."""

    def __init__(
        self,
        name: str,
        *,
        direction: str | None = None,
        keep: str | None = None,
        may_keep: str | None = None,
        tensors: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(name, direction=direction, tensors=_tensors(keep, may_keep, None, tensors), **more)


class Container(Node):
    """Fans out what follows it: cores, processing elements."""


class Network(Node):
    """Links between the instances of the container that follows it."""

    def __init__(
        self,
        name: str,
        *,
        topology: str,
        link_bandwidth: Number | None = None,
        hop_energy: Number | None = None,
        **more: Any,
    ) -> None:
        super().__init__(name, topology=topology, link_bandwidth=link_bandwidth, hop_energy=hop_energy, **more)


class Compute(Node):
    """Does the operations of Einsums."""


class Fork(Node):
    """A branch to another compute."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        super().__init__(None)
        self.keys = {"nodes": tagged_nodes(nodes)}


def tagged_nodes(nodes: Iterable[Node]) -> list[Tagged]:
    """Nodes as a spec file has them.

    :raises TypeError: where one is no node of an architecture
    """
    kinds = "sluice.Memory, Toll, Container, Network, Compute or Fork"
    return [node.tagged() for node in checked_items(nodes, (Node,), "the nodes of an architecture", kinds)]
