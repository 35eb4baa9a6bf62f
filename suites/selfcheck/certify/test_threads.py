"""A thread that each life of a part leaves behind refutes it, by its call and line. One that ends refutes nothing, nor
does a pool that its library keeps for the whole process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread, Timer, active_count

import pytest

from holdfast.harness.model.status import Status
from holdfast.suites.certify import children_and_threads
from holdfast.suites.certify.check import CheckVerdict
from holdfast.suites.selfcheck.certify.test_children import (
    by_file_systems,
    by_restart_strategies,
    by_sinks,
    by_sources,
    by_storages,
    judged,
)

Judged = Callable[[Callable[[], object]], CheckVerdict]
KITS: tuple[Judged, ...] = (by_sinks, by_sources, by_storages, by_file_systems, by_restart_strategies, judged)
_over = Event()

_pools: list[ThreadPoolExecutor] = []


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    _over.clear()
    yield
    _over.set()
    while _pools:
        _pools.pop().shutdown()


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing ends, the kit need not wait as long as it does for what was told to end."""
    monkeypatch.setattr(children_and_threads, "PATIENCE_S", 1.0)


def leave() -> None:
    Thread(target=_over.wait, daemon=True).start()


def leave_a_timer() -> None:
    timer = Timer(600, _over.set)
    timer.daemon = True
    timer.start()


def leave_by_another() -> None:
    Thread(target=leave).start()


def leave_by_one_that_lingers() -> None:
    """It was counted, too, and what was left when it had ended was taken for a pool."""

    def linger() -> None:
        leave()
        Event().wait(0.05)

    Thread(target=linger).start()


def leave_a_pool() -> None:
    _pools.append(ThreadPoolExecutor(1))
    _pools[-1].submit(int)


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("judged_by", KITS)
@pytest.mark.share(3)
def test_every_kit_sees_it(judged_by: Judged) -> None:
    verdict = judged_by(leave)
    assert verdict.status is Status.FAIL, verdict.text
    assert verdict.reason.startswith("threads left: "), verdict.text
    assert f"(test_threads.py:{leave.__code__.co_firstlineno + 1})" in verdict.reason


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("leaves", [leave_a_timer, leave_by_another, leave_by_one_that_lingers, leave_a_pool])
def test_however_it_is_started(leaves: Callable[[], object]) -> None:
    verdict = by_sinks(leaves)
    assert verdict.status is Status.FAIL, verdict.text
    assert "(test_threads.py:" in verdict.reason


def join() -> None:
    thread = Thread(target=int)
    thread.start()
    thread.join()


def end_later() -> None:
    """Told to end, and not waited for."""
    timer = Timer(0.2, int)
    timer.start()


def keep_one() -> None:
    """For the whole process."""
    if not _pools:
        _pools.append(ThreadPoolExecutor(4))
    _pools[0].submit(int)


def keep_four() -> None:
    if not _pools:
        _pools.append(ThreadPoolExecutor(4))
    for _ in range(4):
        _pools[0].submit(Event().wait, 0.01)


def grow_to_nine() -> None:
    """A pool that begins one thread more at each use, up to its size."""
    if not _pools:
        _pools.append(ThreadPoolExecutor(9))
    _pools[0].submit(_over.wait)


def give_up_a_pool() -> None:
    """Its threads end when nobody holds it any more."""
    ThreadPoolExecutor(2).submit(int)


@pytest.mark.parametrize("judged_by", KITS)
@pytest.mark.parametrize("ends", [join, end_later, keep_one, keep_four, grow_to_nine, give_up_a_pool])
@pytest.mark.share(7)
def test_a_thread_that_ends_and_a_pool_that_is_kept_refute_nothing(
    judged_by: Judged, ends: Callable[[], object]
) -> None:
    verdict = judged_by(ends)
    assert verdict.status is Status.PASS, verdict.text


def test_a_thread_from_before_the_check_is_nobodys_fault() -> None:
    leave()
    count = active_count()
    assert by_sinks(lambda: None).status is Status.PASS
    assert active_count() == count
