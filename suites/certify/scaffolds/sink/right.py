"""A sink into files: each transaction is one file, which a rename makes visible when its checkpoint has completed.

The contract is `holdfast.harness.spi.sink`. The two phases are the two folders: `prepare` writes into `.prepared`, and
`commit` moves the file out of it. A line is key, tab, value, each percent-encoded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from holdfast.harness.spi.errors import Damaged, Fenced, Incompatible
from holdfast.harness.spi.sink import (
    Committable,
    DeliveryGuarantee,
    Outcome,
    OutcomeKind,
    Row,
    SinkContext,
    SinkDescription,
    SinkFlag,
)

VERSION = 1
PREPARED = ".prepared"
DESCRIPTION = SinkDescription(
    name="example",
    guarantee=DeliveryGuarantee.EXACTLY_ONCE,
    flags=frozenset({SinkFlag.TWO_PHASE, SinkFlag.ORDERED, SinkFlag.FAULT_POINTS}),
    # The format of the files is one that others read; else `committed_reader` below is believed.
    committed_reader="files",
)


class Sink:
    """One operator's sink in one attempt."""

    def __init__(self, context: SinkContext) -> None:
        for key in context.options:
            raise ValueError(f"option {key!r} is unknown; this sink has none.")
        parts = urlsplit(context.uri)
        if parts.scheme != "file" or not parts.path:
            raise ValueError(f"URI {context.uri!r} names no folder: write file:///folder.")
        self.context = context
        self.visible = Path(parts.path)
        self.prepared = self.visible / PREPARED
        self.owner = f"{context.job}.{context.operator}"

    def describe(self) -> SinkDescription:
        return DESCRIPTION

    def begin(self, restored: Sequence[Committable], *, now_ms: int) -> None:
        kept = {_name(each) for each in restored}
        self.require_newest()
        self.prepared.mkdir(parents=True, exist_ok=True)
        with self.step("begin"):
            (self.prepared / f"{self.owner}.attempt-{self.context.attempt}").touch()
        # Of all earlier attempts and all of their subtasks, whatever the parallelism is now.
        for file in sorted(self.prepared.glob(f"{self.owner}.*")):
            attempt = int(file.name.split(".")[2].removeprefix("attempt-"))
            if attempt < self.context.attempt and file.name not in kept:
                with self.step("abort"):
                    file.unlink(missing_ok=True)

    def writer(self, subtask: int, *, now_ms: int) -> Writer:
        return Writer(self, subtask)

    def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
        names = [_name(each) for each in committables]
        self.require_newest()
        return [self.commit_one(self.prepared / name, self.visible / name) for name in names]

    def commit_one(self, prepared: Path, visible: Path) -> Outcome:
        try:
            with self.step("commit"):
                prepared.rename(visible)
        except FileNotFoundError:
            # Not every one that is gone is lost: an earlier call may have committed it, and its answer was lost.
            if visible.exists():
                return Outcome(OutcomeKind.ALREADY)
            return Outcome(OutcomeKind.FAILED, f"{prepared.name} is not there: its rows are lost.")
        _synchronise(self.visible)
        return Outcome(OutcomeKind.COMMITTED)

    def committed_reader(self) -> Reader:
        return Reader(self.visible)

    def close(self) -> None:
        pass

    def require_newest(self) -> None:
        marks = self.prepared.glob(f"{self.owner}.attempt-*")
        newest = max((int(mark.name.rpartition("-")[2]) for mark in marks), default=0)
        if newest > self.context.attempt:
            raise Fenced(f"attempt {newest} has begun, and this is attempt {self.context.attempt}.")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Something outside happens: the kit lets it fail, or ends the process, before it and behind it."""
        self.context.arrive(name)
        yield
        self.context.arrive(name)


class Writer:
    """One subtask's: rows are in memory until `prepare` writes them."""

    def __init__(self, sink: Sink, subtask: int) -> None:
        self.sink, self.subtask = sink, subtask
        self.rows: list[Row] = []
        self.number = 0

    def write(self, rows: Sequence[Row], *, now_ms: int) -> None:
        self.sink.require_newest()
        self.rows += rows

    def prepare(self, checkpoint: int, *, now_ms: int) -> Sequence[Committable]:
        self.sink.require_newest()
        if not self.rows:
            return ()
        # Files are read in the order of their names, so that numbers of one writer need leading zeros.
        name = f"{self.sink.owner}.{self.sink.context.attempt:06d}.{self.subtask:04d}.{self.number:06d}"
        with self.sink.step("prepare"):
            with (self.sink.prepared / name).open("wb") as file:
                file.writelines(b"%s\t%s\n" % (_quoted(key), _quoted(value)) for key, value in self.rows)
                # Durable before the checkpoint is acknowledged: the file, and the folder that names it.
                file.flush()
                os.fsync(file.fileno())
            _synchronise(self.sink.prepared)
        self.rows = []
        self.number += 1
        return (Committable(VERSION, name.encode()),)

    def close(self) -> None:
        pass


class Reader:
    """What consumers see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def rows(self) -> Sequence[Row]:
        lines = [line for file in sorted(self.folder.glob("[!._]*")) for line in file.read_bytes().splitlines()]
        return [Row(*map(unquote_to_bytes, line.split(b"\t"))) for line in lines]

    def unfinished(self, job: str) -> int | None:
        return sum(".attempt-" not in file.name for file in (self.folder / PREPARED).glob(f"{job}.*"))

    def close(self) -> None:
        pass


def _name(committable: Committable) -> str:
    if committable.version != VERSION:
        raise Incompatible(f"a committable has version {committable.version}; {VERSION} is readable.")
    name = committable.content.decode(errors="replace")
    if len(parts := name.split(".")) != 5 or "/" in name or not all(part.isdecimal() for part in parts[2:]):
        raise Damaged(f"committable {name[:80]!r} was not written by this sink.")
    return name


def _quoted(content: bytes) -> bytes:
    return quote_from_bytes(content, safe="").encode()


def _synchronise(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
