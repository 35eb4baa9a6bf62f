"""A check that is kept waiting for ever is inconclusive, and its kit comes to its end."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from holdfast.harness.engine.site import interruption
from holdfast.harness.model.status import Status
from holdfast.suites.certify import judge, time_limit
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import Check, CheckVerdict, Violation
from holdfast.suites.certify.judge import judge_on
from holdfast.suites.certify.outside import kit as outside_kit
from holdfast.suites.certify.programs import run_machine

LIMIT_S = 0.3
Wait = Callable[[], object]


class Bench:
    """Where nothing is judged. `close`: what that does."""

    flags: Set[str] = frozenset()
    seed = 1

    def __init__(self, close: Wait = lambda: None) -> None:
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.answers = Answers("RUL-01")
        self._close = close

    def close(self) -> list[Exception]:
        self._close()
        return []


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wait]:
    """For ever. Checks have little time meanwhile."""
    monkeypatch.setattr(judge, "CHECK_LIMIT_S", LIMIT_S)
    monkeypatch.setattr(time_limit, "AGAIN_S", 0.1)
    yield from _ever(monkeypatch)


@pytest.fixture
def wait_to_close(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wait]:
    """For ever. What is closed has little time meanwhile."""
    monkeypatch.setattr(judge, "CLOSE_LIMIT_S", LIMIT_S)
    yield from _ever(monkeypatch)


def _ever(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wait]:
    monkeypatch.setattr(interruption, "_hanging", [])
    over = threading.Event()
    yield over.wait
    over.set()


def judged(run: Callable[[Bench], None], make: Callable[[], Bench] = Bench) -> CheckVerdict:
    return judge_on(Check("SBK-01/example", "An example.", run), make, "SBK-01")


def stands(bench: Bench, wait: Wait) -> None:
    bench.steps.append("state.get('a')")
    wait()


def waits_for_a_thread(bench: Bench, wait: Wait) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(wait).result()


def breaks(bench: Bench) -> None:
    raise Violation("SBK-02", "it is wrong.")


@pytest.mark.parametrize("run", [stands, waits_for_a_thread])
def test_a_call_that_does_not_return_is_no_answer(run: Callable[[Bench, Wait], None], wait: Wait) -> None:
    verdict = judged(lambda bench: run(bench, wait))
    assert (verdict.status, verdict.rule) == (Status.INCONCLUSIVE, "SBK-01")
    assert verdict.reason == "what is called last does not return within 0.3 s"
    assert list(verdict.witness) == (["state.get('a')"] if run is stands else [])
    assert set(interruption.hanging_calls()) == {"SBK-01/example"}


def test_neither_is_one_that_cannot_be_made(wait: Wait) -> None:
    def made() -> Bench:
        wait()
        return Bench()

    verdict = judged(lambda bench: None, made)
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, "the factory does not return within 0.3 s")


def test_neither_is_one_that_cannot_be_closed(wait_to_close: Wait) -> None:
    verdict = judged(lambda bench: None, lambda: Bench(wait_to_close))
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, "close() does not return within 0.3 s")


def test_what_is_broken_stays_so_though_it_cannot_be_closed(wait_to_close: Wait) -> None:
    verdict = judged(breaks, lambda: Bench(wait_to_close))
    assert (verdict.status, verdict.rule, verdict.reason) == (Status.FAIL, "SBK-02", "it is wrong.")


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit before that of pytest. No alarm goes off but by `elapsed`."""
    monkeypatch.setattr(judge, "CHECK_LIMIT_S", 100.0)
    monkeypatch.setattr(interruption, "_hanging", [])


def elapsed() -> None:
    """The limit passes now."""
    signal.raise_signal(signal.SIGALRM)


def steps(bench: Bench) -> None:
    for number in range(3):
        bench.steps.append(f"state.get({number})")
        elapsed()


class Program(RuleBasedStateMachine):
    """One that is longer than the limit, once for each."""

    @initialize()
    def takes_long(self) -> None:
        elapsed()

    @rule()
    def goes_on(self) -> None: ...


def draws_programs(bench: Bench) -> None:
    run_machine(Program, bench, 3, 2)


@pytest.mark.parametrize("run", [steps, draws_programs])
@pytest.mark.usefixtures("long")
def test_what_goes_on_is_not_broken_off_however_long_it_takes(run: Callable[[Bench], None]) -> None:
    assert judged(run).text == "PASS SBK-01/example: An example."
    assert interruption.hanging_calls() == ()


@pytest.mark.usefixtures("long")
def test_one_program_that_goes_on_for_ever_is() -> None:
    def twice(bench: Bench) -> None:
        draws_programs(bench)
        elapsed()
        elapsed()

    assert judged(twice).status is Status.INCONCLUSIVE


def test_of_checks_side_by_side_one_that_hangs_holds_up_no_other(wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_kit, "CHECK_LIMIT_S", LIMIT_S)
    checks: list[Check[Any]] = [
        Check(f"STO-01/{name}", "An example.", lambda bench: None) for name in ("hangs", "ends")
    ]

    def tried(check: Check[Any]) -> CheckVerdict:
        if check is checks[0]:
            wait()
        return CheckVerdict(check, Status.PASS, check.rule)

    found = list(outside_kit._side_by_side(tried, checks, 2))
    assert [each.status for each in found] == [Status.INCONCLUSIVE, Status.PASS]
    assert interruption.hanging_calls() == ("STO-01/hangs",)


@pytest.mark.usefixtures("long")
def test_in_time_nothing_is_noted_and_an_alarm_of_somebody_else_is_as_it_was() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    before_s, _ = signal.setitimer(signal.ITIMER_REAL, 1_000)  # Ours comes first.
    try:
        verdict = judged(lambda bench: None)
        left_s, _ = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, before_s)
    assert (verdict.status, interruption.hanging_calls()) == (Status.PASS, ())
    assert signal.getsignal(signal.SIGALRM) is handler
    assert 900 < left_s <= 1_000


def test_an_alarm_that_comes_first_is_not_taken_away() -> None:
    with time_limit.limited("all", 500), time_limit.limited("more", 600):
        left_s, _ = signal.getitimer(signal.ITIMER_REAL)
    assert left_s <= 500


def test_elsewhere_than_in_the_main_thread_there_is_no_limit() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(judged, lambda bench: None).result().status is Status.PASS


HANGS = """
import sys, threading
from holdfast.harness.cli import main
from holdfast.harness.engine.site import interruption
threading.Thread(target=threading.Event().wait).start()
interruption.note_hanging("a check")
sys.argv = ["holdfast", "rules", "--nonsense"]
main()
"""


def test_the_command_ends_though_a_thread_hangs() -> None:
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3, done.stderr
    assert "--nonsense" in done.stderr
