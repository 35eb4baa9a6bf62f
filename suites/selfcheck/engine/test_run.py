"""The executor: the phases of a run, when each fault acts and is undone, and how a run comes to its end."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import places
from holdfast.harness.engine.site.garbage import ALLOCATIONS, rare_collections
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    CheckpointTriggered,
    FaultHealed,
    FaultInjected,
    JobStatus,
    JobSwitched,
    RecoveryFailed,
    RowsVisible,
    TransactionCommitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Gate
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.fault import UndoRecord
from holdfast.suites.selfcheck.engine.scripted import (
    LENGTHS,
    WORKER,
    Checkpoints,
    Effect,
    Item,
    ScriptedSystem,
    cut,
    failed,
    kill,
    plan,
    played,
    toolbox,
)

GONE = RecoveryFailed(checkpoint=1, reason="gone")


def switched(status: JobStatus) -> JobSwitched:
    return JobSwitched(status=status)


def test_a_run_without_faults_ends_after_two_checkpoints_and_the_settle_window() -> None:
    system = ScriptedSystem(Checkpoints())
    run, calls = played(system, plan())
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    assert run.history.end.reached
    assert run.history.end.ended_ns == 290_000_000
    assert calls == []
    assert system.deployments[0].closed
    assert system.deployments[0].audited


def test_checkpoints_that_were_triggered_before_the_heal_are_not_new_ones() -> None:
    run, _ = played(ScriptedSystem(Checkpoints()), plan(kill(after_checkpoint=1)))
    # Killed and healed at 140 ms: checkpoints 2 and 3 count, checkpoint 1 does not.
    assert run.history.end.healed_ns == 140_000_000
    assert run.history.end.ended_ns == 390_000_000


def test_the_heal_waits_until_every_undo_has_taken_effect() -> None:
    run, _ = played(ScriptedSystem(Checkpoints(), restart_ms=75), plan(kill(after_checkpoint=1)))
    assert run.history.end.healed_ns == 220_000_000
    assert len(run.history.of(FaultHealed)) == 1


def test_a_fault_that_does_not_heal_leaves_the_run_inconclusive_and_names_it() -> None:
    run, _ = played(ScriptedSystem(Checkpoints(), restart_ms=9_999), plan(kill(after_checkpoint=1)))
    assert run.outcome is Outcome.INCONCLUSIVE
    assert run.reason == "not healed within 2000 ms: faults[0] (kill worker[0])"


def test_a_target_that_is_absent_is_told_apart_from_one_that_cannot_be_struck_now() -> None:
    absent, _ = played(ScriptedSystem(Checkpoints(), absent=frozenset({"kill"})), plan(kill(after_checkpoint=1)))
    assert (absent.outcome, absent.absent) == (Outcome.INCONCLUSIVE, "nothing to kill at all")
    refused, _ = played(ScriptedSystem(Checkpoints(), refuses=frozenset({"kill"})), plan(kill(after_checkpoint=1)))
    assert (refused.outcome, refused.absent) == (Outcome.INCONCLUSIVE, "")


def test_input_that_no_checkpoint_covers_is_named_when_the_bound_passes() -> None:
    script = [
        item
        for number in range(1, 30)
        for item in (
            (number * 100.0, CheckpointTriggered(checkpoint=number, participants=())),
            (number * 100.0 + 40, CheckpointCompleted(checkpoint=number, positions=(3, 1))),
        )
    ]
    run, _ = played(ScriptedSystem(script), plan())
    assert not run.history.end.reached
    assert run.history.end.reason == "the last checkpoint covers 1 of 2 records of partition 1"


@pytest.mark.parametrize(("micro_batches", "last"), [(True, 4), (False, 3)])
def test_what_a_watermark_held_back_has_one_more_micro_batch(micro_batches: bool, last: int) -> None:
    script: list[Item] = []
    for number in range(1, 7):
        script.append((number * 100, CheckpointTriggered(checkpoint=number, participants=())))
        positions = LENGTHS if number >= 3 else (1, 1)
        script.append((number * 100 + 40, CheckpointCompleted(checkpoint=number, positions=positions)))
    system = ScriptedSystem(script)
    if not micro_batches:
        system.capabilities = {Tier.SIM: frozenset(Capability) - {Capability.MICRO_BATCHES}}
    run, _ = played(system, plan())
    assert run.history.end.reached
    assert run.history.end.ended_ns == (last * 100 + 90) * 1_000_000


def opaque(positions: tuple[int, ...] = ()) -> list[Item]:
    """Checkpoints that tell the same positions, or none."""
    return [
        item
        for number in range(1, 30)
        for item in (
            (number * 100.0, CheckpointTriggered(checkpoint=number, participants=())),
            (number * 100.0 + 40, CheckpointCompleted(checkpoint=number, positions=positions)),
        )
    ]


@pytest.mark.parametrize(
    ("positions", "micro_batches", "drained_at_ms", "ended_ms"),
    [
        ((), True, 450, 550),
        ((), True, 0, 290),  # Two checkpoints behind the heal are due all the same.
        ((), False, 9_999, 290),  # Others may leave positions out, and are not asked.
        (LENGTHS, True, 9_999, 290),
    ],
)
def test_micro_batches_whose_positions_nobody_knows_go_on_until_the_job_has_come_to_rest(
    positions: tuple[int, ...], micro_batches: bool, drained_at_ms: float, ended_ms: int
) -> None:
    system = ScriptedSystem(opaque(positions))
    system.drained_at_ms = drained_at_ms
    if not micro_batches:
        system.capabilities = {Tier.SIM: frozenset(Capability) - {Capability.MICRO_BATCHES}}
    run, _ = played(system, plan())
    assert run.history.end.reached
    assert run.history.end.ended_ns == ended_ms * 1_000_000


def test_a_job_whose_positions_nobody_knows_is_not_waited_for_longer_than_its_bound() -> None:
    system = ScriptedSystem(opaque())
    system.drained_at_ms = 99_999
    run, _ = played(system, plan())
    assert not run.history.end.reached
    assert run.history.end.reason == (
        "positions in the last checkpoint are of no known form, and the job has not come to rest"
    )


@pytest.mark.parametrize("attempts", [10, 11])
def test_a_job_that_restarts_for_ever_is_cut_short(attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.harness.engine.executor.phases.MOST_VAIN_ATTEMPTS", 10)
    script: list[Item] = [(float(number + 1), AttemptStarted(attempt=number)) for number in range(attempts)]
    run, _ = played(ScriptedSystem(script), plan())
    cut_short = "11 attempts in a row brought no complete checkpoint: the run was cut short"
    assert run.history.end.problem == (cut_short if attempts > 10 else "")
    assert (run.history.end.ended_ns <= 12_000_000) == (attempts > 10)
    complete = [(5.5, CheckpointCompleted(checkpoint=1))]
    assert not played(ScriptedSystem(script, complete), plan())[0].history.end.problem


@pytest.mark.parametrize("committed_ms", [245.0, 500.0])
def test_a_transaction_of_a_completed_checkpoint_must_be_committed(committed_ms: float) -> None:
    transactions = [
        (205.0, TransactionPrecommitted(subtask="sink[0]", transaction="t2", checkpoint=2, records=1)),
        (committed_ms, TransactionCommitted(subtask="sink[0]", transaction="t2")),
    ]
    run, _ = played(ScriptedSystem(Checkpoints(), transactions), plan())
    assert run.history.end.reached
    assert run.history.end.ended_ns == (committed_ms + 50) * 1_000_000


def test_a_transaction_that_is_never_committed_is_missed() -> None:
    lost = [(205.0, TransactionPrecommitted(subtask="sink[0]", transaction="t2", checkpoint=2, records=1))]
    run, _ = played(ScriptedSystem(Checkpoints(), lost), plan())
    assert run.history.end.reason == "transaction t2 of a completed checkpoint was not committed"


def test_a_transaction_of_an_aborted_checkpoint_must_not_be_committed() -> None:
    aborted = [(205.0, TransactionPrecommitted(subtask="sink[0]", transaction="t9", checkpoint=99, records=1))]
    run, _ = played(ScriptedSystem(Checkpoints(), aborted), plan())
    assert run.history.end.reached


def test_a_job_that_fails_ends_the_wait_at_once() -> None:
    run, _ = played(ScriptedSystem([failed(120)], Checkpoints()), plan())
    assert run.history.end.reason == "the job failed: policy"
    assert run.history.end.ended_ns == 170_000_000


@pytest.mark.parametrize(("failed_ms", "reached"), [(270.0, False), (300.0, True)])
def test_a_job_that_fails_in_the_settle_window_did_not_end_well(failed_ms: float, reached: bool) -> None:
    # The expected end is reached at 240 ms, the settle window closes at 290 ms.
    run, _ = played(ScriptedSystem(Checkpoints(), [failed(failed_ms)]), plan())
    assert run.history.end.reached is reached
    assert run.history.end.reason == ("" if reached else "the job failed: policy")
    assert run.history.end.ended_ns == 290_000_000


def test_an_expected_failure_stands_through_the_settle_window() -> None:
    script = [failed(120), failed(150, "again")]
    run, _ = played(ScriptedSystem(script), plan(expected_end=ExpectedEnd.FAILED))
    assert run.history.end.reached
    assert run.history.end.ended_ns == 170_000_000


def test_a_failure_that_comes_after_its_bound_comes_too_late() -> None:
    script = [failed(3_020)]  # Within the settle window: the bound is 3,000 ms after a heal at 0 ms.
    changes = {"expected_end": ExpectedEnd.FAILED, "bounds": Bounds(1_000, 3_000, 50)}
    run, _ = played(ScriptedSystem(script), plan(**changes))
    assert run.history.end.reason == "the job did not fail"


@pytest.mark.parametrize(("failed_ms", "reason"), [(9_999, "the job did not fail"), (260, "")], ids=["never", "late"])
def test_in_real_time_a_job_that_runs_on_is_not_waited_for(failed_ms: float, reason: str, tmp_path: Path) -> None:
    """It has outlived its faults at 240 ms; what comes within the settle window still counts."""
    system = ScriptedSystem(Checkpoints(), [failed(failed_ms)])
    run = run_plan(plan(kill(), expected_end=ExpectedEnd.FAILED), system, toolbox(), Tier.PROCESS, tmp_path)
    assert (run.history.end.reason, run.history.end.problem) == (reason, "")
    assert run.history.end.ended_ns < 1_000_000_000
    assert len(system.deployments) == 1  # No bound was exceeded, so no control is asked.


def test_a_transaction_under_way_when_the_settle_window_closes_is_not_missed() -> None:
    late = [(305.0, TransactionPrecommitted(subtask="sink[0]", transaction="t3", checkpoint=3, records=1))]
    run, _ = played(ScriptedSystem(Checkpoints(), late), plan(bounds=Bounds(1_000, 2_000, 100)))
    assert run.history.end.ended_ns == 340_000_000  # Checkpoint 3 completes at this moment.
    assert run.history.end.reached


@pytest.mark.parametrize(("script", "reached"), [([failed(120)], True), ([], False)])
def test_expected_failure_is_reached_by_failing(script: list[Item], reached: bool) -> None:
    run, _ = played(ScriptedSystem(script, Checkpoints(until_ms=3_000)), plan(expected_end=ExpectedEnd.FAILED))
    assert run.history.end.reached is reached
    assert run.history.end.reason == ("" if reached else "the job did not fail")


@pytest.mark.parametrize(
    ("script", "reached"),
    [
        ([], False),
        ([(90.0, GONE)], True),
        ([(90.0, GONE), (95.0, switched(JobStatus.RESTARTING))], True),
        ([(90.0, GONE), failed(95)], True),
        ([(80.0, switched(JobStatus.RUNNING)), (90.0, GONE)], True),
        ([(90.0, GONE), (120.0, switched(JobStatus.RUNNING))], False),
        ([(90.0, GONE), (120.0, switched(JobStatus.RUNNING)), (130.0, GONE)], True),
    ],
    ids=["silent", "said", "tries-again", "gives-up", "ran-before", "runs-on", "runs-on-and-is-gone-again"],
)
def test_correctly_unavailable_means_that_it_says_so_to_the_end(script: list[Item], reached: bool) -> None:
    run, _ = played(ScriptedSystem(script), plan(expected_end=ExpectedEnd.UNAVAILABLE))
    assert run.history.end.reached is reached


@pytest.mark.parametrize(("option", "reached"), [("interval", True), ("other", False)])
def test_a_refused_configuration_deploys_nothing(option: str, reached: bool) -> None:
    system = ScriptedSystem(refused_option=option)
    run = run_plan(plan(expected_end=ExpectedEnd.REFUSED, options={"interval": "1 ms"}), system, toolbox())
    assert run.history.end.reached is reached
    assert ("too small" in run.history.end.reason) is reached
    assert system.deployments == []


def test_a_system_without_checkpoints_ends_when_it_says_that_it_is_drained() -> None:
    system = ScriptedSystem(evidence=False)
    system.drained_at_ms = 300
    run, _ = played(system, plan())
    assert run.history.end.reached
    assert run.history.end.ended_ns == 350_000_000
    system.drained_at_ms = 9_999
    run, _ = played(system, plan())
    assert run.history.end.reason == "not all input has taken effect"


def test_an_adapter_whose_clock_stands_still_is_given_up() -> None:
    system = ScriptedSystem(Checkpoints())
    system.silent_after_ms = 150
    run, _ = played(system, plan())
    assert run.outcome is Outcome.INCONCLUSIVE
    assert "its clock stays at" in run.reason
    assert system.deployments[0].closed


def test_an_adapter_that_breaks_leaves_everything_healed_and_closed() -> None:
    system = ScriptedSystem(Checkpoints())
    system.dead_after_ms = 150
    run, calls = played(system, plan(cut(after_checkpoint=1)))
    assert run.reason == "the adapter answered garbage"
    assert calls == ["140 cut channel[1]", "200 restore channel[1]"]
    assert system.deployments[0].closed


def test_an_interruption_heals_and_closes_and_is_the_cause() -> None:
    system = ScriptedSystem(Checkpoints())

    def interrupted() -> str:
        return "interrupted by SIGINT" if system.deployments[0].now_ms >= 200 else ""

    run = run_plan(plan(cut(after_checkpoint=1)), system, toolbox(), interrupted=interrupted)
    assert run.reason == "interrupted by SIGINT"
    assert system.controls.calls == ["140 cut channel[1]", "200 restore channel[1]"]
    assert system.deployments[0].closed
    assert not system.deployments[0].audited


def test_progress_then_event_then_gate() -> None:
    fault = kill(after_checkpoint=1, after_rows=4, at_event="checkpoint_triggered", gate=Gate("commit", WORKER))
    script: list[Item] = [
        (90.0, Effect("commit")),
        (150.0, RowsVisible(name="u", poll=1, records=3, checksum=0)),
        (250.0, RowsVisible(name="v", poll=2, records=1, checksum=0)),
        (260.0, Effect("commit")),
        (310.0, Effect("commit", Target(Role.WORKER, 1))),
        (320.0, Effect("commit")),
    ]
    run, calls = played(ScriptedSystem(script, Checkpoints()), plan(fault))
    assert calls == ["300 arm commit", "320 kill worker[0]", "320 release 0"]
    assert run.precisions == {0: "exact"}
    assert run.history.end.faults_landed == (True,)


def test_the_event_that_fulfils_the_progress_is_not_the_event_that_is_waited_for() -> None:
    _, calls = played(ScriptedSystem(Checkpoints()), plan(kill(after_checkpoint=1, at_event="checkpoint_completed")))
    assert calls == ["240 kill worker[0]"]


def test_what_a_gate_holds_happens_after_the_fault_acted() -> None:
    held = TransactionCommitted(subtask="sink[0]", transaction="t")
    system = ScriptedSystem([(120.0, Effect("commit", then=(held,)))], Checkpoints())
    played(system, plan(cut(50, gate=Gate("commit", WORKER))))
    kinds = [type(event) for event in system.deployments[0].trace]
    assert kinds.index(FaultInjected) < kinds.index(TransactionCommitted) < kinds.index(FaultHealed)


def test_faults_act_in_the_order_of_the_plan_and_independently() -> None:
    faults = (
        cut(30, after_checkpoint=1),
        kill(after_checkpoint=1),
        kill(Target(Role.COORDINATOR), at_time_ms=150),
    )
    _, calls = played(ScriptedSystem(Checkpoints()), plan(*faults))
    assert calls == [
        "140 cut channel[1]",
        "140 kill worker[0]",
        "150 kill coordinator[0]",
        "170 restore channel[1]",
    ]


def test_a_lasting_fault_without_duration_lasts_until_the_safety_phase_ends() -> None:
    run, calls = played(ScriptedSystem(Checkpoints()), plan(cut(after_checkpoint=1)))
    assert calls == ["140 cut channel[1]", "1000 restore channel[1]"]
    assert run.history.end.healed_ns == 1_000_000_000


def test_heal_undoes_the_latest_fault_first_and_disarms_what_was_not_reached() -> None:
    faults = (
        cut(),
        FaultSpec("cut", Target(Role.CHANNEL, 2)),
        kill(gate=Gate("commit", WORKER)),
    )
    run, calls = played(ScriptedSystem(Checkpoints()), plan(*faults))
    assert calls[-3:] == ["1000 disarm 0", "1000 restore channel[2]", "1000 restore channel[1]"]
    assert run.reason == "faults[2] (kill) never acted: it waited at a gate before commit that was not reached"


def test_nothing_acts_any_more_when_the_heal_has_begun() -> None:
    """Its checkpoints are complete, but the event that it waits for comes with the markers."""
    late = RowsVisible(name="u", poll=9, records=3, checksum=0)
    system = ScriptedSystem([(1_150.0, late)], Checkpoints())
    run, calls = played(
        system,
        plan(cut(50, after_checkpoint=1, at_event="rows_visible"), kill(at_time_ms=1_060)),
    )
    assert calls == []
    assert run.history.end.faults_landed == (None, None)


def test_a_fault_that_cannot_act_says_why() -> None:
    run, _ = played(ScriptedSystem(Checkpoints(), refuses=frozenset({"kill"})), plan(kill()))
    assert run.history.end.faults_landed == (None,)
    assert run.reason == "faults[0] (kill) never acted: no kill today"


def test_every_undo_is_on_disk_before_its_fault_acts(tmp_path: Path) -> None:
    system = ScriptedSystem(Checkpoints())
    seen: list[int] = []
    tools = toolbox()
    inject = tools.faults["kill"].inject

    def looking(control: Any, spec: FaultSpec) -> None:
        seen.append(len((tmp_path / "undo.jsonl").read_bytes().splitlines()))
        inject(control, spec)

    tools.faults["kill"].inject = looking  # type: ignore[method-assign]
    run_plan(plan(kill(), kill(after_checkpoint=1)), system, tools, Tier.PROCESS, tmp_path)
    assert seen == [1, 2]
    undo = msgspec.json.decode((tmp_path / "undo.jsonl").read_bytes().splitlines()[1], type=UndoRecord)
    assert undo == UndoRecord(1, "kill", kill(after_checkpoint=1))


BEFORE = (700, 10, 10)


@pytest.fixture
def thresholds() -> Iterator[None]:
    kept = gc.get_threshold()
    gc.set_threshold(*BEFORE)
    yield
    gc.set_threshold(*kept)


@pytest.mark.usefixtures("thresholds")
def test_it_looks_rarely_and_never_stops() -> None:
    with rare_collections():
        assert gc.isenabled()
        assert gc.get_threshold() == (ALLOCATIONS, *BEFORE[1:])
        with rare_collections():
            assert gc.get_threshold()[0] == ALLOCATIONS
        assert gc.get_threshold()[0] == ALLOCATIONS
    assert gc.get_threshold() == BEFORE


@pytest.mark.usefixtures("thresholds")
def test_it_looks_as_before_when_a_run_breaks() -> None:
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == BEFORE


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize("off", [0, 2 * ALLOCATIONS])
def test_who_has_it_rarer_keeps_that(off: int) -> None:
    gc.set_threshold(off, *BEFORE[1:])
    with rare_collections():
        assert gc.get_threshold()[0] == off


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize(("tier", "seen"), [(Tier.SIM, ALLOCATIONS), (Tier.PROCESS, BEFORE[0])])
def test_only_a_simulated_run_has_it_rare(tier: Tier, seen: int) -> None:
    thresholds = []

    system = ScriptedSystem(Checkpoints())
    evidence = system.evidence

    def watched() -> object:
        thresholds.append(gc.get_threshold()[0])
        return evidence()

    system.evidence = watched  # type: ignore[method-assign, assignment]
    run_plan(plan(), system, toolbox(), tier)
    assert set(thresholds) == {seen}
    assert gc.get_threshold() == BEFORE


def test_the_tree_of_a_source_file_has_it_rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, parse = tmp_path / "source.py", ast.parse
    seen: list[tuple[int, int, int]] = []
    file.write_text("import gc\n")

    def watched(content: str) -> ast.Module:
        seen.append(gc.get_threshold())
        return parse(content)

    monkeypatch.setattr(ast, "parse", watched)
    places.parsed(file)
    assert seen == [(ALLOCATIONS, *BEFORE[1:])]
    assert gc.get_threshold() == BEFORE
