"""What a user sees while a certification runs.

First a line with what runs and for how long. Then on a terminal one line that changes: how much is over, how much is
refuted, how much time is left. Where there is no terminal, a line for each area that is over, and a line that says how
far it is wherever nothing else was printed for SILENT_S.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import shorten
from threading import Event, Thread
from time import monotonic  # noqa: TID251 - what a user sees; no run depends on it
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from holdfast.harness.commands.own_process import run_ended
from holdfast.harness.engine.certification.agenda import cost_s
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, RunResult, Status
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.status import STATUS_STYLES, STATUS_WORDS
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.kit import KitCheck

OTHER_COSTS_COUNT_S = 10.0
"""As long as this the pace that follows from the number of workers counts, before that of this machine is known."""


class TimeLeft:
    """Counts by tier how many seconds runs take alone, and how many of those pass in a second.

    Args:
        budget_s: after which no run starts; None: there is no such limit.

    Attributes:
        widths: how many workers a tier has, one if it is not named; those of all tiers work at the same time.
    """

    def __init__(self, *, budget_s: float | None) -> None:
        self.widths: Mapping[Tier, int] = {}
        self._budget_s = budget_s
        self._run_s: dict[tuple[str, Tier], float] = {}
        self._to_come: dict[tuple[str, Tier], int] = {}
        self._done_s: dict[Tier, float] = {}
        self._began_s: dict[Tier, float] = {}

    def cost(self, case: str, tier: Tier, run_s: float) -> None:
        """Set how long a run of that case takes, alone on an idle machine."""
        self._run_s[case, tier] = run_s

    def expect(self, case: str, tier: Tier, runs: int) -> None:
        """So many runs of a case are to come, whatever was expected before."""
        self._to_come[case, tier] = runs

    def began(self, tier: Tier, now_s: float) -> None:
        """Note that a case begins on a tier, `now_s` after the start of the certification."""
        self._began_s.setdefault(tier, now_s)

    def ran(self, case: str, tier: Tier) -> None:
        """Count a run that is over."""
        self._done_s[tier] = self._done_s.get(tier, 0.0) + self._run_s.get((case, tier), 0.0)

    def estimate_s(self, now_s: float) -> float:
        """Seconds from now on.

        Args:
            now_s: since the start of the certification.
        """
        if self._budget_s is not None:
            return max(self._budget_s - now_s, 0.0)
        left: dict[Tier, float] = {}
        for (case, tier), runs in tuple(self._to_come.items()):  # Another thread may add some.
            left[tier] = left.get(tier, 0.0) + runs * self._run_s.get((case, tier), 0.0)
        return max((alone_s / self._pace(tier, now_s) for tier, alone_s in left.items()), default=0.0)

    def _pace(self, tier: Tier, now_s: float) -> float:
        """Seconds of runs that pass in a second: as many as there are workers, until it is known better."""
        elapsed_s = now_s - self._began_s.get(tier, now_s)
        expected_s = self.widths.get(tier, 1) * OTHER_COSTS_COUNT_S
        return (self._done_s.get(tier, 0.0) + expected_s) / (elapsed_s + OTHER_COSTS_COUNT_S)


SILENT_S = 20.0
"""After so long without a line a log says how far it is."""
LEAST_ESTIMATE_S = 60.0
"""What is estimated to take less may take so long before that is called longer than estimated."""
MOST_REFUTED = 5
"""Kinds of findings that are printed as they come; the report has all."""
MOST_OF_A_FINDING = 120
"""Characters of one of these."""
KITS = "kits"
"""The area of checks of kits."""
_DID_NOT_RUN = {Status.NOT_APPLICABLE, Status.UNTESTED}


class CaseProgress:
    """Shows how far a certification is (request.Observer); a context manager, because the last line must go again.

    Args:
        console: where.
        request: what is certified.
        quiet: show nothing.
    """

    def __init__(self, console: Console, request: Request, *, quiet: bool = False) -> None:
        self._console = console
        self._request = request
        self._quiet = quiet
        self._live = console.is_terminal and not quiet
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[counted]}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not self._live,
        )
        self._task = self._progress.add_task("choosing cases", total=None, counted=request.system)
        self._left = TimeLeft(budget_s=request.budget_s)
        self._start_s = monotonic()
        self._line_s = 0.0
        self._ended_s = self._due_s = 0.0
        self._areas: dict[str, _Area] = {}
        self._demanded: dict[tuple[str, Tier], int] = {}
        self._counted: Counter[tuple[str, Tier]] = Counter()
        self._checks: dict[str, list[str]] = {}
        self._total = self._over = self._runs = 0
        self._refuted: set[tuple[str, str]] = set()
        self._begun: dict[tuple[str, Tier], str] = {}
        self._current = ""
        self._is_announced = False
        self._ended = Event()
        self._pulse = Thread(target=self._beat, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._progress.start()
        if not self._quiet:
            self._pulse.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._pulse.ident is not None:
            self._pulse.join()
        self._progress.stop()

    def expect(self, cases: Sequence[tuple[Case, Tier]], widths: Mapping[Tier, int]) -> None:
        self._left.widths = widths
        costs = registry.case_costs()
        for case, tier in cases:
            self._areas.setdefault(_area(case.id), _Area("case")).open += 1
            self._demanded[case.id, tier] = case.runs
            self._left.cost(case.id, tier, cost_s(costs, case, tier) / max(case.runs, 1))
            self._left.expect(case.id, tier, case.runs)
        if not self._is_announced:
            self._announce(self._announced(cases))
        self._total += len(cases)
        self._show("")

    def begin(self, case: str, tier: Tier, demanded: int) -> None:
        self._demanded[case, tier] = demanded
        self._left.began(tier, self._now_s)
        self._expect(case, tier)
        self._begun[case, tier] = f"{case} on {tier}"
        self._show(self._begun[case, tier])

    def ran(self, result: RunResult, kept: RunResult | None) -> None:
        key = result.case, result.tier
        self._runs += 1
        self._counted[key] += result.outcome is not Outcome.INCONCLUSIVE
        self._left.ran(*key)
        self._expect(*key)
        if kept is not None and kept.finding is not None and kept.finding.cause is not None:
            self._refute((kept.finding.cause.name, kept.finding.damage or ""), kept, kept.finding.what)
        elif result.outcome is Outcome.FAIL and kept is not None:
            self._refute((kept.case, kept.tier), kept, "")
        self._show(f"{result.case} on {result.tier}")

    def shrinking(self, result: RunResult) -> None:
        self._show(f"looking for a smaller plan than that of {result.id}")

    def shrunk(self, result: RunResult, small: RunResult) -> None:
        self._show(f"a smaller plan than that of {result.id} is found")

    def end(self, result: CaseResult) -> None:
        key = result.case, result.tier
        if key not in self._demanded:
            return
        del self._demanded[key]
        if self._begun.pop(key, "") == self._current:  # Another one is under way, or none.
            self._current = next(reversed(self._begun.values()), "")
        self._left.expect(*key, 0)
        runs = result.runs_passed + result.runs_failed + result.runs_inconclusive
        self._end(_area(result.case), result.status, runs)

    def expect_checks(self, kit: str, checks: Sequence[KitCheck], alone_s: float) -> None:
        """Take the checks that a kit runs, in this order.

        Args:
            kit: what it judges, in words, such as `sink my_sink:Sink`.
            checks: that are not over.
            alone_s: about how long they take, on an idle machine.
        """
        self._checks[kit] = [check.id for check in checks]
        area = self._areas.setdefault(f"{KITS}: {kit}", _Area("check"))
        area.open += len(checks)
        self._left.cost(kit, Tier.SIM, alone_s / max(len(checks), 1))
        self._left.expect(kit, Tier.SIM, len(checks))
        if kit == self._request.system:  # It is certified alone; the parts of a system are announced with its cases.
            self._announce(f"{kit}: {plural(len(checks), 'check')}; {self._where()}")
        self._total += len(checks)
        self._show(self._check_of(kit))

    def end_check(self, kit: str, check: KitCheck) -> None:
        """Note that a check is over; the kit runs the next one."""
        self._checks[kit] = [each for each in self._checks[kit] if each != check.id]
        self._left.ran(kit, Tier.SIM)
        self._left.expect(kit, Tier.SIM, len(self._checks[kit]))
        if check.status is Status.FAIL:
            self._note((kit, check.id), f"{check.id} of {kit}: {check.reason}")
        self._end(f"{KITS}: {kit}", check.status, 0)
        self._show(self._check_of(kit))

    def _check_of(self, kit: str) -> str:
        return f"{self._checks[kit][0]} of {kit}" if self._checks[kit] else ""

    def _end(self, name: str, status: Status, runs: int) -> None:
        self._over += 1
        area = self._areas[name]
        area.add(status, runs)
        if not area.open and area.ran and not self._live:
            self._say(area.line(name))
        self._show("")

    def _refute(self, kind: tuple[str, str], kept: RunResult, what: str) -> None:
        self._note(kind, f"{kept.case} on {kept.tier}{f': {what}' if what else ''}")

    def _note(self, kind: tuple[str, str], words: str) -> None:
        """Print what is refuted as it comes, each kind once."""
        if kind in self._refuted:
            return
        self._refuted.add(kind)
        if len(self._refuted) <= MOST_REFUTED:
            self._say(Text("REFUTED  ", "bold red") + Text(shorten(words, MOST_OF_A_FINDING, placeholder=" ...")))

    def _announce(self, line: str) -> None:
        self._is_announced = True
        self._say(Text(line))

    def _announced(self, cases: Sequence[tuple[Case, Tier]]) -> str:
        """What will run, where, for how long, and where the report will be."""
        request = self._request
        tiers = ", ".join(tier for tier in Tier if any(each is tier for _, each in cases))
        on_tiers = f" on {tiers}" if tiers else ""
        runs = plural(sum(case.runs for case, _ in cases), "run")
        left_s = self._left.estimate_s(0.0)
        limit = f"at most {_duration(left_s)}" if request.budget_s is not None else f"about {_duration(left_s)}"
        on = f"on {plural(request.jobs, 'processor')}"
        counted = [f"{plural(len(cases), 'case')}, {runs} or more"] if cases else []
        if checks := sum(map(len, self._checks.values())):
            counted.append(f"{plural(checks, 'check')} of {plural(len(self._checks), 'part')}")
        what = ", ".join((*counted, f"{limit} {on}"))
        return f"{request.system}{on_tiers}: {what}; {self._where()}"

    def _where(self) -> str:
        return f"the report goes to {self._request.folder}"

    def _expect(self, case: str, tier: Tier) -> None:
        """Runs of an open case that still must count: a run that does not count is repeated, so one at least."""
        demanded = self._demanded.get((case, tier), 0)
        self._left.expect(case, tier, max(1, demanded - self._counted[case, tier]))

    @property
    def _now_s(self) -> float:
        return monotonic() - self._start_s

    def _show(self, current: str) -> None:
        """Show how far it is, in place on a terminal, when something begins or ends."""
        run_ended()
        self._current = current or self._current
        self._ended_s = self._now_s
        self._due_s = self._ended_s + max(self._left.estimate_s(self._ended_s), LEAST_ESTIMATE_S)
        if self._live:
            self.look()

    def _beat(self) -> None:
        """Whoever looks sees that the certification lives, also while one long run is under way."""
        while not self._ended.wait(1.0):
            self.look()

    def look(self) -> None:
        """Show how far it is; in a log, if that was silent for long."""
        if self._live:
            self._progress.update(
                self._task,
                total=self._total,
                completed=self._over,
                counted=f"{self._over} of {self._total}",
                description=", ".join(filter(None, (self._found(), self._estimate(), self._current))),
            )
        elif self._now_s - self._line_s >= SILENT_S and self._total:
            parts = (f"{self._over} of {self._total} are over", self._found(), self._estimate(), self._current)
            self._say(Text(", ".join(filter(None, parts)), "dim"))

    def _found(self) -> str:
        return f"{len(self._refuted) or 'nothing'} refuted"

    def _estimate(self) -> str:
        """How long it still takes; where that time is over, and nothing has ended since, no more than how long ago that
        is."""
        if not self._over:
            return ""
        if self._now_s > self._due_s:
            return f"longer than was estimated: nothing has ended for {_duration(self._now_s - self._ended_s)}"
        return f"about {_duration(self._left.estimate_s(self._now_s))} left"

    def _say(self, line: Text) -> None:
        self._line_s = self._now_s
        if not self._quiet:
            self._console.print(line)


class _Area:
    """The cases of one area, or the checks of one kit; `open`: how many are not over."""

    def __init__(self, noun: str) -> None:
        self.open = 0
        self._noun = noun
        self._runs = 0
        self._statuses: Counter[Status] = Counter()

    @property
    def ran(self) -> bool:
        """Whether any of its cases did."""
        return not set(self._statuses) <= _DID_NOT_RUN

    def add(self, status: Status, runs: int) -> None:
        self.open -= 1
        self._statuses[status] += 1
        self._runs += runs

    def line(self, name: str) -> Text:
        """The worst status first, because that is what a reader looks for: what did not run is no PASS."""
        worst = max(self._statuses, key=list(Status).index)
        if worst is Status.NOT_APPLICABLE and self._statuses[Status.PASS]:
            worst = Status.PASS
        counted = [
            f"{self._statuses[status]} {STATUS_WORDS[status]}" for status in reversed(Status) if self._statuses[status]
        ]
        runs = f", {plural(self._runs, 'run')}" if self._runs else ""
        head = Text(f"{worst.value.replace('_', ' '):<15}", STATUS_STYLES[worst])
        return head + Text(f"{name}: {plural(sum(self._statuses.values()), self._noun)} ({', '.join(counted)}){runs}")


def _area(case: str) -> str:
    """What a case is filed under: the first part of its id."""
    return case.partition("/")[0]


def _duration(seconds: float) -> str:
    """In words that do not promise more than an estimate can."""
    if seconds < 60:
        return f"{max(5, round(seconds / 5) * 5):.0f} s"
    return f"{round(seconds / 60):.0f} min"
