"""Faults of channels: what proves them, and what does not."""

from __future__ import annotations

from holdfast.harness.model.events import BarrierReceived, BarrierSent, BatchProcessed, BatchSent, Event
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.faults.scene import at, emitted, landed

CHANNEL = Target(Role.CHANNEL, 1)
NAME = "source[0]->sum[1]"


def batch(position: int, sent_ms: float, received_ms: float | None, channel: str = NAME) -> list[Event]:
    events = [at(sent_ms, "worker-0.0", BatchSent(channel=channel, position=position, records=1))]
    if received_ms is not None:
        events.append(at(received_ms, "worker-1.0", BatchProcessed(channel=channel, position=position, records=1)))
    return events


def barrier(checkpoint: int, sent_ms: float, received_ms: float) -> list[Event]:
    return [
        at(sent_ms, "worker-0.0", BarrierSent(channel=NAME, checkpoint=checkpoint)),
        at(received_ms, "worker-1.0", BarrierReceived(channel=NAME, checkpoint=checkpoint)),
    ]


class TestCut:
    spec = FaultSpec("cut", CHANNEL, duration_ms=100)

    def test_what_was_sent_arrives_after_the_heal(self) -> None:
        assert landed(self.spec, [*batch(0, 90, 91), *batch(1, 120, 201), *barrier(1, 130, 202)])

    def test_what_was_sent_never_arrives(self) -> None:
        assert landed(self.spec, batch(0, 120, None), end_ms=None) is False, "nothing tells how long it lasted"
        assert landed(self.spec, [*batch(0, 120, None), emitted(250, "worker-0.0")], end_ms=None)

    def test_a_channel_that_passes_everything_was_not_cut(self) -> None:
        assert not landed(
            self.spec,
            [event for position in range(10) for event in batch(position, 100 + 10 * position, 101 + 10 * position)],
        )

    def test_a_barrier_that_passes_is_progress_too(self) -> None:
        assert not landed(self.spec, [*batch(0, 120, 201), *barrier(1, 140, 141), *barrier(2, 160, 161)], end_ms=180)

    def test_an_idle_channel_proves_nothing(self) -> None:
        assert not landed(self.spec, [*batch(0, 90, 91), *batch(1, 120, None, "source[0]->sum[0]")])

    def test_a_message_on_its_way_at_the_very_end_proves_nothing(self) -> None:
        assert not landed(self.spec, batch(0, 199.5, 200.5))


class TestSlow:
    spec = FaultSpec("slow", CHANNEL, duration_ms=100, parameters={"delay_ms": 40})

    def test_messages_that_take_the_delay(self) -> None:
        assert landed(self.spec, [*batch(0, 90, 91), *batch(1, 110, 150), *barrier(1, 120, 161)])

    def test_messages_that_take_less(self) -> None:
        assert not landed(self.spec, [*batch(0, 110, 149), *batch(1, 120, 130)])

    def test_one_late_message_among_many_proves_nothing(self) -> None:
        assert not landed(self.spec, [*batch(0, 110, 190), *batch(1, 120, 121), *batch(2, 130, 131)])

    def test_what_the_heal_lets_pass_early_is_no_objection(self) -> None:
        assert landed(self.spec, [*batch(0, 110, 150), *batch(1, 180, 201), *batch(2, 190, 201)])

    def test_a_message_that_is_still_late_after_the_heal_counts(self) -> None:
        assert landed(self.spec, batch(0, 190, 230))

    def test_an_idle_channel_proves_nothing(self) -> None:
        assert not landed(self.spec, batch(0, 90, 140))
