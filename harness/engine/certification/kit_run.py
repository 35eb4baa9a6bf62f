"""One kit on one factory, check by check, to the journal of its certificate. Checks run in a worker of their own, so
that a part which ends, crashes or hangs that process costs one check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic  # noqa: TID251 - for the report alone
from typing import Annotated, TypeVar

import msgspec

from holdfast.harness.engine.certification.kit_journal import floor_of, kit_journal
from holdfast.harness.engine.certification.kit_runner import CheckEnded, KitAssignment, KitMessage, KitRefused
from holdfast.harness.engine.certification.request import Seed
from holdfast.harness.engine.certification.result_log import ResultLog
from holdfast.harness.engine.certification.worker import AnyAssignment, WorkerLost, WorkerSettings
from holdfast.harness.engine.certification.worker_pool import WorkerPool, WorkQueue
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.room import why_it_broke
from holdfast.harness.engine.site.surroundings import store_keys
from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Command
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import Kit, KitCheck, TriesUnderFaults

Key = TypeVar("Key")
CHECK_S = 0.2
"""What a check of a kit without a recorded cost is taken to cost."""
SILENCE_LIMIT_S = 1_800.0
"""How long one check may take, beside the limits that a kit sets to each call."""


class KitRequest(msgspec.Struct, frozen=True, tag="part"):
    """What a kit is to check.

    Attributes:
        contract: name of the kit, such as `state-backend`.
        factory: as `module:name`, or what else the kit knows factories by.
        command: as typed.
        rules: only checks that decide one of these; empty: all.
        seed: of all random programs.
        location, options: as Kit.certify.
        tiers: where it may run; empty: everywhere.
        program_share: of the random programs of a check, how many run.
    """

    contract: str
    factory: str
    command: str
    rules: frozenset[str] = frozenset()
    seed: Seed = 0
    location: str = ""
    options: Mapping[str, str] = {}
    tiers: frozenset[Tier] = frozenset()
    program_share: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0

    @property
    def name(self) -> str:
        """Unique among the parts of a system."""
        return " ".join(filter(None, (self.contract, self.factory, self.location)))

    def again(self, rule: str, inside: str = "") -> Command:
        """What runs the checks of one rule again.

        Args:
            rule: which.
            inside: as `Command` takes it.
        """
        given = [f"--{self.contract}", self.factory, *(["--location", self.location] if self.location else [])]
        given += [word for key, value in self.options.items() for word in ("--option", f"{key}={value}")]
        given += ["--rule", rule, *(["--seed", str(self.seed)] if self.seed else [])]
        everywhere = ":" not in self.factory and not self.location and not self.options
        return Command("certify", options=tuple(given), inside="" if everywhere else inside)


class KitRun:
    """Attributes:
        request: what it is to check.
        checks: that are over.
        waiting: that are not, in the order in which they run.
        refused: why none can run, one sentence; empty: they can.
        earlier_s: how long earlier invocations took.
        why_not: why those that wait do not run, without a full stop; empty: they do, or all are over.

    Raises:
        UsageError: no installed kit judges such a contract.
    """

    def __init__(self, request: KitRequest) -> None:
        self.request = request
        self.checks: list[KitCheck] = []
        self.refused = self.why_not = ""
        self.earlier_s = 0.0
        self._kit: Kit = registry.kit(request.contract)
        self.waiting = [each for each in self._planned() if not request.rules or each.own_rule in request.rules]
        self._began_s = monotonic()

    @property
    def left_s(self) -> float:
        """About how long the checks take that wait, one after the other, on an idle machine."""
        recorded_s = registry.case_costs().get((self.request.name, Tier.SIM))
        planned = len(self._kit.checks)
        check_s = CHECK_S if recorded_s is None or not planned else recorded_s / planned
        return check_s * len(self.waiting)

    def assignment(self) -> KitAssignment | None:
        """What a worker does next; None: nothing. A whole runtime is tried with what its kit has not refuted."""
        if self.refused or not self.waiting:
            return None
        tier, request = self.waiting[0].tier, self.request
        if tier is Tier.PROCESS and any(check.status is Status.FAIL for check in self.checks):
            return None
        return KitAssignment(
            request.contract,
            request.factory,
            tuple(each for each in self.waiting if each.tier is tier),
            request.seed,
            request.location,
            dict(request.options),
            under_faults=tier is Tier.PROCESS,
            silence_limit_s=SILENCE_LIMIT_S,
            program_share=request.program_share,
            store_keys=dict(store_keys()) if "://" in request.factory + request.location else {},
        )

    def take(self, message: KitMessage | WorkerLost) -> KitCheck | None:
        """Note what came of it; the check that is over, if one is."""
        if isinstance(message, KitRefused):
            self.refused = message.reason
        elif isinstance(message, CheckEnded):
            check = self._without_error(message.check)
            self.restore(check)
            return check
        elif isinstance(message, WorkerLost) and self.waiting:
            status = Status.FAIL if message.blamed else Status.INCONCLUSIVE
            lost = msgspec.structs.replace(self.waiting[0], status=status, reason=message.reason)
            self.restore(lost)
            return lost
        return None

    def _without_error(self, check: KitCheck) -> KitCheck:
        """A check as it counts: where a kit breaks in a process in which somebody else's code runs, that code may have
        made it do so. No part chooses that the harness is in error."""
        if check.status is not Status.ERROR or not registry.strangers_in_part(self.request.factory):
            return check
        reason = f"{check.reason}, in a process in which {self.request.factory} may do anything"
        return msgspec.structs.replace(check, status=Status.INCONCLUSIVE, reason=reason)

    def restore(self, check: KitCheck) -> None:
        self.checks.append(check)
        self.waiting = [each for each in self.waiting if each.id != check.id]

    def journal(self, started: str, interrupted: str, inside: str = "") -> Journal:
        """The journal of the checks so far.

        Args:
            started: ISO 8601 in UTC.
            interrupted: name of the signal that ended it early, or what else did; empty: nothing.
            inside: the folder of this process, relative to that of the report.
        """
        rules = self.request.rules
        return kit_journal(
            self.checks,
            command=self.request.command,
            factory=self.request.factory,
            subject=self._kit.subject,
            started=started,
            duration_s=self.earlier_s + monotonic() - self._began_s,
            seed=self.request.seed,
            interrupted=interrupted if self.assignment() is not None else "",
            left_out=self._kit.rules - rules if rules else frozenset(),
            floor=floor_of(self._kit),
            again=partial(self.request.again, inside=inside),
        )

    def _planned(self) -> Iterator[KitCheck]:
        tiers = self.request.tiers
        if not tiers or Tier.SIM in tiers:
            yield from self._kit.checks
        if isinstance(self._kit, TriesUnderFaults) and (not tiers or Tier.PROCESS in tiers):
            yield from self._kit.checks_under_faults


def run_kit(run: KitRun, folder: Path, interruption: Interruption, ended: Callable[[KitCheck], None]) -> None:
    """Run every check of a kit, and, if it refutes nothing, what runs in a whole runtime.

    Args:
        run: of the kit.
        folder: below which what a lost worker left is undone.
        interruption: read at any time.
        ended: called with each check.
    """
    queue = KitQueue([run], interruption.reason)
    settings = WorkerSettings(system="", folder=str(folder), first_seed=1, jobs=1, deadline_s=None)
    try:
        with WorkerPool[KitRun](interruption) as pool:
            for _, message in pool.messages([WorkQueue(queue, 1, settings)]):
                assert isinstance(message, KitMessage | WorkerLost)
                check = run.take(message)
                if not isinstance(message, CheckEnded):
                    queue.free(run)
                if check is not None:
                    ended(check)
    except Exception as error:
        interruption.give_up(why_it_broke(error))


class _Between(Iterator[tuple[Key | KitRun, AnyAssignment]]):
    """See KitQueue.between; it may go on behind its end."""

    def __init__(self, *parts: Iterator[tuple[Key | KitRun, AnyAssignment]]) -> None:
        self._parts = parts

    def __next__(self) -> tuple[Key | KitRun, AnyAssignment]:
        for part in self._parts:
            if (following := next(part, None)) is not None:
                return following
        raise StopIteration


class KitQueue(Iterator[tuple[KitRun, KitAssignment]]):
    """Assignments of kits, the longest first, so that none is alone at the end. One whose worker was lost comes again,
    with the checks that are left.

    Args:
        runs: of the kits.
        why_late: why nothing begins any more, or an empty text.
    """

    def __init__(self, runs: Iterable[KitRun], why_late: Callable[[], str]) -> None:
        self._runs = list(runs)
        self._longest_first = sorted(self._runs, key=lambda run: -run.left_s)
        self._why_late = why_late
        self._busy: list[KitRun] = []

    def __next__(self) -> tuple[KitRun, KitAssignment]:
        for run in self._longest_first:
            if run in self._busy:
                continue
            run.why_not = self._why_late() if run.assignment() is not None else ""
            assignment = run.assignment()
            if assignment is not None and not run.why_not:
                self._busy.append(run)
                return run, assignment
        raise StopIteration

    @property
    def waits(self) -> bool:
        """Whether a kit has something to do."""
        return any(run.assignment() is not None for run in self._runs) and not self._why_late()

    def announce(self, expect: Callable[[str, Sequence[KitCheck], float], None]) -> None:
        """Say which checks of which kits are to run, and for about how many seconds."""
        for run in self._runs:
            expect(run.request.name, run.waiting, run.left_s)

    def restore(self, log: ResultLog | None) -> None:
        """Take over the checks that an invocation made which was interrupted."""
        for run in self._runs if log is not None else ():
            for check in log.checks.get(run.request.name, ()) if log is not None else ():
                run.restore(check)

    def between(
        self,
        before: Iterator[tuple[Key | KitRun, AnyAssignment]],
        behind: Iterator[tuple[Key | KitRun, AnyAssignment]],
    ) -> Iterator[tuple[Key | KitRun, AnyAssignment]]:
        """The assignments of kits, also such as come again later, between others."""
        return _Between(before, self, behind)

    def free(self, run: KitRun) -> None:
        """Let a run take another worker: its own is gone, or at the end of its assignment."""
        self._busy.remove(run)
