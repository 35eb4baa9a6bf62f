"""In a worker: runs checks of a kit, and reports each as it ends. What a part raises costs one check, as does what it
changes of the process that it runs in, so that all that follows there goes another way."""

from __future__ import annotations

import gc
import locale
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import in_words
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.program_share import fewer_programs
from holdfast.harness.engine.site.surroundings import take_store_keys
from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import KitCheck, TriesUnderFaults

_STANDARD = {"standard input": 0, "standard output": 1, "standard error": 2}
"""Descriptors."""
_SAFE_UMASK = 0o077


def process_state() -> Mapping[str, object]:
    """How it stands with this process; each value by what it is of, in words. No file is opened for it."""
    return {
        **_limits(),
        "the current folder": _unless_gone(os.getcwd),
        "the umask": _umask(),
        "the mask of signals": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "handlers of signals": [signal.getsignal(each) for each in sorted(signal.valid_signals())],
        **{name: _unless_gone(partial(_file, number)) for name, number in _STANDARD.items()},
        "the streams of Python": (sys.stdin, sys.stdout, sys.stderr),
        "the locale": locale.setlocale(locale.LC_ALL),
        "sys.path": tuple(sys.path),
        "the environment": dict(os.environ),  # noqa: TID251 - to see that it is as it was
        "the recursion limit": sys.getrecursionlimit(),
        "what traces": (sys.gettrace(), sys.getprofile()),
        "whether garbage is collected": gc.isenabled(),
        "hooks of errors": (sys.excepthook, sys.unraisablehook, threading.excepthook),
    }


def changed(before: Mapping[str, object]) -> str:
    """What a part has changed in this process, in words; empty: nothing.

    Args:
        before: as of `process_state`.
    """
    try:
        now = process_state()
        return ", ".join(name for name, value in before.items() if now[name] != value)
    except Exception:  # Somebody else's object is in the place of one of Python's own.
        return "what cannot be compared any more"


def _limits() -> Mapping[str, object]:
    """The resource limits of this process; see setrlimit(2)."""
    if sys.platform == "win32":
        return {}
    import resource

    names = (name for name in dir(resource) if name.startswith("RLIMIT_"))
    return {name: resource.getrlimit(getattr(resource, name)) for name in sorted(names)}


def _umask() -> int:
    """The umask, which can only be read by setting it."""
    umask = os.umask(_SAFE_UMASK)
    os.umask(umask)
    return umask


def _file(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _unless_gone(look: Callable[[], object]) -> object:
    try:
        return look()
    except OSError as error:
        return error.errno


class KitAssignment(msgspec.Struct, frozen=True, tag=True):
    """Checks of one kit on one factory, in the order in which they run; the other fields as Kit.certify.

    Attributes:
        under_faults: they are those of TriesUnderFaults.
        silence_limit_s: a worker that ends no check for so long hangs.
        program_share: of the random programs of a check, how many run.
        store_keys: with which the kit looks into an object store.
    """

    contract: str
    factory: str
    checks: tuple[KitCheck, ...]
    seed: int = 0
    location: str = ""
    options: dict[str, str] = {}
    under_faults: bool = False
    silence_limit_s: float = inf
    program_share: float = 1.0
    store_keys: dict[str, str] = {}


class CheckEnded(msgspec.Struct, frozen=True, tag=True):
    """A check is over."""

    check: KitCheck


class KitEnded(msgspec.Struct, frozen=True, tag=True):
    """No more checks."""


class KitRefused(msgspec.Struct, frozen=True, tag=True):
    """The factory cannot be loaded, or has no use for a location or options; one sentence."""

    reason: str


KitMessage = CheckEnded | KitEnded | KitRefused


def run_checks(assignment: KitAssignment, interruption: Interruption) -> Iterator[KitMessage]:
    """Run the checks; the last message is KitEnded or KitRefused. After a signal the check under way is the last. So is
    one in which the kit broke, or behind which the process is not as it was: the others are left to a new process."""
    take_store_keys(assignment.store_keys)
    left = list(assignment.checks)
    found: Iterator[KitCheck] | None = None
    bent = ""
    before = process_state()
    broken = False
    while left and not bent and not broken and not interruption.reason():
        try:
            if found is None:
                found = _begun(assignment, left)
                before = process_state()  # What the part changes when it is imported, it changes in each process.
            check = _next(found, interruption, assignment.program_share)
        except (KitUseless, UsageError) as error:
            yield KitRefused(str(error))
            return
        except BaseException as error:  # A kit goes on no more after that, so the rest is begun anew.
            found, check = None, _broken_off(left[0], assignment, error)
        if check is None:
            break
        left = [each for each in left if each.id != check.id]
        bent, broken = changed(before), check.status is Status.ERROR
        yield CheckEnded(_with_what_is_bent(check, bent))
    yield KitEnded()


class KitUseless(Exception):
    """See KitRefused."""


def _begun(assignment: KitAssignment, left: list[KitCheck]) -> Iterator[KitCheck]:
    kit = registry.kit(assignment.contract)
    run = kit.under_faults if assignment.under_faults and isinstance(kit, TriesUnderFaults) else kit.certify
    ids = frozenset(each.id for each in left)
    try:
        found: Iterator[KitCheck] = run(
            assignment.factory, ids, assignment.seed, assignment.location, assignment.options
        )
    except ValueError as error:
        raise KitUseless(str(error)) from error
    return found


def _next(found: Iterator[KitCheck], interruption: Interruption, share: float) -> KitCheck | None:
    """The next one that ends; None at the end, or where a second signal broke it off."""
    try:
        with fewer_programs(share), interruption.breakable():
            return next(found, None)
    except KeyboardInterrupt:
        if interruption.dropped:
            return None
        raise


def _with_what_is_bent(check: KitCheck, bent: str) -> KitCheck:
    """A check in which the kit broke, with what was changed of the process meanwhile."""
    if check.status is not Status.ERROR or not bent:
        return check
    return msgspec.structs.replace(check, reason=f"{check.reason}; meanwhile the part has changed {bent}")


def _broken_off(check: KitCheck, assignment: KitAssignment, error: BaseException) -> KitCheck:
    """The result of a check that an exception ended: ERROR, since the kit handles those of the part; FAIL for one that
    would end the process."""
    if isinstance(error, Exception):
        return msgspec.structs.replace(check, status=Status.ERROR, reason=f"the kit broke: {in_words(error)}")
    reason = f"{assignment.contract} {assignment.factory} raised {in_words(error)}, which would end the process"
    return msgspec.structs.replace(check, status=Status.FAIL, reason=reason)
