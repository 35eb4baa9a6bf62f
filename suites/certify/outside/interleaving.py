"""Calls at the same instant, and one that stands still at a line of Python while another thread does what it likes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Thread
from types import FrameType
from typing import Any

MOST_LINES = 150
"""Of more, the further ones are not tried."""
_KIT = str(Path(__file__).parents[1]) + os.sep
_STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep
_PACKAGES = f"{os.sep}site-packages{os.sep}"
_PATIENCE_S, _LITTLE_PATIENCE_S = 0.3, 0.005


class Lines:
    """Stands still at one line after the other. Nobody is refuted by how long it waits: a call that is held up by a
    lock is left waiting, and comes second."""

    def __init__(self) -> None:
        self._patience_s = _PATIENCE_S

    def stand_still(
        self, number: int, call: Callable[[], object], meanwhile: Callable[[], object]
    ) -> tuple[object, object] | None:
        """What both calls returned or raised; None: the first came to its end before, and the other was not made.

        Args:
            number: of the line at which the first one stands still, from 0. Each line counts where it is met first;
                those of the standard library do not.
            call: stands still.
            meanwhile: is called on another thread then.
        """
        second: list[Thread] = []
        came: dict[str, object] = {}
        met: set[tuple[str, int]] = set()

        def stand() -> None:
            second.append(Thread(target=_do, args=("second", meanwhile, came), daemon=True))
            second[0].start()
            second[0].join(self._patience_s)
            if second[0].is_alive():
                self._patience_s = _LITTLE_PATIENCE_S  # That it waits is known now.

        def at_line(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line" and not second:
                met.add((frame.f_code.co_filename, frame.f_lineno))
                if len(met) > number:
                    sys.settrace(None)
                    stand()
            return None if second else at_line

        def at_call(frame: FrameType, event: str, argument: Any) -> Any:
            return at_line if _is_of_the_part(frame.f_code.co_filename) else None

        def run() -> None:
            sys.settrace(at_call)
            try:
                _do("first", call, came)
            finally:
                sys.settrace(None)

        first = Thread(target=run, daemon=True)
        first.start()
        first.join()
        if not second:
            return None
        second[0].join()
        return came["first"], came["second"]


def _do(name: str, call: Callable[[], object], came: dict[str, object]) -> None:
    try:
        came[name] = call()
    except Exception as error:
        came[name] = error


def _is_of_the_part(file: str) -> bool:
    return not file.startswith(_KIT) and (not file.startswith(_STANDARD_LIBRARY) or _PACKAGES in file)


def at_once(calls: Sequence[Callable[[], object]]) -> list[object]:
    """What calls returned or raised that began at the same instant, each on a thread of its own."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
