"""The options of a drawn plan, in the middle of what is allowed or at its edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.harness.engine.swarm.mix import Mix
from holdfast.harness.engine.swarm.scene import DELETES, FILE_EFFECTS, Scene
from holdfast.harness.model import profile
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.sim.streams import Stream

Options = dict[str, str]
NO_BYTES = "0 b"
MANY = "1000"
STRATEGIES = ("fixed-delay", "failure-rate", "exponential-delay")
_ABSENT_AT_EDGES = {profile.INLINE_THRESHOLD: FILE_EFFECTS, profile.RETAINED: DELETES}
"""What may never happen where the option is at an edge."""


def draw_checkpointing(stream: Stream, mix: Mix, interval_ms: int) -> Options:
    """How checkpoints are taken: mode, pauses, buffers, what is retained."""
    at_least_once = stream.chance(mix.at_least_once_percent / 100)
    unaligned = not at_least_once and stream.chance(mix.unaligned_percent / 100)
    concurrent = stream.choice(("1", "1", "1", "2"))
    options = {
        profile.INTERVAL: f"{interval_ms} ms",
        profile.MODE: "AT_LEAST_ONCE" if at_least_once else "EXACTLY_ONCE",
        profile.MIN_PAUSE: f"{stream.choice((0, 0, interval_ms // 4))} ms",
        profile.MAX_CONCURRENT: "1" if unaligned else concurrent,
        profile.RETAINED: stream.choice(("1", "1", "2", "3")),
        profile.INLINE_THRESHOLD: stream.choice((NO_BYTES, NO_BYTES, "20 kb")),
        profile.CHAINING: stream.choice(("true", "true", "false")),
        profile.BATCH_RECORDS: str(stream.between(8, 20)),
        profile.BUFFERS_PER_CHANNEL: str(stream.between(1, 8)),
    }
    if unaligned:
        options[profile.UNALIGNED] = "true"
        if stream.chance(mix.switching_percent / 100):
            options[profile.ALIGNMENT_TIMEOUT] = f"{stream.between(1, interval_ms)} ms"
    if stream.chance(mix.debloat_percent / 100):
        options |= {
            profile.DEBLOAT: "true",
            profile.DEBLOAT_TARGET: f"{stream.between(1, interval_ms)} ms",
            profile.DEBLOAT_PERIOD: f"{stream.between(1, interval_ms)} ms",
            profile.DEBLOAT_SAMPLES: str(stream.between(1, 5)),
        }
    if stream.chance(mix.repeating_sink_percent / 100):
        options[profile.DELIVERY] = "at-least-once"
    return options


def draw_edges(scene: Scene, options: Options, faults: Iterable[FaultSpec]) -> Options:
    """Some of these options at an edge of what is allowed, each with its chance; none at which a fault hits nothing."""
    stream, interval_ms = scene.stream, scene.interval_ms
    edges: dict[str, tuple[str, ...]] = {
        profile.MIN_PAUSE: (f"{interval_ms} ms", f"{2 * interval_ms} ms"),
        profile.TIMEOUT: (f"{profile.MINIMUM_MS} ms", f"{interval_ms // 2} ms", f"{interval_ms} ms"),
        profile.RETAINED: ("1", "10"),
        profile.INLINE_THRESHOLD: ("1 mb",),
        profile.BATCH_RECORDS: ("1", "200"),
        profile.BUFFERS_PER_CHANNEL: ("1", "64"),
        profile.ASYNCHRONOUS: ("false",),
    }
    if profile.UNALIGNED in options:
        edges[profile.ALIGNMENT_TIMEOUT] = ("0 ms", "1 ms")
    else:
        edges[profile.MAX_CONCURRENT] = ("3",)
    drawn = {
        key: stream.choice(values)
        for key, values in edges.items()
        if key not in scene.mix.within_edges and stream.chance(scene.mix.edge_percent / 100)
    }
    struck = {effect for fault in faults for effect in _effects(fault)}
    return {key: value for key, value in drawn.items() if struck.isdisjoint(_ABSENT_AT_EDGES.get(key, ()))}


def _effects(fault: FaultSpec) -> Iterator[str]:
    """What a fault waits for or strikes."""
    if fault.schedule.gate is not None:
        yield fault.schedule.gate.effect
    yield str(fault.parameters.get("operation", ""))


def draw_dependent_edges(stream: Stream, options: Options, interval_ms: int, percent: int) -> Options:
    """Edges of options that only count beside others of the plan, and that cannot change how it ends.

    Args:
        stream: of these draws alone.
        options: of the plan; a limit of attempts at which it gives up must count over the whole run.
        interval_ms: between checkpoints.
        percent: chance of each.
    """
    edges: dict[str, tuple[str, ...]] = {}
    if options.get(profile.EXPONENTIAL_ATTEMPTS) == MANY:
        edges[profile.EXPONENTIAL_RESET] = ("1 ms", f"{interval_ms} ms")
    if options.get(profile.RATE_FAILURES) == MANY:
        edges[profile.RATE_INTERVAL] = ("1 ms", f"{interval_ms} ms")
    if profile.DEBLOAT in options:
        edges[profile.DEBLOAT_THRESHOLD] = ("1", "100")
    return {key: stream.choice(values) for key, values in edges.items() if stream.chance(percent / 100)}


def draw_apart(seed: int, mix: Mix) -> Options:
    """Options each from a stream of their own, on which nothing else of a plan depends."""
    shares_files = Stream(seed, "increments").chance(mix.incremental_percent / 100)
    return {profile.BACKEND: "rocksdb", profile.INCREMENTAL: "true"} if shares_files else {}


def draw_forgiving(scene: Scene) -> Options:
    """A policy that no drawn faults exhaust, and timeouts short enough to fire."""
    stream, interval_ms = scene.stream, scene.interval_ms
    options = {
        profile.TIMEOUT: f"{stream.between(2, 6) * interval_ms} ms",
        profile.TOLERABLE_FAILURES: stream.choice(("0", "1", "2", MANY)),
        **strategy(scene, stream.choice(STRATEGIES), MANY),
    }
    if stream.chance(scene.mix.heartbeat_percent / 100):
        options[profile.HEARTBEAT_INTERVAL] = f"{interval_ms // 2} ms"
        options[profile.HEARTBEAT_TIMEOUT] = f"{stream.choice((1, 2, 2)) * interval_ms} ms"
    return options


def strategy(scene: Scene, name: str, limit: str) -> Options:
    """A restart strategy that allows so many failures, with a drawn delay."""
    stream, interval_ms = scene.stream, scene.interval_ms
    edge = stream.chance(scene.mix.edge_percent / 100)
    delay = f"{stream.choice((1, interval_ms)) if edge else stream.between(5, interval_ms // 2)} ms"
    limits = {
        "fixed-delay": {profile.FIXED_ATTEMPTS: limit, profile.FIXED_DELAY: delay},
        "failure-rate": {
            profile.RATE_FAILURES: limit,
            profile.RATE_INTERVAL: "10 min",
            profile.RATE_DELAY: delay,
        },
        "exponential-delay": {
            profile.EXPONENTIAL_ATTEMPTS: limit,
            profile.EXPONENTIAL_INITIAL: delay,
            profile.EXPONENTIAL_MAX: f"{interval_ms} ms",
        },
    }
    if edge and name == "exponential-delay":
        limits[name] |= {
            profile.EXPONENTIAL_MULTIPLIER: stream.choice(("1.1", "10.0")),
            profile.EXPONENTIAL_JITTER: stream.choice(("0.0", "1.0")),
        }
    return {profile.STRATEGY: name, **limits[name]}


def with_forced_checkpoints(options: Options) -> Options:
    """What a job with a loop must set to have checkpoints."""
    unaligned = {profile.UNALIGNED_FORCED: "true"} if profile.UNALIGNED in options else {}
    return {profile.FORCED: "true", **unaligned}
