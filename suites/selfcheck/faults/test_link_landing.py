"""Faults of links, services, channels and messages: what proves them, and what does not."""

from __future__ import annotations

import pytest

from holdfast.harness.model.capability import Capability
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    CheckpointCompleted,
    CheckpointDrawn,
    CheckpointTriggered,
    CommitTried,
    Event,
    FailureCounted,
    MessageDisturbed,
    NodeDied,
    NotificationReceived,
    SnapshotTaken,
    SourceEmitted,
    SplitsAssigned,
    SplitsReceived,
    TransactionCommitted,
    TriggerReceived,
)
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM, Role, Target
from holdfast.suites.selfcheck.faults.scene import BY_KIND, WORKER, at, emitted, landed

STORAGE, BROKER, CHANNEL = Target(Role.STORAGE), Target(Role.BROKER), Target(Role.CHANNEL)


def checkpoint(number: int, triggered_ms: float, completed_ms: float | None) -> list[Event]:
    events = [at(triggered_ms, "coordinator.0", CheckpointTriggered(checkpoint=number, participants=()))]
    if completed_ms is not None:
        events.append(at(completed_ms, "coordinator.0", CheckpointCompleted(checkpoint=number)))
    return events


def drawn(number: int, drawn_ms: float) -> list[Event]:
    event = CheckpointDrawn(checkpoint=number, request=number, origin=CheckpointOrigin.PERIODIC)
    return [at(drawn_ms, "coordinator.0", event)]


def commit(name: str, tried_ms: float, committed_ms: float | None) -> list[Event]:
    events = [at(tried_ms, "worker-0.0", CommitTried(subtask="sink[0]", transaction=name))]
    if committed_ms is not None:
        events.append(at(committed_ms, "worker-0.0", TransactionCommitted(subtask="sink[0]", transaction=name)))
    return events


def read(time_ms: float, offset: int) -> Event:
    event = SourceEmitted(subtask="source[0]", partition=0, first_offset=offset, next_offset=offset + 1)
    return at(time_ms, "worker-0.0", event)


def died(node: str, time_ms: float = 101) -> list[Event]:
    return [at(time_ms, "harness.0", NodeDied(dead_node=node, cause="kill"))]


def message(taken_ms: float, acknowledged_ms: float) -> list[Event]:
    taken = SnapshotTaken(subtask="sum[0]", checkpoint=1)
    acknowledged = AckReceived(checkpoint=1, subtask="sum[0]", outcome=AckOutcome.SUCCESS)
    return [at(taken_ms, "worker-0.0", taken), at(acknowledged_ms, "coordinator.0", acknowledged)]


def triggered(time_ms: float) -> Event:
    return at(time_ms, "worker-0.0", TriggerReceived(subtask="source[0]", checkpoint=1))


HELD_BACK: dict[str, tuple[Target, list[Event], int]] = {
    "a checkpoint hung until the heal": (STORAGE, [*checkpoint(1, 90, 210), *checkpoint(2, 215, 220)], 0),
    "a checkpoint never ended": (STORAGE, checkpoint(1, 110, None), 0),
    # The checkpoint itself was not asked for before.
    "an id was durable only after the heal": (STORAGE, [*drawn(1, 110), *checkpoint(1, 205, 210)], 0),
    "a checkpoint of unknown id hung until the heal": (STORAGE, checkpoint(1, 150, 210), 0),
    "a commit hung until the heal": (BROKER, [*commit("a", 110, 205), *checkpoint(1, 120, 140)], 0),
    "records came only behind the heal": (SOURCE_SYSTEM, [read(90, 0), read(210, 1)], 2),
    "nobody ever read again": (SOURCE_SYSTEM, [read(90, 0)], 2),
    "an acknowledgement came only behind the heal": (COORDINATOR, message(110, 205), 0),
    "a source had no trigger before the heal": (COORDINATOR, [*checkpoint(1, 110, None), triggered(205)], 0),
}
"""By what it is: the target, what happened, and how many records there are to be read."""
NOT_HELD_BACK: dict[str, tuple[Target, list[Event], int]] = {
    "a checkpoint went through meanwhile": (STORAGE, [*checkpoint(1, 110, 150), *checkpoint(2, 155, 210)], 0),
    "nothing was asked": (STORAGE, [*checkpoint(1, 10, 50), *checkpoint(2, 205, 210)], 0),
    "a checkpoint was asked for at the very end": (STORAGE, checkpoint(1, 190, 210), 0),
    "a checkpoint was asked for after the heal": (STORAGE, checkpoint(1, 205, 210), 0),
    "an id was drawn at the very end": (STORAGE, [*drawn(1, 190), *checkpoint(1, 205, 210)], 0),
    "an id was drawn, of which a broker has nothing": (BROKER, [*drawn(1, 110), *checkpoint(1, 205, 210)], 0),
    "an id was durable meanwhile": (STORAGE, [*drawn(1, 110), *checkpoint(1, 150, 210)], 0),
    "a commit went through meanwhile": (BROKER, [*commit("a", 110, 150), *checkpoint(1, 120, None)], 0),
    # Of what a source reads, records that come prove that somebody waited for them.
    "records came meanwhile": (SOURCE_SYSTEM, [read(90, 0), read(150, 1), read(210, 2)], 3),
    "everything had been read": (SOURCE_SYSTEM, [read(90, 0)], 1),
    # Of the messages between coordinator and workers, triggers and acknowledgements prove it.
    "an acknowledgement came meanwhile": (COORDINATOR, message(110, 150), 0),
    "a trigger was sent at the very end": (COORDINATOR, checkpoint(1, 190, None), 0),
}


