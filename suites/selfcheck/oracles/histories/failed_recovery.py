"""Histories for COUNT: recoveries that fail, and what is counted of them."""

from __future__ import annotations

from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELLING,
    attempt,
    died,
    failure,
    restart,
    storage_failed,
    switched,
    unrecovered,
)

DELAYED = {**OPTIONS, "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "100 ms"}


UNREADABLE: list[Line] = [
    storage_failed("read-metadata", "checkpoints/", injected=True), unrecovered(0, "injected error"),
    failure("injected error"), restart(100),
]  # fmt: skip


bad, near = exhibits("COUNT", attempt(), UNREADABLE, options={**DELAYED, "restart-strategy.fixed-delay.attempts": "9"})

bad("recovery-fails-twice", "it fails again at once", 10, UNREADABLE, 110, attempt())
near("recovery-fails-twice", "it fails again after the delay", 100, UNREADABLE, 110, attempt())
near("recovery-fails-twice", "the next coordinator fails too", 10, died(), UNREADABLE, 110, attempt())
near(
    "recovery-fails-twice", "a cancelled job is cleaned up", 10, switched(CANCELLING), unrecovered(0, "injected error")
)
