"""Every option of the reference's versions with its default, as RULES 1.1 lists them. The oracles' own table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.harness.model.units import duration_ms, size_bytes
from holdfast.harness.oracles.models.stated_options import UNLIMITED

FLINK_1_14, FLINK_2 = "flink-1.14", "flink-2.x"
_CHECKPOINTING = "execution.checkpointing"
_FIXED, _RATE = "restart-strategy.fixed-delay", "restart-strategy.failure-rate"
_EXPONENTIAL = "restart-strategy.exponential-delay"
_DEBLOAT = "taskmanager.network.memory.buffer-debloat"


def _duration(text: str) -> str:
    return f"{duration_ms(text)} ms"


def _size(text: str) -> str:
    return f"{size_bytes(text)} b"


def _whole(text: str) -> str:
    return UNLIMITED if text == "infinite" else str(int(text))


def _decimal(text: str) -> str:
    return str(float(text))


def _shouted(text: str) -> str:
    return text.upper().replace("-", "_")


_STRATEGIES = {"off": "none", "disable": "none", "fixeddelay": "fixed-delay", "failurerate": "failure-rate"}
_STRATEGIES["exponentialdelay"] = "exponential-delay"


def _strategy(text: str) -> str:
    return _STRATEGIES.get(text.lower(), text.lower())


_Normal = Callable[[str], str]
_TABLE: tuple[tuple[str, _Normal, str], ...] = (
    ("holdfast.profile", str.lower, FLINK_2),
    ("holdfast.force-checkpointing", str.lower, "false"),
    ("holdfast.fail-on-checkpointing-errors", str.lower, ""),
    ("holdfast.guarantee", str.lower, ""),
    ("holdfast.storage.memory-limit", _size, "5242880 b"),
    (f"{_CHECKPOINTING}.interval", _duration, "0 ms"),
    (f"{_CHECKPOINTING}.mode", _shouted, "EXACTLY_ONCE"),
    (f"{_CHECKPOINTING}.timeout", _duration, "600000 ms"),
    (f"{_CHECKPOINTING}.min-pause", _duration, "0 ms"),
    (f"{_CHECKPOINTING}.max-concurrent-checkpoints", _whole, "1"),
    (f"{_CHECKPOINTING}.tolerable-failed-checkpoints", _whole, "0"),
    (f"{_CHECKPOINTING}.externalized-checkpoint-retention", _shouted, "NO_EXTERNALIZED_CHECKPOINTS"),
    (f"{_CHECKPOINTING}.num-retained", _whole, "1"),
    (f"{_CHECKPOINTING}.unaligned.enabled", str.lower, "false"),
    (f"{_CHECKPOINTING}.unaligned.forced", str.lower, "false"),
    (f"{_CHECKPOINTING}.aligned-checkpoint-timeout", _duration, "0 ms"),
    (f"{_CHECKPOINTING}.checkpoints-after-tasks-finish", str.lower, "true"),
    (f"{_CHECKPOINTING}.data-inline-threshold", _size, "20480 b"),
    (f"{_CHECKPOINTING}.write-buffer-size", _whole, "4096"),
    (f"{_CHECKPOINTING}.incremental", str.lower, "false"),
    (f"{_CHECKPOINTING}.storage", str.lower, "jobmanager"),
    (f"{_CHECKPOINTING}.dir", str, ""),
    (f"{_CHECKPOINTING}.savepoint-dir", str, ""),
    (f"{_CHECKPOINTING}.local-backup.enabled", str.lower, "false"),
    (f"{_CHECKPOINTING}.local-backup.dirs", str, ""),
    ("execution.state-recovery.from-local", str.lower, "false"),
    ("execution.state-recovery.path", str, ""),
    ("state.backend.type", str.lower, "hashmap"),
    ("state.backend.async", str.lower, "true"),
    ("restart-strategy.type", _strategy, "none"),
    (f"{_FIXED}.attempts", _whole, "1"),
    (f"{_FIXED}.delay", _duration, "1000 ms"),
    (f"{_RATE}.max-failures-per-interval", _whole, "1"),
    (f"{_RATE}.failure-rate-interval", _duration, "60000 ms"),
    (f"{_RATE}.delay", _duration, "1000 ms"),
    (f"{_EXPONENTIAL}.initial-backoff", _duration, "1000 ms"),
    (f"{_EXPONENTIAL}.max-backoff", _duration, "60000 ms"),
    (f"{_EXPONENTIAL}.backoff-multiplier", _decimal, "1.5"),
    (f"{_EXPONENTIAL}.reset-backoff-threshold", _duration, "3600000 ms"),
    (f"{_EXPONENTIAL}.jitter-factor", _decimal, "0.1"),
    (f"{_EXPONENTIAL}.attempts-before-reset-backoff", _whole, UNLIMITED),
    ("jobmanager.execution.failover-strategy", str.lower, "region"),
    ("heartbeat.interval", _duration, "10000 ms"),
    ("heartbeat.timeout", _duration, "50000 ms"),
    ("pipeline.operator-chaining.enabled", str.lower, "true"),
    ("scan.startup.mode", str.lower, "earliest-offset"),
    ("source.split-assignment", str.lower, "static"),
    ("sink.delivery-guarantee", str.lower, "exactly-once"),
    ("source.max-batch-records", _whole, "65536"),
    ("taskmanager.network.memory.buffers-per-channel", _whole, "8"),
    (f"{_DEBLOAT}.enabled", str.lower, "false"),
    (f"{_DEBLOAT}.target", _duration, "1000 ms"),
    (f"{_DEBLOAT}.period", _duration, "200 ms"),
    (f"{_DEBLOAT}.samples", _whole, "20"),
    (f"{_DEBLOAT}.threshold-percentages", _whole, "25"),
)
NORMAL: Mapping[str, _Normal] = {key: normal for key, normal, _ in _TABLE}
"""How a value is told, by key."""
_DEFAULTS_2 = {key: default for key, _, default in _TABLE}
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    FLINK_2: _DEFAULTS_2,
    FLINK_1_14: {
        **_DEFAULTS_2,
        "holdfast.profile": FLINK_1_14,
        f"{_CHECKPOINTING}.checkpoints-after-tasks-finish": "false",
        f"{_EXPONENTIAL}.max-backoff": "300000 ms",
        f"{_EXPONENTIAL}.backoff-multiplier": "2.0",
    },
}
"""By profile, what is in force where nobody says otherwise."""
