"""The results of a certification on disk, run by run, so that an interrupted one goes on with what it has.

results-N.jsonl.gz  of the N-th invocation: a header, then a line for each run and for each case that is over; a line
                    can be read as soon as it is written
A line that was cut off, because the harness was killed while it wrote, is dropped: its run is repeated.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from holdfast.harness.engine.artefacts.files import inside
from holdfast.harness.engine.artefacts.json_files import DETAILS
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import CaseResult, RunResult
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.outside_files import OutsideFileError, PackedLines

LOG_VERSION = 1
_LEVEL = 4
"""Results repeat each other: more effort makes the files hardly smaller."""


class LogHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="header", kw_only=True):
    """One invocation.

    Attributes:
        version: of this schema.
        identity: of what is certified by which code; another one does not go on with these results.
        started: of the first invocation, ISO 8601 in UTC.
    """

    version: int = LOG_VERSION
    identity: str
    started: str


class LoggedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="run"):
    """A run that is over, `at_s` of the time that the certification has taken; `kept` if it was stored."""

    at_s: float
    result: RunResult
    kept: RunResult | None


class LoggedCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="case"):
    """A case that is over; `histories` is a digest over those of its runs that were stored."""

    at_s: float
    result: CaseResult
    histories: str


class LoggedCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="check"):
    """A check of a kit that is over; `kit` is the name of its request."""

    at_s: float
    kit: str
    check: KitCheck


Logged = LoggedRun | LoggedCase


class ResultLog:
    """The log in a folder; a context manager.

    Args:
        folder: of the report; it exists.
        identity: see LogHeader.
        started: of this invocation.

    Attributes:
        entries: by case and tier, what earlier invocations wrote.
        checks: by kit, what earlier invocations wrote.
        elapsed_s: how long they took.
        started: of the first one.

    Raises:
        UsageError: the results are of something else.
    """

    def __init__(self, folder: Path, identity: str, started: str) -> None:
        self.entries: dict[tuple[str, Tier], list[Logged]] = {}
        self.checks: dict[str, list[KitCheck]] = {}
        self.elapsed_s = 0.0
        self.started = started
        files = sorted(folder.glob("results-*.jsonl.gz"))
        lines = PackedLines()
        for path in files:
            self._take(path, identity, lines)
        self._file = gzip.open(folder / f"results-{len(files) + 1:04d}.jsonl.gz", "xb", _LEVEL)  # noqa: SIM115
        self._write(LogHeader(identity=identity, started=self.started))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):  # On a full disk; what was not written is repeated.
            self._file.close()

    @property
    def kept(self) -> frozenset[str]:
        """Ids of the runs that were stored."""
        logged = (each for entries in self.entries.values() for each in entries)
        return frozenset(each.kept.id for each in logged if isinstance(each, LoggedRun) and each.kept is not None)

    def add(self, entry: Logged | LoggedCheck) -> None:
        """Put a result on disk."""
        self._write(entry)

    def _write(self, line: LogHeader | Logged | LoggedCheck) -> None:
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush(zlib.Z_SYNC_FLUSH)

    def _take(self, path: Path, identity: str, lines: PackedLines) -> None:
        for entry in read_log(path, lines):
            if isinstance(entry, LogHeader):
                if (entry.version, entry.identity) != (LOG_VERSION, identity):
                    raise UsageError(f"{path}: it holds results of other code or settings; choose another folder.")
                self.started = min(self.started, entry.started)
                continue
            self.elapsed_s = max(self.elapsed_s, entry.at_s)
            if isinstance(entry, LoggedCheck):
                self.checks.setdefault(entry.kit, []).append(entry.check)
                continue
            if isinstance(entry, LoggedRun):
                _require_inside(path.parent, entry.result)
                _require_inside(path.parent, entry.kept or entry.result)
            self.entries.setdefault((entry.result.case, entry.result.tier), []).append(entry)


def _require_inside(folder: Path, result: RunResult) -> None:
    """The log may be somebody else's: nothing that a run is found by leads out of its folder.

    Raises:
        UsageError: it does.
    """
    place = f"{RUNS}/{inside(folder / RUNS, result.id).name}"
    if result.artefacts not in ("", place) or result.details not in ("", f"{place}/{DETAILS}"):
        raise UsageError(f"{folder}: run {result.id} is said to lie elsewhere; begin anew.")


def read_log(path: Path, lines: PackedLines | None = None) -> Iterator[LogHeader | Logged | LoggedCheck]:
    """The complete lines of a log.

    Args:
        path: of the log.
        lines: what reads the logs beside it, too; None: it is alone.

    Raises:
        UsageError: it is no regular file, too long, or a line of it is no result.
    """
    decoder = msgspec.json.Decoder(LogHeader | LoggedRun | LoggedCase | LoggedCheck)
    try:
        with suppress(zlib.error, gzip.BadGzipFile):
            for line in (lines or PackedLines()).of(path):
                yield decoder.decode(line)
    except OutsideFileError as error:
        raise UsageError(f"{path}: {error}.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: a line is no result ({error}); choose another folder.") from error
