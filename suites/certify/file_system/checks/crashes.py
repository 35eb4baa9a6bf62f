"""STO-01, ASY-05: a process dies at any call that leaves Python; files are whole or not there, and the rest goes."""

from __future__ import annotations

from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.file_system.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of, differs
from holdfast.suites.certify.outside.messages import Act

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
)  # fmt: skip
