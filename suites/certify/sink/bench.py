"""Where a check takes place: jobs that write there, and what of their rows may be visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from holdfast.harness.spi.sink import Row, SinkFactory, SinkFlag, SinkWriter
from holdfast.suites.certify.check import excerpt, unlike
from holdfast.suites.certify.connector_kit import HERE, Connected
from holdfast.suites.certify.outside.sink_performer import OPERATOR
from holdfast.suites.certify.sink.jobs import Job
from holdfast.suites.certify.sink.place import Place

LATE = b"late/"
"""So begin the rows of attempts that are over."""


class Bench(Place):
    """One check's own world.

    Attributes:
        jobs: all that write there.
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
        self.jobs: list[Job] = []
        super().__init__(factory, rule, seed, connected, by_sentence=by_sentence)

    def job(self, name: str = "job", parallelism: int = 2, *, operator: str = OPERATOR, first_attempt: int = 1) -> Job:
        """A job that begins, with any attempt: those before it got nowhere."""
        job = Job(self, name, operator, first_attempt)
        self.jobs.append(job)
        job.start(parallelism)
        return job

    def check(self) -> None:
        """What is visible is what the jobs may show.

        Raises:
            Violation: of the bench's rule.
        """
        seen = Counter(self.rows())
        if SinkFlag.UPSERT in self.flags:
            self._check_table(seen)
            return
        if dict.__eq__(seen, self.owed):  # A Counter compares in Python, row by row.
            return
        owed = self.owed
        allowed: Counter[Row] = owed + sum((job.in_doubt for job in self.jobs), Counter())
        if not self.two_phase:
            owed = Counter(owed.keys())
            allowed = Counter({row: max(count, seen[row]) for row, count in allowed.items()})
        if missing := owed - seen:
            sentence = f"{_first(missing)} is not visible; {missing.total()} rows are missing."
            raise self.broken("" if self.two_phase else "prepare", sentence)
        if extra := seen - allowed:
            row = min(extra)
            times = f"visible {seen[row]} times; {allowed[row]} is right"
            raise self.broken(self._fate(row), f"{_first(extra)} is {times}.")

    def _fate(self, row: Row) -> str:
        """What became of a row that is seen too often, as a key of SENTENCES."""
        for job in self.jobs:
            fates = {
                "committed": job.committed,
                "completed": job.completed,
                "pending": [promise for promises in job.pending.values() for promise in promises],
                "aborted": job.aborted,
            }
            for fate, promises in fates.items():
                if any(row in promise.rows for promise in promises):
                    return fate
            if any(row in rows for rows in job.attempt.unprepared):
                return "pending"
        return "late" if row.value.startswith(LATE) or row.key.startswith(LATE) else "strange"

    def _check_table(self, seen: Counter[Row]) -> None:
        table = {row.key: row.value for row in seen}
        if len(table) < seen.total():
            [(key, count)] = Counter(row.key for row in seen.elements()).most_common(1)
            raise self.broken("table", f"key {excerpt(key)} is there {count} times; once is right.")
        for job in self.jobs:
            for key, right in job.table.items():
                if table.get(key) not in right:
                    shown, value = unlike(table.get(key), right[-1])
                    raise self.broken("table", f"key {excerpt(key)} has {shown}; {value} is right.")
        if strange := table.keys() - {key for job in self.jobs for key in job.table}:
            raise self.broken("table", f"key {excerpt(min(strange))} is there, and none is right.")

    def check_unfinished(self, job: Job, least: int = 0) -> None:
        """Nothing of the job is left open or prepared but so much; where the reader cannot know it, nothing is said.

        Raises:
            Violation: of the bench's rule.
        """
        left = self.author_reader.unfinished(job.name)
        if left is not None:
            self.hit("counted-unfinished")
            if left > least:
                raise self.broken("aborted", f"{left} transactions of dead attempts are left; {least} is right.")

    def written_by(self) -> Sequence[SinkWriter]:
        return [writer for job in self.jobs for writer in job.all_writers]


def _first(rows: Counter[Row]) -> str:
    row = min(rows)
    return f"row {excerpt(row.key)}: {excerpt(row.value)}"
