"""Many runs of one case: as many as it demands must count, and a run that missed is replaced.

A generator, so that whoever asks sees every result at once, may stop at any time, and memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import perf_counter  # noqa: TID251 - what a run cost; no decision depends on it

import msgspec

from holdfast.harness.engine.artefacts.stored_run import discard_run_folder, open_run_folder
from holdfast.harness.engine.cases.case import accused_of, plan_of, why_not_applicable
from holdfast.harness.engine.cases.results import broken_result, run_id, run_result
from holdfast.harness.engine.cases.standing import case_not_run, case_result, is_open, open_plans
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import Run, run_plan, uninterrupted
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.engine.site.workers import in_order
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, RunResult, Status
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import System

ATTEMPTS = 4
"""How often a run of a plan written by hand is tried until it counts."""
MOST_AGAIN = 3
"""How often a case that is open on a real tier is run again, where the machine was too busy for it."""
CHUNK = 20
"""Plans that a worker process gets at once."""


class Question(msgspec.Struct, frozen=True):
    """One case put to one system on one tier.

    Attributes:
        first_seed: draw seed of run 0; run n gets the n-th after it.
        folder: where runs on real tiers get their folders.
        first_serial: of run 0; not 0 where the case was asked before.
        numbers: only these of the plans that were written by hand; empty: all.
        interrupted: the reason to stop, or an empty text.
    """

    case: Case
    system: System
    tier: Tier
    tools: Toolbox
    first_seed: int = 1
    folder: Path | None = None
    first_serial: int = 0
    interrupted: Callable[[], str] = uninterrupted
    numbers: tuple[int, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """One run: its result, the run itself if it took place in this process, and its folder on real tiers."""

    result: RunResult
    run: Run | None = None
    part: Path | None = None

    @property
    def counts(self) -> bool:
        return self.result.outcome is not Outcome.INCONCLUSIVE


def ask(question: Question, number: int, attempt: int = 0, serial: int | None = None) -> Answer:
    """Run once.

    Args:
        number: of the plan among those of the case, from 0.
        attempt: how often this one missed already.
        serial: of the run among all runs of the case; `number` if it was not tried before.
    """
    case, tier = question.case, question.tier
    serial = question.first_serial + (number if serial is None else serial)
    plan = plan_of(case, question.system, question.first_seed, number, attempt)
    part = None
    if tier is not Tier.SIM and question.folder is not None:
        part = open_run_folder(question.folder / run_id(case.id, tier, serial), plan)
    start = perf_counter()
    try:
        run = run_plan(plan, question.system, question.tools, tier, part, question.interrupted)
    except (UsageError, KeyboardInterrupt):
        if part is not None:
            discard_run_folder(part)
        raise
    except Exception as error:  # The harness broke; the other runs still say something.
        return Answer(_numbered(broken_result(plan, tier, case.id, serial, error), number), None, part)
    wall_ms = (perf_counter() - start) * 1_000
    return Answer(_numbered(run_result(run, case.id, serial, wall_ms, case.windows), number), run, part)


def _numbered(result: RunResult, number: int) -> RunResult:
    return msgspec.structs.replace(result, plan_number=number)


def ask_until(question: Question, demanded: int, jobs: int = 1) -> Iterator[Answer]:
    """Run until `demanded` runs count, or it is no use."""
    numbers = question.numbers or tuple(range(demanded))
    first = ask(question, numbers[0], serial=0)
    yield first
    if first.result.draw_seed:
        yield from _ask_drawn(question, demanded - first.counts, jobs)
    else:
        yield from _ask_written(question, numbers, first, alone=demanded == 1)


def ask_case(system: str, case: Case, tier: Tier, *, first_seed: int = 1, folder: Path | None = None) -> CaseResult:
    """Put one case to a system, from beginning to end.

    Raises:
        ForeignError: the system tried to end this process outside a run.
    """
    with foreign(f"system {system!r}"):
        return _case_asked(system, case, tier, first_seed, folder)


def _case_asked(system: str, case: Case, tier: Tier, first_seed: int, folder: Path | None) -> CaseResult:
    tools = registry.toolbox()
    try:
        accused = accused_of(case, registry.system(system), first_seed)
    except NotApplicable as error:
        return case_not_run(case, tier, Status.NOT_APPLICABLE, str(error))
    if reason := why_not_applicable(case, accused, tier, tools):
        return case_not_run(case, tier, Status.NOT_APPLICABLE, reason)
    tally, rounds = Tally(), 0
    question = Question(case, accused, tier, tools, first_seed, folder)
    while True:
        stalled = tally.stalled
        for answer in ask_until(question, case.runs):
            tally.add(answer.result)
        result, rounds = case_result(case, tier, case.runs, tally, tools.oracles, accused.evidence()), rounds + 1
        if not is_open(result) or rounds > MOST_AGAIN or tally.stalled == stalled:
            return result
        numbers = () if answer.result.draw_seed else open_plans(case.runs, tally)
        question = msgspec.structs.replace(question, first_serial=tally.runs, numbers=numbers)


def _ask_written(question: Question, numbers: tuple[int, ...], first: Answer, *, alone: bool) -> Iterator[Answer]:
    """Each plan again, with other random numbers, until it counts; one that is alone, until its clauses decided."""
    serials = count(1)
    for number in numbers:
        begun = number == numbers[0]
        counted = begun and _enough(question.case, first, alone=alone)
        for attempt in range(int(begun), ATTEMPTS):
            if counted or question.interrupted():
                break
            answer = ask(question, number, attempt, next(serials))
            counted = _enough(question.case, answer, alone=alone)
            yield answer


def _enough(case: Case, answer: Answer, *, alone: bool) -> bool:
    """Whether a run counts; if it is the only one of its case, also whether it hit every window that is demanded, and
    every deciding clause that was judged had something to decide: on real machines that takes luck."""
    if not answer.counts or not alone or answer.result.outcome is Outcome.FAIL:
        return answer.counts
    if not all(answer.result.windows.get(window) for window in case.windows):
        return False
    checked = {verdict.oracle: verdict.checked for verdict in answer.result.verdicts}
    return all(
        checked[decision.oracle].get(clause)
        for decision in case.decides
        if decision.oracle in checked
        for clause in decision.clauses
    )


def _ask_drawn(question: Question, wanted: int, jobs: int) -> Iterator[Answer]:
    """The next draws; more than are wanted, if some miss."""
    numbers = range(1, 2 * wanted + 20)
    if wanted <= 0 or question.interrupted():
        return
    for answer in (
        (ask(question, number) for number in numbers) if jobs < 2 else _ask_elsewhere(question, numbers, jobs)
    ):
        wanted -= answer.counts
        yield answer
        if wanted <= 0 or question.interrupted():
            return


def _ask_elsewhere(question: Question, numbers: range, jobs: int) -> Iterator[Answer]:
    """In processes of their own, which look up system and case by name; results come in the order of the seeds."""
    names = (question.system.name, question.case.id, question.tier.value, question.first_seed)
    chunks = ((*names, start, start + CHUNK) for start in range(numbers.start, numbers.stop, CHUNK))
    for results in in_order(_results, chunks, jobs, question.interrupted):
        for result in msgspec.msgpack.decode(results, type=list[RunResult]):
            yield Answer(result)


def _results(system: str, case: str, tier: str, first_seed: int, start: int, stop: int) -> bytes:
    """In a worker process: the results of some draws, encoded."""
    accused = registry.system(system)
    question = Question(case_for(accused, case), accused, Tier(tier), registry.toolbox(), first_seed)
    return msgspec.msgpack.encode([ask(question, number).result for number in range(start, stop)])
