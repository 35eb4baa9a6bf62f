"""A call that leaves Python and fails: before it has an effect, or behind it, as where its answer is lost."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from holdfast.harness.spi.errors import Transient
from holdfast.suites.certify.check import CannotTry
from holdfast.suites.certify.outside.bench import OutsideBench
from holdfast.suites.certify.outside.victim import leaves_python

MOST_POINTS = 60
"""Of more, the further ones are not tried."""
Result = TypeVar("Result")


class Failing:
    """In this thread. Each call has two points: before it, and behind it. Behind a call in a transaction of a database
    that is still open there is none: nothing has left that could be lost on its way.

    Args:
        number: of the point that fails, from 0.

    Attributes:
        where: it failed, in words; empty: it did not come so far.
    """

    def __init__(self, number: int) -> None:
        self.where = ""
        self._left = number

    @contextmanager
    def during(self) -> Iterator[None]:
        before = sys.getprofile()
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(before)

    def _see(self, frame: Any, event: str, argument: Any) -> None:
        if event not in ("c_call", "c_return") or not leaves_python(argument):
            return
        if event == "c_return" and _in_transaction(argument):
            return
        self._left -= 1
        if self._left < 0:
            sys.setprofile(None)
            self.where = f"{'before' if event == 'c_call' else 'behind'} {argument.__name__}"
            raise OSError(errno.EIO, f"no answer to {argument.__name__}")


def _in_transaction(function: Any) -> bool:
    """Whether it is a method of a connection or a cursor in the midst of a transaction."""
    owner = getattr(function, "__self__", None)
    try:
        return getattr(getattr(owner, "connection", owner), "in_transaction", False) is True
    except Exception:  # It is closed.
        return False


def each_point(bench: OutsideBench, first: int = 0) -> Iterator[tuple[int, Failing]]:
    """Until nothing is left that could fail.

    Args:
        bench: where it is tried.
        first: number that is given to the first point.

    Raises:
        CannotTry: nothing can be failed from here.
    """
    if bench.location.far:
        raise CannotTry("no call of it can be failed from here")
    for number in range(MOST_POINTS):
        failing = Failing(number)
        yield first + number, failing
        if not failing.where:
            if not number:
                raise CannotTry("nothing that it does leaves Python")
            return
        bench.hit("failed-call")


def failed(
    bench: OutsideBench, failing: Failing, what: str, call: Callable[..., Result], *arguments: object
) -> Result | None:
    """What a call returned all the same; None: it raised.

    Args:
        bench: where it is tried.
        failing: of `each_point`.
        what, call, arguments: the call, and its name.
    """
    try:
        with failing.during():
            return call(*arguments)
    except Exception as error:
        bench.step(f"{what}, which fails {failing.where}: {type(error).__name__}")
        if not failing.where:
            raise
        return None


def again(call: Callable[..., Result], *arguments: object) -> Result:
    """What a call returns that is repeated once behind Transient."""
    with suppress(Transient):
        return call(*arguments)
    return call(*arguments)
