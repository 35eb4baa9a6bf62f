"""Something run on the wheel whose hot modules are compiled (see setup.py), beside the checkout, which stays as it is.

python -m holdfast.suites.bench.compiled [--folder build/wheel] -- holdfast.suites.bench.simulator --mix a
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

_START = """
import runpy, sys
sys.meta_path = [finder for finder in sys.meta_path if "__editable__" not in repr(finder)]
sys.path = [sys.argv.pop(1), *(place for place in sys.path if "__editable__" not in place)]
sys.argv.pop(0)
if sys.argv[0].endswith(".py"):
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def on(folder: Path, program: str, *arguments: str) -> list[str]:
    """The command line.

    Args:
        folder: what holds `holdfast`.
        program: a module, or the path of a script that ends with .py.
        arguments: its own.
    """
    return [sys.executable, "-c", _START, str(folder), program, *arguments]


FLAG = "HOLDFAST_COMPILE"


def build(folder: Path) -> None:
    """Make the wheel of the checkout, and unpack it into `folder`."""
    spec = find_spec("holdfast.harness")
    assert spec is not None
    assert spec.origin is not None
    shutil.rmtree(folder, ignore_errors=True)
    options = ("--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", str(folder))
    command = [sys.executable, "-m", "pip", "wheel", *options, str(Path(spec.origin).parent.parent)]
    subprocess.run(command, env=os.environ | {FLAG: "1"}, check=True)
    [wheel] = folder.glob("*.whl")
    shutil.unpack_archive(wheel, folder, "zip")


def main(
    command: Annotated[list[str], typer.Argument(help="module and arguments to run on the compiled wheel")],
    folder: Annotated[Path, typer.Option(help="where the wheel goes")] = Path("build/wheel"),
    keep: Annotated[bool, typer.Option(help="use the wheel that is there")] = False,
) -> None:
    """Compile, then run."""
    folder = folder.resolve()
    if not keep or not folder.exists():
        build(folder)
    if not list(folder.glob("holdfast/harness/sim/kernel.*.so")):
        raise SystemExit(f"{folder} holds no compiled modules: build the wheel again, without --keep.")
    # Compiled code that is wrong may end the process without a word.
    environment = os.environ | {"PYTHONPATH": "", "PYTHONFAULTHANDLER": "1"}
    raise typer.Exit(subprocess.run(on(folder, *command), env=environment).returncode)


if __name__ == "__main__":
    typer.run(main)
