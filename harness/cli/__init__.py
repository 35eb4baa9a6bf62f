"""The `holdfast` command: options and arguments. What a command does is in `commands`, imported when it runs.

Exit codes: 0 certified or partial, 1 refuted, 2 inconclusive, 3 wrong usage, 4 harness error, 128 + n after signal n.
"""

from __future__ import annotations

from holdfast.harness.cli.application import app
from holdfast.harness.cli.execution import HARNESS_ERROR, INTERRUPTED, WRONG_USAGE, execute, main

__all__ = ["HARNESS_ERROR", "INTERRUPTED", "WRONG_USAGE", "app", "execute", "main"]
