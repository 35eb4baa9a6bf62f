"""The code of a system under test, where Holdfast can read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from holdfast.harness.spi.offered import Offered

Code = type | Callable[..., Any] | str | Path
"""A class, a function, `module:name` where a module cannot be imported, or a file."""


class SystemCode(NamedTuple):
    """Which code makes a system what it is.

    Attributes:
        packages: names of packages; a docstring in them that names a rule (`REC-06`) marks the place that keeps it.
        variant: what makes this variant differ from the system that it was made from, most telling first.
        replaced: what it stands in for in that system.
    """

    packages: tuple[str, ...] = ()
    variant: tuple[Code, ...] = ()
    replaced: tuple[Code, ...] = ()


@runtime_checkable
class ShowsCode(Protocol, metaclass=Offered):
    """What an adapter may have beside System, so that `holdfast rules ID` and the report lead to its code."""

    def code(self) -> SystemCode:
        """Its code. Nothing is run for it."""
