"""STO-01, STO-02: a file appears once, whole, or not at all; what is given up leaves nothing."""

from __future__ import annotations

from gc import collect
from pathlib import Path

from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import MEBIBYTE, bytes_of, shortened

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
)  # fmt: skip
