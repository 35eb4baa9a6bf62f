"""A process that a part starts and leaves behind refutes it, by its call and line, and is ended; one that it waits for
does not."""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend, HashMapSnapshot
from holdfast.fixtures.mutants.file_systems.in_folder import InFolder
from holdfast.fixtures.reference.protocol.restart_strategies import FixedDelay
from holdfast.fixtures.sinks.memory import MemorySink
from holdfast.fixtures.sources.log import LogSource
from holdfast.fixtures.storages.in_memory import FaultPoints, InMemoryStorage, Place
from holdfast.harness.model.status import Status
from holdfast.harness.spi.file_system import FileSystemDescription
from holdfast.harness.spi.restart_strategy import RestartStrategyDescription
from holdfast.harness.spi.sink import SinkDescription
from holdfast.harness.spi.source import SourceDescription
from holdfast.harness.spi.state import SnapshotKind
from holdfast.harness.spi.storage import StorageContext
from holdfast.suites.certify import checkpoint_storage, file_system, restart_strategy, sink, source
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.certify.checkpoint_storage import judge as judge_checkpoint_storage
from holdfast.suites.certify.children_and_threads import children
from holdfast.suites.certify.file_system import judge as judge_file_system
from holdfast.suites.certify.restart_strategy import judge as judge_restart_strategy
from holdfast.suites.certify.sink import judge as judge_sink
from holdfast.suites.certify.source import judge as judge_source
from holdfast.suites.certify.state_backend import judge
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.checks.increments import checkpointed
from holdfast.suites.certify.state_backend.live import fill

SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]
FOREVER = Event()
OPEN_FILES = "/proc/self/fd"
_started: list[subprocess.Popen[bytes]] = []


def judged(at_snapshot: Callable[[], object], at_close: Callable[[], object] = lambda: None) -> CheckVerdict:
    """A check of a backend that does something at each."""

    class Backend(HashMapBackend):
        def make_snapshot(self, checkpoint: int, kind: SnapshotKind) -> HashMapSnapshot:
            at_snapshot()
            return super().make_snapshot(checkpoint, kind)

        def close(self) -> None:
            super().close()
            at_close()

    def run(bench: Bench) -> None:
        live = bench.fresh()
        fill(live)
        checkpointed(bench, live)

    return judge(Check("SBK-01/example", "An example.", run), Backend, HashMapBackend)


@pytest.fixture(autouse=True)
def before() -> Iterator[frozenset[int]]:
    before = children()
    yield before
    for process in _started:
        process.kill()
        process.communicate()
    _started.clear()


def fork() -> None:
    if os.fork() == 0:
        FOREVER.wait()


def fork_and_return() -> None:
    os.fork()


def fork_and_end() -> None:
    """Nobody waits for it."""
    if os.fork() == 0:
        os._exit(0)


def start() -> None:
    _started.append(subprocess.Popen(SLEEPS))


def start_without_command() -> None:
    """As one looks that is still loading its program: it lives, and has no command line."""
    _started.append(subprocess.Popen([""], executable="/bin/cat", stdin=subprocess.PIPE))


def fork_by_multiprocessing() -> None:
    multiprocessing.get_context("fork").Process(target=FOREVER.wait).start()


def spawn_by_multiprocessing() -> None:
    multiprocessing.get_context("spawn").Process(target=os.getppid).start()


@pytest.mark.parametrize(
    ("start", "program"),
    [
        (fork, "a fork of its process"),
        (fork_and_return, "a "),  # It may have come to its end by then.
        (fork_and_end, "a process that ended and was not waited for"),
        (start_without_command, "a process without a command line, which may still be loading its program"),
        (start, f"{sys.executable} -c import time"[:50]),
        (fork_by_multiprocessing, "a fork of its process"),
        (spawn_by_multiprocessing, ""),
    ],
)
@pytest.mark.share(3)
def test_a_child_that_is_left_refutes_and_is_ended(
    start: Callable[[], None], program: str, before: frozenset[int]
) -> None:
    verdict = judged(start)
    assert verdict.status is Status.FAIL
    assert verdict.reason.startswith(f"a child left: {program}")
    line = start.__code__.co_firstlineno + 1
    assert any(f"(test_children.py:{line + more})" in verdict.reason for more in range(3)), verdict.reason
    assert ", started in snapshot (" in verdict.reason
    tracker = {pid for pid in children() - before if is_tracker(pid)}
    assert children() - before == tracker


def is_tracker(pid: int) -> bool:
    return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.fixture
def room() -> Iterator[None]:
    """What a test does to descriptors is undone behind it."""
    limits, standard_input, before = resource.getrlimit(resource.RLIMIT_NOFILE), os.dup(0), set(os.listdir(OPEN_FILES))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    os.dup2(standard_input, 0)
    os.close(standard_input)
    for name in set(os.listdir(OPEN_FILES)) - before:
        with suppress(OSError):  # That of the listing itself.
            os.close(int(name))


def lower_limit() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def use_up_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with suppress(OSError):
        while True:
            os.open(os.devnull, os.O_RDONLY)


def take_all_room() -> None:
    """That of standard input, too."""
    os.dup2(os.open(sys.executable, os.O_RDONLY), 0)
    lower_limit()


NO_ROOM = pytest.mark.parametrize("leave_no_room", [lower_limit, use_up_descriptors])


