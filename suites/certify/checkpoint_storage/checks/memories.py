"""STO-05, STO-07: what another process does is seen by those that have looked before."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.checkpoint_storage.checks.epochs import calls_of
from holdfast.suites.certify.outside.bench import OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.messages import Act

CONTENT = bytes_of(300)


def seen_again(bench: Bench) -> None:
    """One checkpoint is dropped, and another one published."""
    storage, epoch = bench.coordinator()
    bench.write(storage.streams(1, epoch), "state", CONTENT)
    pointer = storage.finish(1, epoch, b"ours")
    lookers = (storage, bench.storage())
    for looker in lookers:
        bench.require_metadata(looker, pointer, b"ours")
        bench.refuses("resolve chk-2", FileNotFoundError, looker.resolve, "chk-2")
        bench.require_files(looker, "chk-1", ["chk-1/_metadata", "chk-1/state"])
        bench.require_files(looker, "chk-2", [])
    _elsewhere(bench, [
        Act("drop", checkpoint=1, epoch=epoch),
        Act("write", checkpoint=2, epoch=epoch, name="state", content=CONTENT),
        Act("finish", checkpoint=2, epoch=epoch, content=b"theirs"),
    ])  # fmt: skip
    for looker in lookers:
        bench.refuses("resolve chk-1", FileNotFoundError, looker.resolve, pointer)
        bench.require_metadata(looker, "chk-2", b"theirs")
        bench.require_files(looker, "chk-1", [])
        bench.require_files(looker, "chk-2", ["chk-2/_metadata", "chk-2/state"])


def fenced_elsewhere(bench: Bench) -> None:
    """Nobody in this process has claimed the newer epoch."""
    ours, epoch = bench.coordinator()
    bench.write(ours.streams(1, epoch), "kept", CONTENT, Scope.SHARED)
    ours.finish(1, epoch, b"ours")
    bench.write(ours.streams(5, epoch), "gone", CONTENT)
    ours.drop(5, epoch)
    seen = list(ours.list_folder(""))
    _elsewhere(bench, [Act("claim", epoch=bench.next_epoch())])
    for what, call in calls_of(ours, epoch):
        bench.refuses(f"{what} of the older epoch", Fenced, call)
        bench.require_files(bench.storage(), "", seen)


def _elsewhere(bench: Bench, acts: Sequence[Act]) -> None:
    bench.step(f"another process: {', '.join(act.verb for act in acts)}")
    for act, outcome in zip(acts, bench.victims.run(acts).outcomes, strict=True):
        if outcome.error:
            raise Violation(bench.rule, f"{act.verb} in another process raised {outcome.error}: {outcome.text}")


CHECKS = (
    Check("STO-07/seen-again", "What another process publishes and drops is seen by whoever has looked before.",
          seen_again, frozenset({OUTLIVES_PROCESS})),
    Check("STO-05/fenced-elsewhere", "A claim of another process fences whoever knew an older one.",
          fenced_elsewhere, frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
