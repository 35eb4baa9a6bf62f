"""A case: an executable example, with the rules that it decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import force_setattr

from holdfast.harness.model.former_names import current_clause, current_label
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window


class Tier(StrEnum):
    """What a machine must offer for a run."""

    SIM = "sim"
    """The simulator: one process, and a clock of its own."""
    PROCESS = "process"
    """Real processes on this machine."""
    SPARK = "spark"
    """A local Spark, with Java."""
    CONTAINERS = "containers"
    """A Docker engine."""


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule that a case decides, by which clauses of which oracle, and the wrong system that shows it can fail.

    Attributes:
        rule: id, such as `BAR-03`.
        oracle: its name, such as `CUT`.
        clauses: the clauses that decide; each must have been exercised for a PASS.
        mutant: name of a variant of the reference runtime (`A3`) on which one of these clauses must name its anomaly,
            on this case's own plan or on `mutant_plan`; or `system:NAME`, a wrong system of another kind; or
            `history:NAME`, a hand-made history, only where no system can produce the anomaly.
    """

    rule: str
    oracle: str
    clauses: tuple[str, ...]
    mutant: str

    def __post_init__(self) -> None:
        force_setattr(self, "clauses", tuple(current_clause(self.oracle, each) for each in self.clauses))

    @property
    def wrong_system(self) -> str:
        """The wrong system as a user types it, such as `reference+A3`; empty for a hand-made history."""
        kind, colon, name = self.mutant.partition(":")
        return f"reference+{self.mutant}" if not colon else name if kind == "system" else ""

    @property
    def hand_made(self) -> str:
        """Name of the hand-made history; empty for a wrong system."""
        return self.mutant.removeprefix("history:") if self.mutant.startswith("history:") else ""


PlanGenerator = Callable[[int], Plan]
"""From a draw seed to a plan."""
Plans = Plan | Sequence[Plan] | PlanGenerator
"""What a case runs: one plan, each of several, or plans that are drawn."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """An executable example.

    Attributes:
        id: `area/what`, such as `barriers/alignment`.
        purpose: one sentence: what is tested.
        method: one sentence: how.
        passes: one sentence: the pass condition.
        decides: the rules that it decides.
        plan: the plan, several of them, or a generator of plans from a draw seed.
        runs: how many plans must pass; 0: each that there is once, of a generator one.
        expected: the outcome expected of the system named in the plan; FAIL for a negative control.
        tiers: where it can run.
        windows: situations that runs which count must have brought about in the system under test, each at least once;
            a case with one that no run hit is inconclusive.
        needs: capabilities; on a tier for which a system does not declare them it is not applicable.
        mutant_plan: the plan on which the mutants of `decides` show themselves, where it differs from `plan`.
        refutes: of a negative control, the clauses (`EXACT/row-wrong`) of which one must be what it fails by. A control
            decides no rule, and runs whenever its system, whatever the variant, is on trial.
        rehearsal: its plan has no faults, and it is run before all others on its tier: what it shows to be missing, or
            wrong, ends the certification there.
        pictures: names of the pictures of a run that explain it, such as `alignment` (engine.pictures.PICTURES).
    """

    id: str
    purpose: str
    method: str
    passes: str
    decides: tuple[Decision, ...]
    plan: Plans
    runs: int = 0
    expected: Outcome = Outcome.PASS
    tiers: tuple[Tier, ...] = (Tier.SIM,)
    windows: tuple[Window, ...] = ()
    needs: frozenset[str] = frozenset()
    mutant_plan: Plans | None = None
    refutes: frozenset[str] = frozenset()
    pictures: tuple[str, ...] = ()
    rehearsal: bool = False

    def __post_init__(self) -> None:
        force_setattr(self, "refutes", frozenset(map(current_label, self.refutes)))
        if not self.runs:
            force_setattr(self, "runs", len(self.plan) if isinstance(self.plan, Sequence) else 1)

    def plan_for(self, seed: int) -> Plan:
        """The plan of one run."""
        return plan_for(self.plan, seed)


def plan_for(plans: Plans, seed: int) -> Plan:
    """One of the plans; of several, as many successive seeds bring each of them once."""
    if isinstance(plans, Plan):
        return plans
    return plans[seed % len(plans)] if isinstance(plans, Sequence) else plans(seed)
