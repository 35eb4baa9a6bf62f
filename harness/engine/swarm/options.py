"""The options of a drawn plan, in the middle of what is allowed or at its edges."""

from __future__ import annotations

from holdfast.harness.engine.swarm.mix import Mix
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.sim.streams import Stream

Options = dict[str, str]
CHAINING = "pipeline.operator-chaining.enabled"
CONCURRENT = "execution.checkpointing.max-concurrent-checkpoints"
DELIVERY = "sink.delivery-guarantee"
INLINE_THRESHOLD, NO_BYTES = "execution.checkpointing.data-inline-threshold", "0 b"
RETAINED = "execution.checkpointing.num-retained"
UNALIGNED = "execution.checkpointing.unaligned.enabled"
MANY = "1000"
STRATEGIES = ("fixed-delay", "failure-rate", "exponential-delay")
_ALIGNMENT_TIMEOUT = "execution.checkpointing.aligned-checkpoint-timeout"
_BATCH, _BUFFERS = "source.max-batch-records", "taskmanager.network.memory.buffers-per-channel"
_DEBLOAT = "taskmanager.network.memory.buffer-debloat"
_LEAST_MS = 10
"""Of interval and timeout: Flink's CheckpointCoordinatorConfiguration.MINIMAL_CHECKPOINT_TIME."""


def draw_checkpointing(stream: Stream, mix: Mix, interval_ms: int) -> Options:
    """How checkpoints are taken: mode, pauses, buffers, what is retained."""
    at_least_once = stream.chance(mix.at_least_once_percent / 100)
    unaligned = not at_least_once and stream.chance(mix.unaligned_percent / 100)
    concurrent = stream.choice(("1", "1", "1", "2"))
    options = {
        "execution.checkpointing.interval": f"{interval_ms} ms",
        "execution.checkpointing.mode": "AT_LEAST_ONCE" if at_least_once else "EXACTLY_ONCE",
        "execution.checkpointing.min-pause": f"{stream.choice((0, 0, interval_ms // 4))} ms",
        CONCURRENT: "1" if unaligned else concurrent,
        RETAINED: stream.choice(("1", "1", "2", "3")),
        INLINE_THRESHOLD: stream.choice((NO_BYTES, NO_BYTES, "20 kb")),
        CHAINING: stream.choice(("true", "true", "false")),
        _BATCH: str(stream.between(8, 20)),
        _BUFFERS: str(stream.between(1, 8)),
    }
    if unaligned:
        options[UNALIGNED] = "true"
        if stream.chance(mix.switching_percent / 100):
            options[_ALIGNMENT_TIMEOUT] = f"{stream.between(1, interval_ms)} ms"
    if stream.chance(mix.debloat_percent / 100):
        options |= {
            f"{_DEBLOAT}.enabled": "true",
            f"{_DEBLOAT}.target": f"{stream.between(1, interval_ms)} ms",
            f"{_DEBLOAT}.period": f"{stream.between(1, interval_ms)} ms",
            f"{_DEBLOAT}.samples": str(stream.between(1, 5)),
        }
    if stream.chance(mix.repeating_sink_percent / 100):
        options[DELIVERY] = "at-least-once"
    return options


def draw_edges(scene: Scene, options: Options) -> Options:
    """Some of these options at an edge of what is allowed, each with its chance."""
    stream, interval_ms = scene.stream, scene.interval_ms
    edges: dict[str, tuple[str, ...]] = {
        "execution.checkpointing.min-pause": (f"{interval_ms} ms", f"{2 * interval_ms} ms"),
        "execution.checkpointing.timeout": (f"{_LEAST_MS} ms", f"{interval_ms // 2} ms", f"{interval_ms} ms"),
        RETAINED: ("1", "10"),
        INLINE_THRESHOLD: ("1 mb",),
        _BATCH: ("1", "200"),
        _BUFFERS: ("1", "64"),
        "state.backend.async": ("false",),
    }
    if UNALIGNED in options:
        edges[_ALIGNMENT_TIMEOUT] = ("0 ms", "1 ms")
    else:
        edges[CONCURRENT] = ("3",)
    return {key: stream.choice(values) for key, values in edges.items() if stream.chance(scene.mix.edge_percent / 100)}


def draw_forgiving(scene: Scene) -> Options:
    """A policy that no drawn faults exhaust, and timeouts short enough to fire."""
    stream, interval_ms = scene.stream, scene.interval_ms
    options = {
        "execution.checkpointing.timeout": f"{stream.between(2, 6) * interval_ms} ms",
        "execution.checkpointing.tolerable-failed-checkpoints": stream.choice(("0", "1", "2", MANY)),
        **strategy(scene, stream.choice(STRATEGIES), MANY),
    }
    if stream.chance(scene.mix.heartbeat_percent / 100):
        options["heartbeat.interval"] = f"{interval_ms // 2} ms"
        options["heartbeat.timeout"] = f"{stream.choice((1, 2, 2)) * interval_ms} ms"
    return options


def strategy(scene: Scene, name: str, limit: str) -> Options:
    """A restart strategy that allows so many failures, with a drawn delay."""
    stream, interval_ms = scene.stream, scene.interval_ms
    edge = stream.chance(scene.mix.edge_percent / 100)
    delay = f"{stream.choice((1, interval_ms)) if edge else stream.between(5, interval_ms // 2)} ms"
    prefix = f"restart-strategy.{name}"
    limits = {
        "fixed-delay": {"attempts": limit, "delay": delay},
        "failure-rate": {"max-failures-per-interval": limit, "failure-rate-interval": "10 min", "delay": delay},
        "exponential-delay": {
            "attempts-before-reset-backoff": limit,
            "initial-backoff": delay,
            "max-backoff": f"{interval_ms} ms",
        },
    }
    if edge and name == "exponential-delay":
        limits[name] |= {
            "backoff-multiplier": stream.choice(("1.0", "10.0")),
            "jitter-factor": stream.choice(("0.0", "1.0")),
        }
    return {"restart-strategy.type": name, **{f"{prefix}.{key}": value for key, value in limits[name].items()}}


def forced(options: Options) -> Options:
    """What a job with a loop must set to have checkpoints."""
    unaligned = {"execution.checkpointing.unaligned.forced": "true"} if UNALIGNED in options else {}
    return {"holdfast.force-checkpointing": "true", **unaligned}
