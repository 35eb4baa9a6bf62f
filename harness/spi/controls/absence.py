"""What a verb raises where its target has nothing of the kind."""

from __future__ import annotations


class TargetAbsent(OSError):
    """The system under test has no such part, now or at any time, so the plan does not apply to it (DESIGN section 3).

    For what only a run can tell: a worker that runs no Python has no Python worker to kill. What is there but cannot be
    acted on at the moment is another OSError.
    """
