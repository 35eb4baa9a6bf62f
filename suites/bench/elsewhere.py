"""A program run with the `holdfast` that lies in some folder, whatever is installed."""

from __future__ import annotations

import sys
from pathlib import Path

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
