"""What else is bound to be seen of a wrong system or history, besides the clauses that decide.

Of variants of the reference that stands beside them (mutants.compose.Written). A clause that is not listed stays silent
on every case that the system is tried on: a rule decided by it passes.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.fixtures.mutants import WRITTEN
from holdfast.fixtures.mutants.compose import LOST

FOLLOWS: Mapping[str, tuple[str, ...]] = {
    **{name: row.follows for name, row in WRITTEN.items()},
    "history:exact/input-missing/last-records-missing": ("NOLOSS/input-lost",),
    "history:resume/position-behind/ready-before-the-checkpoint": ("EXACT/input-missing", "NOLOSS/input-lost"),
    "history:local/moved/two-subtasks-change-places": ("PROGRESS/task-not-started", *LOST),
    "system:acknowledges-first": LOST,
    "system:json-lines+restores-older-checkpoint": ("RESUME/position-behind",),
    "system:holdfast.suites.certify.scaffolds.system.wrong:WrongEngine": (
        *LOST,
        "EXACT/counts-stepped-back",
        "EXACT/row-repeated",
    ),
    "system:spark+puts-old-state-back": (
        "STATE/state-extra",
        "WINDOW/window-wrong",
        "WINDOW/window-repeated",
        "WINDOW/window-missing",
    ),
}
