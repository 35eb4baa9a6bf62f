"""The kit of restart strategies: right ones pass it, and each wrong one is refuted by the check named for it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.mutants.restart_strategies import VARIANTS
from holdfast.fixtures.reference.protocol.restart_strategies import ExponentialDelay, FailureRate, FixedDelay, NoRestart
from holdfast.harness import cli
from holdfast.harness.model.journal import Journal, Title
from holdfast.harness.model.status import Status
from holdfast.harness.spi.restart_strategy import (
    Failure,
    RestartContext,
    RestartStrategyDescription,
    RestartStrategyFactory,
)
from holdfast.suites.certify import restart_strategy
from holdfast.suites.certify.check import CheckVerdict
from holdfast.suites.certify.restart_strategy import DIRECTED, judge
from holdfast.suites.selfcheck.certify.written import refuting

RIGHT: tuple[RestartStrategyFactory, ...] = (NoRestart, FixedDelay, FailureRate, ExponentialDelay)
CHECKS = {check.id: check for check in restart_strategy.CHECKS}
KILLED_BY = {
    "restarts-once-more": "RST-03/attempts",
    "restarts-once-less": "RST-03/no-attempt",
    "fifty-at-most": "RST-03/unlimited",
    "attempts-of-two-bytes": "RST-03/unlimited",
    "forgets-with-time": "RST-03/for-good",
    "running-gives-back": "RST-03/attempts",
    "counts-by-subtask": "RST-03/in-turn",
    "delay-in-seconds": "RST-03/attempts",
    "restarts-after-none": "RST-05/final",
    "I1-remembers-too-few": "RST-04/rate",
    "never-forgets": "RST-04/slides",
    "rate-by-subtask": "RST-04/in-turn",
    "tumbles": "RST-04/edges",
    "zero-is-no-time": "RST-04/rate",
    "counts-simultaneous": "RST-06/simultaneous",
    "lengthens-for-simultaneous": "RST-06/simultaneous",
    "grows-by-subtask": "RST-06/in-turn",
    "never-grows": "RST-06/growth",
    "grows-forever": "RST-06/maximum",
    "jitters-beyond": "RST-06/bounds",
    "never-jitters": "RST-06/jitter",
    "never-calms-down": "RST-06/quiet",
    "quiet-while-it-waits": "RST-06/quiet-from-restart",
    "calms-down-at-once": "RST-06/growth",
    "counts-every-row": "RST-06/attempts",
    "restarts-unrecoverable": "RST-07/unrecoverable",
    "takes-any-option": "RST-07/options",
    "takes-any-value": "RST-07/values",
    "other-defaults": "RST-07/defaults",
    "counts-for-all": "RST-07/apart",
    "draws-elsewhere": "RST-07/repeatable",
    "waits-for-the-full-minute": "RST-07/moment",
    "answers-in-fractions": "RST-07/unrecoverable",
    "describes-its-count": "RST-07/description",
    "describes-what-is-set": "RST-07/description",
    "knows-seconds-alone": "RST-07/durations",
    "overflows": "RST-07/long-rows",
    "reads-a-clock": "RST-07/no-clock",
    "counts-in-32-bits": "RST-07/far-moments",
    "ends-with-31-bits": "RST-07/far-moments",
}
BY_PROGRAMS = {
    "restarts-once-more": "RST-03/program",
    "I1-remembers-too-few": "RST-04/program",
    "restarts-after-none": "RST-05/program",
    "lengthens-for-simultaneous": "RST-06/program",
    "quiet-while-it-waits": "RST-06/program",
}
"""What a random program finds by itself, and shrinks."""

test_none = restart_strategy.kit(f"{NoRestart.__module__}:NoRestart")
# The certificate of the command line, below, asks this one, too.
test_fixed_delay = pytest.mark.nightly(restart_strategy.kit(FixedDelay))
test_failure_rate = restart_strategy.kit(FailureRate)
test_exponential_delay = restart_strategy.kit(ExponentialDelay)


class Fibonacci:
    """Somebody's own: each delay is the sum of the two before it."""

    def __init__(self, context: RestartContext) -> None:
        if context.options:
            raise ValueError(f"options {', '.join(context.options)} are unknown; there are none.")
        self.last_ms, self.delay_ms = 0, 100

    def describe(self) -> RestartStrategyDescription:
        return RestartStrategyDescription(name="fibonacci")

    def failed(self, failure: Failure, now_ms: float) -> int | None:
        self.last_ms, self.delay_ms = self.delay_ms, self.last_ms + self.delay_ms
        return self.delay_ms if failure.recoverable and self.delay_ms < 60_000 else None

    def running(self, now_ms: float) -> None:
        pass


