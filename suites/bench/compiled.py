"""The optional build step: the simulator's hot modules compiled by mypyc from the same sources, and a bench on them.

Copies of the packages go to a folder, the modules below are compiled there in place, and the bench named on the command
line runs with that folder first on its path. Nothing of the checkout changes, and a run has the same trace hash.

python -m holdfast.suites.bench.compiled [--folder build/compiled] -- holdfast.suites.bench.simulator --mix a
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

PACKAGES = ("harness", "faults", "fixtures", "suites")
COMPILED = (
    "harness/sim/kernel.py",
    "harness/sim/disk.py",
    "harness/sim/streams.py",
    "harness/oracles/*.py",
    "harness/oracles/*/*.py",
    "fixtures/reference/protocol/**/*.py",
    "fixtures/reference/drivers/simulated/*.py",
)
INTERPRETED = (
    "__init__.py",
    "messages.py",
    "checkpoint_metrics.py",
    "steps.py",
    "stored_identities.py",
)
"""Structs of msgspec are C already, and compiled they lose what their class line asks for, such as being frozen. A
compiled class that is a Sequence takes every tuple for one of its own."""
SETUP = """
import sys
from mypyc.build import mypycify
from setuptools import setup

options = ["--namespace-packages", "--explicit-package-bases", "--ignore-missing-imports"]
setup(ext_modules=mypycify(options + sys.argv.pop().split(","), opt_level="3", multi_file=True))
"""
START = """
import runpy, sys
sys.meta_path = [finder for finder in sys.meta_path if "__editable__" not in repr(finder)]
sys.path.insert(0, sys.argv.pop(1))
sys.argv.pop(0)
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def compile_copies(folder: Path) -> None:
    """Copy the packages into `folder`/holdfast and compile the hot modules there."""
    top = folder / "holdfast"
    shutil.rmtree(folder, ignore_errors=True)
    for package in PACKAGES:
        spec = find_spec(f"holdfast.{package}")
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, top / package, ignore=shutil.ignore_patterns("__pycache__"))
    chosen = sorted(
        str(path.relative_to(folder))
        for pattern in COMPILED
        for path in top.glob(pattern)
        if path.name not in INTERPRETED
    )
    (folder / "setup.py").write_text(SETUP)
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace", ",".join(chosen)], cwd=folder, check=True
    )


def main(
    command: Annotated[list[str], typer.Argument(help="module and arguments to run on the compiled copies")],
    folder: Annotated[Path, typer.Option(help="where the copies go")] = Path("build/compiled"),
    keep: Annotated[bool, typer.Option(help="use the copies that are there")] = False,
) -> None:
    """Compile, then run."""
    folder = folder.resolve()
    if not keep or not folder.exists():
        compile_copies(folder)
    environment = os.environ | {"PYTHONPATH": ""}
    raise typer.Exit(subprocess.run([sys.executable, "-c", START, str(folder), *command], env=environment).returncode)


if __name__ == "__main__":
    typer.run(main)
