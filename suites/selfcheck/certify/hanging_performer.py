"""Part of a victim (suites/certify/outside/victim.py) whose calls never return."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from holdfast.suites.certify.outside.messages import Act, Outcome, PartSettings


def load(factory: str) -> None:
    """There is nothing to load."""


def made(setting: PartSettings) -> Path:
    """The file that takes its pid."""
    return Path(setting.own)


def perform(thing: Path, act: Act) -> Outcome:
    """Wait for ever."""
    thing.write_text(str(os.getpid()))
    threading.Event().wait()
    raise AssertionError
