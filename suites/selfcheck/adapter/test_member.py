"""A process through its lives: what is recorded of it, who is signalled, and when it begins anew."""

from __future__ import annotations

import math

import pytest

from holdfast.harness.adapter.member import Member, Nodes
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import NodeDied, NodeStarted

DELAY_MS = 200


class Clocked(Recorder):
    """With a clock that is set by hand."""

    now_ms = 50.0


class Mortal:
    """A life in name."""

    def __init__(self) -> None:
        self.dead = self.paused = False

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def end(self) -> int:
        self.dead = True
        return -9


class Ours(Member[Mortal]):
    """One that we start."""

    def start(self) -> None:
        self.begin(Mortal())


@pytest.fixture
def recorder() -> Clocked:
    return Clocked()


@pytest.fixture
def member(recorder: Clocked) -> Ours:
    member = Ours("worker-0", Nodes(recorder), DELAY_MS)
    member.tend()
    return member


def deaths(recorder: Recorder) -> list[tuple[str, str]]:
    events = recorder.nodes.get("harness", ())
    return [(event.dead_node, event.cause) for event in events if isinstance(event, NodeDied)]


def test_it_begins_anew_when_its_delay_has_passed(member: Ours, recorder: Clocked) -> None:
    assert (member.alive, member.next_ms) == (True, math.inf)
    member.kill()
    assert (member.alive, member.next_ms) == (False, 50 + DELAY_MS)
    assert deaths(recorder) == [("worker-0.0", "kill")]
    for recorder.now_ms, node in ((49 + DELAY_MS, "worker-0.0"), (50 + DELAY_MS, "worker-0.1")):
        member.tend()
        assert member.node == node
    assert [type(event) for event in recorder.nodes["worker-0.1"]] == [NodeStarted]


def test_who_is_away_or_not_ours_to_start_does_not_begin(recorder: Clocked) -> None:
    ours, theirs = Ours("worker-0", Nodes(recorder), DELAY_MS), Member[Mortal]("worker-1", Nodes(recorder))
    ours.away = True
    theirs.begin(Mortal())
    theirs.kill()
    recorder.now_ms = 10.0**9
    for each in (ours, theirs):
        each.tend()
        assert each.present is None


def test_who_is_not_ours_to_start_is_never_due(recorder: Clocked) -> None:
    theirs = Member[Mortal]("worker-1", Nodes(recorder))
    due_ms = [theirs.next_ms]
    for end in (theirs.kill, theirs.let_go):
        theirs.begin(Mortal())
        end()
        due_ms.append(theirs.next_ms)
    assert due_ms == [math.inf] * 3


def test_who_is_let_go_lives_on_and_has_no_successor(member: Ours, recorder: Clocked) -> None:
    life = member.living()
    member.let_go()
    member.tend()
    assert (life.dead, member.present, member.next_ms, deaths(recorder)) == (False, None, math.inf, [])


def test_the_dead_are_not_signalled_nor_buried_twice(member: Ours, recorder: Clocked) -> None:
    life = member.living()
    life.dead = True
    for signal in (member.kill, member.pause):
        with pytest.raises(OSError, match="worker-0 is dead already"):
            signal()
    member.bury("exit code 3")
    member.bury("exit code 3")
    member.resume()
    assert deaths(recorder) == [("worker-0.0", "exit code 3")]


def test_it_stands_still_until_it_is_resumed(member: Ours) -> None:
    member.pause()
    assert not member.alive
    member.resume()
    assert member.alive
