"""Faults in short, for a mark of pytest or a plan that is written by hand.

    from holdfast.harness.faults import cut, kill, pause

    kill("worker", after_checkpoint=2)
    pause("worker[1]", 500, at_event="checkpoint_triggered")
    cut("channel[3]", 300, after_checkpoint=1)

A target is a role with an index, which is 0 where none is given: `coordinator`, `worker[1]`, `channel[3]`, `storage`.
The fields of model.plan.Schedule state when a fault acts. `fault` makes one of any kind that is registered.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target

_TARGET = re.compile(r"([a-z-]+)(?:\[(\d+)\])?")


def fault(
    kind: str, target: str, duration_ms: int = 0, parameters: dict[str, int | str] | None = None, **when: Any
) -> FaultSpec:
    """A fault of any kind.

    Args:
        kind: as it is registered, such as `damage`.
        target: whom it hits.
        duration_ms: how long until it heals by itself; 0: until the heal phase.
        parameters: that it documents.
        when: fields of Schedule.

    Raises:
        ValueError: there is no such target or field; one sentence.
    """
    fields = Schedule.__struct_fields__
    if unknown := [name for name in when if name not in fields]:
        raise ValueError(f"{unknown[0]} is no condition of a fault; known are {', '.join(fields)}.")
    return FaultSpec(kind, _target(target), msgspec.convert(when, Schedule), duration_ms, parameters or {})


def kill(target: str = "worker", **when: Any) -> FaultSpec:
    """SIGKILL, from outside."""
    return fault("kill", target, **when)


def pause(target: str = "worker", duration_ms: int = 1_000, **when: Any) -> FaultSpec:
    """SIGSTOP, for so long."""
    return fault("pause", target, duration_ms, **when)


def leave(target: str = "worker", duration_ms: int = 1_000, **when: Any) -> FaultSpec:
    """A worker ends in good order, and joins again after so long."""
    return fault("leave", target, duration_ms, **when)


def cut(target: str, duration_ms: int = 500, direction: str = "both", **when: Any) -> FaultSpec:
    """A link carries nothing for so long; then everything arrives."""
    return fault("cut", target, duration_ms, {} if direction == "both" else {"direction": direction}, **when)


def slow(target: str, delay_ms: int, duration_ms: int = 500, **when: Any) -> FaultSpec:
    """A link is late by so much, for so long."""
    return fault("slow", target, duration_ms, {"delay_ms": delay_ms}, **when)


def reset(target: str, **when: Any) -> FaultSpec:
    """The connections of a link are reset, once."""
    return fault("reset", target, **when)


def outage(target: str, duration_ms: int = 1_000, **when: Any) -> FaultSpec:
    """A service is killed, and started again after so long."""
    return fault("outage", target, duration_ms, **when)


def _target(text: str) -> Target:
    found = _TARGET.fullmatch(text)
    if found is None or found[1] not in list(Role):
        raise ValueError(f"target is {text!r}: write one of {', '.join(Role)}, with an index such as worker[1].")
    return Target(Role(found[1]), int(found[2] or 0))
