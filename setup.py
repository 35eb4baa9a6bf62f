"""The packages; with HOLDFAST_COMPILE=1 also the simulator's hot modules, compiled by mypyc from the same sources.

    HOLDFAST_COMPILE=1 pip wheel --no-build-isolation --no-deps --wheel-dir build/wheels .

wants the extra `develop` installed. The wheel holds the Python sources, too: they are the specification, and a run has
the same digests and trace hashes with both. It is for the reference alone: a wrong variant is a subclass that is not
compiled, and compiled code may pass its methods over.
"""

from __future__ import annotations

import ast
import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setuptools import Extension

TOP = ("harness", "faults", "fixtures", "suites", "reports")
MYPY = "2.4."
"""The compiler that was tried; another may take another subset of the language."""
COMPILED = (
    "harness/sim/kernel.py",
    "harness/sim/disk.py",
    "harness/sim/streams.py",
    "harness/oracles/*.py",
    "harness/oracles/*/*.py",
    "fixtures/reference/protocol/**/*.py",
    "fixtures/reference/drivers/simulated/*.py",
    "fixtures/reference/drivers/*node.py",
    "fixtures/reference/drivers/audit.py",
    "fixtures/reference/drivers/*outbox.py",
    "fixtures/reference/drivers/message_faults.py",
    "harness/engine/executor/conductor.py",
    "harness/engine/executor/judge.py",
    "harness/engine/executor/phases.py",
    "harness/engine/executor/progress.py",
)
INTERPRETED = ("__init__.py", "errors.py", "job_storages.py", "stored_identities.py")
"""Besides modules with structs of msgspec: these are C already, and compiled they lose what their class line asks for,
such as being frozen, and are decoded as something else. Errors derive from built-in classes, which compiled ones
cannot. A class of `job_storages.py` has an heir among the connectors, which are not compiled: no instance of that could
be made. A compiled class that is a Sequence takes every tuple for one of its own."""
OPTIONS = (
    "--namespace-packages",
    "--explicit-package-bases",
    "--ignore-missing-imports",
    "--disable-error-code=type-abstract",
)


def modules(root: Path) -> list[Path]:
    """What is compiled of the packages in a folder."""
    paths = {path for pattern in COMPILED for path in root.glob(pattern)}
    return sorted(path for path in paths if path.name not in INTERPRETED and not structs(root, path))


def structs(root: Path, path: Path) -> set[str]:
    """The structs of msgspec that a module of the packages in a folder defines; a base may be that of another."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    home = {alias.name: node.module or "" for node in imports for alias in node.names}
    found: set[str] = set()
    for each in (node for node in nodes if isinstance(node, ast.ClassDef)):
        for base in (ast.unparse(base).partition("[")[0] for base in each.bases):
            other = root.joinpath(*home.get(base, "").split(".")[1:]).with_suffix(".py")
            if base.endswith("Struct") or base in found or (other.is_file() and base in structs(root, other)):
                found.add(each.name)
    return found


def compiled() -> list[Extension]:
    """Compile copies that lie where their names say: the checkout is no folder `holdfast`."""
    if not version("mypy").startswith(MYPY):
        raise SystemExit(f"mypy {version('mypy')} was not tried as the compiler: install mypy {MYPY}x.")
    from mypyc.build import mypycify

    here = Path.cwd()
    copies = here / "build" / "compiled"
    shutil.rmtree(copies, ignore_errors=True)
    for left in (here / "build").glob(
        "lib*"
    ):  # A module that is not compiled any more would be in the wheel as it was.
        shutil.rmtree(left)
    for top in TOP:
        shutil.copytree(here / top, copies / "holdfast" / top, ignore=shutil.ignore_patterns("__pycache__"))
    chosen = modules(copies / "holdfast")
    os.chdir(copies)
    try:
        return mypycify(
            [*OPTIONS, *(str(path.relative_to(copies)) for path in chosen)],
            opt_level="3",
            multi_file=True,
            target_dir=str(here / "build" / "mypyc"),
        )
    finally:
        os.chdir(here)


# A build asks for metadata first, with other commands: nothing is compiled for that.
WANTED = os.environ.get("HOLDFAST_COMPILE") == "1" and "bdist_wheel" in sys.argv  # noqa: TID251 - of a build

if __name__ == "__main__":
    # Not above: tests read what is compiled, also where no setuptools is installed.
    from setuptools import find_namespace_packages, setup

    below = [f"{top}.{name}" for top in TOP for name in find_namespace_packages(top)]
    setup(
        packages=[f"holdfast.{name}" for name in (*TOP, *below)],
        ext_modules=compiled() if WANTED else [],
    )
