"""The boundary to code that is not ours: a system under test, and every fault, oracle or reporter that is plugged in.

Such code may fail: that is an error like any other. It may not end this process. What it raises beside errors, such as
the SystemExit of `sys.exit`, would leave no verdict, and an exit code that it chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
from holdfast.harness.engine.site.interruption import any_heard


class NotHere(BaseException):
    """This process may not run what does not ship with Holdfast. No error: nobody takes it for one of such code.

    Attributes:
        names: of what was to be run, as `module:name`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = tuple(names)


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
    """This process may run all of that.

    Args:
        names: of what does not ship with Holdfast, as `module:name`.

    Raises:
        NotHere: it may not.
    """
    if names and _elsewhere:
        raise NotHere(names)


@contextmanager
def foreign(whose: str) -> Iterator[None]:
    """Within, code runs that is not ours.

    Args:
        whose: it is, as the beginning of a sentence.

    Raises:
        ForeignError: it tried to end this process.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if _passes(error):
            raise
        raise ForeignError(
            f"{whose} raised {in_words(error)}, which would end the harness without a verdict; raise an error instead."
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
    """From now on a KeyboardInterrupt for which this process heard no signal is one that such code raises itself."""
    _theirs.add(KeyboardInterrupt)


def _passes(error: BaseException) -> bool:
    return type(error) in _passing and not (type(error) in _theirs and not any_heard())


def let_pass(kind: type[BaseException]) -> None:
    """Let this, and none of its subclasses, through from now on: whoever runs us ends a run by it."""
    _passing.add(kind)


def in_words(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    said = " ".join(str(error).split())
    frames = extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{f': {said}' if said else ''}{place}"
