"""Sluice decides how tensors flow through a machine-learning accelerator, and says what that costs.

>>> import sluice as sl
>>> result = sl.map("matmul", "simple", set={"M": 64})
>>> result.best.fusion_groups
(('Z',),)

The guide is docs/python.md.
"""

from . import tree
from ._api import (
    Comparison,
    Imported,
    OperatorCount,
    check,
    compare,
    evaluate,
    execute,
    import_,
    list_,
    problem,
    report,
)
from ._bounds import BoundsPoint, BoundsResult, Least, LeastCosts
from ._design import Design, DesignOutcome, DesignResult, DesignWorkload
from ._errors import (
    Diagnostic,
    ExtensionError,
    InternalError,
    Interrupted,
    NoMappingError,
    SluiceError,
    SpecError,
)
from ._execution import Complaint, CountRow, Execution, ExecutionResult, NumericCheck
from ._extensions import (
    ActionNumbers,
    Attribute,
    ComponentClass,
    ComponentNumbers,
    Control,
    CountedMapping,
    LatencyPolicy,
    Mapper,
    NoMapping,
    Problem,
)
from ._map import bounds, design, map, sweep
from ._progress import Progress, print_progress
from ._result import (
    Bounds,
    CollectiveLatencyRow,
    EnergyRow,
    Guarantee,
    LatencyRow,
    MappingResult,
    NetworkRow,
    OccupancyRow,
    Reason,
    Result,
    Search,
    Violation,
)
from ._sluice import version as _version
from ._specs import (
    Arch,
    Component,
    ComponentAction,
    Constraints,
    Einsum,
    EinsumInfo,
    Mapping,
    Spec,
    Specs,
    Tensor,
    Training,
    Workload,
    load,
)
from ._sweep import SweepResult, SweepRun
from ._why import Answer, BusyComponent, EinsumAccount, ExchangeChoice, Explanation, HoldingChoice, ShadowPrice
from .arch import Action, Compute, Container, Dimension, Fork, Memory, Network, Toll

__version__ = _version()

__all__ = [
    "Action",
    "ActionNumbers",
    "Answer",
    "Arch",
    "Attribute",
    "Bounds",
    "bounds",
    "BoundsPoint",
    "BoundsResult",
    "BusyComponent",
    "check",
    "CollectiveLatencyRow",
    "compare",
    "Comparison",
    "Complaint",
    "Component",
    "ComponentAction",
    "ComponentClass",
    "ComponentNumbers",
    "Compute",
    "Constraints",
    "Container",
    "Control",
    "CountedMapping",
    "CountRow",
    "Design",
    "design",
    "DesignOutcome",
    "DesignResult",
    "DesignWorkload",
    "Diagnostic",
    "Dimension",
    "Einsum",
    "EinsumAccount",
    "EinsumInfo",
    "EnergyRow",
    "evaluate",
    "ExchangeChoice",
    "execute",
    "Execution",
    "ExecutionResult",
    "Explanation",
    "ExtensionError",
    "Fork",
    "Guarantee",
    "HoldingChoice",
    "import_",
    "Imported",
    "InternalError",
    "Interrupted",
    "LatencyPolicy",
    "LatencyRow",
    "Least",
    "LeastCosts",
    "list_",
    "load",
    "map",
    "Mapper",
    "Mapping",
    "MappingResult",
    "Memory",
    "Network",
    "NetworkRow",
    "NoMapping",
    "NoMappingError",
    "NumericCheck",
    "OccupancyRow",
    "OperatorCount",
    "print_progress",
    "Problem",
    "problem",
    "Progress",
    "Reason",
    "report",
    "Result",
    "Search",
    "ShadowPrice",
    "SluiceError",
    "Spec",
    "SpecError",
    "Specs",
    "sweep",
    "SweepResult",
    "SweepRun",
    "Tensor",
    "Toll",
    "Training",
    "tree",
    "Violation",
    "Workload",
]