@pytest.mark.parametrize("kind", ["cut", "black-hole"])
@pytest.mark.parametrize("what", HELD_BACK)
def test_what_was_held_back_proves_it(what: str, kind: str) -> None:
    target, events, records = HELD_BACK[what]
    assert landed(FaultSpec(kind, target), events, records=records)


@pytest.mark.parametrize("kind", ["cut", "black-hole"])
@pytest.mark.parametrize("what", NOT_HELD_BACK)
def test_what_was_not_held_back_does_not(what: str, kind: str) -> None:
    target, events, records = NOT_HELD_BACK[what]
    assert not landed(FaultSpec(kind, target), events, records=records)


@pytest.mark.parametrize(("completed_ms", "expected"), [(140, True), (139.9, False)])
def test_on_a_slow_link_a_checkpoint_takes_the_delay_or_longer(completed_ms: float, expected: bool) -> None:
    spec = FaultSpec("slow", STORAGE, parameters={"delay_ms": 30})
    assert landed(spec, checkpoint(1, 110, completed_ms)) is expected


@pytest.mark.parametrize(("time_ms", "expected"), [(101, True), (99, False)])
def test_somebody_complains_behind_a_reset(time_ms: float, expected: bool) -> None:
    failure = at(time_ms, "coordinator.0", FailureCounted(cause="channel lost"))
    assert landed(FaultSpec("reset", CHANNEL), [failure], end_ms=None) is expected


def test_nothing_of_a_reset_stays_on_a_link_to_a_service() -> None:
    assert BY_KIND["reset"].healed(object(), FaultSpec("reset", BROKER))


def test_queues_died_while_records_of_them_were_unread() -> None:
    outage, dead = FaultSpec("outage", SOURCE_SYSTEM), died("source-system.0")
    assert landed(outage, [*dead, read(90, 0), read(210, 1)], records=2)
    assert not landed(outage, [*dead, read(90, 0)], records=1)
    assert not landed(outage, [*died("broker.0"), read(90, 0), read(210, 1)], records=2)


@pytest.mark.parametrize(
    ("spec", "needed"),
    [
        (FaultSpec("cut", CHANNEL), Capability.CUT_CHANNEL),
        (FaultSpec("cut", CHANNEL, parameters={"direction": "forward"}), Capability.IMPAIR_CHANNEL),
        (FaultSpec("cut", STORAGE), Capability.IMPAIR_STORAGE),
        (FaultSpec("slow", CHANNEL), Capability.SLOW_CHANNEL),
        (FaultSpec("slow", BROKER), Capability.IMPAIR_BROKER),
        (FaultSpec("limit", CHANNEL), Capability.IMPAIR_CHANNEL),
        (FaultSpec("outage", BROKER), Capability.STOP_BROKER),
        (FaultSpec("outage", STORAGE), Capability.STOP_STORAGE),
        (FaultSpec("cut", SOURCE_SYSTEM), Capability.IMPAIR_SOURCE),
        (FaultSpec("outage", SOURCE_SYSTEM), Capability.STOP_SOURCE),
        (FaultSpec("cut", Target(Role.SINK_SYSTEM)), Capability.IMPAIR_SINK),
        (FaultSpec("outage", Target(Role.SINK_SYSTEM)), Capability.STOP_SINK),
        (FaultSpec("kill", Target(Role.WORKER), parameters={"part": "executor"}), Capability.KILL_PART),
    ],
)
def test_what_a_fault_needs_depends_on_its_target(spec: FaultSpec, needed: Capability) -> None:
    assert BY_KIND[spec.kind].needs(spec) is needed


