"""Histories for PACE: requests of users, and coordinators that take them or not."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.suites.selfcheck.oracles.builder import at, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import CANCELED, attempt, died, requested, switched

WHILE_MS = 600
"""Longer than a coordinator needs."""


bad, near = exhibits("PACE", attempt(), WHILE_MS)

bad("request-lost", "nobody takes it", at("harness", injected("request-checkpoint", "job")), WHILE_MS)
bad(
    "request-lost", "only the interval asks",
    at("harness", injected("request-checkpoint", "job")), requested(9), WHILE_MS,
)  # fmt: skip
bad(
    "request-lost", "the coordinator had died before",
    died(), attempt(), WHILE_MS, at("harness", injected("request-checkpoint", "job")), WHILE_MS,
)  # fmt: skip
bad(
    "request-lost", "a worker dies with it",
    at("harness", injected("request-checkpoint", "job")), died("worker-0"), WHILE_MS,
)  # fmt: skip
bad(
    "request-lost", "nobody takes that for a savepoint",
    at("harness", injected("savepoint", "job")), requested(9, CheckpointOrigin.USER), WHILE_MS,
)  # fmt: skip
near(
    "request-lost", "the coordinator takes that for a savepoint",
    at("harness", injected("savepoint", "job")), requested(9, CheckpointOrigin.SAVEPOINT), WHILE_MS,
)  # fmt: skip

bad(
    "savepoint-unasked", "one request counts twice",
    at("harness", injected("savepoint", "job")), requested(9, CheckpointOrigin.SAVEPOINT),
    requested(10, CheckpointOrigin.SAVEPOINT), WHILE_MS,
)  # fmt: skip
near(
    "savepoint-unasked", "two savepoints are requested of two coordinators",
    at("harness", injected("savepoint", "job")), requested(9, CheckpointOrigin.SAVEPOINT), died(), attempt(), WHILE_MS,
    at("harness", injected("stop", "job")), requested(9, CheckpointOrigin.SAVEPOINT), WHILE_MS,
)  # fmt: skip

near(
    "request-lost", "the coordinator takes it",
    at("harness", injected("request-checkpoint", "job")), 20, requested(9, CheckpointOrigin.USER), WHILE_MS,
)  # fmt: skip
near(
    "request-lost", "the coordinator dies with the last of two",
    at("harness", injected("request-checkpoint", "job")), requested(9, CheckpointOrigin.USER), WHILE_MS,
    at("harness", injected("request-checkpoint", "job")), 20, died(), WHILE_MS,
)  # fmt: skip
near(
    "request-lost", "the job ends with the last of two",
    at("harness", injected("request-checkpoint", "job")), requested(9, CheckpointOrigin.USER), WHILE_MS,
    at("harness", injected("request-checkpoint", "job")), 20, switched(CANCELED), WHILE_MS,
)  # fmt: skip
