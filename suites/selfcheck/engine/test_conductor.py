"""The conductor of the faults: when each acts, and that it is undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FaultHealed, FaultInjected, RowsVisible, TransactionCommitted
from holdfast.harness.model.plan import FaultSpec, Gate
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.fault import UndoRecord
from holdfast.suites.selfcheck.engine import scripted


def test_progress_then_event_then_gate() -> None:
    fault = scripted.kill(
        after_checkpoint=1, after_rows=4, at_event="checkpoint_triggered", gate=Gate("commit", scripted.WORKER)
    )
    script: list[scripted.Item] = [
        (90.0, scripted.Effect("commit")),
        (150.0, RowsVisible(name="u", poll=1, records=3, checksum=0)),
        (250.0, RowsVisible(name="v", poll=2, records=1, checksum=0)),
        (260.0, scripted.Effect("commit")),
        (310.0, scripted.Effect("commit", Target(Role.WORKER, 1))),
        (320.0, scripted.Effect("commit")),
    ]
    run, calls = scripted.played(scripted.ScriptedSystem(script, scripted.Checkpoints()), scripted.plan(fault))
    assert calls == ["300 arm commit", "320 kill worker[0]", "320 release 0"]
    assert run.precisions == {0: "exact"}
    assert run.history.end.faults_landed == (True,)


def test_the_event_that_fulfils_the_progress_is_not_the_event_that_is_waited_for() -> None:
    _, calls = scripted.played(
        scripted.ScriptedSystem(scripted.Checkpoints()),
        scripted.plan(scripted.kill(after_checkpoint=1, at_event="checkpoint_completed")),
    )
    assert calls == ["240 kill worker[0]"]


def test_what_a_gate_holds_happens_after_the_fault_acted() -> None:
    held = TransactionCommitted(subtask="sink[0]", transaction="t")
    system = scripted.ScriptedSystem([(120.0, scripted.Effect("commit", then=(held,)))], scripted.Checkpoints())
    scripted.played(system, scripted.plan(scripted.cut(50, gate=Gate("commit", scripted.WORKER))))
    kinds = [type(event) for event in system.deployments[0].trace]
    assert kinds.index(FaultInjected) < kinds.index(TransactionCommitted) < kinds.index(FaultHealed)


def test_faults_act_in_the_order_of_the_plan_and_independently() -> None:
    faults = (
        scripted.cut(30, after_checkpoint=1),
        scripted.kill(after_checkpoint=1),
        scripted.kill(Target(Role.COORDINATOR), at_time_ms=150),
    )
    _, calls = scripted.played(scripted.ScriptedSystem(scripted.Checkpoints()), scripted.plan(*faults))
    assert calls == [
        "140 cut channel[1]",
        "140 kill worker[0]",
        "150 kill coordinator[0]",
        "170 restore channel[1]",
    ]


def test_a_lasting_fault_without_duration_lasts_until_the_safety_phase_ends() -> None:
    run, calls = scripted.played(
        scripted.ScriptedSystem(scripted.Checkpoints()), scripted.plan(scripted.cut(after_checkpoint=1))
    )
    assert calls == ["140 cut channel[1]", "1000 restore channel[1]"]
    assert run.history.end.healed_ns == 1_000_000_000


def test_heal_undoes_the_latest_fault_first_and_disarms_what_was_not_reached() -> None:
    faults = (
        scripted.cut(),
        FaultSpec("cut", Target(Role.CHANNEL, 2)),
        scripted.kill(gate=Gate("commit", scripted.WORKER)),
    )
    run, calls = scripted.played(scripted.ScriptedSystem(scripted.Checkpoints()), scripted.plan(*faults))
    assert calls[-3:] == ["1000 disarm 0", "1000 restore channel[2]", "1000 restore channel[1]"]
    assert run.reason == "faults[2] (kill) never acted: it waited at a gate before commit that was not reached"


def test_nothing_acts_any_more_when_the_heal_has_begun() -> None:
    """Its checkpoints are complete, but the event that it waits for comes with the markers."""
    late = RowsVisible(name="u", poll=9, records=3, checksum=0)
    system = scripted.ScriptedSystem([(1_150.0, late)], scripted.Checkpoints())
    run, calls = scripted.played(
        system,
        scripted.plan(scripted.cut(50, after_checkpoint=1, at_event="rows_visible"), scripted.kill(at_time_ms=1_060)),
    )
    assert calls == []
    assert run.history.end.faults_landed == (None, None)


def test_a_fault_that_cannot_act_says_why() -> None:
    run, _ = scripted.played(
        scripted.ScriptedSystem(scripted.Checkpoints(), refuses=frozenset({"kill"})), scripted.plan(scripted.kill())
    )
    assert run.history.end.faults_landed == (None,)
    assert run.reason == "faults[0] (kill) never acted: no kill today"


def test_every_undo_is_on_disk_before_its_fault_acts(tmp_path: Path) -> None:
    system = scripted.ScriptedSystem(scripted.Checkpoints())
    seen: list[int] = []
    tools = scripted.toolbox()
    inject = tools.faults["kill"].inject

    def looking(control: Any, spec: FaultSpec) -> None:
        seen.append(len((tmp_path / "undo.jsonl").read_bytes().splitlines()))
        inject(control, spec)

    tools.faults["kill"].inject = looking  # type: ignore[method-assign]
    run_plan(scripted.plan(scripted.kill(), scripted.kill(after_checkpoint=1)), system, tools, Tier.PROCESS, tmp_path)
    assert seen == [1, 2]
    undo = msgspec.json.decode((tmp_path / "undo.jsonl").read_bytes().splitlines()[1], type=UndoRecord)
    assert undo == UndoRecord(1, "kill", scripted.kill(after_checkpoint=1))
