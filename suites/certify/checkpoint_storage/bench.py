"""Where a check takes place: storages, a place of their own, other processes, and what the kit expects of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeVar
from zlib import crc32

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.storage import CheckpointStorage, CheckpointStreamFactory, Scope
from holdfast.suites.certify.check import CannotTry, Violation
from holdfast.suites.certify.checkpoint_storage.location import Location, location_below
from holdfast.suites.certify.checkpoint_storage.relay import Relay
from holdfast.suites.certify.checkpoint_storage.target import INLINE_THRESHOLD, Target
from holdfast.suites.certify.checkpoint_storage.telling import Report
from holdfast.suites.certify.checkpoint_storage.victims import Stopped, Victims

JOB = "job"
ENDPOINT = "s3.endpoint"
"""Option that says where requests go: the kit puts its relay there."""
OUTLIVES_PROCESS, EXCLUSIVE, INLINE = "outlives-process", "exclusive", "inline"
MEBIBYTE = 1 << 20
MOST_FAR = 16
PATIENCE_S, LITTLE_PATIENCE_S = 5.0, 0.3
"""How long a call may be held up by a process that stands still. Nobody is refuted by it: it only decides which of two
right orders is tried."""
Result = TypeVar("Result")


class Bench:
    """One check's own world; no other check sees anything of it.

    Attributes:
        target: what is certified.
        rule: that is broken where something is not as it was written.
        seed: of random programs.
        description: that the storage gives of itself.
        flags: what it declares.
        location: where all of it lies.
        steps: what was done so far: the witness.
        windows: what was met, by name.
    """

    def __init__(self, target: Target, rule: str, seed: int = 0) -> None:
        self.target = target
        self.rule = rule
        self.seed = seed
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self._storages: list[CheckpointStorage] = []
        self._victims: Victims | None = None
        self._relay: Relay | None = None
        self._epoch = 0
        self._patience_s = PATIENCE_S
        self._locations = [location_below(target.uri, target.options)]
        self.flags: frozenset[str] = frozenset()
        self.options: Mapping[str, str] = target.options
        try:
            self.description = self.storage("described").describe()
        except BaseException:
            self.close()
            raise
        declared = {
            OUTLIVES_PROCESS: self.description.outlives_process,
            EXCLUSIVE: self.description.exclusive,
            INLINE: INLINE_THRESHOLD in self.description.options,
        }
        self.flags = frozenset(flag for flag, holds in declared.items() if holds)
        if INLINE in self.flags:
            self.options = {INLINE_THRESHOLD: "0", **target.options}

    # ---------------------------------------------------------------- storages
    @property
    def location(self) -> Location:
        return self._locations[-1]

    def storage(self, job: str = JOB, options: Mapping[str, str] | None = None, uri: str = "") -> CheckpointStorage:
        """A storage as another process would make it; closed at the end of the check."""
        made = self.target.made(uri or self.location.uri, job, {**self.options, **(options or {})})
        self._storages.append(made)
        return made

    def coordinator(self, job: str = JOB) -> tuple[CheckpointStorage, int]:
        """A storage with an epoch that has just claimed."""
        storage = self.storage(job)
        epoch = self.next_epoch()
        self.step(f"claim({epoch})")
        storage.claim(epoch)
        return storage, epoch

    def next_epoch(self) -> int:
        self._epoch += 1
        return self._epoch

    def move(self) -> None:
        """Everything lies somewhere else from now on.

        Raises:
            CannotTry: it cannot be moved.
        """
        self.step("everything is moved to another place")
        for storage in self._storages:
            storage.close()
        self._storages.clear()
        self._locations.append(self.location.moved())

    # ---------------------------------------------------------------- other processes, and the wire
    @property
    def victims(self) -> Victims:
        """Processes that make storages of their own, to be stopped at any call.

        Raises:
            CannotTry: they find no factory, or what they write is gone with them.
        """
        if OUTLIVES_PROCESS not in self.flags:
            raise CannotTry("what it stores is gone with its process")
        if not self.target.name:
            raise CannotTry("another process cannot import its factory: give it as module:name")
        if self._victims is None:
            self._victims = Victims(self.target.name, self.location.uri, JOB, self.options)
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
        """What stands between a storage and its server.

        Raises:
            CannotTry: there is no wire to be cut.
        """
        if ENDPOINT not in self.description.options or not self.options.get(ENDPOINT):
            raise CannotTry(f"no relay fits between: it has no option {ENDPOINT}, or that is not set")
        if self._relay is None:
            self._relay = Relay(self.options[ENDPOINT])
        return self._relay

    # ---------------------------------------------------------------- calls, with what is expected of them
    def write(
        self,
        streams: CheckpointStreamFactory,
        name: str,
        content: bytes,
        scope: Scope = Scope.EXCLUSIVE,
        token: bytes = b"token",
    ) -> FileReference:
        """One file, in one write."""
        self.step(f"write {scope} {name!r}, {len(content)} bytes, token {token!r}")
        stream = streams.create(scope, name, token)
        stream.write(content)
        return self.checked(stream.commit(), content)

    def checked(self, reference: FileReference, content: bytes) -> FileReference:
        """A reference says what was written."""
        if not isinstance(reference, FileReference):
            raise Violation(self.rule, f"commit() returned {reference!r}, which is no FileReference.")
        if (reference.length, reference.checksum) != (len(content), crc32(content)):
            raise Violation(
                self.rule, f"{reference} was returned for {len(content)} bytes with the CRC-32 {crc32(content)}."
            )
        return reference

    def require_content(self, streams: CheckpointStreamFactory, reference: FileReference, content: bytes) -> None:
        """A file holds what was written.

        Raises:
            Violation: of `rule`.
        """
        self.step(f"read {shortened(reference.path)}")
        read = content_of(streams, reference)
        if read != content:
            raise Violation(self.rule, f"{shortened(reference.path)} {differs(read, content)}.")

    def require_metadata(self, storage: CheckpointStorage, pointer: str, content: bytes) -> None:
        """A pointer leads to what was published."""
        self.step(f"resolve({pointer!r})")
        found = storage.resolve(pointer)
        if found != content:
            raise Violation(self.rule, f"resolve({pointer!r}) {differs(found, content)}.")

    def require_files(self, storage: CheckpointStorage, folder: str, expected: Sequence[str]) -> None:
        """Exactly these files are listed."""
        self.step(f"list_folder({folder!r})")
        listed = list(storage.list_folder(folder))
        if listed != sorted(expected):
            raise Violation(self.rule, f"list_folder({folder!r}) shows {listed}; {sorted(expected)} is right.")

    def refuses(
        self,
        what: str,
        error: type[Exception] | tuple[type[Exception], ...],
        call: Callable[..., object],
        *arguments: object,
        says: str = "",
    ) -> None:
        """A call must raise one of these errors.

        Args:
            what: words for the call.
            error: the right ones.
            call, arguments: the call.
            says: what the sentence must name.
        """
        self.step(what)
        right = error if isinstance(error, tuple) else (error,)
        names = " or ".join(each.__name__ for each in right)
        try:
            returned = call(*arguments)
        except right as raised:
            if says not in str(raised):
                raise Violation(self.rule, f"{what}: the error does not name {says!r}: {raised}") from raised
        except Exception as other:
            raise Violation(self.rule, f"{what} raised {other!r}; {names} is right.") from other
        else:
            raise Violation(self.rule, f"{what} returned {shortened(repr(returned))}; {names} is right.")

    # ---------------------------------------------------------------- what lies there
    def takes(self, size: int) -> bool:
        """Whether a file of that size is within the limit."""
        longest = self.description.max_file_bytes
        return longest is None or size <= longest

    def most(self, number: int) -> int:
        """Of points that are tried: fewer where each look is a request."""
        return min(number, MOST_FAR) if self.location.far else number

    def raw(self) -> int:
        """How many things lie there, as it looks from outside; -1: nobody can look."""
        try:
            return len(self.location.names())
        except CannotTry:
            return -1

    def require_nothing_left(self, before: int, what: str, rule: str) -> None:
        """No more things lie there than before, and no upload is open."""
        after, open_ones = self.raw(), self.location.uploads()
        if after > before or open_ones:
            raise Violation(
                rule, f"{what} left {max(after - before, 0)} things behind, and {open_ones} uploads open; 0 is right."
            )

    # ---------------------------------------------------------------- what happened
    def step(self, step: str) -> None:
        self.steps.append(step)

    def hit(self, window: str) -> None:
        """A window was met."""
        self.windows[window] += 1

    def close(self) -> list[Exception]:
        """Free everything; what storages raised when they were closed."""
        failed: list[Exception] = []
        for thing in (self._victims, self._relay):
            if thing is not None:
                thing.close()
        for storage in self._storages:
            try:
                storage.close()
            except Exception as error:
                failed.append(error)
        for location in self._locations:
            with suppress(Exception):
                location.close()
        return failed


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
    words = (number.to_bytes(4) for number in range(first, first + size // 4 + 1))
    return b"".join(words)[:size]


def content_of(streams: CheckpointStreamFactory, reference: FileReference) -> bytes:
    """The whole file."""
    return b"".join(streams.read(reference))
