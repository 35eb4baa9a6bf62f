"""A program that dies at once ends a run, and a case, after a few deaths that are alike; it never passes."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from holdfast.harness.adapter.worker import DEATHS_ALIKE, DEATHS_IN_A_ROW, Deaths
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.cases.deaths_at_once import RUNS_ALIKE, DeathsAtOnce
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Status
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.suites.conformance.programs import CASES
from holdfast.suites.selfcheck.engine.results import missed

READY_AND_DEAD = """
import json, os, sys
init = json.loads(sys.stdin.readline())
print(json.dumps({"type": "ready", "version": 1, "positions": [0] * init["partitions"]}), flush=True)
sys.stdin.readline()
sys.exit(f"process {os.getpid()} cannot divide by zero")
"""


def program(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return f"json-lines+{path}"


def test_a_drawn_case_gives_up_after_a_few_deaths_that_are_alike(tmp_path: Path) -> None:
    """Each of its 30 runs waited for 20 deaths."""
    name = program(tmp_path, READY_AND_DEAD)
    found = run_case(name, case_for(registry.system(name), "swarm/drawn-plans"), Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.INCONCLUSIVE
    assert (found.runs_inconclusive, found.runs_passed) == (RUNS_ALIKE, 0)
    start = (
        f"0 of 5 runs counted; the system under test died by itself {RUNS_ALIKE * DEATHS_ALIKE} times in {RUNS_ALIKE} "
        "runs before it did anything, each time with exit code 1: process "
    )
    assert found.reason.startswith(start)
    assert found.reason.endswith(" cannot divide by zero; no further run was begun")


def test_a_written_case_gives_up_before_the_program_is_ready(tmp_path: Path) -> None:
    found = run_case(program(tmp_path, "raise SystemExit('no disk')"), CASES[0], Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.INCONCLUSIVE
    assert set(found.rules.values()) == {Status.INCONCLUSIVE}
    assert found.runs_inconclusive == RUNS_ALIKE
    assert (
        "died by itself 3 times in 3 runs before it did anything, each time with exit code 1: no disk;" in found.reason
    )


def test_only_deaths_that_are_alike_before_any_progress_end_a_run_early() -> None:
    deaths = Deaths()
    for life in range(DEATHS_IN_A_ROW - 1):
        deaths.add("exit code 1", f"no key {'abcdefghijklmnopqrstuvwxyz'[life]}")
        assert deaths.complaint() == ""
    assert deaths.at_once == OwnDeaths(1, "exit code 1", "no key s")
    deaths.add("exit code 1", "no disk")
    assert deaths.complaint().startswith("died by itself 20 times in a row without an acknowledgement, the last time")

    deaths = Deaths()
    deaths.acknowledge()
    for _ in range(DEATHS_IN_A_ROW - 1):
        deaths.add("exit code 1", "no key")
    assert (deaths.complaint(), deaths.at_once) == ("", None)


def test_only_deaths_that_are_alike_end_a_case_early() -> None:
    died = missed("it died", died_at_once=OwnDeaths(5, "exit code 1", "no key 7 at 0x7f10a"))
    for between in (
        missed("it fell silent"),
        replace(died, died_at_once=OwnDeaths(5, "exit code 2", "no key 7 at 0x7f10a")),
        replace(died, died_at_once=OwnDeaths(5, "exit code 1", "no disk")),
    ):
        case = DeathsAtOnce()
        for each in (died, died, between, died, died):
            case.add(each)
            assert case.reason == ""
    case.add(replace(died, died_at_once=OwnDeaths(4, "exit code 1", "no key 8 at 0x7f20b")))
    assert case.reason.startswith("the system under test died by itself 14 times in 3 runs before it did anything")
