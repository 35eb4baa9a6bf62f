"""Plans ask for no more than the message contract of a system allows, and every driver does what they ask for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from holdfast.faults.messages import disturb
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    AckReceived,
    CheckpointTriggered,
    FailureCounted,
    MessageDisturbed,
    NotificationReceived,
    TriggerReceived,
)
from holdfast.harness.model.message_contract import ORDERED_CONNECTION, Disturbance, MessageKind, Way
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.messages import LONG, SHORT_TIMEOUT
from holdfast.suites.conformance.plans import WORKERS, plan

REFERENCE = registry.system("reference")


def refused(kind: str, parameters: Mapping[str, int | str]) -> str:
    """Why a plan with one fault of messages is refused; empty if it is not."""
    asked = plan(FaultSpec(kind, COORDINATOR, Schedule(), 100, dict(parameters)))
    try:
        check_plan(asked, REFERENCE, Tier.SIM, registry.toolbox())
    except UsageError as error:
        return str(error)
    return ""


def test_what_the_contract_allows_is_accepted() -> None:
    assert not refused("double-messages", {"message": "acknowledge"})
    assert not refused("delay-messages", {"message": "deploy", "delay_ms": 20})
    assert not refused("delay-messages", {"message": "complete", "overtaken_by": "abort trigger"})
    assert not any(refused("lose-messages", {"message": kind.value}) for kind in MessageKind)


@pytest.mark.parametrize(
    ("kind", "parameters", "sentence"),
    [
        ("delay-messages", {"delay_ms": 0}, "delay_ms is 0; allowed is 1 or more: change it."),
        ("delay-messages", {"delay_ms": -50}, "delay_ms is -50; allowed is 1 or more: change it."),
        ("double-messages", {"delay_ms": -1}, "delay_ms is -1; allowed is 0 or more: change it."),
        ("lose-messages", {"occurrences": -2}, "occurrences is -2; allowed is 0 or more: change it."),
    ],
)
def test_a_disturbance_that_would_do_nothing_is_refused(
    kind: str, parameters: Mapping[str, int | str], sentence: str
) -> None:
    """A delay of nothing counted as one that had landed."""
    assert refused(kind, {"message": "complete", **parameters}) == f"faults[0].parameters: {sentence}"


def test_what_goes_beyond_it_is_refused_in_one_sentence() -> None:
    assert refused("double-messages", {"message": "deploy"}) == (
        "faults[0] (double-messages) goes beyond the message contract of system 'reference': a deploy message is "
        "never doubled; allowed are abort, acknowledge, assign-splits, cancel, cancelled, complete, confirm-splits, "
        "decline, heartbeat, heartbeat-answer, task-failed, trigger: choose one of these."
    )
    assert "a deploy message is not overtaken by trigger; allowed are none" in refused(
        "delay-messages", {"message": "deploy", "overtaken_by": "trigger"}
    )
    assert "a trigger message is not overtaken by deploy" in refused(
        "delay-messages", {"message": "trigger", "overtaken_by": "complete deploy"}
    )


def test_a_message_that_does_not_exist_is_refused() -> None:
    assert "message is 'gossip'; none of 17 is near, some are abort," in refused("lose-messages", {"message": "gossip"})


def test_a_system_without_the_capability_is_not_asked() -> None:
    asked = plan(FaultSpec("lose-messages", COORDINATOR, Schedule(), 100, {"message": "trigger"}))
    with pytest.raises(NotApplicable, match="disturb-messages"):
        check_plan(replace(asked, system="spark"), REFERENCE, Tier.SPARK, registry.toolbox())


def test_on_an_ordered_connection_a_split_assignment_is_lost_with_it() -> None:
    losses = {kind for kind in MessageKind if ORDERED_CONNECTION[kind].lost_alone}
    assert MessageKind.ASSIGN_SPLITS not in losses
    assert losses >= {MessageKind.TRIGGER, MessageKind.COMPLETE, MessageKind.ABORT, MessageKind.HEARTBEAT}
    assert not Disturbance(MessageKind.ASSIGN_SPLITS, Way.LOSE).beyond(ORDERED_CONNECTION)
    for kind in ("lose-splits", "lose-notices"):
        spec = FaultSpec(kind, COORDINATOR)
        beyond = registry.toolbox().faults[kind].beyond(spec, ORDERED_CONNECTION)  # type: ignore[attr-defined]
        assert bool(beyond) is (kind == "lose-splits")


def test_a_late_message_holds_back_what_may_not_overtake_it() -> None:
    """The notice of a completion is late: the next trigger waits behind it, unless it may overtake."""
    for overtaken_by in ("", "trigger complete"):
        late = disturb("delay", "complete", WORKERS[0], {"delay_ms": 90, "overtaken_by": overtaken_by})
        run = run_plan(plan(late, options=SHORT_TIMEOUT, records=LONG), REFERENCE, registry.toolbox())
        assert run.outcome is Outcome.PASS
        notices = [each for each in run.history.of(NotificationReceived) if each.subtask == "source[0]"]
        heard = next(each for each in notices if each.checkpoint == 1)
        triggered = next(
            each for each in run.history.of(TriggerReceived) if each.subtask == "source[0]" and each.checkpoint == 2
        )
        assert (triggered.time_ns < heard.time_ns) is bool(overtaken_by)


def test_a_lost_trigger_leaves_the_connection_and_a_lost_ack_does_not() -> None:
    for message, survives in (("trigger", True), ("acknowledge", False)):
        lost = disturb("lose", message, WORKERS[0], after_checkpoint=1)
        run = run_plan(plan(lost, options=SHORT_TIMEOUT, records=LONG), REFERENCE, registry.toolbox())
        assert run.outcome is Outcome.PASS
        assert run.history.of(MessageDisturbed)[0].with_connection is not survives
        assert bool(run.history.of(FailureCounted)) is not survives


def test_occurrences_are_counted_by_connection() -> None:
    doubled = disturb("double", "trigger", how={"occurrences": 2}, after_checkpoint=1)
    run = run_plan(plan(doubled, options=SHORT_TIMEOUT, records=LONG), REFERENCE, registry.toolbox())
    acted = [(each.worker, each.checkpoint) for each in run.history.of(MessageDisturbed)]
    triggered = [each.checkpoint for each in run.history.of(CheckpointTriggered)][1:3]
    assert sorted(acted) == [(worker, checkpoint) for worker in (0, 1) for checkpoint in triggered]


def test_the_operators_of_a_chain_share_the_fate_of_a_message() -> None:
    chained = {**SHORT_TIMEOUT, "pipeline.operator-chaining.enabled": "true"}
    lost = disturb("lose", "complete", WORKERS[0], {"occurrences": 1}, after_checkpoint=1)
    run = run_plan(plan(lost, options=chained, records=LONG), REFERENCE, registry.toolbox())
    acted = run.history.of(MessageDisturbed)
    assert {each.checkpoint for each in acted} == {2}
    heads = {("sum[0]", "sink[0]"), ("source[0]",)}
    assert tuple(each.subtask for each in acted) in heads


def test_the_same_seed_gives_the_same_run() -> None:
    faults = (
        disturb("double", "acknowledge", how={"occurrences": 0, "delay_ms": 30}, after_checkpoint=1),
        disturb("delay", "complete", how={"delay_ms": 40, "overtaken_by": "trigger complete"}),
        disturb("lose", "acknowledge", WORKERS[0], after_checkpoint=2),
    )
    chosen = plan(*faults, options=SHORT_TIMEOUT, records=LONG)
    runs = [run_plan(chosen, REFERENCE, registry.toolbox()) for _ in range(2)]
    assert runs[0].trace_hash == runs[1].trace_hash
    assert runs[0].outcome is Outcome.PASS
    assert len(runs[0].history.of(AckReceived)) > len(
        {(a.attempt, a.checkpoint, a.subtask) for a in runs[0].history.of(AckReceived)}
    )
