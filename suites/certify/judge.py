"""Runs a check, and says what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from shutil import disk_usage
from tempfile import gettempdir
from types import TracebackType
from typing import Any, Protocol, TypeVar

from holdfast.harness.model.status import Status
from holdfast.harness.spi.words import words_of
from holdfast.suites.certify import time_limit
from holdfast.suites.certify.answers import Answers, called
from holdfast.suites.certify.check import WITNESS_STEPS, CannotTry, Check, CheckVerdict, Violation
from holdfast.suites.certify.children_and_threads import Children, Threads, only_here
from holdfast.suites.certify.time_limit import Overdue, limited

_HERE = str(Path(__file__).parent)
CHECK_LIMIT_S = 600.0
"""For one random program, or one step of any other check."""
CLOSE_LIMIT_S = 60.0
ROOM_BYTES = 2 << 20
"""What a check may need on disk, and more."""
MOST_POOLED = 64
"""So many threads may a pool begin one after the other that a part keeps for its whole process."""


class Bench(Protocol):
    """Where a check takes place: a world of its own.

    Attributes:
        flags: that are declared.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        answers: of what is certified.
    """

    steps: list[str]
    windows: Counter[str]
    answers: Answers

    @property
    def flags(self) -> Set[str]: ...

    def close(self) -> list[Exception]:
        """Free everything; what was raised by what was closed."""


BenchT = TypeVar("BenchT", bound=Bench)


def judge_on(check: Check[BenchT], make_bench: Callable[[], BenchT], factory_rule: str) -> CheckVerdict:
    """Run one check on a new bench.

    A call that does not return makes it inconclusive. A child process that is left behind is ended, and refutes the
    check; so do threads, where each repetition leaves more of them. It is an error if the part changed its process so
    that the kit cannot look for them, unless the check is refuted anyway.

    Args:
        check: which.
        make_bench: makes the bench.
        factory_rule: the rule that is refuted if the factory of the part raises.
    """
    children, threads = Children(), Threads()
    try:
        verdict = _judged(check, make_bench, factory_rule)
    finally:
        left = _ended(children)
    if isinstance(left, Exception) and verdict.status is not Status.FAIL:
        reason = f"whether a child was left behind close() cannot be told: {_raised(left)}"
        return CheckVerdict(check, Status.ERROR, check.rule, reason)
    if left and verdict.status is not Status.FAIL:
        sentence = f"a child left: {left}, was there behind close(), and was ended; "
        return CheckVerdict(check, Status.FAIL, check.rule, f"{sentence}what is started is waited for before")
    return _grown(check, make_bench, factory_rule, verdict, threads)


def _ended(children: Children) -> str | Exception:
    """See Children.end; what that raises is returned, lest it take the place of a verdict."""
    try:
        return children.end()
    except Exception as error:
        return error


def _grown(
    check: Check[BenchT], make_bench: Callable[[], BenchT], factory_rule: str, verdict: CheckVerdict, threads: Threads
) -> CheckVerdict:
    """The verdict, unless the check leaves more threads each time that it is done, until no pool can be meant."""
    if verdict.status is not Status.PASS or not threads.left():
        return verdict
    times = 1
    while (living := threads.living) >= times:
        if living > MOST_POOLED:
            left = threads.left()  # Waits for those that were about to end.
            if threads.living > MOST_POOLED:
                sentence = f"threads left: {left}, were there behind close(), and more of them each of {times} times; "
                return CheckVerdict(check, Status.FAIL, check.rule, f"{sentence}what is started has ended before")
        verdict = _judged(check, make_bench, factory_rule)
        if verdict.status is not Status.PASS:
            return verdict
        times += 1
    return verdict


def _judged(check: Check[BenchT], make_bench: Callable[[], BenchT], factory_rule: str) -> CheckVerdict:
    try:
        with limited(check.id, CHECK_LIMIT_S), only_here():
            bench = make_bench()
    except CannotTry as reason:
        return CheckVerdict(check, Status.NOT_APPLICABLE, check.rule, str(reason))
    except Overdue:
        return overdue(check, "the factory")
    except Exception as error:
        raised = f"the factory raised {words_of(error, repr)}"
        return _where_there_is_room(CheckVerdict(check, Status.FAIL, factory_rule, raised))
    failed: list[Exception] = []
    closed = True
    try:
        verdict = _where_there_is_room(_tried(check, bench))
    finally:
        try:
            with limited(check.id, CLOSE_LIMIT_S), only_here():
                failed = bench.close()
        except Overdue:
            closed = False
    if not closed and verdict.status is Status.PASS:
        return overdue(check, "close()", limit_s=CLOSE_LIMIT_S)
    if failed and verdict.status is not Status.FAIL:
        sentence = f"close() raised {words_of(failed[0], repr)}"
        return CheckVerdict(check, Status.FAIL, check.rule, sentence, _witness(failed[0], bench.steps))
    return verdict


def _where_there_is_room(verdict: CheckVerdict) -> CheckVerdict:
    """The verdict; nobody is refuted where the disk is full."""
    folder = gettempdir()
    if verdict.status is not Status.FAIL or disk_usage(folder).free >= ROOM_BYTES:
        return verdict
    reason = f"{folder} has less than {ROOM_BYTES >> 20} MiB of room, so that it may have failed for that: "
    return verdict._replace(status=Status.INCONCLUSIVE, rule=verdict.check.rule, reason=f"{reason}{verdict.reason}")


def _tried(check: Check[BenchT], bench: BenchT) -> CheckVerdict:
    try:
        if missing := sorted(check.needs - bench.flags):
            return CheckVerdict(check, Status.NOT_APPLICABLE, check.rule, f"it does not declare {', '.join(missing)}")
        with limited(check.id, CHECK_LIMIT_S, lambda: time_limit.programs.count + len(bench.steps)), only_here():
            check.run(bench)
            bench.answers.look_again()
    except CannotTry as reason:
        return CheckVerdict(check, Status.NOT_APPLICABLE, check.rule, str(reason))
    except Overdue as error:
        return overdue(check, "what is called last", _witness(error, bench.steps))
    except Violation as violation:
        return CheckVerdict(check, Status.FAIL, violation.rule, violation.sentence, _witness(violation, bench.steps))
    except Exception as error:
        status = Status.ERROR if _is_ours(error) else Status.FAIL
        return CheckVerdict(check, status, check.rule, _raised(error), _witness(error, bench.steps))
    if missed := [window for window in check.windows if not bench.windows[window]]:
        return CheckVerdict(check, Status.INCONCLUSIVE, check.rule, f"no run hit {', '.join(missed)}")
    return CheckVerdict(check, Status.PASS, check.rule, figures=tuple(getattr(bench, "figures", ())))


def overdue(check: Check[Any], what: str, witness: Sequence[str] = (), limit_s: float | None = None) -> CheckVerdict:
    """The inconclusive verdict of a check that waits for a call that does not return.

    Args:
        check: that is kept waiting.
        what: does not return, in words.
        witness: the steps so far.
        limit_s: how long it was waited for; None: as long as a check may take.
    """
    limit_s = CHECK_LIMIT_S if limit_s is None else limit_s
    reason = f"{what} does not return within {limit_s:g} s"
    return CheckVerdict(check, Status.INCONCLUSIVE, check.rule, reason, witness)


def _witness(error: BaseException, steps: Sequence[str]) -> Sequence[str]:
    """The steps of a shrunk machine, or the last ones of a directed check."""
    notes = getattr(error, "__notes__", ())
    shrunk = [note for note in notes if "state" in note and "(" in note] if type(notes) is list else []
    if shrunk:
        return [line for note in shrunk for line in note.splitlines()]
    left_out = len(steps) - WITNESS_STEPS
    return [*([f"({left_out} steps before)"] if left_out > 0 else []), *steps[-WITNESS_STEPS:]]


def _raised(error: BaseException) -> str:
    """What was raised, by which call of the contract and where."""
    trace = _innermost(error)
    place = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace else ""
    call = f"{found} raised " if (found := called(error)) else ""
    return f"{call}{type(error).__name__}: {words_of(error)}{place}"


def _is_ours(error: BaseException) -> bool:
    """Whether the kit itself raised it: the innermost frame is in a kit, and it is no failed call of what it judges."""
    trace = _innermost(error)
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE)


def _innermost(error: BaseException) -> TracebackType | None:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace
