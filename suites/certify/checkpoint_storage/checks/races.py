"""STO-08: threads and coordinators at the same instant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import EXCLUSIVE, OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.interleaving import MOST_LINES, Lines, at_once
from holdfast.suites.certify.outside.messages import Act

MOST_STOPS = 40
"""Points at which a writer stands still; of more, evenly spread ones are taken."""
WRITERS = 6
ROUNDS = 8


def one_name(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    writers = [bench.storage() for _ in range(WRITERS // 2)] + [storage] * (WRITERS - WRITERS // 2)
    for number in range(ROUNDS):
        name = f"name-{number}"
        streams = []
        for each, writer in enumerate(writers):
            stream = writer.streams(1, epoch).create(Scope.SHARED, name, b"%d" % each)
            stream.write(bytes_of(300, each))
            streams.append(stream)
        bench.step(f"{WRITERS} writers commit {name} at once")
        came_of_it = at_once([stream.commit for stream in streams])
        _require_one(bench, came_of_it)
        [winner] = [each for each, outcome in enumerate(came_of_it) if not isinstance(outcome, Exception)]
        reference = bench.checked(came_of_it[winner], bytes_of(300, winner))  # type: ignore[arg-type]
        for stream in streams:
            stream.cancel()
        bench.require_content(bench.storage().streams(1, epoch), reference, bytes_of(300, winner))
    bench.hit("raced")


def one_checkpoint(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    writers = [bench.storage() for _ in range(WRITERS // 2)] + [storage] * (WRITERS - WRITERS // 2)
    for checkpoint in range(1, ROUNDS + 1):
        bench.step(f"{WRITERS} calls of finish({checkpoint}) at once, each with other metadata")
        came_of_it = at_once([
            partial(writer.finish, checkpoint, epoch, b"metadata %d" % each)
            for each, writer in enumerate(writers)
        ])  # fmt: skip
        _require_one(bench, came_of_it)
        [winner] = [each for each, outcome in enumerate(came_of_it) if not isinstance(outcome, Exception)]
        bench.require_metadata(bench.storage(), f"chk-{checkpoint}", b"metadata %d" % winner)
        bench.step(f"{WRITERS} calls of finish({checkpoint}) at once, each with that metadata")
        again = at_once([
            partial(writer.finish, checkpoint, epoch, b"metadata %d" % winner) for writer in writers
        ])  # fmt: skip
        if any(outcome != came_of_it[winner] for outcome in again):
            raise Violation(bench.rule, f"finish repeated at once gave {again}.")
    bench.hit("raced")


def overtaken_here(bench: Bench) -> None:
    """A thread stands still at any line of a commit or a finish, and another one takes the name meanwhile."""
    if OUTLIVES_PROCESS in bench.flags:
        raise CannotTry("other processes overtake it")
    (storage, epoch), other, lines = bench.coordinator(), bench.storage(), Lines()
    for number in islice(bench.turns(), MOST_LINES):
        streams = [each.streams(1, epoch).create(Scope.SHARED, f"{number}", b"%d" % salt)
                   for salt, each in enumerate((storage, other))]  # fmt: skip
        for salt, stream in enumerate(streams):
            stream.write(bytes_of(300, salt))
        came_of_it = lines.stand_still(number, streams[0].commit, streams[1].commit)
        if came_of_it is None:
            break
        bench.step(f"a thread stands still at line {number} of a commit; another one commits the same name")
        bench.hit("stood-still")
        _require_one(bench, came_of_it)
        [winner] = [each for each, outcome in enumerate(came_of_it) if not isinstance(outcome, Exception)]
        reference = bench.checked(came_of_it[winner], bytes_of(300, winner))  # type: ignore[arg-type]
        bench.require_content(bench.storage().streams(1, epoch), reference, bytes_of(300, winner))
    for number in islice(bench.turns(), MOST_LINES):
        calls = [partial(each.finish, number + 1, epoch, b"%d" % salt) for salt, each in enumerate((storage, other))]
        came_of_it = lines.stand_still(number, *calls)
        if came_of_it is None:
            break
        bench.step(f"a thread stands still at line {number} of finish({number + 1}); another one finishes it")
        _require_one(bench, came_of_it)
        [winner] = [each for each, outcome in enumerate(came_of_it) if not isinstance(outcome, Exception)]
        bench.require_metadata(bench.storage(), f"chk-{number + 1}", b"%d" % winner)


def _require_one(bench: Bench, came_of_it: Sequence[object]) -> None:
    lost = [each for each in came_of_it if isinstance(each, Exception)]
    if others := [each for each in lost if not isinstance(each, FileExistsError)]:
        raise Violation(bench.rule, f"the loser got {others[0]!r}; FileExistsError is right.")
    if len(lost) != len(came_of_it) - 1:
        raise Violation(bench.rule, f"{len(came_of_it) - len(lost)} of {len(came_of_it)} writers won; one is right.")


def overtaken(bench: Bench) -> None:
    """A writer stands still anywhere in a commit or a finish, and another one takes the name meanwhile."""
    victims = bench.victims
    storage, epoch = bench.coordinator()
    number, width, theirs = 0, 0, bytes_of(300, 1)
    while True:
        checkpoint = number + 1
        acts = [
            Act("write", checkpoint=checkpoint, epoch=epoch, name="name", content=theirs, token=b"theirs"),
            Act("finish", checkpoint=checkpoint, epoch=epoch, content=b"theirs"),
        ]
        if not width:
            width = max(1, victims.run(acts).points // bench.most(MOST_STOPS))
            storage.drop(checkpoint, epoch)
        stopped = victims.stop(acts, number)
        if stopped is None:
            break
        bench.step(f"a writer stands still {stopped.where}; another one takes its names, if they are free")
        (file, pointer), report = bench.beside(stopped, partial(_take_both, storage, checkpoint, epoch))
        bench.step("it goes on")
        written, finished = (report or stopped.go_on()).outcomes
        bench.hit("stood-still")
        for what, mine, their in (("commit", file, written), ("finish", pointer, finished)):
            if their.error == "Transient":  # What came of it is not known to its writer; here it is seen.
                continue
            if isinstance(mine, Exception) == bool(their.error):
                raise Violation(bench.rule, f"{what}: one got {mine!r}, the other {their.error or their}; one wins.")
            if "FileExistsError" not in (type(mine).__name__, their.error):
                raise Violation(bench.rule, f"{what}: the loser got {mine!r} or {their.error}.")
        if isinstance(file, FileReference):
            bench.require_content(storage.streams(1, epoch), file, bytes_of(300, 2))
        elif written.reference is not None:
            bench.require_content(storage.streams(1, epoch), written.reference, theirs)
        bench.require_metadata(storage, f"chk-{checkpoint}", b"theirs" if isinstance(pointer, Exception) else b"ours")
        number += width


def _take_both(storage: CheckpointStorage, checkpoint: int, epoch: int) -> tuple[object, object]:
    """What came of a file and of a checkpoint of ours."""
    ours = storage.streams(checkpoint, epoch).create(Scope.EXCLUSIVE, "name", b"ours")
    ours.write(bytes_of(300, 2))
    came_of_it: list[object] = []
    for call in (ours.commit, partial(storage.finish, checkpoint, epoch, b"ours")):
        try:
            came_of_it.append(call())
        except FileExistsError as error:
            came_of_it.append(error)
    return came_of_it[0], came_of_it[1]


def one_storage(bench: Bench) -> None:
    """Task threads, upload threads and the coordinator share one object."""
    storage, epoch = bench.coordinator()
    content, size = bytes_of(bench.longest(20_000)), bench.longest(5_000)
    kept = bench.write(storage.streams(1, epoch), "kept", content, Scope.SHARED)

    def work(number: int) -> Callable[[], object]:
        def run() -> object:
            streams = storage.streams(number, epoch)
            for each in range(5):
                own = bytes_of(size, number * 10 + each)
                stream = streams.create(Scope.EXCLUSIVE, f"{each}", b"token")
                for first in range(0, size, -(-size // 4)):
                    stream.write(own[first : first - (-size // 4)])
                reference = stream.commit()
                if b"".join(streams.read(reference)) != own:
                    return f"chk-{number}/{each} is not what was written"
                if b"".join(streams.read(kept, 7, 9)) != content[7:16]:
                    return "a file that all of them read is not what was written"
                list(storage.list_folder(f"chk-{number}"))
            pointer = storage.finish(number, epoch, b"%d" % number)
            if storage.resolve(pointer) != b"%d" % number:
                return f"chk-{number} is not what was published"
            if number % 2:
                storage.drop(number, epoch)
            return None

        return run

    bench.step(f"{WRITERS} threads write, read, list, publish and drop on one storage")
    for outcome in at_once([work(number) for number in range(1, WRITERS + 1)]):
        if isinstance(outcome, Exception):
            raise Violation(bench.rule, f"a thread met {outcome!r}.")
        if outcome is not None:
            raise Violation(bench.rule, f"{outcome}.")
    for number in range(1, WRITERS + 1):
        names = [] if number % 2 else ["_metadata", *map(str, range(5))]
        found = [path.rpartition("/")[2] for path in storage.list_folder(f"chk-{number}")]
        if len(found) != len(names):
            raise Violation(bench.rule, f"chk-{number} holds {found}; {names} is right.")
    bench.hit("raced")


CHECKS = (
    Check("STO-02/overtaken", "Who stands still in a commit does not replace what came meanwhile.", overtaken,
          frozenset({OUTLIVES_PROCESS, EXCLUSIVE}), ("stood-still",)),
    Check("STO-02/overtaken-here", "So it is where both are threads of one process.", overtaken_here,
          frozenset({EXCLUSIVE}), ("stood-still",)),
    Check("STO-08/one-name", "Of writers of one name at the same instant one wins.", one_name,
          frozenset({EXCLUSIVE}), ("raced",)),
    Check("STO-08/one-checkpoint", "Of calls that publish one checkpoint at the same instant one wins.",
          one_checkpoint, frozenset({EXCLUSIVE}), ("raced",)),
    Check("STO-08/one-storage", "Threads share one storage.", one_storage, windows=("raced",)),
)  # fmt: skip
