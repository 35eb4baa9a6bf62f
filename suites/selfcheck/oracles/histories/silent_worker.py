"""Histories for COUNT: workers that stand still, and coordinators that give them up or not."""

from __future__ import annotations

from holdfast.harness.model.events import (
    FaultHealed,
)
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import RESTARTING, RUNNING, attempt, died, failure, switched

HEARTBEATS = {**OPTIONS, "heartbeat.interval": "50 ms", "heartbeat.timeout": "200 ms"}


GIVEN_UP: list[Line] = [failure("worker 1: no heartbeat for 200 ms"), switched(RESTARTING), attempt()]


bad, near = exhibits(
    "COUNT", attempt(), switched(RUNNING), 100, at("harness", injected("pause", "worker[1]", 0)), options=HEARTBEATS
)

bad(
    "silence-not-noticed", "a worker stands still for half a second",
    500, at("harness", FaultHealed(fault=0, fault_kind="pause", target="worker[1]")),
)  # fmt: skip
bad("silence-not-noticed", "it stands still to the end", 500)
bad(
    "silence-not-noticed", "it is given up when it is back",
    500, at("harness", FaultHealed(fault=0, fault_kind="pause", target="worker[1]")), 100, GIVEN_UP,
)  # fmt: skip
near(
    "silence-not-noticed", "it is given up in time",
    250, GIVEN_UP, 250, at("harness", FaultHealed(fault=0, fault_kind="pause", target="worker[1]")),
)  # fmt: skip

AFTER_ONE: list[Line] = [
    250, GIVEN_UP, 250, at("harness", FaultHealed(fault=0, fault_kind="pause", target="worker[1]")), switched(RUNNING),
    100,
]  # fmt: skip
"""One was given up, so that there is something to decide on."""


near(
    "silence-not-noticed", "the second is back in time",
    *AFTER_ONE, at("harness", injected("pause", "worker[1]", 1)), 190,
    at("harness", FaultHealed(fault=1, fault_kind="pause", target="worker[1]")),
)  # fmt: skip
near(
    "silence-not-noticed", "the end of another pause wakes it",
    *AFTER_ONE, at("harness", injected("pause", "worker[1]", 1)), 10, at("harness", injected("pause", "worker[1]", 2)),
    100, at("harness", FaultHealed(fault=2, fault_kind="pause", target="worker[1]")), 500,
    at("harness", FaultHealed(fault=1, fault_kind="pause", target="worker[1]")),
)  # fmt: skip
bad(
    "silence-not-noticed", "the other pause ends too late to excuse it",
    *AFTER_ONE, at("harness", injected("pause", "worker[1]", 1)), 10, at("harness", injected("pause", "worker[1]", 2)),
    500, at("harness", FaultHealed(fault=2, fault_kind="pause", target="worker[1]")), 10,
    at("harness", FaultHealed(fault=1, fault_kind="pause", target="worker[1]")),
)  # fmt: skip
near(
    "silence-not-noticed", "the second is killed",
    *AFTER_ONE, at("harness", injected("pause", "worker[1]", 1)), 300, died("worker-1"), 200,
)  # fmt: skip
near(
    "silence-not-noticed", "the coordinator has died before the second",
    *AFTER_ONE, died(), at("harness", injected("pause", "worker[1]", 1)), 500,
    at("harness", FaultHealed(fault=1, fault_kind="pause", target="worker[1]")),
)  # fmt: skip
near(
    "silence-not-noticed", "a job that does not run",
    *AFTER_ONE, switched(RESTARTING), 100, at("harness", injected("pause", "worker[1]", 1)), 500,
    at("harness", FaultHealed(fault=1, fault_kind="pause", target="worker[1]")),
)  # fmt: skip
