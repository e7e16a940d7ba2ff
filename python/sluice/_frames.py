"""Results as pandas frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ._errors import SluiceError

if TYPE_CHECKING:
    import pandas as pd

    from ._result import MappingResult, Result


def pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise SluiceError("frames need pandas: pip install pandas (or the extra sluice[notebook])") from error
    return pandas


def of_rows(rows: Iterable[Any], kind: Any) -> pd.DataFrame:
    columns = [field.name for field in dataclasses.fields(kind)]
    return pandas().DataFrame([[getattr(row, c) for c in columns] for row in rows], columns=columns)


def of_mappings(result: Result) -> pd.DataFrame:
    columns = ["legal", "energy_j", "latency_s", "edp_js", "latency_cycles", "area_m2", "leak_energy_j"]
    table = [
        [m.is_legal, m.energy_j, m.latency_s, m.edp_js, m.latency_cycles, m.area_m2, m.leak_energy_j]
        for m in result.mappings
    ]
    return pandas().DataFrame(table, columns=columns).rename_axis("mapping")


def of_all(result: Result, frame: Callable[[MappingResult], pd.DataFrame]) -> pd.DataFrame:
    frames = [frame(mapping) for mapping in result.mappings]
    if not frames:
        return pandas().DataFrame()
    for number, part in enumerate(frames):
        part.insert(0, "mapping", number)
    return pandas().concat(frames, ignore_index=True)