test_fibonacci = restart_strategy.kit(Fibonacci)


class CutsFirst(ExponentialDelay):
    """A near miss: the maximum cuts before jitter is added, so that restarts are spread below it, too."""

    def draw(self) -> int:
        self.backoff_ms = min(self.backoff_ms, float(self.maximum_ms))
        return super().draw()


test_cuts_first = restart_strategy.kit(CutsFirst)


def refuted(variant: str, check: str) -> CheckVerdict:
    return refuting(judge(CHECKS[check], VARIANTS[variant]))


def test_each_variant_is_in_the_table() -> None:
    assert VARIANTS.keys() == KILLED_BY.keys()


@pytest.mark.parametrize(("variant", "check"), KILLED_BY.items())
def test_it_is_refuted_by_its_check(variant: str, check: str) -> None:
    refuted(variant, check)


@pytest.mark.parametrize("variant", KILLED_BY)
@pytest.mark.share(3)
def test_no_other_rule_is_said_to_be_broken(variant: str) -> None:
    verdicts = [judge(check, VARIANTS[variant]) for check in DIRECTED]
    broken = {verdict.rule for verdict in verdicts if verdict.status is Status.FAIL}
    assert broken == {CHECKS[KILLED_BY[variant]].rule}, "\n".join(verdict.text for verdict in verdicts)
    assert all(verdict.status is not Status.ERROR for verdict in verdicts)


@pytest.mark.parametrize(("variant", "check"), BY_PROGRAMS.items())
def test_a_program_that_refutes_it_is_short_and_the_same_again(variant: str, check: str) -> None:
    verdict = refuted(variant, check)
    steps = [line for line in verdict.witness if line.startswith("state.")]
    assert 2 <= len(steps) <= 12, verdict.text
    assert refuted(variant, check) == verdict


@pytest.mark.parametrize("check", sorted({*KILLED_BY.values(), *BY_PROGRAMS.values()}))
@pytest.mark.share(3)
def test_the_same_check_accepts_a_right_one(check: str) -> None:
    assert any(judge(CHECKS[check], right).status is Status.PASS for right in RIGHT)


class Later(FixedDelay):
    """A near miss: it has an option more than Flink's, and is of the same kind."""

    description = replace(FixedDelay.description, name="later")


def test_another_name_is_right() -> None:
    assert {verdict.status for verdict in restart_strategy.certify(Later)} <= {Status.PASS, Status.NOT_APPLICABLE}


def test_the_command_line_certifies_one(tmp_path: Path) -> None:
    factory = f"{FixedDelay.__module__}:FixedDelay"
    assert (
        cli.execute(["certify", "--restart-strategy", factory, "--out", str(tmp_path), "--require", "certified"]) == 0
    )
    journal = msgspec.json.decode((tmp_path / "latest" / "results.json").read_bytes(), type=Journal)
    assert (journal.subject, journal.certificate.title) == ("RS", Title.CERTIFIED)
    wrong = "holdfast.fixtures.mutants.restart_strategies.fixed:RestartsOnceMore"
    assert cli.execute(["certify", "--restart-strategy", wrong, "--out", str(tmp_path / "wrong")]) == 1
