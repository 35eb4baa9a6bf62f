"""What else is bound to be seen of a wrong system or history, besides the clauses that decide.

Of variants of the reference that stands in their table (mutants.deviations). A clause that is not listed stays silent
on every case that the system is tried on: a rule decided by it passes.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.fixtures.mutants.deviations.table import written_by_hand

_LOST = ("CUT/state-missing", "STATE/state-missing", "EXACT/row-wrong", "EXACT/input-missing", "NOLOSS/input-lost")
"""Records took no effect."""

FOLLOWS: Mapping[str, tuple[str, ...]] = {
    **{name: row.follows for name, row in written_by_hand().items()},
    "history:exact/input-missing/last-records-missing": ("NOLOSS/input-lost",),
    "history:resume/position-behind/ready-before-the-checkpoint": ("EXACT/input-missing", "NOLOSS/input-lost"),
    "history:local/moved/two-subtasks-change-places": ("PROGRESS/task-not-started", *_LOST),
    "system:acknowledges-first": _LOST,
    "system:json-lines+restores-older-checkpoint": ("RESUME/position-behind",),
    "system:holdfast.suites.certify.scaffolds.system.wrong:WrongEngine": (
        *_LOST,
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
