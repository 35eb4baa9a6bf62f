"""STO-02, STO-08: several at the same instant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from holdfast.harness.spi.file_system import FileSystem
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.file_system.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import EXCLUSIVE, OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.interleaving import MOST_LINES, Lines, at_once
from holdfast.suites.certify.outside.messages import Act

MOST_STOPS = 40
"""Points at which a writer stands still; of more, evenly spread ones are taken."""
WRITERS = 6
ROUNDS = 10


def one_path(bench: Bench) -> None:
    first = bench.files()
    every = [first, *(bench.files() for _ in range(WRITERS // 2))]
    for number in range(ROUNDS):
        path = f"{number % 3}/path-{number}"
        uploads = [
            bench.begin(every[each % len(every)], path, bytes_of(300, each)) for each in range(WRITERS)
        ]  # fmt: skip
        bench.step(f"{WRITERS} writers publish {path!r} at once")
        came_of_it = at_once([upload.publish for upload in uploads])
        for upload in uploads:
            upload.abandon()
        _require_content_of_one(bench, path, came_of_it)
    bench.hit("raced")


def overtaken(bench: Bench) -> None:
    """A writer stands still anywhere, and another one takes its path meanwhile."""
    files, victims = bench.files(), bench.victims
    ours, theirs = bytes_of(300, 2), bytes_of(300, 1)
    width = max(1, victims.run([_theirs("probe", theirs)]).points // bench.most(MOST_STOPS))
    number = 0
    while (stopped := victims.stop([_theirs(path := f"a/{number}", theirs)], number)) is not None:
        bench.step(f"a writer stands still {stopped.where}; another one takes its path, if it is free")
        mine, report = bench.beside(stopped, partial(_taken, files, path, ours))
        bench.step("it goes on")
        [their] = (report or stopped.go_on()).outcomes
        bench.hit("stood-still")
        if their.error != "Transient":  # What came of it is not known to its writer; here it is seen.
            if mine == (not their.error):
                raise Violation(bench.rule, f"we {'won' if mine else 'lost'}, and it met {their.error or 'nothing'}.")
            if their.error not in ("", "FileExistsError"):
                raise Violation(bench.rule, f"the loser got {their.error}; FileExistsError is right.")
        bench.require_content(files, path, ours if mine else theirs)
        number += width


def overtaken_here(bench: Bench) -> None:
    """A thread stands still at any line of a publication, and another one takes its path meanwhile."""
    if OUTLIVES_PROCESS in bench.flags:
        raise CannotTry("other processes overtake it")
    lines, every = Lines(), (bench.files(), bench.files())
    for number in range(MOST_LINES):
        path = f"a/{number}"
        uploads = [bench.begin(files, path, bytes_of(300, salt)) for salt, files in enumerate(every)]
        came_of_it = lines.stand_still(number, uploads[0].publish, uploads[1].publish)
        if came_of_it is None:
            break
        bench.step(f"a thread stands still at line {number} of a publication; another one publishes {path!r}")
        bench.hit("stood-still")
        _require_content_of_one(bench, path, came_of_it)


def _require_content_of_one(bench: Bench, path: str, came_of_it: Sequence[object]) -> None:
    """One of several publications at once won, which wrote `bytes_of(300, its number)`."""
    won = [each for each, outcome in enumerate(came_of_it) if outcome is None]
    if others := [each for each in came_of_it if each is not None and not isinstance(each, FileExistsError)]:
        raise Violation(bench.rule, f"the loser got {others[0]!r}; FileExistsError is right.")
    if len(won) != 1:
        raise Violation(bench.rule, f"{len(won)} of {len(came_of_it)} writers won; one is right.")
    bench.require_content(bench.files(), path, bytes_of(300, won[0]))


def _theirs(path: str, content: bytes) -> Act:
    return Act("publish", name=path, content=content)


def _taken(files: FileSystem, path: str, content: bytes) -> bool:
    """Whether a path was free."""
    upload = files.begin(path)
    upload.write(content)
    try:
        upload.publish()
    except FileExistsError:
        return False
    finally:
        upload.abandon()
    return True


def threads(bench: Bench) -> None:
    files, kept, size = bench.files(), bytes_of(bench.longest(20_000)), bench.longest(5_000)
    bench.publish(files, "kept", kept)

    def work(number: int) -> Callable[[], object]:
        def run() -> object:
            for each in range(5):
                path, content = f"{number}/{each}", bytes_of(size, number * 10 + each)
                upload = files.begin(path)
                for first in range(0, size, -(-size // 4)):
                    upload.write(content[first : first - (-size // 4)])
                upload.publish()
                if content_of(files, path) != content or b"".join(files.read("kept", 7, 16)) != kept[7:16]:
                    return f"{path} or a file that all of them read is not what was written"
                if list(files.paths(f"{number}")) != [f"{number}/{done}" for done in range(each + 1)]:
                    return f"the folder {number} has {list(files.paths(f'{number}'))}"
            return list(files.remove([f"{number}/{each}" for each in range(number)])) or None

        return run

    bench.step(f"{WRITERS} threads write, read, list and remove on one file system")
    for outcome in at_once([work(number) for number in range(WRITERS)]):
        if outcome is not None:
            raise Violation(bench.rule, f"a thread met {outcome!r}.")
    left = [f"{number}/{each}" for number in range(WRITERS) for each in range(number, 5)]
    bench.require_paths(bench.files(), "", ["kept", *left])
    _in_turn(bench, files)
    bench.hit("raced")


def _in_turn(bench: Bench, files: FileSystem) -> None:
    """A thread stands still at any line of writing a file; another one writes another file meanwhile."""
    lines = Lines()
    for number in range(MOST_LINES):
        contents = {f"turn/{number}/{which}": bytes_of(300, which) for which in (1, 2)}
        first, second = (partial(bench.publish, files, path, content) for path, content in contents.items())
        came_of_it = lines.stand_still(number, first, second)
        if came_of_it is None:
            break
        bench.step(f"a thread stands still at line {number} of writing a file; another one writes another file")
        for (path, content), outcome in zip(contents.items(), came_of_it, strict=True):
            if outcome is not None:
                raise Violation(bench.rule, f"who wrote {path!r} met {outcome!r}.")
            bench.require_content(files, path, content)


CHECKS = (
    Check("STO-02/overtaken", "Who stands still in a publication does not replace what came meanwhile.", overtaken,
          frozenset({OUTLIVES_PROCESS, EXCLUSIVE}), ("stood-still",)),
    Check("STO-02/overtaken-here", "So it is where both are threads of one process.", overtaken_here,
          frozenset({EXCLUSIVE}), ("stood-still",)),
    Check("STO-08/one-path", "Of writers of one path at the same instant one wins.", one_path,
          frozenset({EXCLUSIVE}), ("raced",)),
    Check("STO-08/threads", "Threads share one file system.", threads, windows=("raced",)),
)  # fmt: skip
