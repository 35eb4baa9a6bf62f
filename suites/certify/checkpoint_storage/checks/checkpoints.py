"""STO-01, STO-03, STO-10, RET-03, SAV-01: a checkpoint's folder and scopes, its one publication, and its pointer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import msgspec

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, RECORDS_BYTES, bytes_of
from holdfast.suites.certify.outside.messages import Act


def published(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    long = bytes_of(bench.longest(MEBIBYTE + 8) - 1)  # One byte more is tried, too.
    for checkpoint, metadata in enumerate((b"", b"m", long), start=1):
        bench.refuses("resolve it before", FileNotFoundError, storage.resolve, f"chk-{checkpoint}")
        bench.step(f"finish({checkpoint}) with {len(metadata)} bytes")
        pointer = storage.finish(checkpoint, epoch, metadata)
        if not isinstance(pointer, str) or not pointer or pointer.split() != [pointer]:
            raise Violation(bench.rule, f"finish returned {pointer!r}; a text without blanks is right.")
        again = bench.storage().finish(checkpoint, epoch, metadata)
        if again != pointer:
            raise Violation("STO-09", f"finish repeated returned {again!r}; {pointer!r} is right, as before.")
        alike = [metadata[:at] + bytes([metadata[at] ^ 1]) + metadata[at + 1 :] for at in {0, len(metadata) - 1}
                 if metadata]  # fmt: skip
        for other in (metadata + b"x", b"other", metadata[:-1] if metadata else b"y", *alike):
            bench.refuses(
                f"finish({checkpoint}) with other metadata",
                FileExistsError,
                storage.finish,
                checkpoint,
                epoch,
                other,
            )
        bench.require_metadata(bench.storage(), pointer, metadata)
    bench.step("what a finished checkpoint holds is in its folder")
    if len(list(storage.list_folder("chk-1"))) != 1:
        raise Violation(bench.rule, f"chk-1 holds {list(storage.list_folder('chk-1'))}; its metadata alone is right.")


def of_another_epoch(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    pointer = storage.finish(1, epoch, b"metadata")
    successor, newer = bench.coordinator()
    for metadata in (b"metadata", b"other"):
        bench.refuses(
            "finish(1) of the next epoch",
            FileExistsError,
            successor.finish,
            1,
            newer,
            metadata,
        )
    bench.require_metadata(successor, pointer, b"metadata")


def pointers(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    for checkpoint in (1, 10):
        streams = storage.streams(checkpoint, epoch)
        data = bench.write(streams, "data", b"no metadata")
    pointer = storage.finish(1, epoch, b"metadata 1")
    unfinished = bench.write(storage.streams(4, epoch), "data", b"no metadata")
    reader = bench.storage()
    for good in (pointer, "chk-1", "chk-1/", "chk-1/_metadata"):
        bench.require_metadata(reader, good, b"metadata 1")
    for bad in (
        "chk-2", "chk-10", "chk-4", "chk-", "chk", "chk-1x", "chk-01", "", "/", "nothing", "_metadata", data.path,
        unfinished.path, "chk-10/_metadata", "chk-1/_metadata/_metadata", "chk-1/data/_metadata", "../job/chk-1/x",
        "shared", "no where",
    ):  # fmt: skip
        bench.refuses(f"resolve({bad!r})", FileNotFoundError, reader.resolve, bad, naming=bad)


def _checkpoint(bench: Bench) -> tuple[str, list[tuple[FileReference, bytes]]]:
    storage, epoch = bench.coordinator()
    streams = storage.streams(3, epoch)
    files: list[tuple[FileReference, bytes]] = []
    for scope in Scope:
        content = bytes_of(bench.longest(10_000), len(files))
        files.append((bench.write(streams, "state", content, scope), content))
    pointer = storage.finish(3, epoch, msgspec.json.encode([reference for reference, _ in files]))
    storage.close()
    return pointer, files


def by_path_alone(bench: Bench) -> None:
    pointer, files = _checkpoint(bench)
    bench.step("a new cluster, in another process, knows the pointer alone")
    [resolved] = bench.victims.run([Act("resolve", name=pointer)]).outcomes
    if resolved.error:
        raise Violation(bench.rule, f"resolve in a new process raised {resolved.error}: {resolved.text}")
    references = msgspec.json.decode(resolved.content, type=list[FileReference])
    report = bench.victims.run([Act("read", reference=each) for each in references])
    for outcome, (reference, content) in zip(report.outcomes, files, strict=True):
        if outcome.error or outcome.content != content:
            raise Violation(bench.rule, f"{reference.path} in a new process: {outcome.error or 'other content'}.")


def moved(bench: Bench) -> None:
    pointer, files = _checkpoint(bench)
    bench.move()
    storage = bench.storage()
    bench.require_metadata(storage, "chk-3", msgspec.json.encode([reference for reference, _ in files]))
    for reference, content in files:
        bench.require_content(storage.streams(3, 1), reference, content)
    _, epoch = bench.coordinator()
    bench.require_metadata(bench.storage(), pointer, msgspec.json.encode([reference for reference, _ in files]))
    bench.write(bench.storage().streams(4, epoch), "state", b"goes on there")


FOLDERS = ("", "chk-1", "chk-10", "chk-2", "shared", "taskowned")
PREFIXES = (1, 10, 11, 100, 2)
"""The name of one is the beginning of the names of others."""
HIDDEN = (".hidden", "_private")
"""Names that some listings leave out."""
ROUNDS = 5
WRITERS_FAR = 16
"""Threads that write many files where each is a number of requests."""


def dropped(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    paths: dict[int, dict[Scope, str]] = {}
    for checkpoint in PREFIXES:
        streams = storage.streams(checkpoint, epoch)
        paths[checkpoint] = {
            scope: bench.write(streams, f"file-{checkpoint}", b"%d" % checkpoint, scope).path for scope in Scope
        }
        for name in HIDDEN:
            bench.write(streams, name, b"hidden")
        storage.finish(checkpoint, epoch, b"metadata %d" % checkpoint)
    there = set(storage.list_folder(""))
    for checkpoint in (1, 10):
        own = set(storage.list_folder(f"chk-{checkpoint}"))
        if paths[checkpoint][Scope.EXCLUSIVE] not in own:
            raise Violation(bench.rule, f"the exclusive file of checkpoint {checkpoint} is not in chk-{checkpoint}.")
        if len(own) != 2 + len(HIDDEN):
            raise Violation(bench.rule, f"chk-{checkpoint} holds {sorted(own)}; its files and its metadata are right.")
        for attempt in ("drop", "drop again"):
            bench.step(f"{attempt} {checkpoint}")
            storage.drop(checkpoint, epoch)
            bench.require_files(bench.storage(), "", sorted(there - own))
        there -= own
        bench.refuses(f"resolve chk-{checkpoint}", FileNotFoundError, storage.resolve, f"chk-{checkpoint}")
    for checkpoint in (11, 100, 2):
        bench.require_metadata(storage, f"chk-{checkpoint}", b"metadata %d" % checkpoint)
    bench.step("drop what never was")
    storage.drop(77, epoch)
    bench.require_files(storage, "", sorted(there))


def listed(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    for folder in FOLDERS:
        bench.require_files(storage, folder, [])
    paths = []
    for checkpoint in PREFIXES:
        for name in ("b", "a", "a-b", "a.b", "ab", *HIDDEN):
            paths.append(bench.write(storage.streams(checkpoint, epoch), name, b"content").path)
    paths += [bench.write(storage.streams(1, epoch), name, b"", Scope.SHARED).path for name in ("chk-1", "s", "shared")]
    paths += [bench.write(storage.streams(1, epoch), name, b"x", Scope.TASK_OWNED).path for name in ("t", "chk-1")]
    for folder in FOLDERS:
        prefix = f"{folder}/" if folder else ""
        for looker in (storage, bench.storage()):
            bench.require_files(looker, folder, [path for path in paths if path.startswith(prefix)])
    for folder in ("chk", "chk-", "chk-3", "share", "nothing/at/all", "chk-1/a", "chk-1/a/b"):
        bench.require_files(storage, folder, [])


def many(bench: Bench) -> None:
    """More files than a store lists, or removes, at a time."""
    number = 1_050
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    bench.step(f"write {number} files")

    def written(each: int) -> FileReference:
        stream = streams.create(Scope.EXCLUSIVE, f"f{each}", b"token")
        stream.write(b"x")
        return stream.commit()

    with ThreadPoolExecutor(WRITERS_FAR if bench.location.far else 1) as writers:
        references = list(writers.map(written, range(number)))
    bench.require_files(storage, "chk-1", [each.path for each in references])
    bench.step("delete all of them but one, at once, and drop the rest")
    if left := list(storage.delete(references[1:], epoch)):
        raise Violation(bench.rule, f"{len(left)} of {number - 1} files could not be deleted.")
    bench.require_files(storage, "", [references[0].path])
    bench.require_files(bench.storage(), "", [references[0].path])
    storage.drop(1, epoch)
    bench.require_files(storage, "", [])
    bench.require_files(bench.storage(), "", [])


def room(bench: Bench) -> None:
    """Checkpoints come and go: what they need of the place stays the same, but for records of them."""
    size = bench.longest(MEBIBYTE)
    if size <= RECORDS_BYTES:
        raise CannotTry("its files are no longer than what may be noted of them")
    sizes = []
    for number in range(1, ROUNDS + 1):
        storage, epoch = bench.coordinator()
        streams = storage.streams(number, epoch)
        shared = bench.write(streams, "shared", bytes_of(size, number), Scope.SHARED, b"%d" % number)
        for name in ("a", "b"):
            bench.write(streams, name, bytes_of(size, number))
        storage.finish(number, epoch, bytes_of(size, number))
        bench.step(f"drop {number}, delete its shared file, and close")
        storage.drop(number, epoch)
        storage.delete([shared], epoch)
        storage.close()
        successor, _ = bench.coordinator()
        successor.close()
        sizes.append(sum(len(bench.location.read(name)) for name in bench.location.names()))
    if sizes[-1] - sizes[1] > size:  # A database takes its room with the first ones, and then uses it again.
        raise Violation(
            bench.rule, f"behind 1 to {ROUNDS} checkpoints, all of them dropped, so many bytes lie there: {sizes}."
        )


CHECKS = (
    Check("STO-03/dropped", "A dropped checkpoint takes its exclusive files along, and nothing else.", dropped),
    Check("STO-03/room", "What is dropped and deleted takes no room any more.", room),
    Check("STO-03/listed", "A folder is listed by whole segments, in order.", listed),
    Check("STO-03/many", "A folder of more than a thousand files is listed and dropped whole.", many),
    Check("STO-01/published", "A checkpoint is published once, and whole.", published),
    Check("STO-01/another-epoch", "A published checkpoint is not published again.", of_another_epoch),
    Check("STO-10/pointers", "A pointer is a folder or a metadata file; others are refused by name.", pointers),
    Check("RET-03/path-alone", "A new cluster needs the pointer alone.", by_path_alone, frozenset({OUTLIVES_PROCESS})),
    Check("SAV-01/moved", "What is moved as a whole is read where it then lies.", moved,
          frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
