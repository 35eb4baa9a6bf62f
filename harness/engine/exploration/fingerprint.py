"""Which code ran: the same wherever it is installed, another as soon as one line differs."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from holdfast.harness.engine.site.registry import Toolbox

_LENGTH = 12


def fingerprint(system: object, tools: Toolbox) -> str:
    """A digest of the sources of every package that takes part in a run: judge, system, faults, workloads, oracles."""
    digest = hashlib.sha256()
    for name, root in packages(system, tools):
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            digest.update(f"{name}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:_LENGTH]


def packages(system: object, tools: Toolbox) -> list[tuple[str, Path]]:
    """Every package that takes part in a run: its name, and its folder or file."""
    modules = {__name__, type(system).__module__}
    for things in (tools.faults.values(), tools.workloads.values(), tools.oracles):
        modules |= {type(thing).__module__ for thing in things}
    return sorted(set(map(_package, modules)))


def _package(module: str) -> tuple[str, Path]:
    """The outermost package around a module that is a folder with an `__init__.py`, or the module's own file."""
    parts = module.split(".")
    outwards = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    name, file = next((name, file) for name in outwards if (file := getattr(sys.modules[name], "__file__", None)))
    path = Path(file)
    return name, path.parent if path.name == "__init__.py" else path
