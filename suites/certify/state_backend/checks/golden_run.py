"""INC-04: with two checkpoints retained, files that were merged away go with the last checkpoint that needs them."""

from __future__ import annotations

from holdfast.harness.spi.state import Flag
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench, shared_paths

CHECKPOINTS = 24
REPEATED = 50


def golden_run(bench: Bench) -> None:
    """As CP1 {1,2}, CP2 {1,2,3,4}, CP3 {123,4,5}, CP4 {123,456}, whenever and whatever the backend merges."""
    live = bench.fresh()
    needed: list[set[str]] = []
    for number in range(CHECKPOINTS):
        value = b"%d" % number * REPEATED
        for key_group in (GROUPS.start, GROUPS.stop - 1):  # Files whose ranges overlap are merged, and not only moved.
            live.put("value", key_group, b"", [(b"%d" % (number % 5), value)])
        taken = live.snapshot()
        completed = bench.complete(live, taken, bench.upload(taken), retain=2)
        taken.snapshot.release()
        needed = [*needed[-1:], shared_paths(completed.parts[0])]
        there = set(bench.storage().list_folder("shared"))
        if there != set().union(*needed):
            raise Violation(
                "INC-04", f"behind checkpoint {completed.checkpoint}, {sorted(there)} are there; {needed} are needed."
            )
        if len(needed) == 2 and needed[0] & needed[1]:
            bench.hit("a-file-of-two-checkpoints")
        if len(needed) == 2 and needed[0] - needed[1]:
            bench.hit("a-file-merged-away")
        for each in bench.completed:
            bench.restored(each, claimed=False).compare()
    if not bench.windows["a-file-merged-away"]:
        raise CannotTry(f"in {CHECKPOINTS} checkpoints it merged no file")


CHECKS = (
    Check("INC-04/golden-run", "Of two retained checkpoints, exactly the files are there.", golden_run,
          frozenset({Flag.INCREMENTAL}), ("a-file-of-two-checkpoints",)),
)  # fmt: skip