DATA_CHANNEL = Target(Role.CHANNEL, 1)
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


ACKS: dict[str, int | str] = {"message": "acknowledge"}


def disturbed(way: str, *, time_ms: float = 110, delay_ms: int = 0, worker: int = 1, alone: bool = True) -> Event:
    event = MessageDisturbed(
        attempt=1,
        message="acknowledge",
        way=way,
        worker=worker,
        subtask="sum[1]",
        checkpoint=3,
        delay_ms=delay_ms,
        with_connection=not alone,
    )
    return at(time_ms, "worker-1.0", event)


def received(time_ms: float, *, checkpoint: int = 3, attempt: int = 1) -> Event:
    outcome = AckOutcome.SUCCESS
    return at(
        time_ms,
        "coordinator.0",
        AckReceived(attempt=attempt, checkpoint=checkpoint, subtask="sum[1]", outcome=outcome),
    )


def assignment(way: str, delay_ms: int = 0) -> list[Event]:
    """Splits are assigned at 109 ms, which a fault acts on; and again at 115 ms."""
    sent = [SplitsAssigned(attempt=1, subtask="source[0]", splits=(0,)) for _ in range(2)]
    event = MessageDisturbed(
        attempt=1, message="assign-splits", way=way, worker=0, subtask="source[0]", delay_ms=delay_ms
    )
    return [at(109, "coordinator.0", sent[0]), at(110, "coordinator.0", event), at(115, "coordinator.0", sent[1])]


def assigned(time_ms: float) -> Event:
    return at(time_ms, "worker-0.0", SplitsReceived(attempt=1, subtask="source[0]", splits=(0,)))


def again(kind: str) -> FaultSpec:
    """Of a message that is sent again, which is another one: it hides no loss, and is no copy."""
    delay = {"delay_ms": 20} if kind == "delay-messages" else {}
    return FaultSpec(kind, COORDINATOR, parameters={"message": "assign-splits", **delay})


def late(delay_ms: int = 20, time_ms: float = 110) -> Event:
    return disturbed("delay", delay_ms=delay_ms, time_ms=time_ms)


