"""What is forged of the last ack of a subtask, or of what is pending, on every driver."""

from __future__ import annotations

import pytest

from holdfast.fixtures.reference.drivers.controls.targets import Targets
from holdfast.fixtures.reference.drivers.forged_messages import (
    ForgedMessages,
    Parameters,
    acknowledged_again,
    declined,
    for_subtask,
    what_to_decline,
    what_was_acknowledged,
)
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.checkpoints.completed_checkpoint_store import CompletedCheckpoint
from holdfast.fixtures.reference.protocol.job.job_master import JobMaster
from holdfast.fixtures.reference.protocol.messages import (
    AcknowledgeCheckpoint,
    DeclineCheckpoint,
    NotifyCheckpoint,
    SubtaskState,
    TriggerCheckpoint,
)
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.plan import Topology
from holdfast.harness.sim.streams import Stream
from holdfast.suites.conformance.plans import plan

FILE = FileReference("checkpoints/job-0/chk-4/sum[0]-2", 3, 7)
LAST = AcknowledgeCheckpoint(2, "sum[0]", 4, SubtaskState("sum[0]", files=(FILE,), positions=((0, 9),)))


def test_a_repeated_ack_is_the_last_one() -> None:
    assert acknowledged_again(LAST, {}) == LAST


@pytest.mark.parametrize("shift", [{"attempt": -1}, {"checkpoint": 1}])
def test_a_shifted_ack_names_no_file_of_another_checkpoint(shift: dict[str, int | str]) -> None:
    forged = acknowledged_again(LAST, shift)
    assert (forged.state.files, forged.state.positions) == ((), ((0, 9),))


def test_the_other_messages_are_about_the_checkpoint_that_was_acked() -> None:
    subtask: dict[str, int | str] = {"subtask": "sum[0]"}
    shifted = what_was_acknowledged(LAST, {**subtask, "checkpoint": -1})
    assert for_subtask("trigger", shifted, 1.0) == TriggerCheckpoint(2, "sum[0]", 3, 1.0)
    abort = for_subtask("abort", what_was_acknowledged(LAST, subtask), 1.0)
    assert abort == NotifyCheckpoint(2, "sum[0]", 4, completed=False)


def test_nothing_else_is_forged() -> None:
    with pytest.raises(ValueError, match="'ping' cannot be forged; there are acknowledge, decline, trigger, abort"):
        for_subtask("ping", what_was_acknowledged(LAST, {"subtask": "sum[0]"}), 1.0)


def test_a_subtask_is_reached_that_only_a_later_width_has() -> None:
    made, orders = plan(), []

    def order(process: str, message: str, parameters: Parameters) -> Parameters:
        orders.append((process, message))
        return parameters

    messages = ForgedMessages(Targets(made.job, Topology(2), workers=3), order)
    messages.forge("trigger", {"subtask": "sum[2]"})
    assert orders == [("worker-2", "trigger"), ("coordinator", "trigger")]
    with pytest.raises(ValueError, match=r"subtask 'sum\[3\]' is unknown; there are: .*sum\[2\]"):
        messages.forge("trigger", {"subtask": "sum[3]"})


def master(*pending: int) -> JobMaster:
    """One with these checkpoints on their way, and regions of which none runs yet."""
    made = plan()
    configuration = REFERENCE.configure(made)
    graph = REFERENCE.graph(made, configuration)
    master = REFERENCE.job_master(graph, configuration, Stream(1, "coordination").random, REFERENCE.job_parts)
    master.coordinator.pending.update(dict.fromkeys(pending))  # type: ignore[arg-type]  # only their ids count
    return master


@pytest.mark.parametrize(("pending", "newest"), [((4, 5), 5), ((), 3)])
def test_a_decline_is_of_the_newest_checkpoint_that_can_be_declined(pending: tuple[int, ...], newest: int) -> None:
    has_completed = master(*pending)
    has_completed.coordinator.store.add(CompletedCheckpoint(3, (), ()))
    expected = DeclineCheckpoint(0, "sum[0]", newest, "forged", FailureReason.EXPIRED)
    about = what_to_decline(has_completed, {"subtask": "sum[0]", "cause": "expired"})
    assert declined(about) == expected


@pytest.mark.parametrize(
    ("pending", "subtask", "reason"),
    [((), "sum[0]", "no checkpoint is pending or complete"), ((4,), "nothing[0]", r"no subtask nothing\[0\]")],
)
def test_nothing_is_declined_that_no_task_could_decline(pending: tuple[int, ...], subtask: str, reason: str) -> None:
    with pytest.raises(OSError, match=reason):
        what_to_decline(master(*pending), {"subtask": subtask})
