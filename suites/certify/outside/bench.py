"""Where a check takes place: a place of its own, other processes, and what was done and met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import count
from typing import Any, ClassVar, TypeVar

import numpy as np

from holdfast.harness.spi.errors import Transient
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Violation, raised_by_closing
from holdfast.suites.certify.outside.location import Location, location_below
from holdfast.suites.certify.outside.messages import Act, Outcome, PartSettings, Report
from holdfast.suites.certify.outside.relay import Relay
from holdfast.suites.certify.outside.victims import Stopped, Victims
from holdfast.suites.certify.plug import Target

ENDPOINT = "s3.endpoint"
"""Option that says where requests go: the kit puts its relay there."""
OUTLIVES_PROCESS, EXCLUSIVE = "outlives-process", "exclusive"
MEBIBYTE = 1 << 20
MOST_FAR = 16
PATIENCE_S, LITTLE_PATIENCE_S = 5.0, 0.3
"""How long a call may be held up by a process that stands still. Nobody is refuted by it: it only decides which of two
right orders is tried."""
LEAST_FILE_BYTES = 1_024
"""Any check may write files of so many bytes, and writes longer ones only where they fit."""
RECORDS_BYTES = 64 << 10
"""Of records that say what was there; what is longer is content."""
Result = TypeVar("Result")


class OutsideBench:
    """One check's own world; no other check sees anything of it. A subclass makes what is certified.

    Attributes:
        performer: module by which other processes make it and call it (messages.PartSettings).
        own: name of the job or folder that those processes share with this one.
        contract: the protocol of what is certified.
        target: what is certified.
        rule: that is broken where something is not as it was written.
        seed: of random programs.
        description: that it gives of itself.
        flags: what it declares.
        options: of everything that is made.
        location: where all of it lies.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        answers: of what is certified, in this process.
    """

    performer: ClassVar[str]
    own: ClassVar[str]
    contract: ClassVar[type]
    description: Any

    def __init__(self, target: Target, rule: str, seed: int = 0) -> None:
        self.target = target
        self.rule = rule
        self.seed = seed
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.answers = Answers(rule)
        self.flags: frozenset[str] = frozenset()
        self.options: Mapping[str, str] = target.options
        self._made: list[Any] = []
        self._raised: list[Exception] = []
        self._victims: Victims | None = None
        self._relay: Relay | None = None
        self._patience_s = PATIENCE_S
        self._locations = [location_below(target.uri, target.options)]
        try:
            self.description = self.make("described").describe()
            if self.longest(LEAST_FILE_BYTES) in range(1, LEAST_FILE_BYTES):
                self.require_fits(LEAST_FILE_BYTES)
        except BaseException:
            self.close()
            raise
        declared = {
            OUTLIVES_PROCESS: self.description.outlives_process,
            EXCLUSIVE: self.description.exclusive,
        }
        self.flags = frozenset(flag for flag, holds in declared.items() if holds)

    # ---------------------------------------------------------------- what is certified
    @property
    def location(self) -> Location:
        return self._locations[-1]

    def at(self, uri: str, own: str, options: Mapping[str, str]) -> Any:
        """What the factory makes, anywhere."""
        raise NotImplementedError

    def make(self, own: str, options: Mapping[str, str] | None = None, uri: str = "") -> Any:
        """What another process would make; closed at the end of the check."""
        given = uri or self.location.uri, own, {**self.options, **(options or {})}
        made = self.answers.made(self.at, self.contract, *given)
        self._made.append(made)
        return made

    def turns(self) -> Iterator[int]:
        """Numbers from 0, without an end. What is made in one turn is closed before the next one; what that raises,
        `close` returns."""
        for number in count():
            before = len(self._made)
            yield number
            self._raised += raised_by_closing(self._made[before:])
            del self._made[before:]

    def leave(self, made: Any) -> None:
        """Store something of `own` by it."""
        raise NotImplementedError

    def finds(self, made: Any) -> bool:
        """Whether it lists what was left."""
        raise NotImplementedError

    def remove_left(self, made: Any) -> None:
        """Remove all that was left."""
        raise NotImplementedError

    def keeps_records(self) -> bool:
        """Whether something lies there for whatever was stored, though it is removed again: a log does so."""
        made = self.make("records")
        lying = []
        for _ in range(3):
            self.leave(made)
            self.remove_left(made)
            lying.append(len(self.raw()))
        return lying[0] < lying[1] < lying[2]

    def move(self) -> None:
        """Everything lies somewhere else from now on.

        Raises:
            CannotTry: it cannot be moved.
        """
        self.step("everything is moved to another place")
        for each in self._made:
            each.close()
        self._made.clear()
        self._locations.append(self.location.moved())

    # ---------------------------------------------------------------- other processes, and the wire
    @property
    def victims(self) -> Victims:
        """Processes that make one of their own, to be stopped at any call.

        Raises:
            CannotTry: they find no factory, or what they write is gone with them.
        """
        if OUTLIVES_PROCESS not in self.flags:
            raise CannotTry("what it stores is gone with its process")
        if not self.target.name:
            raise CannotTry("another process cannot import its factory: give it as module:name")
        if self._victims is None:
            setting = PartSettings(self.performer, self.target.name, self.location.uri, self.own, self.options)
            self._victims = Victims(setting)
        return self._victims

    def beside(self, stopped: Stopped, call: Callable[[], Result]) -> tuple[Result, Report | None]:
        """Perform a call while a process stands still. Where it holds the call up, as by a lock, it goes on first.

        Returns:
            What the call returned; and what that process did, if it had to go on.
        """
        with ThreadPoolExecutor(1) as pool:
            under_way = pool.submit(call)
            wait([under_way], self._patience_s)
            if under_way.done() and not isinstance(under_way.exception(), Transient):
                return under_way.result(), None
            self.hit("held-up")
            self._patience_s = LITTLE_PATIENCE_S  # Whether it waits is known now.
            report = stopped.go_on()
            if isinstance(under_way.exception(), Transient):
                return call(), report
            return under_way.result(), report

    @property
    def relay(self) -> Relay:
        """What stands between this process and a server.

        Raises:
            CannotTry: there is no wire to be cut.
        """
        if ENDPOINT not in self.description.options or not self.options.get(ENDPOINT):
            raise CannotTry(f"no relay fits between: it has no option {ENDPOINT}, or that is not set")
        if self._relay is None:
            self._relay = Relay(self.options[ENDPOINT])
        return self._relay

    def persistently(self, call: Callable[..., Result], *arguments: object) -> Result:
        """What a call returns that is repeated once behind Transient."""
        try:
            return call(*arguments)
        except Transient:
            self.hit("tried-again")
            return call(*arguments)

    # ---------------------------------------------------------------- what is expected
    def refuses(
        self,
        what: str,
        error: type[Exception] | tuple[type[Exception], ...],
        call: Callable[..., object],
        *arguments: object,
        naming: str = "",
    ) -> None:
        """A call must raise one of these errors.

        Args:
            what: words for the call.
            error: the right ones.
            call, arguments: the call.
            naming: what the sentence must name.
        """
        self.step(what)
        right = error if isinstance(error, tuple) else (error,)
        names = " or ".join(each.__name__ for each in right)
        try:
            returned = call(*arguments)
        except right as raised:
            if naming not in str(raised):
                raise Violation(self.rule, f"{what}: the error does not name {naming!r}: {raised}") from raised
        except Exception as other:
            raise Violation(self.rule, f"{what} raised {other!r}; {names} is right.") from other
        else:
            raise Violation(self.rule, f"{what} returned {shortened(repr(returned))}; {names} is right.")

    # ---------------------------------------------------------------- what lies there
    def takes(self, size: int) -> bool:
        """Whether a file of that size is within the limit."""
        longest = self.description.max_file_bytes
        return longest is None or size <= longest

    def longest(self, size: int) -> int:
        """The size of a file, cut to the limit."""
        longest = self.description.max_file_bytes
        return size if longest is None else min(size, longest)

    def require_fits(self, size: int) -> None:
        """No file is expected to be taken that is longer than is declared.

        Raises:
            CannotTry: one of that size is.
        """
        if not self.takes(size):
            declared = self.description.max_file_bytes
            raise CannotTry(f"it needs a max_file_bytes of {size}, and {declared} is declared")

    def most(self, number: int) -> int:
        """How many points are tried: fewer where each look is a request."""
        return min(number, MOST_FAR) if self.location.far else number

    def raw(self) -> frozenset[str]:
        """Names of all that lies there, as it looks from outside; none where nobody can look."""
        try:
            return frozenset(self.location.names())
        except CannotTry:
            return frozenset()

    def left_behind(self, before: frozenset[str]) -> int:
        """How many more things lie there than before. Records of what is gone may be among them, but no content."""
        after = self.raw()
        more = len(after) - len(before)
        if more <= 0:
            return 0
        size = sum(len(self.location.read(name)) for name in after - before)
        return 0 if size <= RECORDS_BYTES and self.keeps_records() else more

    def require_nothing_left(self, before: frozenset[str], what: str, rule: str) -> None:
        """No more lies there than before, but for records, and no upload is open."""
        left, open_ones = self.left_behind(before), self.location.uploads()
        if left or open_ones:
            raise Violation(rule, f"{what} left {left} things behind, and {open_ones} uploads open; 0 is right.")

    # ---------------------------------------------------------------- what happened
    def require_kept(self, acts: Sequence[Act], what: str, there: Callable[[Act, Outcome], None]) -> None:
        """What other processes do survives a loss of power behind each of their acts.

        Args:
            acts: one a process.
            what: makes it lasting, in words: `the commit`.
            there: raises where something does not find what came of an act.

        Raises:
            Violation: an act failed, or what came of it was lost.
            CannotTry: nobody sees what it synchronises.
        """
        done: list[tuple[Act, Outcome]] = []
        watched = False
        for act in acts:
            self.step(f"another process does {act.verb} {act.name or act.checkpoint}; then the power is lost")
            report = self.victims.run([act], power_lost=True)
            watched = watched or report.watched
            done.append((act, report.outcomes[0]))
            if report.outcomes[0].error:
                raise Violation(self.rule, f"another process met {done[-1][1].error}: {done[-1][1].text}")
            if not report.lost:
                continue
            for each in done:
                try:
                    there(*each)
                except Exception as error:
                    problem = f"a loss of power behind {what} takes it away: {report.lost[0]}."
                    raise Violation(self.rule, problem) from error
        if not watched:
            raise CannotTry("it writes no files of this machine by Python, whose synchronisation could be watched")

    def step(self, step: str) -> None:
        self.steps.append(step)

    def hit(self, window: str) -> None:
        """A window was met."""
        self.windows[window] += 1

    def close(self) -> list[Exception]:
        """Free everything; what was raised when what was made was closed."""
        try:
            for thing in (self._victims, self._relay):
                if thing is not None:
                    thing.close()
            return [*self._raised, *raised_by_closing(self._made)]
        finally:  # Though one of them may never return.
            raised_by_closing(self._locations)


def shortened(text: str) -> str:
    """A text that fits into a sentence."""
    return text if len(text) <= 100 else f"{text[:60]}... ({len(text)} characters)"


def differs(found: Any, content: bytes) -> str:
    """In what way something is not the content."""
    if not isinstance(found, bytes):
        return f"is {shortened(repr(found))}, and no bytes"
    first = next((at for at, (a, b) in enumerate(zip(found, content, strict=False)) if a != b), None)
    if first is None:
        return f"has {len(found)} bytes; {len(content)} were written"
    return f"differs from what was written, first in byte {first} of {len(content)}"


def bytes_of(size: int, salt: int = 0) -> bytes:
    """Content of any size in which no two pieces are alike."""
    first = salt % 1_000 << 22
    return np.arange(first, first + size // 4 + 1, dtype=">u4").tobytes()[:size]
