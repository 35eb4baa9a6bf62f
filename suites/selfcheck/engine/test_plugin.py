"""The pytest plugin, from the outside: options, skips with a reason, a required tier, one process a group."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from xdist.remote import Producer

from holdfast.harness.groups import GroupScheduling

BODY = """
import pytest

@pytest.mark.tier("sim")
def test_simulated(holdfast_seed):
    assert holdfast_seed == 7

@pytest.mark.tier("containers")
def test_elsewhere():
    raise AssertionError("must not run")
"""

CASES = """
import pytest
from holdfast.harness.plugin import case_parameters

@pytest.mark.parametrize(("case", "tier"), case_parameters("persists-first"))
def test_case(case, tier, run_case):
    pass
"""
MARKED = """
import pytest
from holdfast.harness.faults import kill

KILL = kill("worker", after_checkpoint=2)

@pytest.mark.holdfast(rules="E2E-02", faults=[KILL], records=300)
def test_right(holdfast):
    holdfast.certify("reference")

@pytest.mark.holdfast(rules=("BAR-03", "BAR-04"), tier="sim")
def test_rules(holdfast):
    holdfast.certify("reference")

@pytest.mark.holdfast(faults=[KILL], records=300)
def test_wrong(holdfast):
    holdfast.certify("reference+starts-empty")

@pytest.mark.holdfast(faults=[KILL], rune=2)
def test_misspelt(holdfast):
    holdfast.certify("reference")

@pytest.mark.holdfast(rules="E2E-99")
def test_no_rule(holdfast):
    holdfast.certify("reference")

@pytest.mark.holdfast(faults=[kill("coordinator")])
def test_not_applicable(holdfast):
    holdfast.certify("persists-first")

def test_none_of_ours(holdfast):
    holdfast.certify("collections:OrderedDict")
"""
THEIR_OPTIONS = """
def pytest_addoption(parser):
    for name in ("image", "require-tier", "kafka-bootstrap", "s3-endpoint", "spark-master", "allow-faults-on", "seed"):
        parser.addoption(f"--{name}", default="")

def pytest_configure(config):
    config.addinivalue_line("markers", "tier: of a customer")
"""
THEIR_TESTS = """
import pytest

@pytest.mark.tier("gold")
def test_price(request):
    assert request.config.getoption("--image") == "theirs"

@pytest.mark.tier
def test_tier():
    pass
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
EVERY_TIER = """
from holdfast.harness.engine.site import machine

machine.lacking = lambda tier: ""
"""
"""As a `conftest.py`: nothing of a tier is there to be used, and nothing is left out on a machine that lacks it."""
RAN = re.compile(r"^\[(gw\d)\] .*(?:PASSED|SKIPPED) \S+::test_it\[(\w+)-\d\]", re.MULTILINE)


