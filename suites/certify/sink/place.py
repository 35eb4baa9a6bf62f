"""Where sinks of a check write: a place, a clock, and readers of what is visible, which share no code with any sink."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote_to_bytes

from holdfast.harness.lease import Lease
from holdfast.harness.spi.sink import CommittedReader, Row, Sink, SinkContext, SinkFactory, SinkFlag, SinkWriter
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Closable, Violation, raised_by_closing
from holdfast.suites.certify.connector_kit import HERE, Connected, FaultPoints, folder_of
from holdfast.suites.certify.outside import sink_performer
from holdfast.suites.certify.outside.messages import PartSettings
from holdfast.suites.certify.outside.sink_performer import OPERATOR
from holdfast.suites.certify.outside.victims import Victims


def files(folder: Path) -> Sequence[Row]:
    """Lines of all files but hidden ones, in the order of their paths."""
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith((".", "_")) for part in inside.parts):
            for line in path.read_bytes().split(b"\n")[:-1]:
                key, _, value = line.partition(b"\t")
                found.append(Row(unquote_to_bytes(key), unquote_to_bytes(value)))
    return found


def sqlite(folder: Path) -> Sequence[Row]:
    """Table `rows` of `rows.db`, over a connection that cannot write. Text in it is text, and equals no bytes.

    Raises:
        Violation: E2E-03: it is no such table.
    """
    database = folder / "rows.db"
    if not database.exists():
        return []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda text: text.decode(errors="replace")
        try:
            if not connection.execute("select 1 from sqlite_master where name = 'rows'").fetchone():
                return []
            return [Row(*row) for row in connection.execute("select key, value from rows order by rowid")]
        except sqlite3.Error as error:
            raise Violation(
                "E2E-03", f"table `rows (key BLOB, value BLOB)` of rows.db cannot be read: {error}."
            ) from error


READERS: Mapping[str, Callable[[Path], Sequence[Row]]] = {"files": files, "sqlite": sqlite}
"""By `SinkDescription.committed_reader`."""


SENTENCES = {
    "": ("E2E-02", "Its rows are visible now."),
    "failed": ("TPC-04", "Whoever restores the checkpoint commits all of them, with any parallelism."),
    "beside": ("TPC-05", "An error of one leaves the outcomes of the others as they are."),
    "prepare": ("E2E-04", "Everything is visible when `prepare` returns."),
    "pending": ("E2E-03", "Rows are invisible until their committables are committed."),
    "completed": ("TPC-02", "Nothing else is committed with them, not even what its writer prepared before."),
    "committed": ("TPC-05", "What was committed by any attempt, in any process, however long ago, changes nothing."),
    "aborted": ("TPC-06", "Aborts every transaction of this job and operator that earlier attempts left."),
    "late": ("TPC-06", "Its writers and commits raise Fenced from now on, or have no effect."),
    "strange": ("E2E-01", "Bytes of any content and length."),
    "table": ("TPC-09", "A row replaces the visible one of the same key: what is repeated changes nothing."),
    "order": ("E2E-06", "Rows of one writer become visible in the order in which they were written."),
}
"""By what became of a row: the rule that is broken where it is missing or seen too often, and the contract's words."""


class Ends(Protocol):
    """An attempt."""

    def end(self) -> None:
        """Nobody calls its objects any more. Idempotent."""


