"""Threads that a part starts under its kit: which are left when its check is over, and whether each life leaves more.

A part may hold what its library keeps for a whole process, such as a pool: that is there once, however many lives end.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections import Counter
from functools import cache
from time import monotonic, sleep  # noqa: TID251 - how long what was told to end takes
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from holdfast.suites.certify.children import PATIENCE_S, called

_POLL_S = 0.01


class _Start(NamedTuple):
    """Attributes:
    where: the call of the part during which it came, and its line, in words.
    thread: in which it came.
    """

    where: str
    thread: int


_started: WeakKeyDictionary[threading.Thread, _Start] = WeakKeyDictionary()
"""Those that were started by a part."""


class Threads:
    """Those that a part starts from now on. Of checks in threads side by side, each has those of its thread."""

    def __init__(self) -> None:
        _listen()
        self._alone = threading.current_thread() is threading.main_thread()
        self._known = set(threading.enumerate())

    def left(self) -> str:
        """How many live on and where they were started, without a full stop. Empty: none."""
        if self._living():
            gc.collect()  # What a pool's threads wait for is that somebody gives the pool up.
        deadline_s = monotonic() + PATIENCE_S
        while (living := self._living()) and monotonic() < deadline_s:
            sleep(_POLL_S)
        places = Counter(_started[thread].where for thread in living)
        return ", ".join(f"{number}{where}" for where, number in places.items())

    @property
    def living(self) -> int:
        """How many live now; some of them may be about to end."""
        return len(self._living())

    def _living(self) -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread not in self._known and self._is_theirs(thread)]

    def _is_theirs(self, thread: threading.Thread) -> bool:
        start = _started.get(thread)
        return start is not None and (self._alone or start.thread == threading.get_ident())


@cache
def _listen() -> None:
    """Begin to note starts: what Python tells those who listen depends on its version."""
    theirs: Any = threading.Thread
    start = theirs.start

    def noted(thread: threading.Thread) -> None:
        if (where := called(sys._getframe(1))) is not None:
            _started[thread] = _Start(where, threading.get_ident())
        start(thread)

    theirs.start = noted
