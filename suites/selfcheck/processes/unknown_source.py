"""Sources and sinks of somebody else's that processes name: unknown formats, no second reading, wrong splits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from holdfast.fixtures.mutants.sources.enumerators import HandsOutTwice, with_enumerator
from holdfast.fixtures.mutants.sources.readers import ResumesOneLate, with_reader
from holdfast.fixtures.sinks.files import FileSink
from holdfast.fixtures.sources.log import LogSource
from holdfast.fixtures.sources.splits import Position, Reader
from holdfast.fixtures.sources.sqlite_queue import QueueTable
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


class UnknownSource:
    """A split is a document; how far it was read is a number of records."""

    def __init__(self, context: SourceContext) -> None:
        self.folder = Path(urlsplit(context.uri).path)

    def describe(self) -> SourceDescription:
        return SourceDescription(name="documents", flags=frozenset({SourceFlag.REPLAYABLE, SourceFlag.UNBOUNDED}))

    def enumerator(self, restored: EnumeratorState | None) -> Enumerator:
        return Enumerator(self.folder, restored)

    def reader(self, subtask: int) -> DocumentReader:
        return DocumentReader(self.folder)

    def feeder(self) -> Feeder:
        return Feeder(self.folder)


class Enumerator:
    """Deals documents out by their number."""

    def __init__(self, folder: Path, restored: EnumeratorState | None) -> None:
        self.folder = folder
        self.known: list[str] = []
        self.back: list[SourceSplit] = []
        if restored is not None:
            self.known, back = json.loads(restored.content)
            self.back = [SourceSplit(name, 1, text.encode()) for name, text in back]

    def assign(self, readers: Sequence[int], *, now_ms: int) -> Mapping[int, Sequence[SourceSplit]]:
        if not readers:
            return {}
        new = sorted(path.name for path in self.folder.glob("*.json") if path.name not in self.known)
        self.known += new
        splits = [*self.back, *(SourceSplit(name, 1, b"0") for name in new)]
        self.back = []
        dealt: dict[int, list[SourceSplit]] = {}
        for split in splits:
            dealt.setdefault(readers[int(split.id.partition("-")[0]) % len(readers)], []).append(split)
        return dealt

    def exhausted(self) -> bool:
        return False

    def give_back(self, splits: Sequence[SourceSplit]) -> None:
        self.back += splits

    def snapshot(self, checkpoint: int) -> EnumeratorState:
        back = [(split.id, split.content.decode()) for split in self.back]
        return EnumeratorState(1, json.dumps([self.known, back]).encode())

    def close(self) -> None: ...


class DocumentReader:
    """Reads one document after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.next: dict[str, int] = {}

    def add(self, splits: Sequence[SourceSplit]) -> None:
        self.next |= {split.id: int(split.content) for split in splits}

    def no_more_splits(self) -> None: ...

    def poll(self, most: int, *, now_ms: int) -> Batch:
        for name, behind in list(self.next.items()):
            document = json.loads((self.folder / name).read_text())
            taken = document[behind : behind + most]
            self.next[name] = behind + len(taken)
            if self.next[name] == len(document):
                del self.next[name]
            if taken:
                records = [
                    SourceRecord(text.encode(), at_ms, f"{name} at {behind + place}")
                    for place, (text, at_ms) in enumerate(taken)
                ]
                return Batch(records, ReaderStatus.MORE)
        return Batch((), ReaderStatus.NOTHING_NOW)

    def watermarks(self) -> Mapping[str, int]:
        return {}

    def snapshot(self, checkpoint: int) -> Sequence[SourceSplit]:
        return [SourceSplit(name, 1, str(behind).encode()) for name, behind in self.next.items()]

    def confirmed(self, checkpoint: int) -> None: ...

    def close(self) -> None: ...


class Feeder:
    """Writes documents, which appear whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0
        folder.mkdir(parents=True, exist_ok=True)

    def append(self, partition: int, records: Sequence[tuple[bytes, int]]) -> None:
        self.number += 1
        unfinished = self.folder / f".{self.number}"
        unfinished.write_text(json.dumps([(value.decode(), at_ms) for value, at_ms in records]))
        unfinished.rename(self.folder / f"{self.number:04d}-{partition}.json")

    def falsify_positions(self, job: str) -> None: ...

    def close(self) -> None: ...


class UnknownSink(FileSink):
    """Files that nobody is told of."""

    description = replace(FileSink.description, name="unknown", committed_reader="")


class TakingQueue(QueueTable):
    """What is read is taken off the queue at once, whether a checkpoint holds it or not."""

    description = replace(QueueTable.description, flags=QueueTable.description.flags - {SourceFlag.REPLAYABLE})

    def read(self, position: Position, most: int) -> tuple[Sequence[SourceRecord], int]:
        records, behind = super().read(position, most)
        self.publish([Position(position.name, behind)])
        return records, behind


class RecordsNothing(Reader):
    """No split is in a snapshot."""

    def snapshot(self, checkpoint: int) -> Sequence[SourceSplit]:
        super().snapshot(checkpoint)
        return ()


ResumesLate = with_reader(ResumesOneLate)
GivesTwice = with_enumerator(HandsOutTwice, LogSource)
ForgetsSplits = with_reader(RecordsNothing)
