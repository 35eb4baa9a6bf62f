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

FLAG = "HOLDFAST_COMPILE"
START = """
import runpy, sys
sys.meta_path = [finder for finder in sys.meta_path if "__editable__" not in repr(finder)]
sys.path.insert(0, sys.argv.pop(1))
sys.argv.pop(0)
import holdfast.harness.sim.kernel as kernel
assert kernel.__file__.endswith(".so"), f"{kernel.__file__} is not compiled: build the wheel again."
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


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
    environment = os.environ | {"PYTHONPATH": ""}
    raise typer.Exit(subprocess.run([sys.executable, "-c", START, str(folder), *command], env=environment).returncode)


if __name__ == "__main__":
    typer.run(main)
