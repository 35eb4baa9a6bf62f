"""What a part may change of the process that it runs in, so that all that follows there goes another way."""

from __future__ import annotations

import gc
import locale
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial

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
    """What is not as it was, in words; empty: everything is.

    Args:
        before: as of `process_state`.
    """
    try:
        now = process_state()
        return ", ".join(name for name, value in before.items() if now[name] != value)
    except Exception:  # Somebody else's object is in the place of one of Python's own.
        return "what cannot be compared any more"


def _limits() -> Mapping[str, object]:
    """As of setrlimit(2)."""
    if sys.platform == "win32":
        return {}
    import resource

    names = (name for name in dir(resource) if name.startswith("RLIMIT_"))
    return {name: resource.getrlimit(getattr(resource, name)) for name in sorted(names)}


def _umask() -> int:
    """It is known only to whoever sets it."""
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
