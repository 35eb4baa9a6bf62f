"""Worker processes: one function over many arguments; results come in order, and nothing is left behind."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread

from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.engine.site.interruption import leave_to_parent

LISTEN_S = 0.1
"""How late an interruption may take effect."""
AHEAD = 3
"""Calls for each worker process that are waited for at a time."""


def in_order(
    function: Callable[..., bytes], calls: Iterable[tuple[object, ...]], jobs: int, interrupted: Callable[[], str]
) -> Iterator[bytes]:
    """What a function answers to each call, in the order of the calls.

    Args:
        function: of a module, so that another process finds it.
        calls: its arguments.
        jobs: processes.
        interrupted: the reason to stop, or an empty text; what is not done by then is not waited for, and lost.
    """
    calls = iter(calls)
    try:
        pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_live_with_parent)
    except (OSError, ImportError, NotImplementedError) as error:
        raise OSError(
            f"worker processes cannot speak with each other ({error}): mount /dev/shm, or use --jobs 1."
        ) from error
    try:
        waiting = deque(pool.submit(_called, function, *call) for call in islice(calls, AHEAD * jobs))
        while waiting and not interrupted():
            done, _ = wait([waiting[0]], timeout=LISTEN_S)
            if not done:
                continue
            answer = waiting.popleft().result()
            waiting.extend(pool.submit(_called, function, *call) for call in islice(calls, 1))
            yield answer
    except BrokenProcessPool:
        # A signal may have been meant for all of us, before they knew to leave it to us.
        if not interrupted():
            raise
    finally:
        if interrupted():
            _kill(pool)
        pool.shutdown(wait=True, cancel_futures=True)


def _called(function: Callable[..., bytes], *arguments: object) -> bytes:
    """In a worker process: whatever is raised travels to the parent, so nothing may that would end it."""
    with foreign("the system under test"):
        return function(*arguments)


def _kill(pool: ProcessPoolExecutor) -> None:
    """They leave signals to us, and what they hold may take long."""
    for process in list((pool._processes or {}).values()):
        process.kill()


def _live_with_parent() -> None:
    """In a worker process: signals are the parent's business, and nothing is left when the parent is killed."""
    leave_to_parent()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
