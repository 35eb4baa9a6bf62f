"""The pytest plugin, from the outside: options, skips with a reason, and a required tier."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BODY = """
import pytest

@pytest.mark.tier("sim")
def test_simulated(holdfast_seed):
    assert holdfast_seed == 7

@pytest.mark.tier("nonesuch")
def test_elsewhere():
    raise AssertionError("must not run")
"""


def run_pytest(folder: Path, *arguments: str) -> tuple[int, str]:
    (folder / "test_tiers.py").write_text(BODY)
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_missing_tier_is_skipped_with_its_reason(tmp_path: Path) -> None:
    code, text = run_pytest(tmp_path, "--holdfast-seed=7")
    assert code == 0, text
    assert "1 passed, 1 skipped" in text
    assert "tier nonesuch is no tier" in text
    assert "holdfast: sim, " in text


@pytest.mark.parametrize(("tier", "code"), [("sim", 0), ("nonesuch", 4)])
def test_a_required_tier_must_be_one(tmp_path: Path, tier: str, code: int) -> None:
    found, text = run_pytest(tmp_path, "--holdfast-seed=7", f"--require-tier={tier}")
    assert found == code, text
    assert code == 0 or "--require-tier is 'nonesuch'; allowed are sim, process, spark, containers." in text


def test_the_plugin_imports_nothing_of_ours_at_startup() -> None:
    code = (
        "import sys, holdfast.harness.plugin;"
        "print(sorted(name for name in sys.modules if name.startswith('holdfast.harness.') or name == 'numpy'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['holdfast.harness.plugin']"
