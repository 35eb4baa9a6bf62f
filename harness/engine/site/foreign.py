"""The boundary to code that is not ours: a system under test, and every fault, oracle or reporter that is plugged in.

Such code may fail: that is an error like any other. It may not end this process. What it raises beside errors, such as
the SystemExit of `sys.exit`, would leave no verdict, and an exit code that it chose.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import EAGAIN, EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC
from pathlib import Path
from traceback import extract_tb, walk_tb
from types import FrameType

from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
from holdfast.harness.engine.site.interruption import any_heard
from holdfast.harness.spi.words import words_of

SHIPPED = "holdfast."
"""How the names of modules begin that ship with Holdfast."""
_OF_THE_MACHINE = frozenset({EAGAIN, EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC})
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


class NotHere(BaseException):
    """This process may not run what does not ship with Holdfast. No Exception, so no handler takes it for an error.

    Attributes:
        names: of what was to be run, as `module:name`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = tuple(names)


class WrongAnswer(Exception):
    """A part returned a value against its contract; the end of a sentence that begins with its name."""


_passing: set[type[BaseException]] = {KeyboardInterrupt, GeneratorExit, NotHere}
_theirs: set[type[BaseException]] = set()
_elsewhere = False


@contextmanager
def only_what_ships() -> Iterator[None]:
    """Within, this process runs nothing that does not ship with Holdfast."""
    global _elsewhere
    before, _elsewhere = _elsewhere, True
    try:
        yield
    finally:
        _elsewhere = before


def require_place_for(names: Sequence[str]) -> None:
    """Check that this process may run all of these.

    Args:
        names: of what does not ship with Holdfast, as `module:name`.

    Raises:
        NotHere: it may not.
    """
    if names and _elsewhere:
        raise NotHere(names)


class foreign:  # noqa: N801 - used like a function
    """Within, code runs that is not ours.

    Args:
        whose: it is, as the beginning of a sentence.

    Raises:
        ForeignError: it tried to end this process.
    """

    __slots__ = ("_whose",)

    def __init__(self, whose: str) -> None:
        self._whose = whose

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None or isinstance(error, Exception) or _passes(error):
            return
        raise ForeignError(
            f"{self._whose} raised {in_words(error)}, which would end the harness without a verdict; raise an error "
            "instead."
        ) from error


@contextmanager
def loading(what: str, advice: str) -> Iterator[None]:
    """Within, code that is not ours is imported or made.

    Args:
        what: it is, as the beginning of a sentence.
        advice: what to do if that fails.

    Raises:
        UsageError: it failed, for whatever reason.
    """
    try:
        yield
    except (UsageError, NotApplicable):
        raise
    except BaseException as error:
        if _passes(error):
            raise
        raise UsageError(f"{what} cannot be loaded: {in_words(error)}; {advice}.") from error


def interrupts_are_theirs() -> None:
    """Treat a KeyboardInterrupt without a signal from now on as raised by third-party code."""
    _theirs.add(KeyboardInterrupt)


def _passes(error: BaseException) -> bool:
    return type(error) in _passing and not (type(error) in _theirs and not any_heard())


def let_pass(kind: type[BaseException]) -> None:
    """Let this, and none of its subclasses, through from now on: whoever runs us ends a run by it."""
    _passing.add(kind)


def raised_by(names: Sequence[str], error: BaseException) -> str:
    """What code that does not ship with Holdfast raised, in which call of it and where, or what it returned against its
    contract, without a full stop; empty: neither, or the machine lacks a resource.

    An exception belongs to the innermost frame that is in such code or in ours: further in may be the standard library,
    and packages that both use.

    Args:
        names: of that code, as `module:name`.
        error: that was raised.
    """
    if isinstance(error, ForeignError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, WrongAnswer):
        return f"{', '.join(names)} {words_of(error)}" if names else ""
    lacking = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _OF_THE_MACHINE)
    packages = {_package(name) for name in names}
    call = place = owner = ""
    for frame, line in walk_tb(error.__traceback__):
        if f"{frame.f_globals.get('__name__', '')}.".startswith(SHIPPED):
            call = place = owner = ""
        elif _is_of(packages, frame):
            call = call or frame.f_code.co_name
            place = f"{Path(frame.f_code.co_filename).name}:{line}"
            owner = _package(frame.f_globals.get("__name__", ""))
    if lacking or not names or not place:
        return ""
    whose = [name for name in names if _package(name) == owner] or names
    return f"{', '.join(whose)} raised {_kind_and_words(error)} ({place}) in {call}"


def _package(name: str) -> str:
    return name.partition(":")[0].partition(".")[0]


def _is_of(packages: set[str], frame: FrameType) -> bool:
    """Whether a frame is of one of those packages, or of what stands beside them and was not installed."""
    package = _package(frame.f_globals.get("__name__", ""))
    if package in packages:
        return True
    installed = any(part in frame.f_code.co_filename for part in _PACKAGES)
    return not installed and package not in sys.stdlib_module_names


def in_words(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised, which a ForeignError names itself."""
    if isinstance(error, ForeignError):
        return str(error).rstrip(".")
    frames = extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{_kind_and_words(error)}{place}"


def _kind_and_words(error: BaseException) -> str:
    said = " ".join(words_of(error).split())
    return f"{type(error).__name__}{f': {said}' if said else ''}"
