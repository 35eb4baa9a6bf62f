"""Whether a fault hit: what every proof needs, whatever the fault is."""

from __future__ import annotations

from holdfast.harness.model.events import FaultInjected, FaultStruck
from holdfast.harness.model.history import History
from holdfast.harness.spi.fault import AnyFault


def proved(history: History, number: int, fault: AnyFault) -> bool | None:
    """Whether a fault that acted hit what it aimed at; None: it acted too late.

    Two things are needed: its mechanism recorded an effect under the identity of this injection, and the history shows
    what a fault of this kind does. The first is waived where a foreign system carries no identity.

    Args:
        history: of the run.
        number: of the fault in the plan, which is the identity.
        fault: its kind.
    """
    stamped = any(event.stamped for event in history.of(FaultInjected) if event.fault == number)
    if stamped and not any(event.fault == number for event in history.of(FaultStruck)):
        return False
    return fault.landed(history, number)