@NO_ROOM
@pytest.mark.parametrize("order", [1, -1], ids=("before", "after"))
@pytest.mark.usefixtures("room")
def test_a_child_is_seen_and_ended_where_no_file_can_be_opened(
    leave_no_room: Callable[[], None], order: int, before: frozenset[int]
) -> None:
    """It was neither, or could not be started."""

    def at_snapshot() -> None:
        for act in (fork, leave_no_room)[::order]:
            act()

    standard_input = os.fstat(0)
    verdict = judged(at_snapshot)
    assert verdict.status is Status.FAIL, verdict.reason
    assert verdict.reason.startswith("a child left: a fork of its process, started in snapshot (test_children.py:")
    assert os.path.samestat(os.fstat(0), standard_input)
    assert os.get_inheritable(0)
    assert children() == before


@NO_ROOM
@pytest.mark.usefixtures("room")
def test_who_left_no_child_is_refuted_for_nothing_that_the_kit_could_not_open(
    leave_no_room: Callable[[], None],
) -> None:
    verdict = judged(leave_no_room)
    assert verdict.status is Status.PASS, verdict.reason


@NO_ROOM
@pytest.mark.usefixtures("room")
def test_a_child_is_ended_also_if_the_part_is_refuted_anyway(
    leave_no_room: Callable[[], None], before: frozenset[int]
) -> None:
    def at_snapshot() -> None:
        fork()
        leave_no_room()
        open(os.devnull)  # noqa: SIM115 - it raises

    verdict = judged(at_snapshot)
    assert verdict.status is Status.FAIL
    assert "Too many open files" in verdict.reason
    assert children() == before


@pytest.mark.parametrize("prevent", [take_all_room, lambda: setattr(os, "listdir", None)], ids=("room", "listing"))
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.usefixtures("room")
def test_what_cannot_be_looked_for_is_not_taken_for_none(
    prevent: Callable[[], None], fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "listdir", os.listdir)

    def at_snapshot() -> None:
        prevent()
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        if fails:
            raise ValueError("the part is wrong")

    verdict = judged(at_snapshot)
    monkeypatch.undo()
    if fails:
        assert (verdict.status, "the part is wrong" in verdict.reason) == (Status.FAIL, True)
    else:
        assert verdict.status is Status.ERROR
        assert verdict.reason.startswith("whether a child was left behind close() cannot be told: ")


def end() -> None:
    for process in _started:
        process.terminate()
        process.wait()


def works_in_another() -> None:
    process = multiprocessing.get_context("spawn").Process(target=os.getppid)
    process.start()
    process.join()


@pytest.mark.parametrize(
    ("at_snapshot", "at_close"),
    [
        (lambda: subprocess.run([sys.executable, "-c", ""], check=True), lambda: None),
        (start, end),
        (works_in_another, lambda: None),
        (lambda: None, lambda: None),
    ],
    ids=("run", "ended by close", "joined", "none"),
)
def test_a_child_that_is_waited_for_refutes_nothing(
    at_snapshot: Callable[[], None], at_close: Callable[[], None]
) -> None:
    verdict = judged(at_snapshot, at_close)
    assert verdict.status is Status.PASS, verdict.reason


def by_sinks(leave: Callable[[], object]) -> CheckVerdict:
    class Leaves(MemorySink):
        def describe(self) -> SinkDescription:
            leave()
            return super().describe()

    return judge_sink(sink.CHECKS[0], Leaves)


def by_sources(leave: Callable[[], object]) -> CheckVerdict:
    class Leaves(LogSource):
        def describe(self) -> SourceDescription:
            leave()
            return super().describe()

    return judge_source(source.CHECKS[0], Leaves)


def by_restart_strategies(leave: Callable[[], object]) -> CheckVerdict:
    class Leaves(FixedDelay):
        def describe(self) -> RestartStrategyDescription:
            leave()
            return super().describe()

    return judge_restart_strategy(restart_strategy.CHECKS[0], Leaves)


def by_storages(leave: Callable[[], object]) -> CheckVerdict:
    class Leaves(InMemoryStorage):
        def __init__(self, context: StorageContext) -> None:
            leave()
            super().__init__(context, Place(), FaultPoints({}))

    return judge_checkpoint_storage(checkpoint_storage.CHECKS[0], checkpoint_storage.target_of(Leaves, "memory:"))


def by_file_systems(leave: Callable[[], object]) -> CheckVerdict:
    class Leaves(InFolder):
        def describe(self) -> FileSystemDescription:
            leave()
            return super().describe()

    return judge_file_system(file_system.CHECKS[0], file_system.target_of(Leaves))


@pytest.mark.parametrize("judged_by", [by_sinks, by_sources, by_restart_strategies, by_storages, by_file_systems])
@pytest.mark.share(2)
def test_every_kit_sees_it(judged_by: Callable[[Callable[[], object]], CheckVerdict], before: frozenset[int]) -> None:
    verdict = judged_by(start)
    assert verdict.status is Status.FAIL, verdict.text
    assert verdict.reason.startswith("a child left: "), verdict.text
    assert children() == before
    assert judged_by(lambda: subprocess.run(["true"], check=True)).status is not Status.FAIL


def test_a_child_from_before_the_check_is_nobodys_fault() -> None:
    start()
    assert judged(lambda: None).status is Status.PASS
    assert _started[0].poll() is None
