"""What a user sees while a certification runs: one line for each area that is over, and how much is left.

On a terminal the last line says so all the time; in a log a line says so every now and then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from time import monotonic  # noqa: TID251 - what a user sees; no run depends on it
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from holdfast.harness.commands.time_left import TimeLeft
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.model.appearance import STATUS_STYLES, STATUS_WORDS
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, RunResult, Status
from holdfast.harness.model.plural import plural
from holdfast.harness.model.verdict import Outcome

LINE_EVERY_S = 15.0
"""How long a log shows nothing new."""
EARLY_S = 2.0
"""Before that there is nothing to estimate from."""


_DID_NOT_RUN = {Status.NOT_APPLICABLE, Status.UNTESTED}


class CaseProgress:
    """Shows how far a certification is (certify.Observer); a context manager, because the last line must go again."""

    def __init__(self, console: Console, request: Request, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._folder = str(request.folder.parent)
        self._live = console.is_terminal and not quiet
        self._progress = Progress(
            SpinnerColumn(),
            MofNCompleteColumn(),
            TextColumn("cases"),
            BarColumn(bar_width=20),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=not self._live,
        )
        self._task = self._progress.add_task("", total=None)
        self._left = TimeLeft(side_by_side=request.jobs > 1, budget_s=request.budget_s)
        self._start_s = monotonic()
        self._line_s = 0.0
        self._areas: dict[str, _Area] = {}
        self._demanded: dict[tuple[str, Tier], int] = {}
        self._counted: Counter[tuple[str, Tier]] = Counter()
        self._total = self._over = self._runs = 0
        self._seen: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def expect(self, cases: Sequence[tuple[Case, Tier]]) -> None:
        self._total += len(cases)
        for case, tier in cases:
            self._areas.setdefault(_area(case.id), _Area()).open += 1
            self._demanded[case.id, tier] = case.runs
            self._left.expect(case.id, tier, case.runs)
        self._progress.update(self._task, total=self._total)

    def begin(self, case: str, tier: Tier, demanded: int) -> None:
        self._demanded[case, tier] = demanded
        self._left.began(tier, self._now_s)
        self._expect(case, tier)
        self._tell(f"{case} on {tier}")

    def ran(self, result: RunResult, kept: RunResult | None) -> None:
        key = result.case, result.tier
        self._runs += 1
        self._counted[key] += result.outcome is not Outcome.INCONCLUSIVE
        self._left.ran(result.tier, self._now_s)
        self._expect(*key)
        if kept is not None and kept.finding is not None and kept.finding.cause is not None:
            kind = kept.finding.cause.name, kept.finding.damage or ""
            if kind not in self._seen:
                self._seen.add(kind)
                self._say(Text("REFUTED  ", "bold red") + Text(f"{kept.case} on {kept.tier}: {kept.finding.what}"))
        elif result.outcome is Outcome.FAIL and kept is not None:
            self._say(Text("REFUTED  ", "bold red") + Text(f"{kept.case} on {kept.tier}"))
        self._tell(f"{result.case} on {result.tier}")

    def shrinking(self, result: RunResult) -> None:
        self._progress.update(self._task, description=f"looking for a smaller plan than that of {result.id}")

    def shrunk(self, result: RunResult, small: RunResult) -> None:
        self._say(Text(f"SMALLER  {small.plan_text} leads to the same as {result.id}"))

    def end(self, result: CaseResult) -> None:
        key = result.case, result.tier
        if key not in self._demanded:
            return
        del self._demanded[key]
        self._left.expect(*key, 0)
        self._over += 1
        self._progress.update(self._task, completed=self._over)
        name = _area(result.case)
        area = self._areas[name]
        area.add(result)
        if not area.open and area.ran:
            self._say(area.line(name))
        self._tell("")

    def _expect(self, case: str, tier: Tier) -> None:
        """Runs of an open case that still must count: a run that does not count is repeated, so one at least."""
        demanded = self._demanded.get((case, tier), 0)
        self._left.expect(case, tier, max(1, demanded - self._counted[case, tier]))

    @property
    def _now_s(self) -> float:
        return monotonic() - self._start_s

    def _tell(self, current: str) -> None:
        """How far it is: in place on a terminal, every now and then in a log."""
        now_s = self._now_s
        if self._live:
            words = ", ".join(filter(None, (plural(self._runs, "run"), self._estimate(now_s), current)))
            self._progress.update(self._task, description=words)
        elif now_s - self._line_s >= LINE_EVERY_S:
            self._line_s = now_s
            words = ", ".join(filter(None, (plural(self._runs, "run"), self._estimate(now_s))))
            self._say(Text(f"{self._over} of {plural(self._total, 'case')}, {words}"))

    def _estimate(self, now_s: float) -> str:
        if now_s < EARLY_S or not self._over:
            return ""
        left_s = self._left.estimate_s(now_s)
        if left_s < 60:
            return f"about {max(5, round(left_s / 5) * 5):.0f} s left"
        return f"about {round(left_s / 60):.0f} min left"

    def _say(self, line: Text) -> None:
        if not self._quiet:
            self._progress.console.print(line)


class _Area:
    """The cases of one area; `open`: how many are not over."""

    def __init__(self) -> None:
        self.open = 0
        self._runs = 0
        self._statuses: Counter[Status] = Counter()

    @property
    def ran(self) -> bool:
        """Whether any of its cases did."""
        return not set(self._statuses) <= _DID_NOT_RUN

    def add(self, result: CaseResult) -> None:
        self.open -= 1
        self._statuses[result.status] += 1
        self._runs += result.runs_passed + result.runs_failed + result.runs_inconclusive

    def line(self, name: str) -> Text:
        """The worst status first, because that is what a reader looks for."""
        worst = max(self._statuses, key=list(Status).index)
        if worst in _DID_NOT_RUN and self._statuses[Status.PASS]:
            worst = Status.PASS
        counted = [
            f"{self._statuses[status]} {STATUS_WORDS[status]}" for status in reversed(Status) if self._statuses[status]
        ]
        runs = f", {plural(self._runs, 'run')}" if self._runs else ""
        head = Text(f"{worst.value.replace('_', ' '):<15}", STATUS_STYLES[worst])
        return head + Text(f"{name}: {plural(sum(self._statuses.values()), 'case')} ({', '.join(counted)}){runs}")


def _area(case: str) -> str:
    """What a case is filed under: the first part of its id."""
    return case.partition("/")[0]
