"""The pytest plugin, from the outside: options, skips with a reason, a required tier, one process a group."""

from __future__ import annotations

import re
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

GROUPS = """
import pytest

@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("group", [
    pytest.param("containers", marks=pytest.mark.tier("containers")),
    pytest.param("spark", marks=pytest.mark.tier("spark")),
    pytest.param("own", marks=[pytest.mark.tier("spark"), pytest.mark.xdist_group("own")]),
    pytest.param("none"),
])
def test_it(group, number):
    pass
"""
"""Twice over: in two files."""
RAN = re.compile(r"^\[(gw\d)\] .*(?:PASSED|SKIPPED) \S+::test_it\[(\w+)-\d\]", re.MULTILINE)


def run_pytest(folder: Path, *arguments: str, body: str = BODY) -> tuple[int, str]:
    for name in ("test_tiers.py", "test_more.py") if body == GROUPS else ("test_tiers.py",):
        (folder / name).write_text(body)
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


@pytest.mark.parametrize("mode", [(), ("--dist=loadgroup",)])
def test_each_group_stays_in_one_process_and_begins_before_what_is_in_none(
    tmp_path: Path, mode: tuple[str, ...]
) -> None:
    code, text = run_pytest(tmp_path, "-v", "-n3", *mode, body=GROUPS)
    assert code == 0, text
    ran = [(group, process) for process, group in RAN.findall(text)]
    assert len(ran) == 2 * 4 * 4, text
    processes = {group: {process for each, process in ran if each == group} for group, _ in ran}
    assert [len(processes[group]) for group in ("containers", "spark", "own")] == [1, 1, 1], text
    first = {process: group for group, process in reversed(ran)}
    assert sorted(first.values()) == ["containers", "own", "spark"], text


def test_the_plugin_imports_nothing_of_ours_at_startup() -> None:
    code = (
        "import sys, holdfast.harness.plugin;"
        "print(sorted(name for name in sys.modules if name.startswith('holdfast.harness.') or name == 'numpy'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['holdfast.harness.plugin']"
