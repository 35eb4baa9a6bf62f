"""STO-01, STO-10, RET-03, SAV-01: a checkpoint is published once, and found by its pointer alone."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of
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


CHECKS = (
    Check("STO-01/published", "A checkpoint is published once, and whole.", published),
    Check("STO-01/another-epoch", "A published checkpoint is not published again.", of_another_epoch),
    Check("STO-10/pointers", "A pointer is a folder or a metadata file; others are refused by name.", pointers),
    Check("RET-03/path-alone", "A new cluster needs the pointer alone.", by_path_alone, frozenset({OUTLIVES_PROCESS})),
    Check("SAV-01/moved", "What is moved as a whole is read where it then lies.", moved,
          frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
