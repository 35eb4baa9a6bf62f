"""`holdfast images` and `holdfast services`: what services need on this machine, and what a user sees while images are
built, or services installed: each part with its number, step and time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from time import monotonic  # noqa: TID251 - what a user sees; no build depends on it
from typing import Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points
from holdfast.harness.engine.site.services import image_set, installer, site_of
from holdfast.harness.model.command_line import command_line
from holdfast.harness.spi.service import Image, ImageSet, Part

LINE_EVERY_S = 30.0
"""How long a log shows nothing new."""
_LOOK_EVERY_S = 1.0
_LENGTH = 100
_OVER = ("Successfully tagged", "installed in")
"""How the last line of a build begins."""
_STEP = re.compile(r"Step (\d+/\d+)")


class BuildProgress:
    """Takes each line of each build (spi.service.ImageSet.build, spi.service.InstallsServices); a context manager.

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


MISSING = 3
"""Exit code where something is not there."""
FLINK = "flink"
_NAMES = 17
"""Columns of the names."""


def check_services() -> int:
    """Say which parts are there, and are as they were installed; 0 if all are."""
    provider = installer()
    console = consoles.results()
    parts = [part for part in provider.parts(verify=True) if part.present or not part.optional]
    for part in parts:
        console.print(_line(part))
    if all(part.present and part.unchanged for part in parts):
        return 0
    changed = [str(part.place) for part in parts if part.unchanged is False]
    if changed:
        consoles.progress().print(f"Not what was installed: remove {', '.join(changed)}, then install again.")
    consoles.progress().print(f"Install what is missing: {command_line('services', 'install')}")
    return MISSING


def install_services(names: Sequence[str]) -> int:
    """Fetch what is missing, showing how far each part is."""
    provider = installer()
    console = consoles.results()
    try:
        wanted = [part.name for part in _wanted(provider.parts(), names) if not part.present]
        with BuildProgress(consoles.progress(), wanted, noun="part") as progress:
            took = provider.install(names, progress)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    for part in _wanted(provider.parts(), names):
        took_s = took.get(part.name)
        console.print(_line(part) + Text("" if took_s is None else f" in {took_s:.0f} s", "dim"))
    return 0


def install_flink(version: str) -> int:
    """Fetch Flink; 0 once it is there.

    Raises:
        UsageError: the version is none that the adapter knows.
    """
    parts = installer().parts()
    fitting = [part.name for part in parts if part.of_version(FLINK, version)]
    if not fitting:
        known = ", ".join(part.version for part in parts if part.of_version(FLINK, ""))
        raise UsageError(f"Flink {version} is none that the adapter knows: use {known}, or leave it out.")
    return install_services(fitting[:1])


def _wanted(parts: Sequence[Part], names: Sequence[str]) -> list[Part]:
    """Those with these names; without names, all that are not optional."""
    return [part for part in parts if (part.name in names if names else not part.optional)]


def _line(part: Part) -> Text:
    if part.unchanged is False:
        state = Text("changed  ", "red")
    else:
        state = Text("present  ", "green") if part.present else Text("missing  ", "yellow")
    return state + Text(f"{part.name:<{_NAMES}} {part.place}")


_IMAGE_NAMES = 13
"""Columns of the names."""


def check_images(given: Sequence[str]) -> int:
    """Say which are there; 0 if all are."""
    try:
        images = image_set(site_of("", "", "", given, ())).check()
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    console = consoles.results()
    for image in images:
        console.print(_image_line(image))
    if all(image.present for image in images):
        return 0
    consoles.progress().print(f"Build what is missing: {command_line('images', 'build')}")
    return MISSING


def build_images(names: Sequence[str], base: str, given: Sequence[str]) -> int:
    """Build those that are missing, showing how far each build is."""
    console = consoles.results()
    try:
        images = image_set(site_of("", "", "", given, ()))
        _refuse_unknown(images, names, base)
        missing = [each.name for each in images.check() if not (each.present or each.given)]
        wanted = [name for name in missing if not names or name in names or name == images.names[0]]
        with BuildProgress(consoles.progress(), wanted) as progress:
            took = images.build(names, base or images.bases[0], progress)
        for image in images.check():
            if not names or image.name in names:
                took_s = took.get(image.name)
                console.print(_image_line(image) + Text("" if took_s is None else f" in {took_s:.0f} s", "dim"))
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    return 0


def _refuse_unknown(images: ImageSet, names: Sequence[str], base: str) -> None:
    """Before a daemon is needed, so that the answer is the same where none responds."""
    for name in names:
        if name not in images.names:
            raise entry_points.unknown("image", name, images.names)
    if base and base not in images.bases:
        raise entry_points.unknown("base", base, images.bases)


def _image_line(image: Image) -> Text:
    state = Text("present  ", "green") if image.present else Text("missing  ", "yellow")
    return state + Text(f"{image.name:<{_IMAGE_NAMES}} {image.reference}{' (given)' if image.given else ''}")
