"""How long `holdfast certify reference` takes, and with --fresh how long it is from nothing to the first certificate.

python -m holdfast.suites.bench.certify [--fresh]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.model.journal import Title
from holdfast.suites.bench.figures import load, table, with_spread
from holdfast.suites.bench.peers.children import run_script

REPOSITORY = Path(__file__).resolve().parents[2]
PARTIAL_OR_CERTIFIED = 0
TITLES = tuple(Title)


def certify(python: Path, arguments: Sequence[str]) -> tuple[float, int, str]:
    """Run it once: seconds, exit code and the line with the title."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        command = [str(python.with_name("holdfast")), "certify", "reference", "--out", folder, *arguments]
        begin = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
    titles = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith(TITLES)]
    return seconds, done.returncode, titles[-1] if titles else "no title"


def install(folder: Path) -> tuple[float, Path]:
    """Install into a fresh virtual environment: seconds, and its interpreter.

    Raises:
        OSError: it fails.
    """
    begin = time.perf_counter()
    python = folder / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--editable", str(REPOSITORY)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(f"{' '.join(command)} failed: {done.stderr.strip()[-1000:]}")
    return time.perf_counter() - begin, python


def main(
    arguments: Annotated[list[str] | None, typer.Argument(help="more arguments of certify, behind --")] = None,
    repeats: Annotated[int, typer.Option(min=1)] = 3,
    fresh: Annotated[bool, typer.Option(help="install into a virtual environment of its own first")] = False,
) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        rows = []
        python = Path(sys.executable)
        if fresh:
            seconds, python = install(Path(folder) / "environment")
            rows.append(("install into a fresh environment", f"{seconds:.1f}", "0", ""))
        runs = [certify(python, arguments or ()) for _ in range(repeats)]
    codes = sorted({code for _, code, _ in runs})
    rows.append(
        (
            "holdfast certify reference",
            with_spread([seconds for seconds, _, _ in runs], 1),
            ", ".join(map(str, codes)),
            runs[-1][2],
        )
    )
    print(table(f"Wall time, {repeats} repeats; {load()}", ("what", "seconds", "exit code", "title"), rows))
    print("\ncommand: python -m holdfast.suites.bench.certify")
    raise typer.Exit(0 if codes == [PARTIAL_OR_CERTIFIED] else 1)


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
