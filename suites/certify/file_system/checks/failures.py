"""STO-01, STO-02, STO-09, ASY-05, SBK-07: processes die, requests and calls fail, files are too long.

After a call that failed, the file system may raise what it likes. What it returns is true, and what it could not do can
be done again.
"""

from __future__ import annotations

from contextlib import suppress

from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.file_system import FileSystem, Upload
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.file_system.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import ENDPOINT, MEBIBYTE, OUTLIVES_PROCESS, bytes_of, differs
from holdfast.suites.certify.outside.failing import again, each_point, failed
from holdfast.suites.certify.outside.messages import Act
from holdfast.suites.certify.outside.relay import WireFault

MOST_REQUESTS = 30
"""Of one program; further ones are not tried."""
LONGEST_TRIED = 64 * MEBIBYTE


def requests(bench: Bench) -> None:
    """Each request of a program is refused, cut, or answered to nobody; whoever asked asks once more."""
    relay = bench.relay
    for fault in WireFault:
        for number in range(MOST_REQUESTS):
            relay.disarm()
            files = bench.files(options={ENDPOINT: relay.url})
            path = f"{fault}/{number}"
            bench.step(f"{fault} at request {number} of a program")
            relay.arm(number, fault)
            for size in (300, bench.longest(6 * MEBIBYTE))[: 2 if number % 4 == 0 else 1]:
                content = bytes_of(size, number)
                bench.persistently(_publish, files, f"{path}/{size}", content)
                if (found := bench.persistently(content_of, files, f"{path}/{size}")) != content:
                    raise Violation(bench.rule, f"{len(found)} bytes of {size} are read.")
                bench.require_content(bench.files(), f"{path}/{size}", content)
            listed = list(bench.persistently(files.paths, path))
            if listed != list(bench.files().paths(path)) or not listed:
                raise Violation(bench.rule, f"paths({path!r}) shows {listed}, through the relay alone.")
            if left := bench.persistently(files.remove, listed):
                raise Violation(bench.rule, f"{list(left)} could not be removed.")
            bench.require_paths(bench.files(), "", [])
            bench.persistently(files.abandon_uploads)
            files.close()
            if not relay.struck:
                break
            bench.hit(f"request-{fault}")
    bench.files().abandon_uploads()
    if bench.location.uploads():
        raise Violation("ASY-05", f"{bench.location.uploads()} uploads are left open.")


def _publish(files: FileSystem, path: str, content: bytes) -> None:
    """Publish, and behind Transient once more; begin anew where that was in a write."""
    upload = files.begin(path)
    try:
        upload.write(content)
    except OSError:
        with suppress(OSError):
            upload.abandon()
        raise
    try:
        upload.publish()
    except Transient:
        with suppress(FileExistsError):  # It is this very file: whoever reads it finds out.
            upload.publish()


def longest(bench: Bench) -> None:
    limit = bench.description.max_file_bytes
    if limit is None or limit > LONGEST_TRIED:
        raise CannotTry("it has no limit, or one that is too large to be tried")
    files = bench.files()
    bench.publish(files, "longest", bytes_of(limit), pieces=3)
    bench.require_content(files, "longest", bytes_of(limit))
    bench.refuses("write a byte more than max_file_bytes", Full, _publish, files, "longer", bytes_of(limit + 1))
    bench.require_paths(files, "", ["longest"])


CONTENT = bytes_of(300)


def published(bench: Bench) -> None:
    """A file whose publication raised is whole, or not there; the same call again does no harm to it."""
    files = bench.files()
    for number, failing in each_point(bench):
        path = f"a/{number}"
        upload = bench.begin(files, path, CONTENT)

        def publish(upload: Upload = upload) -> bool:
            upload.publish()
            return True

        done = failed(bench, failing, "publish", publish)
        if done:
            bench.require_content(bench.files(), path, CONTENT)
        bench.step("publish again")
        with suppress(Transient, FileExistsError):
            upload.publish()
        there = path in bench.files().paths("a")
        bench.step("abandon")
        again(upload.abandon)
        if there:
            bench.require_content(bench.files(), path, CONTENT)
        else:
            bench.require_absent(files, path)
        again(files.remove, [path])


def removed(bench: Bench) -> None:
    """What is neither named nor raised for is gone; what is, can be removed again."""
    files = bench.files()
    for number, failing in each_point(bench):
        paths = [f"{number}-{each}" for each in "ab"]
        for path in paths:
            bench.publish(files, path, CONTENT)
        left = failed(bench, failing, "remove", files.remove, paths)
        there = set(files.paths(""))
        if silent := [path for path in paths if left is not None and path not in left and path in there]:
            raise Violation(bench.rule, f"remove() did not name {silent[0]!r}, which is still there.")
        bench.step("remove again")
        again(files.remove, paths)
        bench.require_paths(bench.files(), "", [])


