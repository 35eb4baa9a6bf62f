"""What a user sees while images are built, or services installed: each part with its number, step and time.

On a terminal a line for each image changes in place. In a log a line says each new step, and what is quiet for long is
named again, so that nobody takes a slow build for a hanging one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from time import monotonic  # noqa: TID251 - what a user sees; no build depends on it
from typing import Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

LINE_EVERY_S = 30.0
"""How long a log shows nothing new."""
_LOOK_EVERY_S = 1.0
_LENGTH = 100
_OVER = ("Successfully tagged", "installed in")
"""How the last line of a build begins."""
_STEP = re.compile(r"Step (\d+/\d+)")


class BuildProgress:
    """Takes each line of each build (spi.images.ImageSet.build, spi.service.InstallsServices); a context manager.

    Args:
        console: where it shows.
        wanted: parts that will be built, as far as that is known.
        noun: what such a part is.
        now_s: seconds that only grow.
    """

    def __init__(
        self, console: Console, wanted: Sequence[str], now_s: Callable[[], float] = monotonic, noun: str = "image"
    ) -> None:
        self._console = console
        self._wanted = list(wanted)
        self._noun = noun
        self._now_s = now_s
        self._builds: dict[str, _Build] = {}
        self._lock = Lock()
        self._over = Event()
        self._watch = Thread(target=self._speak_up, daemon=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.fields[part]:<24}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[line]}", markup=False),
        )
        self._live = console.is_terminal
        self._bars = Progress(*columns, console=console, transient=True, disable=not self._live)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        if not self._live:
            self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._bars.stop()

    def __call__(self, name: str, line: str) -> None:
        with self._lock:
            build = self._builds.get(name)
            begins = build is None
            if build is None:
                build = self._begin(name)
            step = build.hear(line)
            if self._live:
                self._draw(name, build)
            elif step or begins:
                self._say(name, build)

    def remind(self) -> None:
        """Name each build of which nothing was shown for long; its own thread calls it."""
        with self._lock:
            for name, build in self._builds.items():
                if not build.over and self._now_s() - build.shown_s >= LINE_EVERY_S:
                    self._say(name, build)

    def _speak_up(self) -> None:
        while not self._over.wait(_LOOK_EVERY_S):
            self.remind()

    def _begin(self, name: str) -> _Build:
        """The next build, whether it was expected or not."""
        if name not in self._wanted:
            self._wanted.append(name)
        build = self._builds[name] = _Build(len(self._builds) + 1, self._now_s())
        return build

    def _head(self, name: str, build: _Build) -> str:
        return f"{self._noun} {build.number} of {len(self._wanted)} {name}"

    def _draw(self, name: str, build: _Build) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=None, part=self._head(name, build), line="")
        self._bars.update(self._tasks[name], line=build.words[:_LENGTH])

    def _say(self, name: str, build: _Build) -> None:
        build.shown_s = self._now_s()
        elapsed_s = build.shown_s - build.began_s
        self._console.print(f"{self._head(name, build)}, {elapsed_s:.0f} s: {build.words[:_LENGTH]}")


class _Build:
    """One part: its number, when it began, when a line was shown last, its step, and whether it is over."""

    def __init__(self, number: int, now_s: float) -> None:
        self.number = number
        self.began_s = self.shown_s = now_s
        self.over = False
        self._step = ""
        self._last = ""

    def hear(self, line: str) -> bool:
        """Take a line of the build; whether a step begins."""
        self._last = line
        self.over = line.startswith(_OVER)
        match = _STEP.match(line)
        if match:
            self._step = f"step {match[1]}"
            self._last = line.partition(":")[2].strip() or line
        return match is not None or self.over

    @property
    def words(self) -> str:
        return f"{self._step}, {self._last}" if self._step else self._last
