"""Programs that run beside a test and never outlive it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Self


class Started(subprocess.Popen[str]):
    """A program whose `with` block kills it on the way out: that of `Popen` waits, for ever where a check fails inside.

    Args:
        command: the program and its arguments.
        options: of `Popen`; by default its input and output are pipes of text.
    """

    def __init__(self, *command: str | Path, **options: Any) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        super().__init__(command, **(pipes | options))

    @classmethod
    def python(cls, code: str, *arguments: str | Path, **options: Any) -> Self:
        """Python that executes this code."""
        return cls(sys.executable, "-c", code, *arguments, **options)

    def read_line(self) -> str:
        """The next line of its output, without the end of line; empty once there is none."""
        assert self.stdout is not None
        return self.stdout.readline().rstrip("\n")

    def write_line(self, line: str = "") -> None:
        """Send it a line."""
        assert self.stdin is not None
        self.stdin.write(f"{line}\n")
        self.stdin.flush()

    def __exit__(self, *raised: Any) -> None:
        self.kill()
        super().__exit__(*raised)
