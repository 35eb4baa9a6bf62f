"""Where Flink is missing, its slice is skipped; where its tier is required, as in `.ci/nightly`, that is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SLICE = (str(Path(__file__).with_name("test_runs.py")), "-m", "nightly", "-k", "keeps_its_rules")


@pytest.mark.parametrize(
    ("required", "code", "outcome"), [((), 0, "2 skipped"), (("--holdfast-require-tier=process",), 1, "2 failed")]
)
def test_a_slice_without_flink(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, required: tuple[str, ...], code: int, outcome: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *required, *SLICE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert outcome in done.stdout
    assert "flink is not installed on this machine: run holdfast" in " ".join(done.stdout.split())
