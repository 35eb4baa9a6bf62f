"""Processes through their lives: how they are launched, signalled, watched by the one loop, and named as nodes."""

from __future__ import annotations

import math
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.harness.adapter.child import Child, Launched
from holdfast.harness.adapter.member import Member, Nodes
from holdfast.harness.adapter.process import end_group, process_stat
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.adapter.stand import Stand
from holdfast.harness.model.events import FaultStruck, JobStatus, JobSwitched, NodeDied, NodeStarted
from holdfast.harness.spi.controls import Controls
from holdfast.suites.selfcheck.services.listener import becomes

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


LARGE_BYTES = 300 << 20
"""A process that holds so much takes far longer to go than one that is small."""
CHILD = f"held = b'x' * {LARGE_BYTES}; print(len(held), flush=True); input()"
LEADER = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_what_dies_slowly_is_gone_when_its_group_was_ended(tmp_path: Path) -> None:
    """Only the leader was awaited: the folder of a run was removed while others still wrote there."""
    log = tmp_path / "log"
    with closing(Launched([sys.executable, "-c", LEADER], tmp_path, log)) as program:
        assert becomes(lambda: log.read_text().endswith("\n"))
        child = int(log.read_text())
        assert program.end() == -9
        stat = process_stat(child)
        assert stat is None or stat.state == "Z"


@pytest.fixture
def outlived(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each group seems to outlive SIGKILL, as one does that waits for a disk."""

    def ends_late(leader: int) -> None:
        end_group(leader)
        raise OSError(f"process {leader} outlives SIGKILL for 5 s.")

    monkeypatch.setattr("holdfast.harness.adapter.child.end_group", ends_late)


@pytest.mark.usefixtures("outlived")
def test_what_outlives_sigkill_is_told_at_an_end_and_keeps_nobody_from_closing(tmp_path: Path) -> None:
    first, second = (Child([sys.executable, "-c", "input()"], tmp_path, tmp_path / "log") for _ in range(2))
    with pytest.raises(OSError, match="outlives SIGKILL"):
        first.end()
    for child in (first, second):
        child.close()
        with pytest.raises(ValueError, match="closed file"):
            child.fileno()


def test_each_life_is_a_node() -> None:
    nodes = Nodes(Recorder())
    assert (nodes.begun("a"), nodes.next("a")) == (0, "a.0")
    nodes.begin("a", attempt=3)
    assert (nodes.begun("a"), nodes.last("a"), nodes.next("a")) == (1, "a.0", "a.0")
    nodes.bury("a", "exit code 1", by_error=True)
    assert (nodes.begun("a"), nodes.last("a"), nodes.next("a")) == (1, "a.0", "a.1")
    nodes.begin("a")
    assert (nodes.begun("a"), nodes.last("a"), nodes.next("a")) == (2, "a.1", "a.1")
    [started] = nodes.recorder.nodes["a.0"]
    [died] = nodes.recorder.nodes[HARNESS]
    assert isinstance(started, NodeStarted)
    assert isinstance(died, NodeDied)
    assert (started.attempt, died.dead_node, died.cause, died.by_error) == (3, "a.0", "exit code 1", True)


def test_one_that_is_left_behind_has_a_successor() -> None:
    nodes = Nodes(Recorder())
    nodes.begin("a")
    nodes.begin("a")
    nodes.bury("a", "exit")
    [died] = nodes.recorder.nodes[HARNESS]
    assert isinstance(died, NodeDied)
    assert (nodes.begun("a"), died.dead_node, nodes.next("a")) == (2, "a.1", "a.2")


def test_what_only_dies_is_counted_too() -> None:
    nodes = Nodes(Recorder())
    nodes.bury("a/part", "exit")
    nodes.bury("a/part", "exit")
    assert [each.dead_node for each in nodes.recorder.nodes[HARNESS] if isinstance(each, NodeDied)] == [
        "a/part.0",
        "a/part.1",
    ]


def test_a_death_by_the_harness_is_an_effect_of_the_fault_that_acts() -> None:
    nodes = Nodes(Recorder())
    nodes.recorder.acting.fault = 2
    nodes.begin("a")
    nodes.bury("a", "SIGKILL")
    nodes.begin("a")
    nodes.bury("a", "kill")
    kinds = [type(each) for each in nodes.recorder.nodes[HARNESS]]
    assert kinds == [NodeDied, FaultStruck, NodeDied]


RUNNING = JobSwitched(status=JobStatus.RUNNING)
NEVER_MS = 3_600_000.0


class Scripted(Stand):
    """Whose waits take no time but what they are told to."""

    problem = ""
    due_ms = float("inf")
    longest_wait_ms = 20

    def __init__(self, *, started: bool = True) -> None:
        self._recorder = Recorder()
        self.controls = Controls(self._recorder.acting)
        self.done: list[str] = []
        self.waited_s: list[float] = []
        self.happens_after = 3
        if started:
            self._recorder.start_clock()

    def hear(self) -> None:
        self.done.append("hear")

    def tend(self) -> None:
        self.done.append("tend")

    @property
    def next_ms(self) -> float:
        return self.due_ms

    def wait(self, limit_s: float) -> None:
        self.done.append("wait")
        self.waited_s.append(limit_s)
        if len(self.waited_s) == self.happens_after:
            self._recorder.record("coordinator.0", RUNNING)


def test_it_hears_and_tends_and_waits_until_something_happens() -> None:
    stand = Scripted()
    assert stand.advance(NEVER_MS) == [RUNNING]
    assert stand.done == [*["hear", "tend", "wait"] * 3, "hear", "tend"]
    assert stand.waited_s == [0.02] * 3


def test_what_is_due_ends_a_wait() -> None:
    stand = Scripted()
    stand.due_ms = stand.now_ms + 5
    stand.advance(NEVER_MS)
    assert 0 <= min(stand.waited_s) <= max(stand.waited_s) <= 0.005
    stand.waited_s, stand.due_ms = [], 0.0
    stand.advance(NEVER_MS)
    assert stand.waited_s == [0.0] * 3, "it is overdue"


def test_no_wait_goes_beyond_the_time_that_is_asked_for() -> None:
    stand = Scripted()
    assert stand.advance(stand.now_ms) == []
    assert stand.done == ["hear", "tend"]
    stand.advance(stand.now_ms + 10)
    assert max(stand.waited_s) <= 0.01


def test_the_time_is_up_though_the_clock_of_the_run_has_not_begun() -> None:
    stand = Scripted(started=False)
    stand.happens_after = 0
    began_s = time.monotonic()
    assert stand.advance(30) == []
    assert stand.now_ms == 0
    assert time.monotonic() - began_s >= 0.03


def test_a_problem_is_raised_before_anything_is_done() -> None:
    stand = Scripted()
    stand.problem = "it fell silent."
    with pytest.raises(OSError, match=r"^it fell silent\.$"):
        stand.advance(NEVER_MS)
    assert stand.done == ["hear"]
