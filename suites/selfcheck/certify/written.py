"""What `holdfast new` writes, what `holdfast certify` makes of it there, and what every kit must find."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.model.journal import Journal, Status
from holdfast.suites.certify import programs
from holdfast.suites.certify.check import CheckVerdict

HOLDFAST = str(Path(sys.executable).with_name("holdfast"))
"""The command itself: run as a module, Python would add the current folder for it."""


def written(kind: str, folder: Path, *arguments: str) -> Path:
    """A new folder of that kind; what is in it is called `mine`."""
    assert cli.execute(["new", kind, "mine", "--out", str(folder / "mine"), *arguments]) == 0
    return folder / "mine"


def certified(folder: Path, *arguments: str) -> tuple[int, Journal]:
    """By the command, in that folder."""
    command = [HOLDFAST, "certify", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    results = folder / "holdfast-out/latest/results.json"
    assert results.exists(), ended.stderr
    return ended.returncode, msgspec.json.decode(results.read_bytes(), type=Journal)


def rule_of(twin: Path) -> str:
    """As its first line names it."""
    found = re.match(r"\W+Wrong, against ([A-Z0-9]+-\d+): ", twin.read_text())
    assert found is not None
    return found[1]


def statuses(journal: Journal, status: Status) -> set[str]:
    """Rules of that status."""
    return {each.rule.id for each in journal.rules if each.status is status}


@contextmanager
def unshrunk() -> Iterator[None]:
    """Drawn programs that fail stay as they were drawn: where it is enough that one fails, shrinking it costs most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "TRIES", 0)
        yield


def refuting(verdict: CheckVerdict, *rules: str) -> CheckVerdict:
    """A verdict by which a part is wrong, and violates the rule of the check, or one of these."""
    assert verdict.status is Status.FAIL, verdict.text
    assert verdict.rule in {verdict.check.rule, *rules}, verdict.text
    return verdict