MOST_POINTS = 80
"""Of more, evenly spread ones are taken."""
CONTENT_BYTES = 9_000
"""Of a file, where so many are within the limit."""
PIECES = 5


def publishing(bench: Bench) -> None:
    victims, content = bench.victims, _content(bench)
    width = max(1, victims.run([_act("probe", content)]).points // bench.most(MOST_POINTS))
    number, where = 0, "somewhere"
    while where:
        path = f"a/b-{number}/c"
        where = victims.kill([_act(path, content)], number)
        bench.step(f"a process dies {where or 'nowhere'}")
        files = bench.files()
        there = _is_whole(bench, path, content)
        if there != (path in files.paths("")):
            raise Violation(bench.rule, f"{path!r} can{'' if there else 'not'} be read, and its listing differs.")
        if where:
            bench.hit("died")
        elif not there:
            raise Violation(bench.rule, f"{path!r} was published, and is not there.")
        if not there:
            bench.publish(files, path, content)
            bench.require_content(bench.files(), path, content)
        number += width


def _content(bench: Bench) -> bytes:
    return bytes_of(bench.longest(CONTENT_BYTES))


def _act(path: str, content: bytes) -> Act:
    return Act("publish", name=path, content=content, piece_bytes=-(-len(content) // PIECES))


def _is_whole(bench: Bench, path: str, content: bytes) -> bool:
    try:
        found = content_of(bench.files(), path)
    except FileNotFoundError:
        return False
    if found != content:
        raise Violation(bench.rule, f"{path!r} is there, and {differs(found, content)}.")
    return True


def removing(bench: Bench) -> None:
    """While files are removed: each is whole, or gone."""
    victims, files, content = bench.victims, bench.files(), _content(bench)
    paths = ["a", "b/c", "b/d", "e"]
    number, where = 0, "somewhere"
    while where:
        for path in paths:
            bench.publish(files, path, content)
        where = victims.kill([Act("remove", name=" ".join(paths[:-1]))], number)
        bench.step(f"a process dies {where or 'nowhere'} while it removes {paths[:-1]}")
        there = [path for path in paths if _is_whole(bench, path, content)]
        bench.require_paths(bench.files(), "", there)
        if "e" not in there:
            raise Violation(bench.rule, "'e' is gone, and nobody removed it.")
        bench.require_removed(files, paths)
        bench.require_paths(bench.files(), "", [])
        if where:
            bench.hit("died")
        number += 1


def leaks(bench: Bench) -> None:
    """Processes die in the middle of a file, again and again: of that nothing is left."""
    victims, files = bench.victims, bench.files()
    content = bytes_of(bench.longest(6 * MEBIBYTE))
    bench.publish(files, "kept", b"content")
    files.abandon_uploads()
    before = bench.raw()
    points = victims.run([Act("publish", name="probe", content=content, piece_bytes=MEBIBYTE)]).points
    bench.require_removed(files, ["probe"])
    for share in range(1, 9):
        path = f"leak-{share}"
        act = Act("publish", name=path, content=content, piece_bytes=MEBIBYTE)
        where = victims.kill([act], points * share // 9)
        bench.step(f"a process dies {where} in the middle of a file")
        bench.hit("died")
    cleaner = bench.files()
    bench.step("abandon_uploads()")
    cleaner.abandon_uploads()
    bench.require_removed(cleaner, [path for path in cleaner.paths("") if path != "kept"])
    bench.require_nothing_left(before, "abandon_uploads()", bench.rule)
    bench.require_content(cleaner, "kept", b"content")


CHECKS = (
    Check("STO-01/publishing", "Who dies while it publishes leaves a whole file, or none.", publishing,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("STO-01/removing", "Who dies while it removes leaves whole files.", removing,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("ASY-05/leaks", "What processes that died have left is removed.", leaks,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("STO-09/requests", "Any one request may fail: who tries again succeeds.", requests,
          windows=("tried-again", *(f"request-{fault}" for fault in WireFault))),
    Check("SBK-07/longest", "The longest file that is declared fits, and one byte more does not.", longest),
    Check("STO-02/failed-publish", "A publication that failed anywhere leaves a whole file, or none.", published),
    Check("STO-02/failed-remove", "What could not be removed is named.", removed),
)  # fmt: skip
