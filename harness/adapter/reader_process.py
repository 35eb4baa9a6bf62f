"""Run as a module: the committed reader, a process that looks at the output of an engine and only looks.

    python -P -m holdfast.harness.adapter.reader_process

Its settings are the first line of its standard input. It looks at every poll and writes a line for each version that
differs. A further line asks for the last look, which ends it; so does the end of its standard input.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, BinaryIO

import msgspec

from holdfast.harness.adapter.looks import Looks, look_until_asked
from holdfast.harness.adapter.reader import CommittedLog, CommittedTable, Reader, Row
from holdfast.harness.model.records import FoldRow
from holdfast.harness.spi.outside_files import raise_limits


class Settings(msgspec.Struct, frozen=True):
    """What the process is told.

    Attributes:
        reader: makes what it looks at.
        interval_ms: how often it looks.
        path: where modules are imported from.
        limits: so many times as large as is else allowed may be what it reads.
    """

    reader: Reader
    interval_ms: int
    path: tuple[str, ...]
    limits: int = 1


class Version(msgspec.Struct, frozen=True, tag="version"):
    """The output differs from what it was before.

    Attributes:
        poll: the poll that saw it, from 0.
        time_ns: of that poll, on the machine's monotonic clock.
        rows: those that are new or have changed, in the order of the output; of one contract.
        vanished: keys that are not in it any more.
        final: seen by the last read only.
    """

    poll: int
    time_ns: int
    rows: tuple[Any, ...]
    vanished: tuple[str, ...]
    final: bool


class Altered(msgspec.Struct, frozen=True, tag="altered"):
    """The last read, from the beginning, finds other rows than were seen.

    Attributes:
        version: number among the versions that had rows, from 0.
        poll, time_ns: as in Version.
        vanished: none of its rows is there any more.
    """

    version: int
    poll: int
    time_ns: int
    vanished: bool


class Unreadable(msgspec.Struct, frozen=True, tag="unreadable"):
    """It is no output of its form. Nothing else follows."""

    reason: str


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The last read is done. Nothing else follows.

    Attributes:
        polls: how often it looked.
        average_ns: between two polls.
        gaps: from when until when, on the monotonic clock, there was none for more than twice as long as there was to.
    """

    polls: int
    average_ns: int
    gaps: tuple[tuple[int, int], ...]


_NUMBERS, _DIGESTS = range(-(1 << 63), 1 << 63), range(1 << 64)
_LAST_READ_LIMIT_S = 4.0
_AGAIN_S = 0.1
Change = Version | Altered
Report = Change | Unreadable | Finished


class TableWatch:
    """What is visible in a table, poll by poll.

    Args:
        table: what it looks at.
    """

    def __init__(self, table: CommittedTable) -> None:
        self._table = table
        self._rows: dict[str, FoldRow] = {}

    def changes(self, poll: int, time_ns: int, *, final: bool) -> Iterator[Change]:
        """Look once; see CommittedTable.rows for what it raises."""
        found = self._table.rows()
        if found is None:
            return
        rows = {row.key: row for row in found}
        before, self._rows = self._rows, rows
        changed = tuple(row for key, row in rows.items() if before.get(key) != row)
        vanished = tuple(key for key in before if key not in rows)
        if changed or vanished:
            yield Version(poll, time_ns, changed, vanished, final)


class LogWatch:
    """What is visible in a log, poll by poll; at the last one all of it is read once more.

    Args:
        log: what it looks at.
        again: makes another one, which reads from the beginning.
    """

    def __init__(self, log: CommittedLog, again: Callable[[], CommittedLog]) -> None:
        self._log = log
        self._again = again
        self._versions: list[dict[str, Row]] = []

    def changes(self, poll: int, time_ns: int, *, final: bool) -> Iterator[Change]:
        """Look once; see CommittedTable.rows for what it raises."""
        seen = dict(self._log.new_rows())
        if seen:
            self._versions.append(seen)
            yield Version(poll, time_ns, tuple(seen.values()), (), final)
        if final:
            found = dict(self._again().new_rows())
            for number, version in enumerate(self._versions):
                if any(found.get(place) != row for place, row in version.items()):
                    yield Altered(number, poll, time_ns, vanished=found.keys().isdisjoint(version))


