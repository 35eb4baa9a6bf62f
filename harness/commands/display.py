"""What long work with several parts says while it lasts: a line for each part; in a log, one now and then."""

from __future__ import annotations

import threading
import time  # noqa: TID251 - of a display alone
from contextlib import AbstractContextManager
from types import TracebackType

from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from holdfast.harness.commands import console as consoles

_LONGEST_LINE = 80
LOG_INTERVAL_S = 15.0
"""Between two lines of a part where there is no terminal."""


class Display(AbstractContextManager["Display"]):
    """Told the name of a part and a line that it wrote; any thread may tell.

    Args:
        width: of the column of names.
    """

    def __init__(self, width: int) -> None:
        self._console = consoles.progress()
        columns = (SpinnerColumn(), TextColumn(f"{{task.fields[part]:<{width}}}"), TimeElapsedColumn())
        line = TextColumn("{task.fields[line]}")
        shown = self._console.is_terminal
        self._bars = Progress(*columns, line, console=self._console, transient=True, disable=not shown)
        self._tasks: dict[str, TaskID] = {}
        self._begun_s = time.monotonic()
        self._logged_s: dict[str, float] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Display:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def __call__(self, name: str, line: str) -> None:
        line = escape(line[:_LONGEST_LINE])
        with self._lock:
            if not self._console.is_terminal:
                self._log(name, line)
                return
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(name, total=None, part=name, line="")
            self._bars.update(self._tasks[name], line=line)

    def _log(self, name: str, line: str) -> None:
        now_s = time.monotonic()
        if now_s - self._logged_s.get(name, float("-inf")) >= LOG_INTERVAL_S:
            self._logged_s[name] = now_s
            self._console.print(f"{name} after {now_s - self._begun_s:.0f} s: {line}")
