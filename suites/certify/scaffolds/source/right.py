"""A source of files: a split is one file that never changes, and the offset of the next record in it.

The contract is `holdfast.harness.spi.source`. A line is timestamp, tab, value, percent-encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import SEEK_END
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

import msgspec

from holdfast.harness.spi.errors import Damaged, Incompatible
from holdfast.harness.spi.source import (
    Batch,
    EnumeratorState,
    ReaderStatus,
    SourceContext,
    SourceDescription,
    SourceFlag,
    SourceRecord,
    SourceSplit,
)

VERSION = 1
Content = TypeVar("Content")
DESCRIPTION = SourceDescription(
    name="example",
    flags=frozenset({SourceFlag.REPLAYABLE, SourceFlag.BOUNDED, SourceFlag.UNBOUNDED, SourceFlag.FAULT_POINTS}),
    # The format of the files is one that others write; else `feeder` below is believed.
    feeder="files",
)


class Position(msgspec.Struct, frozen=True):
    """The content of a split. `offset`: of the next record, not of the one that was read last."""

    name: str
    offset: int

    @property
    def split(self) -> SourceSplit:
        return SourceSplit(self.name, VERSION, msgspec.json.encode(self))


class Known(msgspec.Struct):
    """The state of the enumerator: every file that was found, and those of them that no reader has."""

    found: list[str] = []
    waiting: list[Position] = []
    looked: bool = False


class Source:
    """One operator's source in one attempt."""

    def __init__(self, context: SourceContext) -> None:
        for key in context.options:
            raise ValueError(f"option {key!r} is unknown; this source has none.")
        parts = urlsplit(context.uri)
        if parts.scheme != "file" or not parts.path:
            raise ValueError(f"URI {context.uri!r} names no folder: write file:///folder.")
        self.context = context
        self.folder = Path(parts.path)

    def describe(self) -> SourceDescription:
        return DESCRIPTION

    def enumerator(self, restored: EnumeratorState | None) -> Enumerator:
        known = Known() if restored is None else decoded(restored, Known)
        return Enumerator(self, known)

    def reader(self, subtask: int) -> Reader:
        return Reader(self)

    def feeder(self) -> Feeder:
        return Feeder(self.folder)

    def names(self) -> Sequence[str]:
        """Of all files that are there."""
        self.context.arrive("look")
        files = [file for file in sorted(self.folder.rglob("*")) if file.is_file() and file.name[0] not in "._"]
        self.context.arrive("look")
        return [str(file.relative_to(self.folder)) for file in files]

    def read(self, position: Position, most: int) -> tuple[Sequence[SourceRecord], Position]:
        """Records from a position on, and the position behind them."""
        self.context.arrive("read")
        records: list[SourceRecord] = []
        offset = position.offset
        with (self.folder / position.name).open("rb") as file:
            if file.seek(0, SEEK_END) < offset:
                raise Damaged(f"{position.name} was read up to {offset}, and ends before that.")
            file.seek(offset)
            while len(records) < most and (line := file.readline()):
                timestamp, tab, value = line.partition(b"\t")
                if not tab or not line.endswith(b"\n") or not timestamp.lstrip(b"-").isdigit():
                    raise Damaged(f"{position.name} has no record at {offset}: {line[:80]!r}.")
                place = f"{position.name} at {offset}"
                records.append(SourceRecord(unquote_to_bytes(value[:-1]), int(timestamp), place))
                offset += len(line)
        self.context.arrive("read")
        return records, Position(position.name, offset)


class Enumerator:
    """Finds files, and hands them out in turn."""

    def __init__(self, source: Source, known: Known) -> None:
        self.source, self.known = source, known
        self.handed_out = 0

    def assign(self, readers: Sequence[int], *, now_ms: int) -> Mapping[int, Sequence[SourceSplit]]:
        # A bounded job reads what is there when it first hands something out, also behind a restore.
        if not (self.source.context.bounded and self.known.looked):
            new = [name for name in self.source.names() if name not in self.known.found]
            self.known.found += new
            self.known.waiting += [Position(name, 0) for name in new]
            self.known.looked = bool(readers)
        assigned: dict[int, list[SourceSplit]] = {}
        while self.known.waiting and readers:
            reader = readers[self.handed_out % len(readers)]
            assigned.setdefault(reader, []).append(self.known.waiting.pop(0).split)
            self.handed_out += 1
        return assigned

    def exhausted(self) -> bool:
        return self.source.context.bounded and self.known.looked and not self.known.waiting

    def give_back(self, splits: Sequence[SourceSplit]) -> None:
        self.known.waiting += [decoded(split, Position) for split in splits]

    def snapshot(self, checkpoint: int) -> EnumeratorState:
        return EnumeratorState(VERSION, msgspec.json.encode(self.known))

    def close(self) -> None:
        pass


class Reader:
    """Reads its splits one after the other."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.positions: list[Position] = []
        self.all_there = False

    def add(self, splits: Sequence[SourceSplit]) -> None:
        self.positions += [decoded(split, Position) for split in splits]

    def no_more_splits(self) -> None:
        self.all_there = True

    def poll(self, most: int, *, now_ms: int) -> Batch:
        while self.positions:
            # The position moves behind a read that returned: one that raised is repeated.
            records, self.positions[0] = self.source.read(self.positions[0], most)
            if records:
                return Batch(records, ReaderStatus.MORE)
            self.positions.pop(0)  # A file never changes, so that its end is its end.
        return Batch((), ReaderStatus.END if self.all_there else ReaderStatus.NOTHING_NOW)

    def watermarks(self) -> Mapping[str, int]:
        return {}

    def snapshot(self, checkpoint: int) -> Sequence[SourceSplit]:
        return [position.split for position in self.positions]

    def confirmed(self, checkpoint: int) -> None:
        pass

    def close(self) -> None:
        pass


class Feeder:
    """Writes input; each call makes one file, which appears whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def append(self, partition: int, records: Sequence[tuple[bytes, int]]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{partition}-{len(list(self.folder.iterdir())):06d}"
        hidden = self.folder / f".{name}"
        hidden.write_bytes(
            b"".join(b"%d\t%s\n" % (at_ms, quote_from_bytes(value).encode()) for value, at_ms in records)
        )
        hidden.rename(self.folder / name)

    def falsify_positions(self, job: str) -> None:
        pass

    def close(self) -> None:
        pass


def decoded(stored: SourceSplit | EnumeratorState, kind: type[Content]) -> Content:
    if stored.version != VERSION:
        raise Incompatible(f"version {stored.version} is not {VERSION}.")
    try:
        return msgspec.json.decode(stored.content, type=kind)
    except msgspec.MsgspecError as error:
        raise Damaged(f"{stored.content[:80]!r} was not written by this source: {error}.") from error