class OutputReader:
    """Looks, and keeps count of it.

    Args:
        watch: what it looks at.
        interval_ms: how often it is to look.

    Attributes:
        polls: how many there were.
        looks: when they were.
    """

    def __init__(self, watch: TableWatch | LogWatch, interval_ms: int = 0) -> None:
        self._watch = watch
        self.looks = Looks(interval_ms)
        self.polls = 0

    def finished(self) -> Finished:
        """How often it looked, after the last read."""
        average_ns = (self.looks.looked_ns - self.looks.started_ns) // max(1, self.polls - 1)
        return Finished(self.polls, average_ns, tuple(self.looks.gaps))

    def poll(self, *, final: bool) -> list[Change]:
        """Look once; empty if nothing changed, or if the output cannot be read at the moment.

        Raises:
            ValueError: what is there is no output of its form.
            OSError: it cannot be read at the last look.
        """
        poll, time_ns = self.polls, time.monotonic_ns()
        if not poll:
            self.looks.start(time_ns)
        try:
            changes = list(self._watch.changes(poll, time_ns, final=final))
            for row in (row for change in changes if isinstance(change, Version) for row in change.rows):
                _require_stored(row)
        except OSError:
            if final:
                raise
            return []  # Nobody looked: that is a gap.
        self.looks.note(time_ns)
        self.polls = poll + 1
        return changes


def _require_stored(row: Row) -> None:
    """Its numbers are such as a run is stored with.

    Raises:
        ValueError: one is larger.
    """
    for name in row.__struct_fields__:
        value = getattr(row, name)
        allowed = _DIGESTS if name == "digest" else _NUMBERS
        if not all(each in allowed for each in (value if isinstance(value, tuple) else (value,)) if type(each) is int):
            raise ValueError(f"{name} is {value}, allowed are whole numbers from {allowed.start} to {allowed[-1]}")


def watch_of(reader: Reader) -> TableWatch | LogWatch:
    """What looks at the output that a reader describes."""
    output = _made(reader)
    if isinstance(output, CommittedTable):
        return TableWatch(output)
    return LogWatch(output, lambda: _made(reader))


def _made(reader: Reader) -> Any:
    module, _, name = reader.factory.partition(":")
    thing: Any = import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing(*reader.arguments)


def main() -> None:
    # Apart from what the code of an engine reads and prints.
    reports = open(os.dup(1), "wb")  # noqa: SIM115 - until this process ends
    os.dup2(2, 1)
    orders = open(os.dup(0), "rb", buffering=0)  # noqa: SIM115 - what is buffered, `select` does not see.
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    settings = msgspec.json.decode(orders.readline(), type=Settings)
    raise_limits(settings.limits)
    sys.path += [each for each in settings.path if each not in sys.path]
    reader = OutputReader(watch_of(settings.reader), settings.interval_ms)
    reader.looks.due_ns = time.monotonic_ns()
    try:
        look_until_asked(lambda: _look(reader, reports), orders)
        _look_last(reader, reports)
    except (OSError, ValueError) as error:
        _say(Unreadable(str(error)), reports)
    else:
        _say(reader.finished(), reports)


def _look(reader: OutputReader, reports: BinaryIO) -> int:
    """Look once; returns when the next look is due."""
    for change in reader.poll(final=False):
        _say(change, reports)
    reader.looks.rest(time.monotonic_ns())
    return reader.looks.due_ns


def _look_last(reader: OutputReader, reports: BinaryIO) -> None:
    """Look for the last time, as soon as the output can be read. Errors as of OutputReader.poll."""
    until_s = time.monotonic() + _LAST_READ_LIMIT_S
    while True:
        try:
            changes = reader.poll(final=True)
            break
        except OSError:
            if time.monotonic() > until_s:
                raise
            time.sleep(_AGAIN_S)
    for change in changes:
        _say(change, reports)


def _say(report: Report, reports: BinaryIO) -> None:
    reports.write(msgspec.json.encode(report) + b"\n")
    reports.flush()


if __name__ == "__main__":
    main()
