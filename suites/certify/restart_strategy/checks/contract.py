"""RST-07, and what holds for every strategy, whatever its rule is."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.restart_strategy import RestartContext
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.restart_strategy.bench import START_MS, Bench
from holdfast.suites.certify.restart_strategy.life import Life

PASSED_MS = (0.0, 1.0, 250.0, 5_000.0, 61_000.0, 4_000_000.0)
LONGEST = 40


def unrecoverable(bench: Bench) -> None:
    """Final as the first failure, behind restarts, and while one is awaited."""
    why = "no restart can help"
    bench.life().expect_end(why, recoverable=False)
    life = bench.life()
    delay_ms = life.failed()
    if delay_ms is not None:
        life.expect_end(why, recoverable=False)
        life = bench.life()
        life.runs(life.failed() or 0)
        life.expect_end(why, recoverable=False)


def options(bench: Bench) -> None:
    """An unknown key is refused by name."""
    _refused(bench, {"restart-strategy.no-such-option": "1"}, "restart-strategy.no-such-option")


def values(bench: Bench) -> None:
    """A value that cannot be read is refused, by the name of its key."""
    if not bench.description.options:
        raise CannotTry("it has no options")
    for key in bench.description.options:
        _refused(bench, {key: "certainly no value"}, key)


def _refused(bench: Bench, given: Mapping[str, str], key: str) -> None:
    bench.step(f"a strategy with {dict(given)}")
    try:
        bench.factory(RestartContext(uniform=bench.stream("uniform"), options=given))
    except ValueError as error:
        if key not in str(error) or "\n" in str(error):
            raise Violation(
                bench.rule, f"the factory raised {error!r}; one sentence that names {key} is right."
            ) from error
        return
    raise Violation(bench.rule, f"the factory took {dict(given)}; ValueError is right.")


def defaults(bench: Bench) -> None:
    """What is not given is as if the default were."""
    given = {key: default for key, (default, _) in bench.description.options.items()}
    require_same(bench, story(bench.life()), story(bench.life(given)), f"with the defaults given ({given}) it answers")


def description(bench: Bench) -> None:
    """The same at every call, and of this version."""
    if bench.description.spi_version != SPI_VERSION:
        raise Violation(bench.rule, f"spi_version is {bench.description.spi_version}; {SPI_VERSION} is right.")
    life = bench.life()
    for _ in range(3):
        if life.strategy.describe() != bench.description:
            raise Violation(
                bench.rule, f"describe() returned {life.strategy.describe()}, and {bench.description} before."
            )
        delay_ms = life.failed()
        if delay_ms is None:
            break
        life.runs(delay_ms)


def repeatable(bench: Bench) -> None:
    """The same calls and draws bring the same answers."""
    require_same(bench, story(bench.life()), story(bench.life()), "with the same calls and draws it answers")


def moment(bench: Bench) -> None:
    """Only differences of time count."""
    later = bench.life(now_ms=START_MS + 86_412_345)
    require_same(bench, story(bench.life()), story(later), "a day later it answers")


def apart(bench: Bench) -> None:
    """Strategies of two jobs know nothing of each other."""
    alone = story(bench.life())
    one, two = bench.life(), bench.life()
    both: list[tuple[int | None, int | None]] = []
    for passed_ms in _passing():
        both.append((one.failed(), two.failed()))
        if None in both[-1]:
            break
        for life in (one, two):
            life.runs(both[-1][0] or 0, passed_ms)
    require_same(bench, alone, [first for first, _ in both], "beside another job it answers")
    require_same(bench, alone, [second for _, second in both], "beside another job it answers")


def story(life: Life, *, subtask: str = "map-0", cause: str = "the record is poisoned") -> list[int | None]:
    """Failures with more and less time between them, up to the end; whose, and why."""
    answers: list[int | None] = []
    for passed_ms in _passing():
        answers.append(life.failed(subtask=subtask, cause=cause))
        if answers[-1] is None:
            break
        life.runs(answers[-1], passed_ms)
    return answers


def _passing() -> list[float]:
    return [PASSED_MS[(5 * number + number // 6) % len(PASSED_MS)] + 1 for number in range(LONGEST)]


def require_same(bench: Bench, right: list[int | None], said: list[int | None], when: str) -> None:
    """Two stories have the same answers.

    Raises:
        Violation: of the bench's rule.
    """
    if right != said:
        place = next((each for each, pair in enumerate(zip(right, said, strict=False)) if pair[0] != pair[1]), -1)
        raise Violation(bench.rule, f"{when} {said[place]} to failure {place + 1}; {right[place]} is right.")


CHECKS = (
    Check("RST-07/unrecoverable", "What no restart can help against is final.", unrecoverable, windows=("gave-up",)),
    Check("RST-07/options", "An option that it does not have is refused.", options),
    Check("RST-07/values", "A value that cannot be read is refused.", values),
    Check("RST-07/defaults", "The defaults are those that it describes.", defaults),
    Check("RST-07/description", "It says the same of itself at every call.", description),
    Check("RST-07/repeatable", "The same calls and draws bring the same answers.", repeatable),
    Check("RST-07/moment", "What time of day it is does not count.", moment),
    Check("RST-07/apart", "Strategies of two jobs know nothing of each other.", apart),
)
