"""From a run to the result that the Journal keeps of it, and to the cause by which runs without a verdict are
counted."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.harness.engine.artefacts.json_files import plan_digest
from holdfast.harness.engine.errors import ForeignError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.executor.windows import windows_hit
from holdfast.harness.engine.plans.words import attack, claims_in_words, plan_in_words, window
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.events import AttemptStarted, CheckpointCompleted, ConnectionsRefused, MachineStalled
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.words import words_of

HARNESS_ERROR = "harness error: "
"""How the reason of a run begins that broke the harness instead of being judged."""


class Blamed(Exception):
    """The system under test is to blame for the end of the process in which it ran; one sentence."""


def run_id(case: str, tier: Tier, number: int) -> str:
    """Unique in a journal, and a name of a folder."""
    return f"{case.replace('/', '-')}-{tier.value}-{number:04d}"


def run_result(run: Run, case: str, number: int, wall_ms: float, demanded: Iterable[Window] = ()) -> RunResult:
    """What stays of a run; `demanded` are the windows that its case must hit."""
    history = run.history
    plan, end = history.plan, history.end
    planned: dict[str, int] = {}
    landed: dict[str, int] = {}
    windows: dict[str, bool] = {}
    for spec, hit in zip(plan.faults, end.faults_landed, strict=True):
        name = attack(spec)
        planned[name] = planned.get(name, 0) + 1
        landed[name] = landed.get(name, 0) + bool(hit)
        if aimed := window(spec):
            windows[aimed] = windows.get(aimed, False) or bool(hit)
    hits = windows_hit(history)
    # An inconclusive run lists demanded windows alone: no other was missed, and a hit of another does not count.
    shown = {*demanded} if run.outcome is Outcome.INCONCLUSIVE else {*demanded, *hits}
    windows |= {each.value: each in hits for each in sorted(shown)}
    return RunResult(
        id=run_id(case, run.tier, number),
        case=case,
        tier=run.tier,
        system=plan.system,
        draw_seed=plan.draw_seed,
        run_seed=plan.run_seed,
        plan_digest=plan_digest(plan),
        plan_text=plan_in_words(plan),
        outcome=run.outcome,
        reason=_as_said(run.reason),
        verdicts=run.verdicts,
        trace_hash=run.trace_hash,
        events=len(history.events),
        dispatched=run.dispatched,
        checkpoints=len(history.of(CheckpointCompleted)),
        records=history.inputs.total_records,
        rows=sum(len(unit.rows) for unit in history.output.units),
        restarts=max(0, len(history.of(AttemptStarted)) - 1),
        planned=planned,
        landed={name: count for name, count in landed.items() if count},
        wall_ms=wall_ms,
        replay="",
        windows=windows,
        claims=claims_in_words(history.claims) if plan.expected_end is not ExpectedEnd.REFUSED else "",
        died_at_once=run.died_at_once,
        on_its_word=tuple(verdict.oracle for verdict in run.verdicts if verdict.rests_on(run.on_its_word)),
        unclaimed=tuple(sorted(run.unclaimed)),
        lacks=run.lacks,
        absent=run.absent,
        refused_connections=sum(event.connections for event in history.of(ConnectionsRefused)),
        stalled_ms=sum(stall.stalled_ns for stall in history.of(MachineStalled)) / 1e6,
    )


def _as_said(reason: str) -> str:
    """The reason of a run that was judged, which a system may word as it likes: it is no error of the harness."""
    return f"it is said: {reason}" if reason.startswith(HARNESS_ERROR) else reason


def harness_broke(result: RunResult) -> bool:
    """Whether the harness broke instead of judging the run."""
    return result.reason.startswith(HARNESS_ERROR)


def broken_result(plan: Plan, tier: Tier, case: str, number: int, error: Exception) -> RunResult:
    """What stays of a run in which the harness itself broke, or the system broke its process."""
    blamed = isinstance(error, Blamed)
    said = words_of(error)
    said = said if isinstance(error, ForeignError | Blamed) else f"{type(error).__name__}: {said}"
    return RunResult(
        id=run_id(case, tier, number),
        case=case,
        tier=tier,
        system=plan.system,
        draw_seed=plan.draw_seed,
        run_seed=plan.run_seed,
        plan_digest=plan_digest(plan),
        plan_text=plan_in_words(plan),
        outcome=Outcome.FAIL if blamed else Outcome.INCONCLUSIVE,
        reason=said if blamed else f"{HARNESS_ERROR}{said}",
        verdicts=(),
        trace_hash="",
        events=0,
        dispatched=0,
        checkpoints=0,
        records=0,
        rows=0,
        restarts=0,
        landed={},
        wall_ms=0.0,
        replay="",
    )


_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+")
"""One that is no part of a name: s3 stays."""


def cause_of(reason: str) -> str:
    """A reason, with a letter for each of its numbers."""
    return _NUMBER.sub("n", reason)
