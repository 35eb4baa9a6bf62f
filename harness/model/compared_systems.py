"""The same plans on several systems, side by side: what `holdfast compare` measured, stored as `comparison.json`."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Recovery
from holdfast.harness.model.verdict import Outcome


class ComparedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run of a plan on a system.

    Attributes:
        plan: its name.
        system: with variant, and with the name of the file of its options, if it has one.
        tier: where it ran.
        outcome: the worst verdict; None: the plan does not apply to the system.
        reason: why it does not apply, why the run says nothing, or what refuted it.
        recoveries: from each landed fault.
        read_again: by restart from a checkpoint, records that had been fed and that it did not cover.
        checkpoints_ms: by completed checkpoint, milliseconds since its trigger.
        load: how many processes of the machine wanted to compute, on average in the last minute of the run.
    """

    plan: str
    system: str
    tier: Tier
    outcome: Outcome | None
    reason: str = ""
    recoveries: tuple[Recovery, ...] = ()
    read_again: tuple[int, ...] = ()
    checkpoints_ms: tuple[float, ...] = ()
    load: float = 0.0


class ComparedSystems(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All runs of one command.

    Attributes:
        command: that repeats it.
        runs: system by system, plan by plan.
    """

    command: str
    runs: tuple[ComparedRun, ...]