def run_pytest(folder: Path, *arguments: str, body: str = BODY) -> tuple[int, str]:
    for name in ("test_tiers.py", "test_more.py") if body == GROUPS else ("test_tiers.py",):
        (folder / name).write_text(body)
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments]
    done = subprocess.run(
        [*command, str(folder)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "DOCKER_HOST": "unix:///none"},  # noqa: TID251 - of the test
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("mode", [(), pytest.param(("-n2",), marks=pytest.mark.nightly)])
def test_what_needs_a_missing_tier_is_left_out_with_its_reason(tmp_path: Path, mode: tuple[str, ...]) -> None:
    code, text = run_pytest(tmp_path, "--holdfast-seed=7", *mode)
    assert code == 0, text
    assert "1 passed" in text
    assert "skipped" not in text
    reason = "tier containers needs a Docker engine that responds at unix:///none"
    assert f"holdfast: left out 1 test of what does not apply (1 because {reason}" in text
    assert ("workers" in text) is bool(mode), "a folder of a user is spread only when asked"


@pytest.mark.parametrize("mode", [(), ("-n2",)])
def test_a_project_that_uses_none_of_it_notices_nothing(tmp_path: Path, mode: tuple[str, ...]) -> None:
    (tmp_path / "conftest.py").write_text(THEIR_OPTIONS)
    code, text = run_pytest(tmp_path, "--image=theirs", *mode, body=THEIR_TESTS)
    assert code == 0, text
    assert "2 passed" in text
    assert "holdfast" not in re.sub(r"plugins: .*", "", text).replace(str(Path(__file__).parents[3]), "")


@pytest.mark.parametrize(("tier", "code"), [("sim", 0), ("nonesuch", 4)])
def test_a_required_tier_must_be_one(tmp_path: Path, tier: str, code: int) -> None:
    found, text = run_pytest(tmp_path, "--holdfast-seed=7", f"--holdfast-require-tier={tier}")
    assert found == code, text
    assert code == 0 or "--holdfast-require-tier is 'nonesuch'; allowed are sim, process, spark, containers." in text


def test_the_mark_and_the_fixture(tmp_path: Path) -> None:
    code, text = run_pytest(tmp_path, "-v", body=MARKED)
    assert code == 1, text
    outcomes = dict(re.findall(r"::(test_\w+) (PASSED|FAILED|SKIPPED)", text))
    assert outcomes == {
        "test_right": "PASSED",
        "test_rules": "PASSED",
        "test_wrong": "FAILED",
        "test_misspelt": "FAILED",
        "test_no_rule": "FAILED",
        "test_not_applicable": "SKIPPED",
        "test_none_of_ours": "FAILED",
    }
    assert "harness/" not in text.replace("holdfast.harness", ""), "no frame of ours"
    shown = dict(re.findall(r"^(what|when|why|next|run) +(.*)$", text, re.MULTILINE))
    assert "COORD/restored-not-latest" in shown["why"]
    assert re.fullmatch(r"holdfast replay holdfast-out/pytest/tests/test_tiers.py-test_wrong/runs/\S+", shown["next"])
    assert (tmp_path / shown["run"] / "plan.json").is_file()
    assert "unknown field `rune`; fields are rules, faults, runs, tier, records" in text
    assert "unknown rule 'E2E-99'" in text
    assert "system 'collections:OrderedDict' is a OrderedDict without name, subject" in text
    assert "does not declare kill-coordinator" in text


@pytest.mark.nightly
def test_cases_that_do_not_apply_are_left_out(tmp_path: Path) -> None:
    code, text = run_pytest(tmp_path, body=CASES)
    assert code == 0, text
    assert "skipped" not in text
    assert re.search(
        r"holdfast: left out \d{3} tests of what does not apply \(\d+ because .*and \d+ more reasons\)", text
    )


def test_each_group_stays_in_one_process_and_begins_before_what_is_in_none(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(EVERY_TIER)
    code, text = run_pytest(tmp_path, "-v", "-n3", "--dist=loadgroup", body=GROUPS)
    assert code == 0, text
    ran = [(group, process) for process, group in RAN.findall(text)]
    assert len(ran) == 2 * 4 * 4, text
    processes = {group: {process for each, process in ran if each == group} for group, _ in ran}
    assert [len(processes[group]) for group in ("containers", "spark", "own")] == [1, 1, 1], text
    first = {process: group for group, process in reversed(ran)}
    assert sorted(first.values()) == ["containers", "own", "spark"], text


class Node:
    """A worker of xdist that takes whatever it is given."""

    shutting_down = False

    def __init__(self) -> None:
        self.given: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def test_the_scheduler_forgets_what_is_done(tmp_path: Path) -> None:
    """It counts what a worker has at each test that ends: with all that was done, a session of ten thousand tests spent
    ten seconds on that."""
    tests = [f"test_it.py::test_it[{number}]" for number in range(50)]
    (tmp_path / "gw0").write_text('{"test_it.py::test_it[0]": "a", "test_it.py::test_it[1]": "a"}')
    config = SimpleNamespace(option=SimpleNamespace(loadscopereorder=True), getvalue={"tx": ["popen"]}.get)
    scheduler = GroupScheduling(cast("pytest.Config", config), Producer("scheduler"), tmp_path)
    node = Node()
    scheduler.add_node(node)
    scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    done = 0
    while done < len(node.given):
        scheduler.mark_test_complete(node, node.given[done])
        done += 1
        assert len(scheduler.assigned_work[node]) <= 3
    assert sorted(node.given) == list(range(50))
    assert node.shutting_down
    assert scheduler.tests_finished


def test_the_plugin_imports_nothing_of_ours_at_startup() -> None:
    code = (
        "import sys, holdfast.harness.plugin;"
        "print(sorted(name for name in sys.modules if name.startswith('holdfast.harness.') or name == 'numpy'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['holdfast.harness.plugin']"
