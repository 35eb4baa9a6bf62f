"""INC-09: a changelog restores what was materialized and what was logged since, and outlives failed materializations.

They apply to whoever declares Flink's option of how many may fail.
"""

from __future__ import annotations

from holdfast.fixtures.storages.fault_points import StorageFault
from holdfast.harness.spi.errors import Transient
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill

MAX_FAILURES = "state.changelog.max-failures-allowed"
CHECKPOINTS = 30


def replay(bench: Bench) -> None:
    """Everything changes between any two checkpoints, and each of them is restored and goes on."""
    _require_changelog(bench)
    live = bench.fresh()
    for number in range(9):
        fill(live, b"%d" % (number % 2))
        change_everything(live)
        taken = live.snapshot()
        completed = bench.complete(live, taken, bench.upload(taken))
        taken.snapshot.release()
        bench.restored(completed, claimed=False).compare(drain_timers=True)
        if number % 3 == 2:
            live = bench.restored(completed)
    bench.check_leaks()


def failed_materializations(bench: Bench) -> None:
    """The first operation of each upload fails: that of a materialization costs no checkpoint, that of a log does."""
    _require_changelog(bench)
    for most in (1, 3):
        backend = bench.backend(bench.factory, options={MAX_FAILURES: str(most)})
        live = bench.adopt(backend, GROUPS, bench.fresh().model)
        in_a_row = longest = 0
        for number in range(CHECKPOINTS):
            live.put("value", GROUPS[number % len(GROUPS)], b"", [(b"%d" % number, b"v")])
            taken = live.snapshot()
            storage = bench.storage({0: StorageFault.ERROR})
            try:
                manifest = bench.upload(taken, storage)
                in_a_row += bool(storage.points.struck)
                bench.hit("outlived-a-failed-materialization")
            except Transient:
                in_a_row = 0
                manifest = bench.upload(taken)
            longest = max(longest, in_a_row)
            completed = bench.complete(live, taken, manifest)
            taken.snapshot.release()
            bench.restored(completed, claimed=False).compare()
        if longest != most:
            raise Violation(
                "INC-09", f"{longest} failed materializations in a row were outlived; {MAX_FAILURES} is {most}."
            )


def _require_changelog(bench: Bench) -> None:
    if MAX_FAILURES not in bench.description.options:
        raise CannotTry(f"it is no changelog, for it has no option {MAX_FAILURES}")


CHECKS = (
    Check("INC-09/replay", "A restore holds what was materialized, and what was logged since, once.", replay),
    Check("INC-09/failed-materializations", "As many materializations may fail in a row as the option says.",
          failed_materializations, windows=("outlived-a-failed-materialization",)),
)  # fmt: skip
