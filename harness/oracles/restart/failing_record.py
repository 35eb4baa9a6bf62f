"""Failures by a record: whether their cause is reported, and whether they have an end (RULES RST-03)."""

from __future__ import annotations

import re

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import FailureCounted, InputTruncated, RecordFailed
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import Exemptions

WORTH_TELLING = 3
"""So many failures in a row by one record."""
_NUMBER = re.compile(r"\d+")
_RECORD = re.compile(r"\brecord \d")


def judge_records(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Hold each record that failed an operator against those that were poisoned. Nothing is decided where none was, or
    where records are removed, since what is missing fails its reader as well."""
    poisons = [fault.parameters for fault in exempt.planned(Consequence.POISONS_INPUT)]
    if not poisons or history.of(InputTruncated):
        return
    partitions = history.inputs.partitions
    poisoned = {
        (partition, int(each.get("offset", 0)) % partitions[partition].regular, not each.get("unrecoverable", 0))
        for each in poisons
        if (partition := int(each.get("partition", 0))) < len(partitions)
    }
    for record in history.of(RecordFailed):
        findings.check("wrong-record-named")
        if (record.partition, record.offset, record.recoverable) not in poisoned:
            message = f"{record.subtask} fails by record {record.offset} of partition {record.partition}, which is good"
            findings.violated("wrong-record-named", message, record)


class FailingRecords:
    """Follows failures in the order in which they are counted."""

    def __init__(self, history: History, findings: Findings) -> None:
        self._findings = findings
        self._records = {(each.attempt, each.subtask): each for each in history.of(RecordFailed)}
        self._row: list[RecordFailed] = []
        self._unnamed: list[tuple[RecordFailed, FailureCounted]] = []
        self._endless: list[RecordFailed] = []

    def counted(self, failure: FailureCounted, *, endless: bool) -> bool:
        """Take a failure.

        Args:
            failure: what was counted.
            endless: the restart strategy never comes to a last attempt.

        Returns:
            Whether the operator reported that a restart can help; True if no record made it fail.
        """
        record = self._records.get((failure.attempt, failure.subtask))
        if record is None:
            self.end_streak()
            return True
        if self._row and (self._row[-1].partition, self._row[-1].offset) != (record.partition, record.offset):
            self.end_streak()
        self._row.append(record)
        if not _names(failure, record):
            if _RECORD.search(failure.cause):  # It is about another one.
                self._not_reported(record, failure)
            else:
                self._unnamed.append((record, failure))
        if endless and record.recoverable and len(self._row) >= max(WORTH_TELLING, len(self._endless)):
            self._endless = self._row
        return record.recoverable

    def end_streak(self) -> None:
        """End a streak of failures by one record: most of their causes must name the record. Single ones may name what
        followed from it and reached the coordinator first, such as a message to the subtask that had failed."""
        if self._row:
            self._findings.check("cause-not-reported")
        if 2 * len(self._unnamed) > len(self._row):
            for record, failure in self._unnamed:
                self._not_reported(record, failure)
        self._row, self._unnamed = [], []

    def _not_reported(self, record: RecordFailed, failure: FailureCounted) -> None:
        message = f"record {record.offset} of partition {record.partition} fails, its reported cause: {failure.cause}"
        self._findings.violated("cause-not-reported", message, record, failure)

    def finish(self) -> None:
        """Note failures by one record that never end, and why."""
        if self._endless:
            record, times = self._endless[-1], len(self._endless)
            self._findings.inform(
                f"restarts do not end: record {record.offset} of partition {record.partition} makes {record.subtask} "
                f"fail on every attempt ({record.cause}), {times} in a row here, and the restart strategy never "
                "gives up: repair the record, or let its operator skip it"
            )


def _names(failure: FailureCounted, record: RecordFailed) -> bool:
    numbers = set(map(int, _NUMBER.findall(failure.cause)))
    return record.subtask in failure.cause and numbers >= {record.partition, record.offset}
