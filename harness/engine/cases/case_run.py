"""Many runs of one case: as many as it demands must count, and a run that missed is replaced.

A generator: the caller sees every result at once and may stop at any time, and memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path
from time import perf_counter  # noqa: TID251 - what a run cost; no decision depends on it

import msgspec

from holdfast.harness.engine.artefacts.stored_run import close_run_folder, discard_run_folder, open_run_folder
from holdfast.harness.engine.cases.case import plan_of, system_under_test, why_not_applicable
from holdfast.harness.engine.cases.case_status import case_not_run, case_result, is_open, open_plans
from holdfast.harness.engine.cases.results import Blamed, broken_result, harness_broke, run_id, run_result
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.cases.tally import DeathsAtOnce, Tally
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import Run, never_interrupted, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import evidence_of
from holdfast.harness.engine.site.foreign import foreign, raised_by
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.engine.site.workers import in_order
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, RunResult, Status
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import System

ATTEMPTS = 4
"""How often a run of a plan written by hand is tried until it counts."""
MOST_AGAIN = 3
"""How often a case that is open on a real tier is run again, where the machine was too busy for it."""
CHUNK = 20
"""Plans that a worker process gets at once."""


class CaseRun(msgspec.Struct, frozen=True):
    """One case on one system and tier.

    Attributes:
        first_seed: draw seed of run 0; run n gets the n-th after it.
        folder: where runs on real tiers get their folders.
        first_serial: of run 0; not 0 where the case was run before.
        numbers: only these of the plans that were written by hand; empty: all.
        first_number: of the plans that are drawn, the first that runs; those before it ran earlier.
        interrupted: the reason to stop, or an empty text.
    """

    case: Case
    system: System
    tier: Tier
    tools: Toolbox
    first_seed: int = 1
    folder: Path | None = None
    first_serial: int = 0
    interrupted: Callable[[], str] = never_interrupted
    numbers: tuple[int, ...] = ()
    first_number: int = 0


class FinishedRun(msgspec.Struct, frozen=True):
    """One run: its result, the run itself if it took place in this process, and its folder on real tiers."""

    result: RunResult
    run: Run | None = None
    part: Path | None = None

    @property
    def counts(self) -> bool:
        return self.result.outcome is not Outcome.INCONCLUSIVE


def run_once(case_run: CaseRun, number: int, attempt: int = 0, serial: int | None = None) -> FinishedRun:
    """Run once.

    Args:
        number: of the plan among those of the case, from 0.
        attempt: how often this one missed already.
        serial: of the run among all runs of the case; `number` if it was not tried before.
    """
    case, tier = case_run.case, case_run.tier
    serial = case_run.first_serial + (number if serial is None else serial)
    plan = plan_of(case, case_run.system, case_run.first_seed, number, attempt)
    part = None
    if tier is not Tier.SIM and case_run.folder is not None:
        part = open_run_folder(case_run.folder / run_id(case.id, tier, serial), plan)
    start = perf_counter()
    try:
        run = run_plan(
            plan, case_run.system, case_run.tools, tier, part, case_run.interrupted, rehearsal=case.rehearsal
        )
    except (UsageError, KeyboardInterrupt):
        if part is not None:
            discard_run_folder(part)
        raise
    except Exception as error:  # The system or the harness broke; the other runs still say something.
        sentence = raised_by(registry.strangers_of(case_run.system), error)
        why = Blamed(f"system {sentence}") if sentence else error
        return FinishedRun(_numbered(broken_result(plan, tier, case.id, serial, why), number), None, part)
    wall_ms = (perf_counter() - start) * 1_000
    return FinishedRun(_numbered(run_result(run, case.id, serial, wall_ms, case.windows), number), run, part)


def _numbered(result: RunResult, number: int) -> RunResult:
    return msgspec.structs.replace(result, plan_number=number)


def run_until(case_run: CaseRun, demanded: int, jobs: int = 1) -> Generator[FinishedRun, None, None]:
    """Run until `demanded` runs count, or the system under test dies at once in run after run. Whoever wants no more of
    them closes it: with more than one job, processes wait for that."""
    deaths = DeathsAtOnce()
    for finished in _runs(case_run, demanded, jobs):
        yield finished
        deaths.add(finished.result)
        if deaths.reason or finished.result.lacks or (case_run.case.rehearsal and harness_broke(finished.result)):
            return  # Another rehearsal would take as long, and say the same.


def _runs(case_run: CaseRun, demanded: int, jobs: int) -> Iterator[FinishedRun]:
    numbers = case_run.numbers or tuple(range(demanded))
    first = run_once(case_run, case_run.first_number or numbers[0], serial=case_run.first_number)
    yield first
    if first.result.draw_seed:
        yield from _run_drawn(case_run, demanded - first.counts, jobs)
    else:
        yield from _run_written(case_run, numbers, first, alone=demanded == 1)


def run_case(
    system: str,
    case: Case,
    tier: Tier,
    *,
    first_seed: int = 1,
    folder: Path | None = None,
    seen: Callable[[FinishedRun, CaseRun], None] = lambda finished, case_run: None,
) -> CaseResult:
    """Run one case on a system, from beginning to end.

    Args:
        system: registered, or `module:name`; with a variant behind a plus sign.
        case: what is run.
        tier: one of the case's.
        first_seed: draw seed of run 0.
        folder: where runs on real tiers get their folders.
        seen: is called with each run.

    Raises:
        ForeignError: the system tried to end this process outside a run.
    """
    with foreign(f"system {system!r}"):
        return _run_case(system, case, tier, first_seed, folder, seen)


def _run_case(
    system: str,
    case: Case,
    tier: Tier,
    first_seed: int,
    folder: Path | None,
    seen: Callable[[FinishedRun, CaseRun], None],
) -> CaseResult:
    tools = registry.toolbox()
    try:
        under_test = system_under_test(case, registry.system(system), first_seed)
    except NotApplicable as error:
        return case_not_run(case, tier, Status.NOT_APPLICABLE, str(error))
    if reason := why_not_applicable(case, under_test, tier, tools):
        return case_not_run(case, tier, Status.NOT_APPLICABLE, reason)
    tally, rounds = Tally(), 0
    case_run = CaseRun(case, under_test, tier, tools, first_seed, folder)
    while True:
        stalled = tally.stalled
        for finished in run_until(case_run, case.runs):
            tally.add(finished.result)
            seen(finished, case_run)
        result, rounds = case_result(case, tier, case.runs, tally, tools.oracles, evidence_of(under_test)), rounds + 1
        over = not is_open(result) or tally.deaths_at_once.reason or tally.lacks
        if over or rounds > MOST_AGAIN or tally.stalled == stalled:
            return result
        numbers = () if finished.result.draw_seed else open_plans(case.runs, tally)
        case_run = msgspec.structs.replace(case_run, first_serial=tally.runs, numbers=numbers)


def _run_written(
    case_run: CaseRun, numbers: tuple[int, ...], first: FinishedRun, *, alone: bool
) -> Iterator[FinishedRun]:
    """Each plan again, with other random numbers, until it counts; one that is alone, until its clauses decided; only
    once if it strikes what the system has not."""
    serials = count(1)
    for number in numbers:
        begun = number == numbers[0]
        counted = begun and _settled(case_run.case, first, alone=alone)
        for attempt in range(int(begun), ATTEMPTS):
            if counted or case_run.interrupted():
                break
            finished = run_once(case_run, number, attempt, next(serials))
            counted = _settled(case_run.case, finished, alone=alone)
            yield finished


def _settled(case: Case, finished: FinishedRun, *, alone: bool) -> bool:
    """Whether no other run of the plan is wanted."""
    return bool(finished.result.absent) or _enough(case, finished, alone=alone)


def _enough(case: Case, finished: FinishedRun, *, alone: bool) -> bool:
    """Whether a run counts; if it is the only one of its case, also whether it hit every window that is demanded, and
    every deciding clause that was judged had something to decide: on real machines that takes luck."""
    if not finished.counts or not alone or finished.result.outcome is Outcome.FAIL:
        return finished.counts
    if not all(finished.result.windows.get(window) for window in case.windows):
        return False
    checked = {verdict.oracle: verdict.checked for verdict in finished.result.verdicts}
    return all(
        checked[decision.oracle].get(clause)
        for decision in case.decides
        if decision.oracle in checked and not decision.where_declared
        for clause in decision.clauses
        if f"{decision.oracle}/{clause}" not in finished.result.unclaimed
    )


def _run_drawn(case_run: CaseRun, wanted: int, jobs: int) -> Iterator[FinishedRun]:
    """The next draws; more than are wanted, if some miss."""
    start = case_run.first_number
    numbers = range(start + 1, start + 2 * wanted + 20)
    if wanted <= 0 or case_run.interrupted():
        return
    for finished in (
        (run_once(case_run, number) for number in numbers) if jobs < 2 else _run_elsewhere(case_run, numbers, jobs)
    ):
        wanted -= finished.counts
        yield finished
        if wanted <= 0 or case_run.interrupted():
            return


def _run_elsewhere(case_run: CaseRun, numbers: range, jobs: int) -> Iterator[FinishedRun]:
    """In processes of their own, which look up system and case by name; results come in the order of the seeds."""
    names = (
        case_run.system.name,
        case_run.case.id,
        case_run.tier.value,
        case_run.first_seed,
        case_run.first_serial,
    )
    chunks = ((*names, start, start + CHUNK) for start in range(numbers.start, numbers.stop, CHUNK))
    for results in in_order(_results, chunks, jobs, case_run.interrupted):
        for result in msgspec.msgpack.decode(results, type=list[RunResult]):
            yield FinishedRun(result)


def _results(system: str, case: str, tier: str, first_seed: int, first_serial: int, start: int, stop: int) -> bytes:
    """In a worker process: the results of some draws, encoded."""
    under_test, on = registry.system(system), Tier(tier)
    case_run = CaseRun(
        case_for(under_test, case, on), under_test, on, registry.toolbox(), first_seed, first_serial=first_serial
    )
    return msgspec.msgpack.encode([run_once(case_run, number).result for number in range(start, stop)])


def run_and_store(
    plan: Plan, system: System, tools: Toolbox, tier: Tier, folder: Path, interruption: Interruption
) -> tuple[Run, Path]:
    """Run a checked plan and keep the run in a new folder; the run, and where it is."""
    part = open_run_folder(folder, plan)
    try:
        with interruption.breakable():
            run = run_plan(plan, system, tools, tier, None if tier is Tier.SIM else part, interruption.reason)
    except BaseException:
        discard_run_folder(part)
        raise
    return run, close_run_folder(part, folder, run)
