"""Random programs of calls beside a model: by Hypothesis, or drawn by seed, played, and shrunk here to what fails.

Both are the same for each seed, those by Hypothesis while the same modules are loaded. A drawn step is a verb with
numbers. Whoever plays it takes each number modulo what there is, so that any step can be left out of a program, and any
number be smaller: what is left is a program, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from sys import exception
from typing import NamedTuple, Protocol, TypeVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import Flaky, HypothesisException, StopTest
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from holdfast.harness.engine.site.program_share import programs_of
from holdfast.harness.sim.streams import Stream
from holdfast.suites.certify import time_limit
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry

MOST_TURNS = 5
"""How often programs are drawn until they have met what they are there for."""


class Seeded(Protocol):
    """What programs run on.

    Attributes:
        seed: of the programs.
        windows: what was met, by name.
        steps: what was done so far: the witness.
    """

    seed: int
    windows: Counter[str]
    steps: list[str]


def run_machine(
    machine: type[RuleBasedStateMachine], bench: Seeded, examples: int, steps: int, windows: Iterable[str] = ()
) -> None:
    """Run random programs, and others if those happen not to meet what they must.

    Args:
        machine: reads `outer`.
        bench: becomes its `outer`.
        examples: number of programs in a thorough run.
        steps: of each.
        windows: what must be met, by name; whatever is still missing after the last turn is for the check to judge.
    """
    wanted = tuple(windows)
    for turn in range(MOST_TURNS):
        _run_programs(machine, bench, examples, steps, turn)
        if all(bench.windows[window] for window in wanted):
            return


def _run_programs(machine: type[RuleBasedStateMachine], bench: Seeded, examples: int, steps: int, turn: int) -> None:
    draws = f"{bench.seed}, turn {turn}" if turn else bench.seed

    raised: list[BaseException] = []

    def begin(self: RuleBasedStateMachine) -> None:
        time_limit.programs.begin()
        try:
            machine.__init__(self)
        except Exception as error:
            raised.append(error)
            raise

    def teardown(self: RuleBasedStateMachine) -> None:
        error = exception()
        if error is not None and not isinstance(error, HypothesisException | StopTest):
            raised.append(error)
        machine.teardown(self)

    own = {"outer": bench, "__init__": begin, "teardown": teardown}
    bound = seed(draws)(type(machine.__name__, (machine,), own))
    chosen = settings(
        max_examples=programs_of(examples),
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    try:
        run_state_machine_as_test(bound, settings=chosen)
    except Flaky as flaky:
        if not raised:
            raise
        bench.steps.append("the same program did not do this again when it was repeated")
        raise raised[0] from flaky


AWKWARD = (
    bytes(range(256)), b"\t", b"\n", b"\r\n", b"\0", b"%", b"%09", b"+", b" ", b"\\N", b"\\", b'"', b"','",
    b"\xff" * 300, "\u00e4\u2028\U0001f600".encode(),
)  # fmt: skip
"""Bytes that mean something elsewhere: separators, quotes, escapes, no text, and text that is more than ASCII."""
MANY = (11, 17, 65, 101, 257)
"""Just above what a digit, a buffer, a page and a byte have room for."""
LENGTHS = (0, 1, 255, 4_095, 4_097, 65_535, 65_537, 300_000, (1 << 20) + 1)
"""Of bytes, around what counts them in two bytes, and what is read in pieces of so many."""
SHORT = 6
"""So many of the lengths are below 64 KiB."""
MOST_BYTES = 800_000
"""Of what somebody else than a folder stores: below what brokers refuse by default."""
NUMBERS = 4
"""Of each step; a verb takes those that it needs."""
LARGEST = 1 << 16
TRIES = 150
"""Programs that are played at most to shrink one that fails."""


class Step(NamedTuple):
    """One step of a program.

    Attributes:
        verb: what is done.
        numbers: which, how many, and how; each from 0 to LARGEST.
    """

    verb: str
    numbers: tuple[int, ...]


Program = Sequence[Step]


def program_of(stream: Stream, weights: Mapping[str, int], length: int, once: Sequence[str] = ()) -> Program:
    """A program of so many steps, whose verbs are as frequent as their weights say; some are there at least once."""
    verbs = [stream.weighted(weights) for _ in range(length)]
    for verb in once:
        verbs.insert(stream.below(len(verbs)), verb)
    return [Step(verb, tuple(stream.below(LARGEST) for _ in range(NUMBERS))) for verb in verbs]


class Bench(Protocol):
    """Where programs are played: a world.

    Attributes:
        seed: what is drawn depends on it.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        answers: of what is certified.
    """

    seed: int
    steps: list[str]
    windows: Counter[str]
    answers: Answers

    def close(self) -> list[Exception]:
        """Free everything; what was raised by what was closed."""


BenchT = TypeVar("BenchT", bound=Bench)


def play_apart(bench: BenchT, own: BenchT, play: Callable[[BenchT], None]) -> None:
    """Play a program in a world of its own. What is met there was met by the check, and its steps are the witness.

    Args:
        bench: of the check.
        own: of the program; it is closed.
        play: it.
    """
    own.windows = bench.windows
    closed = False
    try:
        play(own)
        own.answers.look_again()
        closed = True
    finally:
        bench.steps = own.steps
        failed = own.close()
    if closed and failed:
        raise failed[0]


def play_drawn(
    bench: Bench,
    label: str,
    programs: int,
    draw: Callable[[Stream, int], Program],
    play: Callable[[Program, int], None],
) -> None:
    """Play programs until one fails; that one is shrunk, and what its smallest form raises is raised.

    Args:
        bench: of the check.
        label: what is drawn depends on it and the seed alone.
        programs: number of them in a thorough run.
        draw: one, of a stream and its number.
        play: one, of that number, in a world of its own; raises what is wrong.
    """
    for number in range(programs_of(programs)):
        program = draw(Stream(bench.seed, f"{label}/{number}"), number)
        if (error := _error(program, number, play)) is not None:
            smallest = _shrunk(program, lambda smaller, number=number: _fails(smaller, number, play))  # type: ignore[misc]
            time_limit.programs.begin()
            with suppress(CannotTry):  # What failed once was tried.
                play(smallest, number)
            bench.steps.append("the same program did not do this again when it was repeated")
            raise error


def _error(program: Program, number: int, play: Callable[[Program, int], None]) -> Exception | None:
    time_limit.programs.begin()
    try:
        play(program, number)
    except CannotTry:
        raise
    except Exception as error:
        return error
    return None


def _fails(program: Program, number: int, play: Callable[[Program, int], None]) -> bool:
    """Whether a smaller program fails, too; one that cannot be tried does not, for the larger one was."""
    try:
        return _error(program, number, play) is not None
    except CannotTry:
        return False


def _shrunk(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest program that still fails, of those that were tried."""
    left, smaller = TRIES, True
    while smaller:
        smaller = False
        for candidate in _candidates(program):
            if not left:
                return program
            left -= 1
            if fails(candidate):
                program, smaller = candidate, True
                break
    return program


def _candidates(program: Program) -> Iterator[Program]:
    """Smaller ones, those that leave out most first."""
    size = len(program) // 2
    while size:
        for start in range(0, len(program), size):
            yield [*program[:start], *program[start + size :]]
        size //= 2
    for place, step in enumerate(program):
        for which, number in enumerate(step.numbers):
            for less in dict.fromkeys((0, number // 2)):
                if less < number:
                    numbers = (*step.numbers[:which], less, *step.numbers[which + 1 :])
                    yield [*program[:place], step._replace(numbers=numbers), *program[place + 1 :]]


def text(number: int) -> bytes:
    """Bytes that mean something elsewhere, or none at all."""
    return (b"", *AWKWARD)[number % (len(AWKWARD) + 1)]


def filled(start: bytes, length: int) -> bytes:
    """Bytes of at least a length that begin so; no two pieces of them are alike, and none has to be escaped."""
    if length <= len(start):
        return start
    return (start + _numbered(length // 8 + 1))[:length]


@lru_cache(maxsize=len(LENGTHS))
def _numbered(pieces: int) -> bytes:
    return b"".join(b"%07d/" % number for number in range(pieces))
