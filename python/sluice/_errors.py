"""What can go wrong, as exceptions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._bounds import BoundsResult
    from ._design import DesignResult
    from ._result import Reason, Result
    from ._sweep import SweepResult

__all__ = [
    "Diagnostic",
    "ExtensionError",
    "InternalError",
    "Interrupted",
    "NoMappingError",
    "SluiceError",
    "SpecError",
]


@dataclass(frozen=True)
class Diagnostic:
    """One mistake in a spec (or a remark on it), with its place."""

    severity: str  #: ``error``, ``warning`` or ``note``
    message: str
    file: str | None = None
    line: int | None = None  #: from 1
    column: int | None = None  #: from 1
    source_line: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = "".join(f"{part}:" for part in (self.file, self.line, self.column) if part is not None)
        text = f"{place} {self.severity}: {self.message}".lstrip()
        if self.source_line is not None:
            text += f"\n  {self.source_line}"
            if self.column is not None:
                text += "\n  " + " " * (self.column - 1) + "^"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return text


def diagnostics_from(rows: list[dict[str, Any]]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(**row) for row in rows)


class SluiceError(Exception):
    """The base of all errors of this package."""


class SpecError(SluiceError, ValueError):
    """Something is wrong with the specs, or with what was asked for.

    Its text is what the command line prints: every mistake with file, line, column and hint.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    @classmethod
    def _from_json(cls, text: str) -> SpecError:
        return cls(diagnostics_from(json.loads(text)))

    @property
    def first(self) -> Diagnostic:
        """The first error."""
        errors = [d for d in self.diagnostics if d.severity == "error"]
        return errors[0] if errors else self.diagnostics[0]

    @property
    def file(self) -> str | None:
        return self.first.file

    @property
    def line(self) -> int | None:
        return self.first.line

    @property
    def column(self) -> int | None:
        return self.first.column

    @property
    def message(self) -> str:
        return self.first.message

    @property
    def hint(self) -> str | None:
        return self.first.hint

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)


def mistake(message: str, hint: str | None = None) -> SpecError:
    """An error that belongs to no place in a file."""
    return SpecError((Diagnostic("error", message, hint=hint),))


class NoMappingError(SluiceError):
    """Raised by :attr:`Result.best` where a search found nothing: its text says why."""

    def __init__(self, message: str, reason: Reason | None = None) -> None:
        super().__init__(message, reason)
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


class ExtensionError(SluiceError):
    """A mapper, a latency policy or a component class in Python raised; ``__cause__`` is what."""


class InternalError(SluiceError, RuntimeError):
    """A bug in Sluice. Please report it, with the specs."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a search; :attr:`result` is what it had found by then."""

    def __init__(self, result: Result | BoundsResult | SweepResult | DesignResult) -> None:
        super().__init__("interrupted")
        self.result = result
