"""Jobs that write to a sink, and what each of their checkpoints promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.sink import Committable, Outcome, OutcomeKind, Row, Sink, SinkFlag, SinkWriter
from holdfast.suites.certify.check import Violation, excerpt
from holdfast.suites.certify.programs import filled
from holdfast.suites.certify.sink.attempts import Attempt, Promise
from holdfast.suites.certify.sink.place import Place

DONE = frozenset({OutcomeKind.COMMITTED, OutcomeKind.ALREADY})
LONG = 40_000
"""Of a long row, in bytes: two of them are more than 64 KiB."""
MOST_CALLS = 20
"""How often a call that raises Transient, or a commit that says RETRY, is repeated."""

MOST_LIVING = 48
"""Sink objects at one place, each of which may hold a connection; more where the living attempt and the newest dead one
of each job have more."""


class Job:
    """One job. What it wrote and did not complete is written again by whoever drives it, or never.

    Attributes:
        name: of the job.
        operator: whose sink it is.
        attempt: the newest.
        dead: earlier attempts.
        pending: promises that no completed checkpoint holds, by checkpoint.
        completed: promises of the newest completed checkpoint that are not known to be committed.
        committed, aborted: other promises.
        unknown: promises that were being committed when something failed, until the next attempt has begun.
        overtaken: attempts that begin when a newer one has begun.
        newest_checkpoint: the last one that was prepared for; the next attempt may count on from an earlier one.
        completed_checkpoint: the one that the next attempt goes on from.
        checkpoints: completed ones that may be gone back to, with their promises.
        in_doubt: rows that may be visible.
        table: by key, values that may be there; the last one is right in the end.
        in_order: by key and subtask, rows in the order of their commits.
        ordered: whether that is the order in which they were written.
    """

    def __init__(self, place: Place, name: str, operator: str, first_attempt: int) -> None:
        self.place = place
        self.name = name
        self.operator = operator
        self.dead: list[Attempt] = []
        self.pending: dict[int, list[Promise]] = {}
        self.completed: list[Promise] = []
        self.committed: list[Promise] = []
        self.aborted: list[Promise] = []
        self.unknown: list[Promise] = []
        self.overtaken: list[Attempt] = []
        self.checkpoints: list[tuple[int, list[Promise]]] = []
        self.in_doubt: Counter[Row] = Counter()
        self.table: dict[bytes, list[bytes | None]] = {}
        self.in_order: dict[tuple[bytes, int], list[Row]] = {}
        self.ordered = True
        self.parallelism = 0
        self.newest_checkpoint = 0
        self.completed_checkpoint = 0
        self._row = 0
        self._first_attempt = first_attempt

    @property
    def id(self) -> str:
        """No other job of the place has it."""
        return f"{self.name}/{self.operator}"

    # ---------------------------------------------------------------- attempts
    def start(self, parallelism: int, *, skipped: int = 0) -> None:
        """The first attempt, or the next one from the newest completed checkpoint; arguments as of `begin`."""
        self.begin(parallelism, skipped=skipped)
        self.commit()
        self.attempt.deploy(parallelism)

    def begin(self, parallelism: int, *, skipped: int = 0, times: int = 1) -> None:
        """The attempt begins; its restored transactions are not committed yet.

        Args:
            parallelism: number of writers that it is to have, any.
            skipped: so many attempts in between never begin.
            times: how often, each time by another object, as if the answers before were lost.
        """
        self._first_attempt += skipped
        number = len(self.dead) + self._first_attempt
        self.place.step(f"{self.name}: attempt {number} with {parallelism} subtasks begins")
        self.parallelism = parallelism
        self._make_room(parallelism)
        self.attempt = Attempt(self.place, self.name, self.operator, number)
        for sink in chain((self.attempt.another_sink() for _ in range(times - 1)), [self.attempt.sink]):
            for _ in range(MOST_CALLS):
                with suppress(Transient):
                    sink.begin(self.restored, now_ms=self.place.now_ms)
                    break
        self._look()

    def _make_room(self, parallelism: int) -> None:
        """End the oldest attempts that are long over, of all jobs, where the next one would make too many objects."""
        long_over = self.place.long_over
        while long_over and self.place.living + parallelism + 2 > MOST_LIVING:
            long_over.pop(0).end()

    @property
    def zombies(self) -> list[Attempt]:
        """Attempts that are over; their objects still work, as those of a process that was paused do."""
        return [each for each in self.dead if each.living]

    @property
    def restored(self) -> list[Committable]:
        """What the next attempt goes on from."""
        return [each for promise in self.completed for each in promise.committables]

    def crash(self) -> None:
        """The attempt is dead, and what no completed checkpoint holds with it."""
        self.place.step(f"{self.name}: attempt {self.attempt.number} dies")
        self.place.long_over += self.dead[-1:]
        self.dead.append(self.attempt)
        self.aborted += [promise for promises in self.pending.values() for promise in promises]
        self.pending.clear()

    def end(self) -> None:
        """All of its attempts end."""
        for attempt in (*self.dead, *self.overtaken, self.attempt):
            attempt.end()

    def restart(self, parallelism: int | None = None, *, skipped: int = 0) -> None:
        """Die, and begin again."""
        self.crash()
        self.start(parallelism or self.parallelism, skipped=skipped)
        self.place.hit("restarted")

    def go_back(self, number: int) -> None:
        """The next attempt goes on from an older checkpoint: what was completed since is aborted, if it was not
        committed."""
        if not self.checkpoints:
            return
        older = number % len(self.checkpoints)
        self.completed_checkpoint, promises = self.checkpoints[older]
        self.place.step(f"{self.name}: goes back by {len(self.checkpoints) - 1 - older} checkpoints")
        decided = [*promises, *self.committed, *self.unknown]
        self.aborted += [each for each in self.completed if not _among(each, decided)]
        self.completed = list(promises)
        del self.checkpoints[older + 1 :]

    def _look(self) -> None:
        """An attempt has begun. From now on nothing of earlier ones becomes visible: what may be visible is, or is
        not."""
        seen = Counter(self.place.rows())
        unknown = [each for each in self.unknown if not _among(each, self.completed)]
        self.unknown = [each for each in self.unknown if _among(each, self.completed)]
        table = {row.key: row.value for row in seen}
        if self.place.two_phase:
            for promise in unknown:
                self.ordered = False
                if SinkFlag.UPSERT not in self.place.flags and Counter(promise.rows) <= seen - self.place.owed:
                    self.place.owed.update(promise.rows)
            keys = {row.key for promise in unknown for row in promise.rows}
        else:
            self.ordered = self.ordered and not self.in_doubt
            self.place.owed.update(row for row in self.in_doubt if seen[row])
            keys = set(self.table)
        self.in_doubt = Counter(row for promise in self.unknown for row in promise.rows)
        for key in keys:
            if table.get(key) in self.table[key]:
                self.table[key] = [table.get(key)]

    @property
    def all_writers(self) -> list[SinkWriter]:
        """The writers of all attempts."""
        return [writer for attempt in (*self.dead, *self.overtaken, self.attempt) for writer in attempt.writers]

    # ---------------------------------------------------------------- rows and checkpoints
    def row(self, key: bytes | None = None) -> Row:
        """A row that no other is like."""
        self._row += 1
        name = f"{self.id}/{self._row}".encode()
        return Row(name if key is None else key, name)

    def write(self, subtask: int = 0, count: int = 2, key: bytes | None = None) -> list[Row]:
        """New rows of a subtask; they are not visible."""
        rows = [self.row(key) for _ in range(count)]
        self.rewrite(rows, subtask)
        return rows

    def write_long(self, subtask: int) -> None:
        """New rows that are longer together than what is read, copied or sent in one piece."""
        self.rewrite([row._replace(value=filled(row.value + b"/", LONG)) for row in (self.row(), self.row())], subtask)

    def rewrite(self, rows: Sequence[Row], subtask: int = 0) -> None:
        """These rows of a subtask; without a second phase they may be visible from now on."""
        if not self.place.two_phase:
            self._doubt(rows)
        self.attempt.write(subtask, rows)

    def prepare(self, subtasks: Sequence[int] | None = None) -> int:
        """Subtasks prepare, in an order, or all of them; returns the checkpoint, which is pending."""
        self.newest_checkpoint += 1
        promises = self.pending[self.newest_checkpoint] = []
        for subtask in range(self.parallelism) if subtasks is None else subtasks:
            promise = self.attempt.prepare(subtask, self.newest_checkpoint)
            promises.append(promise)
            if not self.place.two_phase:
                self._settle(promise)
        return self.newest_checkpoint

    def complete(self, checkpoint: int) -> None:
        """It completes, and with it goes what was prepared for earlier ones (TPC-03)."""
        self.place.step(f"{self.name}: checkpoint {checkpoint} completes")
        for earlier in sorted(self.pending):
            if earlier <= checkpoint:
                self.completed += self.pending.pop(earlier)
        self.completed_checkpoint = checkpoint
        self.checkpoints.append((checkpoint, list(self.completed)))

    def commit(self) -> None:
        """The notice of the newest completed checkpoint: commit until it is decided.

        Raises:
            Violation: an outcome is missing, FAILED, or RETRY for ever.
        """
        for _ in range(MOST_CALLS):
            with suppress(Transient):
                self.commit_some(self.completed)
                if not self.completed:
                    return
        raise Violation(self.place.rule, f"commit was repeated {MOST_CALLS} times and is still undecided.")

    def commit_some(self, promises: Sequence[Promise], by: Sink | None = None) -> None:
        """One call with some promises of the newest completed checkpoint, in any order; what is decided is settled.

        Args:
            promises: that are committed; those among them that were aborted must fail, and no others.
            by: an object of the attempt; None: that of its coordinator.
        """
        known = [*self.committed, *self.unknown, *self.aborted]
        for promise in promises:  # A row is doubted once, however often it is committed, and by how many attempts.
            if self.place.two_phase and not _among(promise, known):
                known.append(promise)
                self.unknown.append(promise)
                self._doubt(promise.rows)
        decided = iter(self.commit_once(promises, by=by))
        for promise in list(promises):
            outcomes = [next(decided) for _ in promise.committables]
            if _among(promise, self.aborted):
                if DONE & {each.kind for each in outcomes}:
                    raise self.place.broken("aborted", "a commit of what begin() aborts is done; failed is right.")
                continue
            if lost := [each for each in outcomes if each.kind is OutcomeKind.FAILED]:
                beside = any(_among(each, self.aborted) for each in promises)
                raise self.place.broken("beside" if beside else "failed", f"commit failed: {lost[0].reason}")
            if all(each.kind in DONE for each in outcomes):
                self.completed = [each for each in self.completed if each is not promise]
                if not _among(promise, self.committed):
                    self.committed.append(promise)
                    if self.place.two_phase:
                        self.unknown = [each for each in self.unknown if each is not promise]
                        self._settle(promise)

    def _doubt(self, rows: Sequence[Row]) -> None:
        """They may be visible from now on."""
        self.in_doubt.update(rows)
        for row in rows:
            self.table.setdefault(row.key, [None]).append(row.value)

    def _settle(self, promise: Promise) -> None:
        """Its rows are visible."""
        self.place.owed.update(promise.rows)
        for row in promise.rows:
            if self.place.two_phase and self.in_doubt[row] > 1:
                self.in_doubt[row] -= 1
            elif self.place.two_phase:
                self.in_doubt.pop(row, None)
            self.table[row.key] = [row.value]
            self.in_order.setdefault((row.key, promise.subtask), []).append(row)

    def commit_once(
        self, promises: Sequence[Promise], attempt: Attempt | None = None, by: Sink | None = None
    ) -> Sequence[Outcome]:
        """One call with the committables of some promises; each outcome belongs to one of them."""
        committables = [each for promise in promises for each in promise.committables]
        if not committables:
            return ()
        whose = attempt or self.attempt
        subtasks = ", ".join(f"{each.attempt}/{each.subtask}" for each in promises)
        self.place.step(f"attempt {whose.number}: commit {len(committables)} of attempt/subtask {excerpt(subtasks)}")
        outcomes = (by or whose.sink).commit(committables, now_ms=self.place.now_ms)
        if len(outcomes) != len(committables):
            raise Violation("TPC-05", f"commit() of {len(committables)} returned {len(outcomes)} outcomes.")
        self.place.step(f"    {excerpt(', '.join(each.kind for each in outcomes))}")
        return outcomes

    def checkpoint(self) -> int:
        """All of one: prepare, complete, commit."""
        checkpoint = self.prepare()
        self.complete(checkpoint)
        self.commit()
        return checkpoint


def _among(promise: Promise, promises: Sequence[Promise]) -> bool:
    """Whether it is one of them, and not only like one."""
    return any(each is promise for each in promises)


def changed(committable: Committable, *, version: int | None = None, content: bytes | None = None) -> Committable:
    """A committable of another version, or of other content."""
    return Committable(
        committable.version if version is None else version, committable.content if content is None else content
    )