LIMIT, OUTAGE = FaultSpec("limit", STORAGE), FaultSpec("outage", STORAGE)
CUT = FaultSpec("cut", DATA_CHANNEL, duration_ms=100)
SLOW = FaultSpec("slow", DATA_CHANNEL, duration_ms=100, parameters={"delay_ms": 40})
DELAY = FaultSpec("delay-messages", COORDINATOR, parameters={**ACKS, "delay_ms": 20})
DOUBLE = FaultSpec("double-messages", WORKER, parameters=ACKS)
LOSE = FaultSpec("lose-messages", COORDINATOR, parameters=ACKS)
EFFECTS: dict[str, tuple[FaultSpec, list[Event]]] = {
    "checkpoints take longer": (LIMIT, [*checkpoint(1, 10, 20), *checkpoint(2, 110, 150), *checkpoint(3, 210, 219)]),
    "the store died while it was wanted": (OUTAGE, [*died("storage.0"), *checkpoint(1, 90, 210)]),
    "the broker died": (FaultSpec("outage", BROKER), [*died("broker.0"), *checkpoint(1, 90, 210)]),
    "what was sent arrives after the heal": (CUT, [*batch(0, 90, 91), *batch(1, 120, 201), *barrier(1, 130, 202)]),
    "messages take the delay": (SLOW, [*batch(0, 90, 91), *batch(1, 110, 150), *barrier(1, 120, 161)]),
    "the heal lets some pass early": (SLOW, [*batch(0, 110, 150), *batch(1, 180, 201), *batch(2, 190, 201)]),
    "a message is still late after the heal": (SLOW, batch(0, 190, 230)),
    "it came when the delay was over": (DELAY, [late(), received(130)]),
    "a late one never came": (DELAY, [late()]),
    "it came twice": (DOUBLE, [disturbed("double"), received(111), received(112)]),
    "a lost one never came": (LOSE, [disturbed("lose"), received(111, checkpoint=4)]),
    # That is proved by whoever broke the connection.
    "it went with its connection": (LOSE, [disturbed("lose", alone=False)]),
    "of two one was lost": (again("lose-messages"), [*assignment("lose"), assigned(116)]),
    "of two the first was late": (again("delay-messages"), [*assignment("delay", 20), assigned(116), assigned(130)]),
    "of two one was doubled": (again("double-messages"), [*assignment("double"), *map(assigned, (111, 112, 116))]),
}
NO_EFFECTS: dict[str, tuple[FaultSpec, list[Event]]] = {
    "checkpoints take as long as otherwise": (LIMIT, [*checkpoint(1, 10, 20), *checkpoint(2, 110, 120)]),
    "nothing to compare with": (LIMIT, checkpoint(2, 110, 190)),
    "another death": (OUTAGE, [*died("broker.0"), *checkpoint(1, 90, 210)]),
    "a store that nobody wanted": (OUTAGE, [*died("storage.0"), *checkpoint(1, 10, 50)]),
    "a channel passes everything": (CUT, [event for n in range(10) for event in batch(n, 100 + 10 * n, 101 + 10 * n)]),
    "an idle channel": (CUT, [*batch(0, 90, 91), *batch(1, 120, None, "source[0]->sum[0]")]),
    "a message on its way at the very end": (CUT, batch(0, 199.5, 200.5)),
    "messages take less": (SLOW, [*batch(0, 110, 149), *batch(1, 120, 130)]),
    "one late message among many": (SLOW, [*batch(0, 110, 190), *batch(1, 120, 121), *batch(2, 130, 131)]),
    "an idle slow channel": (SLOW, batch(0, 90, 140)),
    "a message came at once": (DELAY, [late(), received(129)]),
    "what was late before": (DELAY, [late(time_ms=99)]),
    "another delay": (DELAY, [late(30)]),
    "what another fault did": (DELAY, [disturbed("lose")]),
    "it came once": (DOUBLE, [disturbed("double"), received(111)]),
    "another message came": (DOUBLE, [disturbed("double"), received(111), received(112, checkpoint=4)]),
    "one of another attempt came": (DOUBLE, [disturbed("double"), received(111), received(112, attempt=2)]),
    "the connection of another worker": (DOUBLE, [disturbed("double", worker=0), received(111), received(112)]),
    "a lost one came all the same": (LOSE, [disturbed("lose"), received(111)]),
    "of two none was lost": (again("lose-messages"), [*assignment("lose"), assigned(111), assigned(116)]),
    "of two none was late": (again("delay-messages"), [*assignment("delay", 20), assigned(111), assigned(116)]),
    "the second is no copy": (again("double-messages"), [*assignment("double"), assigned(111), assigned(116)]),
}


@pytest.mark.parametrize("what", EFFECTS)
def test_its_effect_proves_a_fault(what: str) -> None:
    assert landed(*EFFECTS[what])


@pytest.mark.parametrize("what", NO_EFFECTS)
def test_a_near_miss_is_no_proof(what: str) -> None:
    assert not landed(*NO_EFFECTS[what])


def test_what_was_sent_into_a_cut_never_arrives() -> None:
    assert landed(CUT, batch(0, 120, None), end_ms=None) is False, "nothing tells how long it lasted"
    assert landed(CUT, [*batch(0, 120, None), emitted(250, "worker-0.0")], end_ms=None)


def test_a_barrier_that_passes_a_cut_is_progress_too() -> None:
    assert not landed(CUT, [*batch(0, 120, 201), *barrier(1, 140, 141), *barrier(2, 160, 161)], end_ms=180)


def test_a_notice_of_abort_is_not_the_notice_of_completion() -> None:
    spec = FaultSpec("lose-messages", COORDINATOR, parameters={"message": "complete"})
    lost = at(
        110,
        "coordinator.0",
        MessageDisturbed(attempt=1, message="complete", way="lose", worker=0, subtask="sink[0]", checkpoint=2),
    )

    def heard(completed: bool) -> Event:
        notice = NotificationReceived(attempt=1, subtask="sink[0]", checkpoint=2, completed=completed)
        return at(111, "worker-0.0", notice)

    assert landed(spec, [lost, heard(completed=False)])
    assert not landed(spec, [lost, heard(completed=True)])


@pytest.mark.parametrize("kind", ["delay-messages", "double-messages", "lose-messages"])
def test_without_a_record_of_the_sender_nothing_landed(kind: str) -> None:
    assert not landed(FaultSpec(kind, COORDINATOR, parameters=ACKS), [received(111), received(112)])
