"""STO-09, CRD-11: answers are lost and requests fail; who tries again with its token succeeds, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import ENDPOINT, MEBIBYTE, bytes_of
from holdfast.suites.certify.outside.relay import WireFault

MOST_REQUESTS = 40
"""Of one program; further ones are not tried."""
Result = TypeVar("Result")


def retried(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    for size in (0, 300, 6 * MEBIBYTE):
        if not bench.takes(size):
            continue
        content = bytes_of(size)
        for scope in Scope:
            first = bench.write(storage.streams(1, epoch), f"file-{size}", content, scope, b"mine")
            bench.step("the answer is lost; the same token again, in one piece and in two, here and elsewhere")
            for other, cut in ((storage, size), (storage, size // 2), (bench.storage(), size // 3)):
                stream = other.streams(1, epoch).create(scope, f"file-{size}", b"mine")
                stream.write(content[:cut])
                stream.write(content[cut:])
                again = stream.commit()
                if again != first:
                    raise Violation(bench.rule, f"the retry returned {again}; {first} is right, as before.")
                if stream.commit() != first:
                    raise Violation(bench.rule, "commit called again returned another reference.")
                stream.cancel()
                bench.require_content(other.streams(1, epoch), first, content)


def given_up(bench: Bench) -> None:
    """The answer to a commit is lost, and whoever tried gives up: its file goes, and nobody else's."""
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    for scope in Scope:
        kept = bench.write(streams, "of-another", b"content", scope, b"another")
        lost = bench.write(streams, "mine", b"content", scope, b"mine")
        for name, token in (("mine", b"mine"), ("of-another", b"mine"), ("mine", b"mine")):
            bench.step(f"cancel a stream of {name!r}, token {token!r}")
            stream = streams.create(scope, name, token)
            stream.write(b"content")
            stream.cancel()
        bench.require_files(storage, kept.path.partition("/")[0], [kept.path])
        bench.require_content(streams, kept, b"content")
        bench.refuses("read what was given up", FileNotFoundError, content_of, streams, lost)
        storage.delete([kept], epoch)


def unknown_outcome(bench: Bench) -> None:
    """CRD-11: the answer to `finish` is lost. The checkpoint is there, with its files, and the call again succeeds."""
    storage, epoch = bench.coordinator()
    for checkpoint in (1, 2):
        reference = bench.write(storage.streams(checkpoint, epoch), "state", b"state")
        pointer = storage.finish(checkpoint, epoch, b"metadata")
        bench.step("the answer is lost")
        finder = bench.storage()
        bench.require_metadata(finder, f"chk-{checkpoint}", b"metadata")
        if finder.finish(checkpoint, epoch, b"metadata") != pointer:
            raise Violation(bench.rule, f"finish({checkpoint}) again returned another pointer.")
        bench.refuses(
            f"finish({checkpoint}) with other metadata",
            FileExistsError,
            finder.finish,
            checkpoint,
            epoch,
            b"other",
        )
        bench.require_content(finder.streams(checkpoint, epoch), reference, b"state")
        bench.require_metadata(storage, pointer, b"metadata")


def requests(bench: Bench) -> None:
    """Each request of a program is refused, cut, or answered to nobody."""
    relay = bench.relay
    options = {ENDPOINT: relay.url}
    small, large = bytes_of(300), bytes_of(bench.longest(6 * MEBIBYTE))
    checkpoint = 0
    for fault in WireFault:
        for number in range(MOST_REQUESTS):
            relay.disarm()
            storage, epoch = bench.storage(options=options), bench.next_epoch()
            checkpoint += 1
            bench.step(f"{fault} at request {number} of a program")
            relay.arm(number, fault)
            _persistently(bench, storage.claim, epoch)
            for name, content in (("small", small), ("large", large))[: 2 if number % 4 == 0 else 1]:
                reference = _persistently(bench, _write, storage, checkpoint, epoch, name, content)
                bench.checked(reference, content)
                bench.require_content(bench.storage().streams(checkpoint, epoch), reference, content)
            _persistently(bench, storage.finish, checkpoint, epoch, b"metadata")
            bench.require_metadata(bench.storage(), f"chk-{checkpoint}", b"metadata")
            _persistently(bench, storage.drop, checkpoint, epoch)
            bench.require_files(bench.storage(), "", [])
            storage.close()
            if not relay.struck:
                break
            bench.hit(f"request-{fault}")
    storage, _ = bench.coordinator()
    if bench.location.uploads():
        raise Violation("ASY-05", f"{bench.location.uploads()} uploads are left open behind a claim.")


def _write(storage: CheckpointStorage, checkpoint: int, epoch: int, name: str, content: bytes) -> FileReference:
    stream = storage.streams(checkpoint, epoch).create(Scope.EXCLUSIVE, name, b"token")
    half = len(content) // 2
    stream.write(content[:half])
    stream.write(content[half:])
    return stream.commit()


def _persistently(bench: Bench, call: Callable[..., Result], *arguments: object) -> Result:
    """What a call returns that is repeated once behind Transient."""
    try:
        return call(*arguments)
    except Transient:
        bench.hit("tried-again")
        return call(*arguments)


CHECKS = (
    Check("STO-09/retried", "A retry with its token takes up its own file.", retried),
    Check("STO-02/given-up", "Who gives up behind a lost answer takes its own file away.", given_up),
    Check("CRD-11/unknown-outcome", "A checkpoint whose answer was lost is found, with its files.", unknown_outcome),
    Check("STO-09/requests", "Any one request may fail: the same call again succeeds.", requests,
          windows=("tried-again", *(f"request-{fault}" for fault in WireFault))),
)  # fmt: skip
