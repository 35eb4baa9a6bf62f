"""How the verdicts on a run, and what was not seen of it, become one outcome; that without faults must be a pass."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.harness.engine.executor.run import run_plan, with_markers
from holdfast.harness.engine.exploration.mutation import objections_to_system
from holdfast.harness.engine.site import machine
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.harness.spi.system import Deployment
from holdfast.suites.selfcheck.engine.scripted import (
    LENGTHS,
    Checkpoints,
    Item,
    ScriptedOracle,
    ScriptedSystem,
    kill,
    plan,
    toolbox,
)

PASSES, UNDECIDED, FAILS = (
    ScriptedOracle("P"),
    ScriptedOracle("U", Outcome.INCONCLUSIVE),
    ScriptedOracle("F", Outcome.FAIL),
)
CRASHES = ScriptedOracle("C", RuntimeError("boom"))
IDLE = ScriptedOracle("I", Outcome.INCONCLUSIVE, checked=0)
BLIND = ScriptedOracle("B", Outcome.FAIL, evidence=(SnapshotTaken,))


@pytest.mark.parametrize(
    ("oracles", "outcome", "reason"),
    [
        ((PASSES,), Outcome.PASS, ""),
        ((PASSES, UNDECIDED), Outcome.INCONCLUSIVE, "U: cannot tell"),
        ((PASSES, CRASHES), Outcome.INCONCLUSIVE, "C: oracle crashed: RuntimeError: boom"),
        ((CRASHES, FAILS, UNDECIDED), Outcome.FAIL, ""),
        ((BLIND,), Outcome.INCONCLUSIVE, "no oracle had anything to decide"),
        ((IDLE,), Outcome.INCONCLUSIVE, "no oracle had anything to decide"),
        ((IDLE, PASSES), Outcome.PASS, ""),
        ((BLIND, PASSES), Outcome.PASS, ""),
    ],
)
def test_the_worst_verdict_wins_and_a_crash_is_never_a_pass(
    oracles: tuple[ScriptedOracle, ...], outcome: Outcome, reason: str
) -> None:
    run = run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox(*oracles))
    assert (run.outcome, run.reason) == (outcome, reason)


class Wordy(ScriptedOracle):
    def judge(self, history: History) -> Verdict:
        long = Anomaly("clause", "x" * 1_000_000, ("y" * 1_000_000,))
        return msgspec.structs.replace(super().judge(history), anomalies=(long,))


@pytest.mark.parametrize("oracle", [Wordy("F", Outcome.FAIL), ScriptedOracle("C", RuntimeError("z" * 1_000_000))])
def test_a_name_of_any_length_fills_no_report(oracle: ScriptedOracle) -> None:
    """A key of two megabytes stood in every report several times."""
    run = run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox(oracle))
    assert "... (1000000 characters)" in f"{run.verdicts}{run.reason}"
    assert len(msgspec.json.encode((run.verdicts, run.reason))) < 20_000


@pytest.mark.parametrize(
    ("faulty", "lands", "what"),
    [
        (plan(kill(after_checkpoint=99)), True, "never acted: it waited for 99 checkpoints (9 completed)"),
        (plan(kill()), None, "acted too late, when nothing could come of it"),
        (plan(kill()), False, "acted, and nothing came of it"),
    ],
    ids=["never acted", "too late", "without effect"],
)
def test_a_fault_that_missed_is_inconclusive_unless_an_oracle_fails(
    faulty: Plan, lands: bool | None, what: str
) -> None:
    """Each of three facts is a cause of its own."""
    run = run_plan(faulty, ScriptedSystem(Checkpoints()), toolbox(lands=lands))
    assert (run.outcome, run.reason) == (Outcome.INCONCLUSIVE, f"faults[0] (kill) {what}")
    run = run_plan(faulty, ScriptedSystem(Checkpoints()), toolbox(FAILS, lands=lands))
    assert run.outcome is Outcome.FAIL


def test_a_run_that_was_not_observed_to_its_end_refutes_nothing() -> None:
    class Unseen(ScriptedSystem):
        def deploy(self, *arguments: Any) -> Deployment:
            deployed = super().deploy(*arguments)
            stop = deployed.stop
            deployed.stop = lambda *, audit: msgspec.structs.replace(stop(audit=audit), problem="the reader died")  # type: ignore[method-assign]
            return deployed

    run = run_plan(plan(), Unseen(Checkpoints()), toolbox(FAILS))
    assert (run.outcome, run.reason, run.verdicts) == (Outcome.INCONCLUSIVE, "the reader died", ())
    assert run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox(FAILS)).outcome is Outcome.FAIL


def test_after_a_signal_no_control_runs(tmp_path: Path) -> None:
    heard: list[str] = []

    class Signalled(ScriptedSystem):
        def deploy(self, *arguments: Any) -> Deployment:
            deployed = super().deploy(*arguments)
            deployed.close = lambda: heard.append("interrupted by SIGTERM")  # type: ignore[method-assign]
            return deployed

    stuck = Signalled(Checkpoints(until_ms=150))
    run = run_plan(plan(kill()), stuck, toolbox(), Tier.PROCESS, tmp_path, lambda: "".join(heard))
    assert len(stuck.deployments) == 1
    assert (run.outcome, run.reason) == (Outcome.INCONCLUSIVE, "interrupted by SIGTERM")


def test_on_real_tiers_an_exceeded_bound_counts_only_if_the_control_meets_it(tmp_path: Path) -> None:
    stuck = ScriptedSystem(Checkpoints(until_ms=150))
    run = run_plan(plan(kill()), stuck, toolbox(), Tier.PROCESS, tmp_path)
    assert len(stuck.deployments) == 2
    assert run.history.end.problem.startswith("the fault-free control missed the bound too: ")

    class RefusesControl(ScriptedSystem):
        def deploy(self, plan: Plan, *arguments: Any) -> Deployment:
            if not plan.faults:
                raise ValueError("no slots are left")
            return super().deploy(plan, *arguments)

    refused = tmp_path / "refused"
    refused.mkdir()
    run = run_plan(plan(kill()), RefusesControl(Checkpoints(until_ms=150)), toolbox(), Tier.PROCESS, refused)
    assert run.history.end.problem == "the fault-free control was refused: no slots are left"

    class StuckAfterFault(ScriptedSystem):
        @property
        def scripts(self) -> list[Iterable[Item]]:
            return [Checkpoints()] if len(self.deployments) == 1 else [[]]

    (tmp_path / "second").mkdir()
    run = run_plan(plan(kill()), StuckAfterFault(), toolbox(), Tier.PROCESS, tmp_path / "second")
    assert not run.history.end.reached
    assert run.history.end.problem == ""


def test_on_a_machine_that_stands_still_most_of_the_time_the_bounds_are_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Checkpoints(every_ms=2_500)
    (tmp_path / "free").mkdir()
    monkeypatch.setattr(machine, "stalled_ms", lambda: 0.0)
    assert not run_plan(plan(), ScriptedSystem(slow), toolbox(), Tier.PROCESS, tmp_path / "free").history.end.reached
    (tmp_path / "busy").mkdir()
    stalled_ms = iter(range(0, 1_000_000_000, 1_000))
    monkeypatch.setattr(machine, "stalled_ms", lambda: float(next(stalled_ms)))
    assert run_plan(plan(), ScriptedSystem(slow), toolbox(), Tier.PROCESS, tmp_path / "busy").history.end.reached


def test_the_settle_window_is_as_patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends a job goes on after its end was told, and a window that closes meanwhile would blame it."""
    stalled_ms = iter(range(1_000_000))
    monkeypatch.setattr(machine, "stalled_ms", lambda: float(next(stalled_ms)))
    run = run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox(), Tier.PROCESS, tmp_path)
    assert run.history.end.ended_ns > 290_000_000  # where it closes on a machine that is free


