"""What the driver program reads back becomes events; where it says nothing, there are none."""

from __future__ import annotations

from typing import cast

from holdfast.fixtures.pipelines.rows.our_records import FIRST_WINDOW
from holdfast.fixtures.systems.structured_streaming.messages import Command, PartState, ReadState, Report, StateRead
from holdfast.fixtures.systems.structured_streaming.session import Session
from holdfast.fixtures.systems.structured_streaming.state_audit import audit
from holdfast.harness.model.events import CheckpointAudited, StateSummary, SubtaskAudited
from holdfast.harness.model.job import Vertex, VertexKind
from holdfast.harness.model.records import WindowRow

SUM, WINDOWS = Vertex("sum", VertexKind.KEYED_SUM), Vertex("sum", VertexKind.WINDOW_SUM)
COMMAND = ReadState("query", "module:function", "file:///checkpoint", 2, (0, 2, 3))


class Driver:
    """A session whose driver program answers one thing."""

    def __init__(self, answer: StateRead | None, *, usable: bool = True) -> None:
        self.usable, self.dead, self.ended = usable, False, False
        self._answer = answer
        self.asked: list[Command] = []

    def send(self, command: Command) -> None:
        self.asked.append(command)

    def hear(self) -> list[Report]:
        if self._answer is None:
            self.dead = True
            return []
        return [self._answer]

    def wait(self, limit_s: float) -> None: ...

    def end(self) -> None:
        self.ended = True


def test_a_partition_that_holds_nothing_is_empty_and_a_batch_that_was_not_read_is_not_told() -> None:
    part = PartState(0, 1, keys=1, records=2, value=-3, digest=-1, entries={"a": -3})
    driver = Driver(StateRead("query", (0,), (part,), {3: "[CANNOT_LOAD_STATE_STORE] 3.delta does not exist."}))
    events = audit(cast("Session", driver), COMMAND, SUM)
    assert driver.asked == [COMMAND]
    assert events == [
        CheckpointAudited(checkpoint=1),
        SubtaskAudited(checkpoint=1, subtask="sum[0]", state=StateSummary(entries={})),
        SubtaskAudited(checkpoint=1, subtask="sum[1]", state=StateSummary(1, 2, -3, 2**64 - 1, {"a": -3})),
        CheckpointAudited(checkpoint=4, problem="[CANNOT_LOAD_STATE_STORE] 3.delta does not exist."),
    ]


def test_windows_are_told_with_their_digests_as_spark_cannot_carry_them() -> None:
    part = PartState(0, 0, keys=1, records=2, value=-3, digest=-1, windows=(WindowRow("a", FIRST_WINDOW + 4, -3, -1),))
    events = audit(cast("Session", Driver(StateRead("query", (0,), (part,)))), COMMAND, WINDOWS)
    held = StateSummary(1, 2, -3, 2**64 - 1, windows=(WindowRow("a", 4, -3, 2**64 - 1),))
    assert events == [
        CheckpointAudited(checkpoint=1),
        SubtaskAudited(checkpoint=1, subtask="sum[0]", state=held),
        SubtaskAudited(checkpoint=1, subtask="sum[1]", state=StateSummary(windows=())),
    ]


def test_a_driver_that_dies_or_cannot_be_used_says_nothing() -> None:
    dying, paused = Driver(None), Driver(None, usable=False)
    assert audit(cast("Session", dying), COMMAND, SUM) == []
    assert dying.ended
    assert audit(cast("Session", paused), COMMAND, SUM) == []
    assert not paused.asked
