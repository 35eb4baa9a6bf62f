"""Run as a module: the committed reader, a process that looks at the output of an engine and only looks.

    python -P -m holdfast.harness.adapter.reader_process

Its settings are the first line of its standard input. It looks at every poll and writes a line for each version that
differs. A further line asks for the last look, which ends it; so does the end of its standard input.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO

import msgspec

from holdfast.harness.adapter.polled_output import Watch, asked_by
from holdfast.harness.adapter.reader import CommittedLog, CommittedTable, Reader, Row
from holdfast.harness.model.events import ReaderPolled
from holdfast.harness.model.records import FoldRow
from holdfast.harness.spi.outside_files import raise_limits


class Settings(msgspec.Struct, frozen=True):
    """The first line of its input.

    Attributes:
        reader: makes what it looks at.
        interval_ms: how often it looks.
        path: where modules are imported from.
        limits: the factor by which the limits on what it reads are raised.
    """

    reader: Reader
    interval_ms: int
    path: tuple[str, ...]
    limits: int = 1


class Version(msgspec.Struct, frozen=True, tag="version", tag_field="kind"):
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


class Altered(msgspec.Struct, frozen=True, tag="altered", tag_field="kind"):
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


class Unreadable(msgspec.Struct, frozen=True, tag="unreadable", tag_field="kind"):
    """The last message of a reader whose output is not of its form."""

    reason: str


_NUMBERS, _DIGESTS = range(-(1 << 63), 1 << 63), range(1 << 64)
_LAST_READ_LIMIT_S = 4.0
Change = Version | Altered
Report = Change | Unreadable | ReaderPolled


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
    """What is visible of the output of an engine (polled_output.PolledOutput). A version that comes and goes while
    there is no answer is never seen, so that time is not counted as blind.

    Args:
        watch: what it looks at.
    """

    def __init__(self, watch: TableWatch | LogWatch) -> None:
        self._watch = watch
        self.polls = self.blind_ns = 0

    def poll(self, *, final: bool = False) -> list[Change]:
        """Look once; empty if nothing changed, or if the output cannot be read at the moment.

        Raises:
            ValueError: what is there is no output of its form.
            OSError: it cannot be read at the last look.
        """
        try:
            changes = list(self._watch.changes(self.polls, time.monotonic_ns(), final=final))
            for row in (row for change in changes if isinstance(change, Version) for row in change.rows):
                _require_stored(row)
        except OSError:
            if final:
                raise
            return []
        self.polls += 1
        return changes


def _require_stored(row: Row) -> None:
    """Check that the numbers of a row fit a stored run.

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
    output, say = OutputReader(watch_of(settings.reader)), partial(_say, reports)
    watch = Watch(output, settings.interval_ms, idle_per_look=0, patience_s=_LAST_READ_LIMIT_S)
    try:
        changes, polled = watch.look_until_asked(say, asked_by(orders))
        say([*changes, polled])
    except (OSError, ValueError) as error:
        say([Unreadable(str(error))])


def _say(reports: BinaryIO, said: Sequence[Report]) -> None:
    for report in said:
        reports.write(msgspec.json.encode(report) + b"\n")
    reports.flush()


if __name__ == "__main__":
    main()
