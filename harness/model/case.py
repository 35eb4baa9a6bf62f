"""A case: an executable example, with the rules that it decides and the windows that its runs must hit.

A window is a situation of the system that a run must have brought about before it shows anything: a guarantee that was
never put to the test did not pass. One that no run hit makes the case inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import force_setattr

from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome, current_clause, current_label


class Window(StrEnum):
    """A situation that only faults bring about."""

    RESTORED_STATE = "restored-state"
    READ_AGAIN = "read-again"
    SENT_AGAIN = "sent-again"
    SENT_WITH_NEW = "sent-with-new"
    RESTARTED_EMPTY = "restarted-empty"
    TRANSACTION_IN_DOUBT = "transaction-in-doubt"
    OVERTAKING = "overtaking"
    RESTORED_IN_FLIGHT = "restored-in-flight"
    RESTART_STRUCK = "restart-struck"
    REGION_RESTARTED = "region-restarted"
    REGION_STRUCK = "region-struck"
    BUILT_ON_SNAPSHOT = "built-on-snapshot"
    RESCALED = "rescaled"
    RESCALED_PENDING = "rescaled-pending"
    RESCALE_STRUCK = "rescale-struck"
    RESCALE_CUT_CHECKPOINT = "rescale-cut-checkpoint"
    OUTPUT_WITHOUT_COMMIT = "output-without-commit"


MEANINGS = {
    Window.RESTORED_STATE: "a life began from state that an earlier one had persisted",
    Window.READ_AGAIN: "records behind the restored position were read again",
    Window.SENT_AGAIN: "records that the restored state holds already were sent again",
    Window.SENT_WITH_NEW: "one batch held records that the restored state holds and others that it lacks",
    Window.RESTARTED_EMPTY: "a life began empty after an earlier one had read input",
    Window.TRANSACTION_IN_DOUBT: "a process died between the pre-commit of a transaction and its outcome",
    Window.OVERTAKING: "a barrier overtook records, which were stored with the checkpoint",
    Window.RESTORED_IN_FLIGHT: "records that were in flight at a checkpoint were restored with it",
    Window.RESTART_STRUCK: "a process died between a failure and the end of the restart from it",
    Window.REGION_RESTARTED: "a region of the job restarted alone, while another went on",
    Window.REGION_STRUCK: "after a region had restarted alone, a failure came before the next checkpoint was complete",
    Window.BUILT_ON_SNAPSHOT: "a checkpoint named files of the snapshot from which its job had begun",
    Window.RESCALED: "a running job went on from a checkpoint of another parallelism",
    Window.RESCALED_PENDING: "a running job went on at another parallelism with transactions that were to be committed",
    Window.RESCALE_STRUCK: "a process died between the request of a parallelism and the time when all tasks ran at it",
    Window.RESCALE_CUT_CHECKPOINT: "a checkpoint under way was aborted because the job was rescaled",
    Window.OUTPUT_WITHOUT_COMMIT: "a coordinator died when output of a checkpoint was visible that was not complete",
}
"""By window, when a run hits it."""

REMEDIES = {
    Window.RESTORED_STATE: "persist state earlier, or let input arrive for longer",
    Window.READ_AGAIN: "read input before the next checkpoint completes, or let input arrive for longer",
    Window.SENT_AGAIN: "acknowledge input only after it is persisted, or let input arrive for longer",
    Window.SENT_WITH_NEW: "acknowledge input only after it is persisted, or let input arrive for longer",
    Window.RESTARTED_EMPTY: "persist nothing before input arrives, or kill the process earlier",
    Window.TRANSACTION_IN_DOUBT: "aim a kill between pre-commit and commit, or let output arrive for longer",
    Window.OVERTAKING: "let records queue in front of a slow task when a checkpoint begins",
    Window.RESTORED_IN_FLIGHT: "kill a process after a checkpoint whose barriers overtook records",
    Window.RESTART_STRUCK: "kill another process at the event failure_counted",
    Window.REGION_RESTARTED: "kill one worker of a job of several regions",
    Window.REGION_STRUCK: "kill a second worker soon after a region restarted alone",
    Window.BUILT_ON_SNAPSHOT: "claim a checkpoint with increments, and let another one complete",
    Window.RESCALED: "require another parallelism of the running job after a checkpoint",
    Window.RESCALED_PENDING: "require another parallelism right after a checkpoint of a job with two-phase commit",
    Window.RESCALE_STRUCK: "kill a process at the event rescale_accepted",
    Window.RESCALE_CUT_CHECKPOINT: "require another parallelism at the event checkpoint_triggered",
    Window.OUTPUT_WITHOUT_COMMIT: "kill the coordinator behind the gate behind-output, or in front of write-commit",
}
"""By window, what would hit it."""


def missed_in_words(window: str) -> str:
    """One clause that names a window that no run hit, and what would hit it."""
    if window not in MEANINGS:
        return f"no run hit {window}"
    known = Window(window)
    return f"no run hit {known}, in which {MEANINGS[known]}; what would hit it: {REMEDIES[known]}"


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
        windows: what runs must have brought about before the case decides this rule, beside the windows of the case.
            Where no run hit one, the rule is inconclusive, and other rules of the case are not.
        where_declared: the clauses judge what a system may declare and need not, such as invariants of its user; where
            they had nothing to decide, it has declared none, and the decision does not apply.
    """

    rule: str
    oracle: str
    clauses: tuple[str, ...]
    mutant: str
    windows: tuple[Window, ...] = ()
    where_declared: bool = False

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