class Place:
    """Where sinks of one check write: a place, a clock, and somebody who reads what is visible. No other check sees
    anything of it.

    Attributes:
        factory: makes the sinks.
        rule: that is broken where what is visible differs from the model.
        seed: of random programs.
        connected: where all of this takes place, in `uri`.
        description, flags: what a sink declares.
        points: fault points of every sink.
        now_ms: what time it is.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        answers: of all sinks.
        owed: rows that are visible, of all jobs.
        long_over: attempts behind which another one of their job has died, the oldest first.
        by_sentence: whether a row that is missing or too many is said to break the sentence of the contract that it
            does break, and its rule.
    """

    def __init__(
        self,
        factory: SinkFactory,
        rule: str,
        seed: int = 0,
        connected: Connected = HERE,
        *,
        by_sentence: bool = False,
    ) -> None:
        self.factory = factory
        self.rule = rule
        self.seed = seed
        self.connected = connected
        self.by_sentence = by_sentence
        self.points = FaultPoints()
        self.answers = Answers(rule)
        self.now_ms = 1_000_000
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.owed: Counter[Row] = Counter()
        self.long_over: list[Ends] = []
        self._disk = Lease("kit")
        self.uri = connected.place(str(self._disk.room))
        self._sinks: list[Sink] = []
        self._raised: list[Exception] = []
        self._reader: CommittedReader | None = None
        self._victims: Victims | None = None
        try:
            self.observer = self.sink("observer", 1)
            self.description = self.observer.describe()
        except BaseException:
            self.close()
            raise
        self.flags = self.description.flags

    def sink(self, job: str, attempt: int, operator: str = OPERATOR) -> Sink:
        """Another sink object of an attempt; it is closed at the end of the check, if it was not released before."""
        context = SinkContext(
            uri=self.uri,
            job=job,
            operator=operator,
            attempt=attempt,
            options=self.connected.options,
            arrive=self.points.arrive,
        )
        made = self.answers.made(self.factory, Sink, context)
        self._sinks.append(made)
        return made

    @property
    def living(self) -> int:
        """Number of sink objects that are not closed."""
        return len(self._sinks)

    def release(self, writers: Sequence[SinkWriter], sinks: Sequence[Sink]) -> None:
        """Close what nobody calls any more, as a process does that ends; what that raises, `close` returns."""
        with self.points.passed_over():
            self._raised += raised_by_closing([*writers, *sinks], times=2)
        for sink in sinks:
            self._sinks.remove(sink)

    def elsewhere(self, job: str) -> Victims:
        """Other processes, in which a job goes on.

        Raises:
            CannotTry: they find no factory.
        """
        name = sink_performer.CONTRACT.name_of(self.factory)
        if not name:
            raise CannotTry("another process cannot import its factory: give it as module:name")
        setting = PartSettings(sink_performer.__name__, name, self.uri, job, self.connected.options)
        self._victims = Victims(setting, self.rule)
        return self._victims

    @property
    def two_phase(self) -> bool:
        """Whether rows wait for a commit."""
        return SinkFlag.TWO_PHASE in self.flags

    # ---------------------------------------------------------------- what is visible
    def rows(self) -> Sequence[Row]:
        """All visible rows, by our own reader where we know the format."""
        if not self.description.committed_reader:
            return self.author_reader.rows()
        return READERS[self.description.committed_reader](folder_of(self.uri))

    @property
    def author_reader(self) -> CommittedReader:
        """The one that is the word of the sink's author."""
        if self._reader is None:
            self._reader = self.observer.committed_reader()
        return self._reader

    def broken(self, fate: str, sentence: str) -> Violation:
        """What is seen is wrong with a row of that fate."""
        if not self.by_sentence:
            return Violation(self.rule, sentence)
        rule, contract = SENTENCES[fate]
        return Violation(rule, f'{sentence} The contract says: "{contract}"')

    # ---------------------------------------------------------------- what happened
    def step(self, step: str) -> None:
        self.steps.append(step)

    def hit(self, window: str) -> None:
        """A window was met."""
        self.windows[window] += 1

    def close(self) -> list[Exception]:
        """Free everything; what sinks raised when they were closed."""
        self.points.disarm()
        try:
            if self._victims is not None:
                self._victims.close()
            readers = [] if self._reader is None else [self._reader]
            closed: list[Closable] = [*self.written_by(), *readers, *self._sinks]
            return [*self._raised, *raised_by_closing(closed, times=2)]
        finally:  # Though one of them may never return.
            self._disk.close()

    def written_by(self) -> Sequence[SinkWriter]:
        """Everything that writes here, and is closed before the sinks are."""
        return ()
