"""LOC: with a local copy, with a part of one, or without one, a restore holds the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from shutil import rmtree

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.state import Flag
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.live import change_everything, fill


def on_and_off(bench: Bench) -> None:
    """Folders are kept, are not, and are kept again; last, they hold what an aborted checkpoint left."""
    live = bench.fresh()
    fill(live)
    for number, kept in enumerate((True, False, True)):
        bench.keeps_folders = kept
        change_everything(live)
        fill(live, b"%d" % number)
        taken = live.snapshot()
        completed = bench.complete(live, taken, bench.upload(taken))
        taken.snapshot.release()
        change_everything(live)
        bench.step("folders are kept" if kept else "folders are empty")
        live = bench.restored(completed)
        live.compare()
        bench.hit("a-kept-folder" if kept and bench.folder_bytes() else "an-empty-folder")
    later = live.snapshot()
    bench.abort(live, later, bench.upload(later))
    bench.step("the process ends behind a checkpoint that was aborted")
    bench.restored(completed).compare(drain_timers=True)


def full_disk(bench: Bench) -> None:
    """Local files end at a half of what the storage was given, or have no byte at all: every write beyond fails. The
    storage takes everything."""
    live = bench.fresh()
    fill(live)
    bench.checkpoint(live)
    stored_bytes = bench.stored_bytes("")
    if bench.folder_bytes():
        bench.hit("a-local-copy")
    for longest in (stored_bytes // 2, 0):
        change_everything(live)
        fill(live, b"%d" % longest)
        taken = live.snapshot()
        bench.step(f"local files end at {longest} bytes")
        try:
            with _ending_at(longest):
                manifest = bench.upload(taken)
        except (OSError, Transient) as error:
            if Flag.SPILLS in bench.flags:
                raise CannotTry(
                    f"it declares spills, and its state itself is on the disk that is full: {error}"
                ) from None
            raise Violation(
                "LOC-02",
                f"local files end at {longest} bytes, the storage is whole, and upload raised {error!r}: "
                "a local copy decides no checkpoint.",
            ) from error
        completed = bench.complete(live, taken, manifest)
        taken.snapshot.release()
        live = bench.restored(completed)
        live.rule = "LOC-03"
        live.compare()


def no_folder(bench: Bench) -> None:
    """While a snapshot is stored, a file stands in place of the folder, or of each folder in it, or nothing does: no
    copy can be written, before the first one and behind others."""
    for before in (0, 2):
        for barred in ("the folder", "each folder in it", "nothing is there"):
            live = bench.fresh()
            for number in range(before):
                fill(live, b"%d" % number)
                bench.checkpoint(live)
            fill(live, b"then")
            taken = live.snapshot()
            bench.step(f"a file stands in place of {barred}" if "folder" in barred else "the folder is gone")
            try:
                with _barred(bench.folder(), barred):
                    manifest = bench.upload(taken)
            except (OSError, Transient) as error:
                if Flag.SPILLS in bench.flags:
                    raise CannotTry(f"it declares spills, and its state itself is in the folder: {error}") from None
                raise Violation(
                    "LOC-02",
                    f"no local file can be written, the storage is whole, and upload raised {error!r}: a local copy "
                    "decides no checkpoint.",
                ) from error
            bench.hit("no-folder")
            completed = bench.complete(live, taken, manifest)
            taken.snapshot.release()
            bench.restored(completed).compare()


def numbers_again(bench: Bench) -> None:
    """A dead attempt has kept a copy, the number of its checkpoint comes again, and of this one no copy can be kept."""
    live = bench.fresh()
    fill(live)
    completed = bench.checkpoint(live)
    fill(live, b"dead")
    dead = live.snapshot()
    bench.upload(dead)
    bench.step("the process ends before that completes, and its number comes again; the folder is away meanwhile")
    bench.count_from(completed.checkpoint)
    live = bench.restored(completed)
    change_everything(live)
    fill(live, b"again")
    taken = live.snapshot()
    assert taken.checkpoint == dead.checkpoint
    try:
        with _barred(bench.folder(), "the folder"):
            manifest = bench.upload(taken)
    except (OSError, Transient) as error:
        raise CannotTry(f"LOC-02 says whether this is right: {error}") from None
    completed = bench.complete(live, taken, manifest)
    taken.snapshot.release()
    bench.restored(completed).compare()
    bench.hit("came-again")


@contextmanager
def _barred(folder: Path, what: str) -> Iterator[None]:
    """Where a folder is, or each folder in it, a file stands, or nothing; behind it all is there again."""
    aside = folder.with_name(f"{folder.name}-aside")
    aside.mkdir()
    barred = [each for each in folder.iterdir() if each.is_dir()] if what == "each folder in it" else [folder]
    for number, each in enumerate(barred):
        each.rename(aside / str(number))
        if what != "nothing is there":
            each.write_bytes(b"")
    try:
        yield
    finally:
        for number, each in enumerate(barred):
            if each.is_dir():
                rmtree(each)
            each.unlink(missing_ok=True)
            (aside / str(number)).rename(each)
        aside.rmdir()


@contextmanager
def _ending_at(longest: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes: what is written there fails, and what is before is there."""
    limits = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (longest, limits[1]))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, limits)


LOCAL = frozenset({Flag.LOCAL_RECOVERY})
CHECKS = (
    Check("LOC-01/on-and-off", "With a local copy or without one, a restore holds the same.", on_and_off, LOCAL,
          ("a-kept-folder", "an-empty-folder")),
    Check("LOC-02/full-disk", "A local copy that cannot be written fails no checkpoint.", full_disk, LOCAL,
          ("a-local-copy",)),
    Check("LOC-02/no-folder", "So does one for which there is no place.", no_folder, LOCAL, ("no-folder",)),
    Check("LOC-03/numbers-again", "A local copy of another checkpoint of that number is not used.", numbers_again,
          LOCAL, ("came-again",)),
    Check("LOC-03/full-disk", "A local copy of which a part was written is not used.", full_disk, LOCAL,
          ("a-local-copy",)),
)  # fmt: skip
