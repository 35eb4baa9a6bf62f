"""What a user sees while runs go on: on a terminal a bar for each case, and a line for each that is over."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from holdfast.harness.commands.console import command_line
from holdfast.harness.model.appearance import STATUS_STYLES
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import CaseResult, RunResult, Status
from holdfast.harness.model.verdict import Outcome

_QUIET = frozenset({Status.NOT_APPLICABLE, Status.UNTESTED})


class CaseProgress:
    """Shows cases as they run (certify.Observer); a context manager, because a bar must be taken down again."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._tasks: dict[tuple[str, Tier], TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, case: str, tier: Tier, demanded: int) -> None:
        self._remove(case, tier)
        self._tasks[case, tier] = self._progress.add_task(f"{case} on {tier}", total=demanded)

    def ran(self, result: RunResult, kept: RunResult | None) -> None:
        if (task := self._tasks.get((result.case, result.tier))) is not None:
            self._progress.advance(task, result.outcome is not Outcome.INCONCLUSIVE)
        if kept is not None and kept.outcome is Outcome.FAIL and kept.replay:
            self._say(Text(f"FAIL {kept.id}: ", "bold red") + Text(kept.replay))

    def shrunk(self, result: RunResult, plan: Path) -> None:
        self._say(Text(f"     {result.id} shrunk: {command_line('run', plan)}"))

    def end(self, result: CaseResult) -> None:
        self._remove(result.case, result.tier)
        if result.status not in _QUIET:
            runs = result.runs_passed + result.runs_failed + result.runs_inconclusive
            reason = f": {result.reason}" if result.reason else ""
            status = Text(f"{result.status.value:<13}", STATUS_STYLES[result.status])
            self._say(status + Text(f"{result.case} on {result.tier}, {runs} {'run' if runs == 1 else 'runs'}{reason}"))

    def _remove(self, case: str, tier: Tier) -> None:
        if (task := self._tasks.pop((case, tier), None)) is not None:
            self._progress.remove_task(task)

    def _say(self, line: Text) -> None:
        if not self._quiet:
            self._progress.console.print(line)
