"""Histories for RESUME: a program reports checkpoints, dies, and says which one it restores."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import exhibits
from holdfast.suites.selfcheck.oracles.lines import completed, died

RECORDED = {1: (2, 3), 2: (5, 6)}
PROCESS = "coordinator"


bad, near = exhibits(
    "RESUME", events.ProgramReady(positions=(0, 0)), completed(1, *RECORDED[1]), completed(2, *RECORDED[2]),
    died(PROCESS),
)  # fmt: skip

bad(
    "older-restored", "the one before the newest",
    events.StateRestored(checkpoint=1), events.ProgramReady(positions=RECORDED[2]),
)  # fmt: skip
near("older-restored", "the newest", events.StateRestored(checkpoint=2), events.ProgramReady(positions=RECORDED[2]))
near(
    "older-restored", "a newer one whose report was lost",
    events.StateRestored(checkpoint=3), events.ProgramReady(positions=(7, 7)),
)  # fmt: skip

bad("nothing-restored", "it begins without a word", events.ProgramReady(positions=RECORDED[2]))
near(
    "nothing-restored", "it dies before it is ready and restores then",
    died(PROCESS), events.StateRestored(checkpoint=2), events.ProgramReady(positions=RECORDED[2]),
)  # fmt: skip

# A first life restores, so that there is something to decide.
near(
    "nothing-restored", "its store was damaged",
    events.StateRestored(checkpoint=2), events.ProgramReady(positions=RECORDED[2]), died(PROCESS),
    events.ObjectDamaged(path="table", checkpoint=0, published=(), length=2, left=1),
    events.ProgramReady(positions=(0, 0)),
)  # fmt: skip

bad(
    "position-behind", "ready before the checkpoint",
    events.StateRestored(checkpoint=2), events.ProgramReady(positions=(5, 5)),
)  # fmt: skip
near(
    "position-behind", "ready behind the checkpoint",
    events.StateRestored(checkpoint=2), events.ProgramReady(positions=(5, 8)),
)  # fmt: skip
