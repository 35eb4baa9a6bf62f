"""REC-09, ASY-06: what a dead attempt still does, and what is left of a closed one."""

from __future__ import annotations

from holdfast.fixtures.storages.fault_points import StorageFault
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.state import Flag
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.held import require_given_back
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench, never
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.checks.increments import checkpointed
from holdfast.suites.certify.state_backend.live import Live


def late_upload(bench: Bench) -> None:
    """The upload of a dead attempt stands still in its middle while its successor restores, works and completes."""
    dead = bench.fresh()
    fill(dead)
    completed = checkpointed(bench, dead)
    change_everything(dead)
    lost = dead.snapshot()
    streams = bench.storage().streams(lost.checkpoint, EPOCH)
    bench.step(f"upload({lost.checkpoint}) begins on the upload thread, and stands still")
    bench.thread.start(lambda: lost.snapshot.upload(streams, never))
    if not bench.thread.done:
        bench.hit("stood-still")
    bench.pending.discard(lost.checkpoint)
    live = bench.restored(completed)
    fill(live, b"successor")
    taken = live.snapshot()
    bench.step("it goes on to its end")
    bench.thread.finish()
    bench.check_threads()
    live.compare()
    own = bench.complete(live, taken, bench.upload(taken))
    bench.restored(own).compare(drain_timers=True)
    bench.sweep(lost.checkpoint)
    bench.restored(own).compare(drain_timers=True)


def closed(bench: Bench) -> None:
    """Lives that wrote, stored, failed to store and restored; scans and snapshots are open when they are closed."""

    def life() -> Live:
        live = bench.fresh()
        fill(live)
        checkpointed(bench, live)
        live.scan("value", GROUPS.start, b"").take(1)
        taken = live.snapshot()
        try:
            bench.upload(taken, bench.storage({0: StorageFault.ERROR}))
        except Transient as error:
            bench.step(f"    {error}")
        restored = bench.restored(bench.completed[-1])
        restored.compare()
        restored.snapshot()
        for each in (live, restored):
            each.close()
        bench.pending.clear()
        return restored

    require_given_back("ASY-06", "backends", life)


CHECKS = (
    Check("REC-09/late-upload", "What a dead attempt stores late changes nothing for its successor.", late_upload,
          frozenset({Flag.ASYNC_SNAPSHOT}), ("stood-still",)),
    Check("ASY-06/closed", "What is closed leaves no thread, no open file and no child.", closed),
)  # fmt: skip