def test_positions_of_the_fake_cover_its_workload() -> None:
    inputs = toolbox().workloads["tiny"].generate({}, 0)
    assert with_markers(inputs, KEYED_SUM).lengths() == LENGTHS


PASS, FAIL, INCONCLUSIVE = Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE
EXACT, NOLOSS = ScriptedOracle("EXACT"), ScriptedOracle("NOLOSS")


@pytest.mark.parametrize(
    ("oracles", "objection"),
    [
        ([EXACT, NOLOSS], ""),
        ([NOLOSS], ""),
        ([EXACT, ScriptedOracle("NOLOSS", INCONCLUSIVE, checked=0)], ""),
        ([EXACT, NOLOSS, ScriptedOracle("CUT", FAIL)], ""),
        ([EXACT, ScriptedOracle("NOLOSS", FAIL)], "NOLOSS does not pass on scripted, so it is a plain bug"),
        ([EXACT, ScriptedOracle("NOLOSS", INCONCLUSIVE)], "NOLOSS could not decide whether scripted is right: "),
        ([EXACT, ScriptedOracle("NOLOSS", ZeroDivisionError())], "NOLOSS could not decide whether scripted is right: "),
        ([ScriptedOracle("CUT")], "nothing judged what scripted committed"),
        ([ScriptedOracle("EXACT", INCONCLUSIVE, checked=0)], "nothing judged what scripted committed"),
    ],
    ids=["both", "one", "one-idle", "other-oracle", "fails", "cannot-tell", "crashes", "none-applies", "all-idle"],
)
def test_the_output_without_faults_must_be_judged_and_right(oracles: list[ScriptedOracle], objection: str) -> None:
    objections = objections_to_system(ScriptedSystem(Checkpoints()), plan(), toolbox(*oracles))
    assert len(objections) == (1 if objection else 0)
    assert objection in "".join(objections)


def test_a_run_with_a_problem_shows_nothing_whatever_its_verdicts() -> None:
    system = ScriptedSystem(Checkpoints())
    system.dead_after_ms = 150
    objections = objections_to_system(system, plan(), toolbox(EXACT, NOLOSS))
    assert objections == ["without faults scripted could not be judged: the adapter answered garbage"]
