"""Mappings as the JSON form of LoopTrees, and the ways in which a tile can be cut."""

import json


def storage(tensors, component, **marks):
    return {"node": "Storage", "tensors": list(tensors), "component": component, **marks}


def temporal(variable, tile):
    return {"node": "Temporal", "rank_variable": variable, "tile_shape": tile}


def sequential(children):
    return {"node": "Sequential", "nodes": [{"node": "Nested", "nodes": child} for child in children]}


def compute(einsum, component):
    return {"node": "Compute", "einsum": einsum, "component": component}


def collective(type, tensor, source, over, destination=None, operation=None, algorithm="auto"):
    node = {"node": "Collective", "type": type, "tensor": tensor, "src": source, "over": list(over)}
    if destination and destination != source:
        node["dst"] = destination
    if operation:
        node["op"] = operation
    return [{**node, "algorithm": algorithm}]


def to_yaml(nodes):
    """The mapping as a spec file."""
    return f"mapping: {{nodes: {_text(nodes)}}}\n"


def _text(value):
    if isinstance(value, list):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    if isinstance(value, dict) and "node" in value:
        keys = ", ".join(f"{key}: {_text(item)}" for key, item in value.items() if key != "node")
        return f"!{value['node']} {{{keys}}}"
    return json.dumps(value)


def spread(variable, size, dimensions):
    """Spatial loops that spread `size` over dimensions (component, name, fanout) as far as it divides; what is left
    of it, and the names used."""
    nodes, used = [], []
    for component, name, fanout in dimensions:
        while fanout > 1 and size % fanout:
            fanout -= 1
        if fanout == 1:
            continue
        size //= fanout
        nodes.append({"node": "Spatial", "rank_variable": variable, "tile_shape": size, "component": component, "name": name})
        used.append(name)
    return nodes, size, used


def steps(sizes):
    """Temporal loops that take tiles (variable, size) apart into points."""
    return [temporal(variable, 1) for variable, size in sizes if size > 1]


def divisors(size):
    """Divisors of a size that are a power of two times its odd part or less: ways to cut it in halves."""
    found = {1, size}
    while size % 2 == 0:
        size //= 2
        found.add(size)
    tile = 1
    while max(found) % tile == 0:
        found.add(tile)
        tile *= 2
    return sorted(found)
