"""STO-07, ASY-03: what one writes any other reads, byte for byte, in this process and in any other."""

from __future__ import annotations

from itertools import zip_longest

from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of, differs
from holdfast.suites.certify.outside.messages import Act, Outcome

SIZES = (
    0, 1, 63, 64, 4_095, 4_096, 4_097, 100_000, MEBIBYTE, MEBIBYTE + 1, 5 * MEBIBYTE, 5 * MEBIBYTE + 1, 11 * MEBIBYTE,
)  # fmt: skip
"""Around the sizes of buffers and of the parts of uploads."""


def round_trip(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    written = []
    for number, size in enumerate(sorted({bench.longest(size) for size in SIZES})):
        content = bytes_of(size, number)
        stream = storage.streams(7, epoch).create(Scope.SHARED, f"file-{size}", b"token")
        bench.step(f"write {size} bytes in pieces")
        for first in range(0, size, max(1, size // 3)):
            stream.write(content[first : first + max(1, size // 3)])
        written.append((bench.checked(stream.commit(), content), content))
    for reader in (storage, bench.storage()):
        for reference, content in written:
            bench.require_content(reader.streams(8, epoch), reference, content)


def small_pieces(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    for name, content in (
        ("zeros", b"\x00" * 300), ("zeros-behind", b"content\x00\x00"), ("lines", b"\r\n\n\r\x1a\n"), ("blank", b"  "),
        ("no-text", bytes(range(256))), ("repeated", (b"ab" * 5_000)[: bench.longest(10_000)]),
    ):  # fmt: skip
        written = bench.write(storage.streams(1, epoch), name, content)
        bench.require_content(bench.storage().streams(1, epoch), written, content)
    content = bytes_of(bench.longest(20_000))
    stream = storage.streams(1, epoch).create(Scope.EXCLUSIVE, "pieces", b"token")
    bench.step(f"write {len(content)} bytes in pieces of 0 to 60")
    at = 0
    for number in range(10_000):
        piece = content[at : at + number % 61]
        stream.write(piece)
        at += len(piece)
        if at >= len(content):
            break
    bench.require_content(storage.streams(1, epoch), bench.checked(stream.commit(), content), content)


def side_by_side(bench: Bench) -> None:
    """Several streams are open at a time, and written in turns."""
    storage, epoch = bench.coordinator()
    size = bench.longest(60_000)
    contents = [bytes_of(size, number) for number in range(3)]
    streams = [storage.streams(1, epoch).create(Scope.EXCLUSIVE, f"{number}", b"token") for number in range(3)]
    bench.step("write three files in turns")
    for first in range(0, size, 7_000):
        for stream, content in zip(streams, contents, strict=True):
            stream.write(content[first : first + 7_000])
    references = [stream.commit() for stream in reversed(streams)][::-1]
    for reference, content in zip(references, contents, strict=True):
        bench.require_content(storage.streams(1, epoch), bench.checked(reference, content), content)


def ranges(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    size = bench.longest(6 * MEBIBYTE)
    content = bytes_of(size)
    reference = bench.write(streams, "ranges", content)
    for offset, length in (
        (0, 0), (0, 1), (0, size), (0, None), (1, None), (size - 1, 1), (size - 1, None), (size, 0), (size, None),
        (size // 2, size // 2), (size // 3, size // 5), (min(4_095, size - 2), 2), (1, size - 2), (0, size - 1),
        *((3, 2**bits + over) for bits in (12, 16, 20) for over in (-1, 0, 1) if 2**bits + over < size - 3),
    ):  # fmt: skip
        bench.step(f"read {length} bytes from {offset} of {size}")
        read = b"".join(streams.read(reference, offset, length))
        right = content[offset:] if length is None else content[offset : offset + length]
        if read != right:
            raise Violation(
                bench.rule, f"read({offset}, {length}) gives {len(read)} bytes, and not those of the range."
            )
    for offset, length in ((-1, 1), (0, size + 1), (size, 1), (size + 1, None), (1, size), (0, -1)):
        bench.refuses(
            f"read {length} bytes from {offset} of {size}",
            ValueError,
            lambda offset=offset, length=length: list(streams.read(reference, offset, length)),
        )


def in_turns(bench: Bench) -> None:
    """Both halves of a file are read at a time, a piece of each in turn."""
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    half = bench.longest(6 * MEBIBYTE) // 2
    content = bytes_of(2 * half)
    reference = bench.write(streams, "halves", content)
    bench.step("read both halves in turns, piece by piece")
    pieces = zip_longest(streams.read(reference, 0, half), streams.read(reference, half, half), fillvalue=b"")
    for read, right in zip(map(b"".join, zip(*pieces, strict=True)), (content[:half], content[half:]), strict=True):
        if read != right:
            raise Violation(bench.rule, f"a range that was read in turns with another one {differs(read, right)}.")


def another_process(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    content = bytes_of(bench.longest(100_000))
    ours = bench.write(storage.streams(1, epoch), "ours", content, Scope.SHARED)
    pointer = storage.finish(1, epoch, b"ours")
    bench.step("another process reads what is here, and writes")
    victims = bench.victims
    report = victims.run([
        Act("read", checkpoint=1, epoch=epoch, reference=ours),
        Act("resolve", name=pointer),
        Act("write", checkpoint=2, epoch=epoch, scope="shared", name="theirs", content=content, piece_bytes=999),
        Act("finish", checkpoint=2, epoch=epoch, content=b"theirs"),
    ])  # fmt: skip
    read, resolved, written, finished = report.outcomes
    for what, outcome, right in (("read", read, content), ("resolve", resolved, b"ours")):
        if outcome.error or outcome.content != right:
            raise Violation(bench.rule, f"{what} in another process: {outcome.error or 'other content'} {outcome.text}")
    for what, outcome in (("write", written), ("finish", finished)):
        if outcome.error:
            raise Violation(bench.rule, f"{what} in another process raised {outcome.error}: {outcome.text}")
    assert written.reference is not None
    for reader in (storage, bench.storage()):
        bench.require_content(reader.streams(2, epoch), bench.checked(written.reference, content), content)
        bench.require_metadata(reader, finished.text, b"theirs")


def durable(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    storage.close()
    long = bytes_of(bench.longest(100_000))
    acts = [
        Act("write", checkpoint=1, epoch=epoch, name="first", content=bytes_of(300)),
        Act("write", checkpoint=1, epoch=epoch, name="second", content=long, scope="shared"),
        Act("finish", checkpoint=1, epoch=epoch, content=b"metadata"),
        Act("write", checkpoint=2, epoch=epoch, name="third", content=bytes_of(300)),
        Act("finish", checkpoint=2, epoch=epoch, content=b"metadata"),
    ]  # fmt: skip

    def there(act: Act, outcome: Outcome) -> None:
        reader = bench.storage()
        if outcome.reference is not None:
            reference = bench.checked(outcome.reference, act.content)
            bench.require_content(reader.streams(act.checkpoint, epoch), reference, act.content)
        else:
            bench.require_metadata(reader, outcome.text, act.content)

    bench.require_kept(acts, "the commit", there)


CHECKS = (
    Check("STO-07/round-trip", "Contents of all sizes are read as they were written.", round_trip),
    Check("STO-07/small-pieces", "Many small pieces become one file, and bytes of any kind stay.", small_pieces),
    Check("STO-07/side-by-side", "Files that are written in turns do not mix.", side_by_side),
    Check("STO-07/ranges", "A range is exactly that range.", ranges),
    Check("STO-07/in-turns", "Two reads that go on at a time do not mix.", in_turns),
    Check("STO-07/another-process", "What one process stores another reads.", another_process,
          frozenset({OUTLIVES_PROCESS})),
    Check("ASY-03/synchronised", "What is committed survives a loss of power.", durable, frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
