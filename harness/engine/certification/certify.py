"""Certification: every case that applies, on every tier that runs, and one Journal of it all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from holdfast.harness.engine.cases.case import chosen, is_control, plan_of
from holdfast.harness.engine.cases.case_run import MOST_AGAIN, CaseRun
from holdfast.harness.engine.cases.case_status import case_not_run, case_result, is_open, open_plans
from holdfast.harness.engine.cases.results import Blamed, broken_result
from holdfast.harness.engine.cases.swarm_case import cases_for, why_blocked
from holdfast.harness.engine.certification.agenda import Agenda, owed_by
from holdfast.harness.engine.certification.journal import Ended, Entry, Tallies, journal_of, results_of, tallies_of
from holdfast.harness.engine.certification.kit_run import KitQueue, KitRun
from holdfast.harness.engine.certification.kit_runner import CheckEnded, KitMessage
from holdfast.harness.engine.certification.limits import TimeLimit, Width, first_widths
from holdfast.harness.engine.certification.request import Observer, Request, check_request
from holdfast.harness.engine.certification.result_log import LoggedCase, LoggedCheck, LoggedRun, ResultLog
from holdfast.harness.engine.certification.run_store import RUNS, Keep, RunStore
from holdfast.harness.engine.certification.worker import (
    NICENESS,
    AnyAssignment,
    AnyMessage,
    Assignment,
    Message,
    RunEnded,
    WorkerLost,
    WorkerSettings,
    execute,
)
from holdfast.harness.engine.certification.worker_pool import WorkerPool, WorkQueue, silence_limit_s
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.answers import evidence_of, require_answers
from holdfast.harness.engine.site.foreign import in_words
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.places import read_places
from holdfast.harness.engine.site.room import require_room, why_it_broke
from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import CaseResult, Journal, Status
from holdfast.harness.spi.outside_files import raised
from holdfast.harness.spi.system import SideBySide

MANY = 10_000_000
"""As many drawn plans as the budget allows."""
DRAWN_SHARE = 0.25
"""How much of the budget drawn plans have at least, whatever else waits."""
MOST_SHRUNK = 5
"""Findings whose plan is shrunk."""


Following = TypeVar("Following")


class _Held(Iterator[Following]):
    """One that is at its end for as long as somebody holds it back."""

    def __init__(self, held: Iterator[Following], back: Callable[[], bool]) -> None:
        self._held = held
        self._back = back

    def __next__(self) -> Following:
        if self._back():
            raise StopIteration
        return next(self._held)


class Certification:
    """One invocation of certify.

    Args:
        request: what is certified.
        observer: is notified of each step.
        interruption: read between any two steps.
        log: where each result is written, and read by the invocation that goes on after an interruption; None: nowhere.
        kits: run beside the cases.

    Raises:
        UsageError: the request names what does not exist, or a tier that this machine lacks.
    """

    def __init__(
        self,
        request: Request,
        observer: Observer,
        interruption: Interruption,
        log: ResultLog | None = None,
        kits: Sequence[KitRun] = (),
    ) -> None:
        check_request(request)
        self._request = request
        self._observer = observer
        self._interruption = interruption
        self._log = log
        self._strangers = entry_points.strangers_in(request.system)
        now = datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - for the report alone
        self._started = log.started if log is not None else now
        self._limit = TimeLimit(request.budget_s, log.elapsed_s if log is not None else 0.0)
        drawn_on = (request.tiers or Tier) if request.drawn_everywhere else ()
        system = registry.system(request.system)
        require_answers(system)
        offered = cases_for(system, drawn_on)
        if not request.narrowed:
            offered = owed_by(system.subject, offered)
        self._agenda = Agenda(request, chosen(offered, request.rules, request.areas))
        self._entries: list[Entry] = []
        self._examples: frozenset[tuple[str, Tier]] = frozenset()
        self._ran_out = False
        self._kits = KitQueue(kits, self._why_too_late)

    def run(self) -> Journal:
        """Run the chosen cases on every tier; the journal of what was done, also after an interruption."""
        chosen = self._agenda.first()
        self._kits.restore(self._log)
        self._kits.announce(self._observer.expect_checks)
        while chosen or self._kits.waits:
            entries = [Entry(case, tier) for case, tier in chosen]
            self._entries += entries
            self._examples |= self._agenda.examples(chosen)
            self._restore(entries)
            waiting = [entry for entry in entries if entry.result is None]
            self._observer.expect(
                [
                    (each.case, each.tier)
                    for each in waiting
                    if not self._why_skipped(each.tier) and self._agenda.applies(each.case, each.tier)
                ],
                first_widths(self._agenda.system, self._request.jobs),
            )
            self._take_all(waiting)
            chosen = self._agenda.undecided(results_of(self._entries), filter(self._why_skipped, Tier))
        early, no_more = bool(self._interruption.reason()) or self._ran_out, self._why_too_late()
        ended = Ended(self._started, self._limit.elapsed_s, self._interruption.signal, early, no_more)
        return journal_of(self._agenda, self._entries, ended, self._shrink)

    def _take_all(self, waiting: list[Entry]) -> None:
        """Run them and count what comes of it. Where the harness itself breaks, what is finished stays."""
        try:
            with closing(self._all_messages(waiting)) as messages:
                for entry, message in messages:
                    self._count_or_give_up(entry, message)
        except Exception as error:
            self._interruption.give_up(why_it_broke(error))
        for entry in waiting:
            if entry.result is None:
                self._end(entry, self._cut_short(entry, self._interruption.reason()))

    def _count_or_give_up(self, entry: Entry | KitRun, message: AnyMessage) -> None:
        """Count a message, or give its entry up, such as on a full disk: workers must still end in good order."""
        try:
            if isinstance(entry, KitRun):
                self._take_check(entry, message)
            else:
                assert isinstance(message, Message)
                self._count(entry, message)
            require_room(self._request.folder)
        except Exception as error:
            self._interruption.give_up(why_it_broke(error))

    def _take_check(self, run: KitRun, message: AnyMessage) -> None:
        assert isinstance(message, KitMessage | WorkerLost)
        check = run.take(message)
        if not isinstance(message, CheckEnded):
            self._kits.free(run)
        if check is None:
            return
        self._observer.end_check(run.request.name, check)
        if self._log is not None:
            self._log.add(LoggedCheck(self._limit.elapsed_s, run.request.name, check))

    def _cut_short(self, entry: Entry, reason: str) -> CaseResult:
        """The result of a case that is not over."""
        if entry.case_run is None:
            return case_not_run(entry.case, entry.tier, Status.UNTESTED, reason)
        evidence = evidence_of(entry.case_run.system)
        return case_result(
            entry.case, entry.tier, entry.demanded, entry.tally, self._agenda.tools.oracles, evidence, reason
        )

    def _restore(self, entries: Iterable[Entry]) -> None:
        """Count what an invocation found that was interrupted."""
        for entry in entries if self._log is not None else ():
            logged = self._log.entries.get((entry.case.id, entry.tier), ()) if self._log is not None else ()
            if logged and isinstance(started := self._case_run_of(entry), CaseRun):
                entry.restore(logged)
                entry.case_run = started

    def _all_messages(self, waiting: list[Entry]) -> Generator[tuple[Entry | KitRun, AnyMessage]]:
        """First those of cases that run in the worker pool, then those of the others, one case after the other."""
        here = waiting
        if self._request.jobs > 1 or self._strangers:
            here = [entry for entry in waiting if entry.tier is Tier.CONTAINERS]  # They share services of this process.
            self._limit.halved = any(not self._agenda.why_no_tier(entry.tier) for entry in here)
            yield from self._messages_from_workers([entry for entry in waiting if entry not in here])
            self._limit.halved = False
        drawn = sum(self._agenda.is_drawn(entry.case) for entry in here)
        for entry, case_run, goal in self._each_started(here):
            late = self._limit.late
            if self._agenda.is_drawn(entry.case):
                late, drawn = self._limit.late_for(drawn), drawn - 1
            yield from self._messages_here(entry, case_run, goal, late)
        if self._kits.waits:
            with WorkerPool[Entry | KitRun](self._interruption) as pool:
                yield from pool.messages([WorkQueue(self._kits, self._request.jobs, self._worker_settings())])
        while again := [entry for entry in here if entry.again]:
            for entry, case_run, goal in self._each_started(again):
                yield from self._messages_here(entry, case_run, goal, self._limit.late)

    def _messages_here(
        self, entry: Entry, case_run: CaseRun, goal: int, late: Callable[[], bool]
    ) -> Iterator[tuple[Entry, Message]]:
        try:
            for message in execute(case_run, goal, self._run_store(entry), self._interruption, late):
                yield entry, message
        except OSError:
            raise  # Of the machine: the next case would meet it, too.
        except Exception as error:  # The other cases still say something.
            yield entry, WorkerLost(in_words(error))

    def _worker_settings(self) -> WorkerSettings:
        request = self._request
        return WorkerSettings(
            request.system,
            str(request.folder),
            self._agenda.first_seed,
            request.jobs,
            self._limit.deadline_s,
            limits=raised(1),
        )

    def _messages_from_workers(self, waiting: list[Entry]) -> Iterator[tuple[Entry | KitRun, AnyMessage]]:
        request, settings = self._request, self._worker_settings()
        several = self._agenda.system.side_by_side if isinstance(self._agenda.system, SideBySide) else frozenset()

        def queue(entries: Iterable[Entry], width: int = 1, niceness: int = 0) -> WorkQueue[Entry | KitRun]:
            assignments: Iterator[tuple[Entry | KitRun, AnyAssignment]] = (
                (
                    entry,
                    Assignment(
                        entry.case.id,
                        entry.tier,
                        goal,
                        case_run.first_serial,
                        case_run.numbers,
                        case_run.first_number,
                        silence_limit_s(entry.case.plan_for(0).bounds),
                        self._keep(entry),
                    ),
                )
                for entry, case_run, goal in self._each_started(entries)
            )
            return WorkQueue(assignments, width, msgspec.structs.replace(settings, niceness=niceness))

        width = Width(request.jobs)
        widths = first_widths(self._agenda.system, request.jobs)
        on = {tier: [entry for entry in waiting if entry.tier is tier] for tier in widths}
        queues = {tier: queue(on[tier], wide, NICENESS.get(tier, 0)) for tier, wide in widths.items()}
        # Of kits and drawn plans the latter are behind: they have a processor each, so that none is idle at the end.
        written = queue([entry for entry in on[Tier.SIM] if not self._agenda.is_drawn(entry.case)])
        drawn = queue([entry for entry in on[Tier.SIM] if self._agenda.is_drawn(entry.case)])
        behind = _Held(drawn.assignments, lambda: self._give_way_to(on[Tier.PROCESS]))
        queues[Tier.SIM].assignments = self._kits.between(written.assignments, behind)
        with WorkerPool[Entry | KitRun](self._interruption, read_places()) as pool:
            for entry, message in pool.messages(list(queues.values())):
                yield entry, message
                if Tier.PROCESS in several and isinstance(entry, Entry) and entry.tier is Tier.PROCESS:
                    if isinstance(message, RunEnded):
                        width.take(message.result)
                    elif entry.again:
                        width.shrink()
                    queues[Tier.PROCESS].width = width.value
            while again := [entry for entry in waiting if entry.again]:
                yield from pool.messages([queue(again)])

    def _each_started(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, CaseRun, int]]:
        """Each case that is to be run, with the number of runs that must count; the others end here without a run."""
        for entry in entries:
            again, entry.again = entry.again, False
            if again and entry.result is not None and self._why_skipped(entry.tier):
                self._end(entry, entry.result)
                continue
            entry.rounds, entry.stalled = entry.rounds + 1, entry.tally.stalled
            started = self._start(entry)
            if isinstance(started, CaseResult):
                self._end(entry, started)
                continue
            entry.case_run = started
            self._observer.begin(entry.case.id, entry.tier, entry.demanded)
            drawn_on = self._request.budget_s is not None and self._agenda.is_drawn(entry.case)
            goal = MANY if drawn_on else entry.demanded
            yield entry, started, max(1, goal - len(entry.tally.counted)) if entry.first_number else goal

    def _start(self, entry: Entry) -> CaseRun | CaseResult:
        started = self._case_run_of(entry)
        # A case that does not apply is none that there was no time for.
        late = self._limit.reason()
        reason = late or self._interruption.reason() or self._why_blocked(entry) or self._why_gives_way(entry)
        if reason and isinstance(started, CaseRun):
            # Time that is given to drawn plans is meant to be used up.
            self._ran_out |= bool(late) and not self._agenda.is_drawn(entry.case)
            return self._cut_short(entry, reason)
        return started

    def _why_blocked(self, entry: Entry) -> str:
        """What a rehearsal showed that keeps a case from being run; empty: nothing."""
        if entry.case.rehearsal:
            return ""
        shown = [each for each in self._entries if each.case.rehearsal and each.result is not None]
        reasons = (why_blocked(each.case, each.tier, each.tally, entry.tier) for each in shown)
        return next(filter(None, reasons), "")

    def _why_gives_way(self, entry: Entry) -> str:
        """Why a control, which shows something of the harness alone, leaves the rest of the time limit to drawn plans
        that wait; empty: it may begin."""
        if not (is_control(entry.case) and self._limit.late_by(1 - DRAWN_SHARE)):
            return ""
        drawn = [each for each in self._entries if each.tier is entry.tier and self._agenda.is_drawn(each.case)]
        if any(each.waits and self._agenda.applies(each.case, each.tier) for each in drawn):
            return f"{DRAWN_SHARE:.0%} of the time limit of {self._limit.budget_s:.0f} s are left to drawn plans"
        return ""

    def _give_way_to(self, entries: Iterable[Entry]) -> bool:
        """Whether drawn plans that go on until the time is over wait for these, which mostly wait for a processor where
        anybody computes beside them. Some of the time is left to drawn plans in any case."""
        if self._request.budget_s is None or self._limit.late_by(1 - DRAWN_SHARE):
            return False
        return any(each.waits and not self._agenda.is_drawn(each.case) for each in entries)

    def _case_run_of(self, entry: Entry) -> CaseRun | CaseResult:
        """How a case is run; or its result, if it is not."""
        case, tier = entry.case, entry.tier
        under_test = self._agenda.under_test(case, tier)
        if isinstance(under_test, CaseResult):
            return under_test
        entry.demanded = self._agenda.demanded(case, tier)
        folder = self._request.folder / RUNS
        interrupted, first_serial = self._interruption.reason, entry.tally.runs - entry.first_number
        numbers = open_plans(entry.demanded, entry.tally) if first_serial and not self._agenda.is_drawn(case) else ()
        return CaseRun(
            case,
            under_test,
            tier,
            self._agenda.tools,
            self._agenda.first_seed,
            folder,
            first_serial,
            interrupted,
            numbers,
            entry.first_number,
        )

    def _count(self, entry: Entry, message: Message) -> None:
        assert entry.case_run is not None
        case, case_run = entry.case, entry.case_run
        if isinstance(message, RunEnded):
            entry.take(message)
            if self._log is not None:
                self._log.add(LoggedRun(self._limit.elapsed_s, message.result, message.kept))
            # That a control fails is as it should be.
            self._observer.ran(message.result, None if is_control(case) else message.kept)
            return
        if isinstance(message, WorkerLost):
            plan = plan_of(case, case_run.system, self._agenda.first_seed, entry.tally.runs)
            error = Blamed(message.reason) if self._strangers and message.blamed else OSError(message.reason)
            lost = broken_result(plan, entry.tier, case.id, entry.tally.runs, error)
            entry.take(RunEnded(lost, lost))
            if self._log is not None:
                self._log.add(LoggedRun(self._limit.elapsed_s, lost, lost))
        else:
            entry.histories += message.histories
        interrupted = self._interruption.reason()
        evidence, reason = evidence_of(case_run.system), interrupted or self._limit.reason()
        tools, tier = self._agenda.tools, entry.tier
        result = case_result(case, tier, entry.demanded, entry.tally, tools.oracles, evidence, reason)
        if is_open(result) and self._may_be_decided(entry):
            entry.again, entry.result = True, result
        else:
            self._end(entry, result)
            # What a signal ended goes on later, unless every plan of it has run.
            complete = not self._agenda.is_drawn(case) and len(entry.tally.counted) >= entry.demanded
            if self._log is not None and (complete or not interrupted):
                self._log.add(LoggedCase(self._limit.elapsed_s, result, entry.histories))

    def _may_be_decided(self, entry: Entry) -> bool:
        """Whether a case is open because it had to share the machine with other cases, or with anybody else."""
        if entry.tier is Tier.SIM or entry.rounds > MOST_AGAIN or entry.tally.deaths_at_once.reason:
            return False
        if entry.tally.lacks:
            return False  # The bounds of that run grew with what the machine was busy with.
        others = self._request.jobs > 1 and entry.tier in (Tier.PROCESS, Tier.SPARK)
        return (others and entry.rounds == 1) or entry.tally.stalled > entry.stalled

    def _run_store(self, entry: Entry) -> RunStore:
        return RunStore(self._request.folder, self._agenda.tools.faults, self._keep(entry))

    def _keep(self, entry: Entry) -> Keep:
        """Which runs of a case are stored: of passing ones, an example for each area and tier."""
        if self._request.keep_all:
            return Keep.ALL
        return Keep.EXAMPLE if (entry.case.id, entry.tier) in self._examples else Keep.OPEN

    def _end(self, entry: Entry, result: CaseResult) -> None:
        entry.result = result
        self._observer.end(result)

    def _shrink(self, found: Sequence[Finding]) -> None:
        """Put smaller runs beside those of the worst findings: explaining must not take longer than testing."""
        entries = {run.id: (entry, run) for entry in self._entries for run in entry.kept}
        refuted = [entries[each.run] for each in found if each.status is Status.FAIL and each.run in entries]
        refuted = [(entry, run) for entry, run in refuted if run.verdicts]
        for entry, failed in [each for each in refuted if each[0].tier is Tier.SIM][:MOST_SHRUNK]:
            if self._interruption.reason() or entry.case_run is None:
                return
            self._observer.shrinking(failed)
            small = self._run_store(entry).shrink(failed, entry.case_run)
            if small is not None:
                entry.kept.append(small)
                self._observer.shrunk(failed, small)

    def _why_skipped(self, tier: Tier) -> str:
        return self._agenda.why_no_tier(tier) or self._why_too_late()

    def _why_too_late(self) -> str:
        return self._limit.reason() or self._interruption.reason()

    def tallies(self) -> Tallies:
        """The tallies of the system under test, by case and tier."""
        return tallies_of(self._entries)
