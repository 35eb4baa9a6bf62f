"""STO-01, STO-02, STO-07, ASY-03: a file appears once, whole, as it was written for everybody, or not at all."""

from __future__ import annotations

from gc import collect
from itertools import zip_longest
from pathlib import Path

from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of, differs, shortened
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


CONTENT = bytes_of(300)
LONG = bytes(range(256)) * 5
OPEN_FILES = Path("/proc/self/fd")
ROUNDS = 5
LONG_NAMES = ("n" * 100, "n" * 200, "n" * 199 + "m")
TWO_TOKENS = (
    (b"", b"\x00"), (b"a", b"a\x00"), (b"a", b"A"), (b"\xff", b"\xfe"), (LONG, LONG[:-1]), (LONG, LONG[:-1] + b"x"),
)  # fmt: skip


def invisible(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    for scope in Scope:
        bench.step(f"write {scope}, in pieces, and commit last")
        stream = streams.create(scope, "slow", b"token")
        for piece in (b"", CONTENT, bytes_of(bench.longest(6 * MEBIBYTE) - len(CONTENT))):
            stream.write(piece)
            for looker in (storage, bench.storage()):
                bench.require_files(looker, "", [])
        bench.hit("looked-before-the-commit")
        reference = stream.commit()
        bench.require_files(bench.storage(), "", [reference.path])
        bench.refuses("write behind commit", RuntimeError, stream.write, b"more")
        storage.delete([reference], epoch)


def exclusive(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    for scope in Scope:
        streams = storage.streams(1, epoch)
        first = bench.write(streams, "name", CONTENT, scope, b"first")
        for content, token in (
            (b"other", b"first"),
            (CONTENT[:-1] + b"x", b"first"),
            (CONTENT, b"second"),
            (b"", b"second"),
            (b"longer" + CONTENT, b"second"),
        ):
            other = bench.storage().streams(1, epoch).create(scope, "name", token)
            other.write(content)
            bench.refuses(f"commit {scope} 'name' again, token {token!r}", FileExistsError, other.commit)
            if token != b"first":  # Else it would take its own file away.
                other.cancel()
            bench.require_content(streams, first, CONTENT)
    bench.hit("taken")


def tokens(bench: Bench) -> None:
    """A token is any bytes, and all of it counts."""
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    for number, (mine, other) in enumerate(TWO_TOKENS):
        first = bench.write(streams, f"file-{number}", CONTENT, Scope.SHARED, mine)
        stream = streams.create(Scope.SHARED, f"file-{number}", other)
        stream.write(CONTENT)
        bench.refuses(f"commit with token {shortened(repr(other))}", FileExistsError, stream.commit)
        stream.cancel()
        again = bench.write(streams, f"file-{number}", CONTENT, Scope.SHARED, mine)
        if again != first:
            raise Violation(bench.rule, f"the retry with its token returned {again}; {first} is right.")
        bench.require_content(streams, first, CONTENT)


def cancelled(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    kept = bench.write(streams, "kept", CONTENT)
    before = bench.raw()
    for size in (0, 300, 6 * MEBIBYTE):
        if not bench.takes(size):
            continue
        for scope in Scope:
            stream = streams.create(scope, "given-up", b"token")
            stream.write(bytes_of(size))
            bench.step(f"cancel {scope} behind {size} bytes")
            stream.cancel()
            stream.cancel()
            bench.refuses("commit behind cancel", RuntimeError, stream.commit)
            bench.refuses("write behind cancel", RuntimeError, stream.write, b"more")
            bench.require_files(storage, "", [kept.path])
            bench.require_nothing_left(before, "a cancelled stream", "STO-02")
    bench.step("cancel behind a commit that returned")
    stream = streams.create(Scope.SHARED, "committed", b"token")
    stream.write(CONTENT)
    reference = stream.commit()
    stream.cancel()
    bench.require_content(streams, reference, CONTENT)
    bench.require_files(storage, "", [kept.path, reference.path])


def cancelled_beside(bench: Bench) -> None:
    """Whoever loses the name does not take away the winner's file."""
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    winner, loser, early = (streams.create(Scope.SHARED, "name", token) for token in (b"a", b"b", b"c"))
    for stream in (winner, loser, early):
        stream.write(CONTENT)
    reference = winner.commit()
    bench.refuses("commit of the second", FileExistsError, loser.commit)
    bench.step("the losers cancel")
    loser.cancel()
    early.cancel()
    bench.require_content(streams, reference, CONTENT)
    bench.require_files(storage, "shared", [reference.path])


def deleted(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    names = ("a", "ab", "b", "A", "a_", "a.", "-a")
    files = {name: bench.write(streams, name, CONTENT, Scope.SHARED) for name in names}
    kept = [files[name].path for name in names[1:]]
    own = bench.write(streams, "own", CONTENT)
    for reference in (*files.values(), own):
        bench.require_content(streams, reference, CONTENT)
    for attempt in ("delete", "delete again"):
        bench.step(f"{attempt} 'a' and 'own'")
        for left in (storage.delete([files["a"]], epoch), streams.delete([own])):
            if list(left):
                raise Violation(bench.rule, f"{attempt} returned {left}, though the file can be removed.")
        bench.require_files(storage, "", kept)
    for gone in (files["a"], own):
        bench.refuses("read what was deleted", FileNotFoundError, content_of, streams, gone)
    bench.require_content(streams, files["ab"], CONTENT)
    if list(storage.delete([], epoch)):
        raise Violation(bench.rule, "delete of nothing returned something.")
    bench.step("the name is free again, for the same writer and content, too")
    same = bench.write(streams, "a", CONTENT, Scope.SHARED)
    bench.require_content(streams, same, CONTENT)
    storage.delete([same], epoch)
    again = bench.write(streams, "a", b"other", Scope.SHARED, b"other")
    bench.require_content(streams, again, b"other")
    bench.step("delete 'a_', whose name some take for a pattern")
    storage.delete([files["a_"]], epoch)
    remaining = [again.path, *(path for path in kept if path != files["a_"].path)]
    bench.require_files(storage, "", remaining)
    bench.step("delete 'own', 'a_' and 'b', of which only 'b' is there")
    storage.delete([own, files["a_"], files["b"]], epoch)
    bench.require_files(storage, "", [path for path in remaining if path != files["b"].path])


def names(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    before = bench.raw()
    for name in ("", ".", "..", "a/b", "/a", "a b", "ä", "a\n", "../a", "a\x00"):
        bench.refuses(f"create {name!r}", ValueError, streams.create, Scope.SHARED, name, b"t")
    bench.require_nothing_left(before, "a name that was refused", "STO-02")
    written = {}
    for name in ("-", "...", "a..b", "_", "A", "a", "a.tmp", "a-1", "0", *LONG_NAMES, "chk-1", "shared"):
        for scope in Scope:
            written[scope, name] = bench.write(streams, name, name.encode(), scope)
    for (_, name), reference in written.items():
        bench.require_content(streams, reference, name.encode())
    if len({each.path for each in written.values()}) != len(written):
        raise Violation(bench.rule, "two files have one path.")


def closed(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    reference = bench.write(streams, "a", CONTENT)
    stream = streams.create(Scope.SHARED, "open", b"token")
    stream.write(CONTENT)
    pointer = storage.finish(1, epoch, b"metadata")
    storage.close()
    storage.close()
    for what, call in (
        ("claim", lambda: storage.claim(epoch)),
        ("create", lambda: storage.streams(2, epoch).create(Scope.SHARED, "late", b"t")),
        ("commit", stream.commit),
        ("finish", lambda: storage.finish(2, epoch, b"")),
        ("resolve", lambda: storage.resolve(pointer)),
        ("read", lambda: list(streams.read(reference))),
        ("drop", lambda: storage.drop(1, epoch)),
        ("delete", lambda: storage.delete([reference], epoch)),
        ("list_folder", lambda: list(storage.list_folder(""))),
    ):
        bench.refuses(f"{what} behind close", RuntimeError, call)
    storage.describe()
    other = bench.storage()
    bench.require_content(other.streams(1, epoch), reference, CONTENT)
    bench.require_metadata(other, pointer, b"metadata")


def freed(bench: Bench) -> None:
    """Storages are used and closed, one after the other: what each of them held open is closed."""
    bench.coordinator()
    if not OPEN_FILES.is_dir() or bench.location.far:
        raise CannotTry("nobody sees what it holds open")
    held = []
    for number in range(ROUNDS):
        storage, epoch = bench.coordinator()
        streams = storage.streams(1, epoch)
        reference = bench.write(streams, f"file-{number}", CONTENT)
        bench.require_content(streams, reference, CONTENT)
        storage.resolve(storage.finish(epoch, epoch, b"metadata"))
        streams.create(Scope.SHARED, "given-up", b"token").cancel()
        bench.step("close")
        storage.close()
        del storage, streams
        collect()
        held.append(len(list(OPEN_FILES.iterdir())))
    if held[-1] - held[0] >= ROUNDS - 1:
        raise Violation(bench.rule, f"behind {ROUNDS} storages, each closed, so many files are open: {held}.")


CHECKS = (
    Check("STO-01/invisible", "Nothing is visible before its commit.", invisible,
          windows=("looked-before-the-commit",)),
    Check("STO-02/exclusive", "A name is taken once.", exclusive, windows=("taken",)),
    Check("STO-02/tokens", "A token is any bytes, and all of it counts.", tokens),
    Check("STO-02/cancelled", "What is cancelled leaves nothing.", cancelled),
    Check("STO-02/losers", "Who loses a name takes nothing away.", cancelled_beside),
    Check("STO-02/deleted", "Deleting is idempotent, and removes nothing else.", deleted),
    Check("STO-02/names", "Names are one segment, and each leads to a file of its own.", names),
    Check("STO-02/freed", "A closed storage holds nothing open.", freed),
    Check("STO-02/closed", "A closed storage says so, and what it stored stays.", closed),
    Check("STO-07/round-trip", "Contents of all sizes are read as they were written.", round_trip),
    Check("STO-07/small-pieces", "Many small pieces become one file, and bytes of any kind stay.", small_pieces),
    Check("STO-07/side-by-side", "Files that are written in turns do not mix.", side_by_side),
    Check("STO-07/ranges", "A range is exactly that range.", ranges),
    Check("STO-07/in-turns", "Two reads that go on at a time do not mix.", in_turns),
    Check("STO-07/another-process", "What one process stores another reads.", another_process,
          frozenset({OUTLIVES_PROCESS})),
    Check("ASY-03/synchronised", "What is committed survives a loss of power.", durable, frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
