"""Pipelines of teams: what is in the output of a streaming query when its processes die or stand still, when a
micro-batch runs again, when its checkpoint is damaged, and when its next version takes over (RULES PIP).

A module of a team has one contract, so of each question the row of its contract applies. What the engine itself owes is
asked in structured_streaming.py.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from holdfast.faults.damage import damage
from holdfast.faults.process import kill, pause
from holdfast.fixtures.systems.structured_streaming.options import WITHOUT_EMPTY_BATCHES
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision, Tier, Window
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, WINDOW_SUM
from holdfast.harness.model.plan import FaultSpec, Gate, Plan, Schedule
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.operators import WINDOWS
from holdfast.suites.conformance.plans import WORKERS, case, decides, plan, with_needs
from holdfast.suites.conformance.structured_streaming import (
    NEEDS,
    PYTHON_KILLED,
    REPLAYED,
    REPLAYED_WITH_WINDOWS,
    UPGRADED,
    killed_in_batch,
    query_plan,
    windows_plan,
)

TIERS = (Tier.SPARK, Tier.CONTAINERS)
ARRIVAL_MS = 1_500
"""Half the time of other cases is enough where nothing arrives until the query stands again."""
RESTORED = (Window.RESTORED_STATE,)
"""The query went on from a checkpoint."""
PAUSED_MS, DRIVER_PAUSED_MS = 2_000, 4_000
DAMAGED_MS = 3_000
REPEATED = "history:norepeat/record-repeated/seen-in-two-units"
VALUES = (
    ("EXACT/value-wrong", "history:exact/value-wrong/appended-total-too-high"),
    ("NOLOSS/value-wrong", "history:noloss/value-wrong/total-too-high"),
    ("NOREPEAT/value-wrong", "history:norepeat/value-wrong/total-too-high"),
)
BROKEN = "INVARIANT/broken", "history:invariant/broken/a-sum-that-is-not-preserved-for-a-while"
"""What judges modules that claim at most once, say which values there must be, or what always holds, with histories
that show that it can fail: no variant of the reference declares any of these."""


def _unbroken(rule: str, windows: tuple[Window, ...]) -> Decision:
    """Decide a rule by the invariants of a module, if it has any."""
    clause, wrong = BROKEN
    return decides(rule, clause, wrong=wrong, windows=windows, where_declared=True)


class Shape(NamedTuple):
    """What a contract makes of a case.

    Attributes:
        name: in ids of cases.
        job: that stands for a query of the contract.
        clauses: what output once, and whole, is decided by; of each group the wrong variant that shows it can fail.
        shown_by: the plan, on the simulator, on which these variants show themselves.
    """

    name: str
    job: Job
    clauses: tuple[tuple[str, tuple[str, ...]], ...]
    shown_by: Plan

    def decide(self, rule: str, *, windows: tuple[Window, ...] = ()) -> tuple[Decision, ...]:
        """Decide a rule by the output, of which nothing is lost, repeated or wrong.

        Args:
            rule: its id.
            windows: that it demands.
        """
        output = tuple(decides(rule, *clauses, wrong=wrong, windows=windows) for wrong, clauses in self.clauses)
        return (*output, *self._declared(rule, windows), _unbroken(rule, windows))

    def _declared(self, rule: str, windows: tuple[Window, ...] = ()) -> tuple[Decision, ...]:
        """Decide a rule by what a module of this contract may declare of its rows."""
        if self.job is not FORWARD:
            return ()
        values = (decides(rule, clause, wrong=wrong, windows=windows, where_declared=True) for clause, wrong in VALUES)
        return (decides(rule, "NOREPEAT/record-repeated", wrong=REPEATED, windows=windows), *values)

    @property
    def lost(self) -> tuple[Decision, ...]:
        """Decide that nothing is lost, by the first group of clauses."""
        wrong, clauses = self.clauses[0]
        return (decides("PIP-01", *clauses, wrong=wrong),)

    @property
    def extra(self) -> tuple[Decision, ...]:
        """Decide that nothing is repeated or wrong, by all others."""
        found = tuple(decides("PIP-02", *clauses, wrong=wrong) for wrong, clauses in self.clauses[1:])
        return (*found, *self._declared("PIP-02"))

    def plan(self, *faults: FaultSpec, again: bool = False) -> Plan:
        """Records that arrive while these faults strike.

        Args:
            faults: in their order.
            again: a micro-batch runs again. The last one of a query with a watermark is without input, and to run that
                again shows nothing, so there is none.
        """
        if self.job is WINDOW_SUM:
            return windows_plan(*faults)
        if not again:
            return query_plan(*faults, job=self.job)
        return query_plan(*faults, job=self.job, arrival_ms=ARRIVAL_MS, options=WITHOUT_EMPTY_BATCHES)


_STRUCK = kill(WORKERS[0], after_checkpoint=1, at_event="rows_visible")
SHAPES = (
    Shape("records", FORWARD, (("source-skips-one", ("NOLOSS/input-lost",)),
                               ("source-repeats-one", ("EXACT/row-repeated",))), plan(_STRUCK, job=FORWARD)),
    Shape("sums", KEYED_SUM, (("source-skips-one", ("NOLOSS/input-lost",)),
                              ("source-repeats-one", ("EXACT/row-wrong", "EXACT/counts-stepped-back"))), plan(_STRUCK)),
    Shape("windows", WINDOW_SUM, (("M1", ("WINDOW/window-missing",)),
                                  ("reopens-windows", ("WINDOW/window-repeated",)),
                                  ("assigns-once", ("WINDOW/window-wrong",))), WINDOWS[0]),
)  # fmt: skip


PLACES = tuple(
    decides(rule, f"PLACE/{clause}", wrong=f"history:place/{clause}/{shows}")
    for rule, clause, shows in (
        ("PIP-12", "written-elsewhere", "a-folder-beside-it"),
        ("PIP-12", "not-written", "nothing-behind-a-micro-batch"),
        ("PIP-13", "folder-shared", "two-queries-of-one-folder"),
    )
)
"""Of each query that is started again: its checkpoint is where it belongs, and its own."""


def _killed_behind_output(number: int) -> FaultSpec:
    """SIGKILL of the driver, which was stopped behind so many further parts of its output."""
    gate = Gate("behind-output", COORDINATOR, number)
    return FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=1, gate=gate))


def _of(shape: Shape) -> tuple[Case, ...]:
    """The cases of a contract."""
    stable = decides("PIP-04", "STABLE/row-changed", "STABLE/row-vanished", wrong="takes-back-committed")
    replayed = REPLAYED_WITH_WINDOWS if shape.job is WINDOW_SUM else REPLAYED
    stood_still = (
        pause(WORKERS[0], PAUSED_MS, after_checkpoint=2, at_event="checkpoint_triggered"),
        pause(COORDINATOR, DRIVER_PAUSED_MS, after_checkpoint=3, at_event="checkpoint_triggered"),
    )
    row = partial(case, tiers=TIERS, needs=NEEDS, mutant_plan=shape.shown_by)
    return (
        row(f"pipelines/replayed-{shape.name}",
            "Does a micro-batch that runs again leave the output as one run of it does?",
            shape.plan(replayed, again=True), *shape.decide("PIP-03", windows=RESTORED),
            method="The query is stopped, the last entry of its commit log is removed, and it is started again.",
            passes="The micro-batch runs twice; nothing of it is there twice, and nothing is missing."),
        row(f"pipelines/executor-{shape.name}",
            "Is the output whole, and once, when an executor dies in a micro-batch?",
            shape.plan(killed_in_batch(WORKERS[0])), *shape.decide("PIP-05"), *shape.lost, *shape.extra, stable,
            method="SIGKILL hits an executor while a micro-batch is under way: its offsets are written, its commit is "
                   "not.",
            passes="Every record has its effect once, and what a reader saw stays."),
        row(f"pipelines/python-worker-{shape.name}",
            "Is the output whole, and once, when the Python workers of an executor die?",
            shape.plan(PYTHON_KILLED), *shape.decide("PIP-06"),
            method="SIGKILL hits the Python workers of an executor behind the third micro-batch.",
            passes="Their tasks run again, and every record has its effect once."),
        row(f"pipelines/driver-{shape.name}",
            "Is the output whole, and once, when the driver dies in a micro-batch?",
            shape.plan(killed_in_batch(COORDINATOR)), *shape.decide("PIP-07", windows=RESTORED), *shape.lost,
            *shape.extra, stable, *PLACES,
            method="SIGKILL hits the driver while a micro-batch is under way; the next one starts on its checkpoint.",
            passes="The next driver does the micro-batch again, on the checkpoint folder that was given and that is no "
                   "other query's, and every record has its effect once."),
        row(f"pipelines/stands-still-{shape.name}",
            "Does a query whose processes stood still for a while go on as if nothing had been?",
            shape.plan(*stood_still), *shape.decide("PIP-09"),
            method="SIGSTOP holds an executor in a micro-batch for two seconds, and the driver in the next one "
                   "for four.",
            passes="Every record has its effect once."),
        row(f"pipelines/damaged-{shape.name}",
            "Does a query with a damaged checkpoint end with an error, and go on once that is mended?",
            shape.plan(damage("metadata", "truncate", DAMAGED_MS, after_checkpoint=2),
                       kill(COORDINATOR, after_checkpoint=2)), *shape.decide("PIP-10", windows=RESTORED),
            method="The newest entry of the offset log is cut short, the driver is killed, and the entry is put back "
                   "when a query has ended because of it.",
            passes="The query goes on from its checkpoint, and every record has its effect once."),
        row(f"pipelines/between-outputs-{shape.name}",
            "Is a micro-batch completed that ended behind a part of its output, and before its commit?",
            tuple(shape.plan(_killed_behind_output(number)) for number in (1, 2)),
            *shape.decide("PIP-14", windows=(*RESTORED, Window.OUTPUT_WITHOUT_COMMIT)), tiers=(Tier.SPARK,),
            method="The driver is stopped as soon as a file appears that publishes output, and killed there: behind "
                   "the first such file, in another run behind the second.",
            passes="The micro-batch runs again, and every record has its effect once."),
        row(f"pipelines/upgraded-{shape.name}",
            "Does the next version of a pipeline go on where the former one ended?",
            shape.plan(UPGRADED, again=True), *shape.decide("PIP-11", windows=RESTORED),
            needs=NEEDS | {Capability.UPGRADE},
            method="The query is stopped with its driver, the last entry of its commit log is removed, and its next "
                   "version is started on the same checkpoint.",
            passes="The next version does the last micro-batch again, and the output is that of one query."),
    )  # fmt: skip


def _of_state(shape: Shape) -> Case:
    """What the state of a contract holds behind the death of a driver; for a module that says what it means."""
    return case(f"pipelines/state-{shape.name}", "Does the state hold every record once when the driver dies?",
                shape.plan(killed_in_batch(COORDINATOR)),
                decides("PIP-08", "STATE/state-extra", wrong="source-repeats-one", windows=RESTORED),
                decides("PIP-08", "STATE/state-missing", wrong="source-skips-one", windows=RESTORED),
                tiers=TIERS, needs=NEEDS, mutant_plan=plan(_STRUCK),
                method="SIGKILL hits the driver while a micro-batch is under way; after the run Spark's own source of "
                       "state reads back what the checkpoints hold.",
                passes="The state of each micro-batch holds the records before its offsets once.")  # fmt: skip


CASES = with_needs(*(each for shape in SHAPES for each in _of(shape)), *map(_of_state, SHAPES[1:]))
