"""LOC-01: with a local copy or without one, a restore holds the same."""

from __future__ import annotations

from holdfast.harness.spi.state import Flag
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill


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


CHECKS = (
    Check("LOC-01/on-and-off", "With a local copy or without one, a restore holds the same.", on_and_off,
          frozenset({Flag.LOCAL_RECOVERY}), ("a-kept-folder", "an-empty-folder")),
)  # fmt: skip
