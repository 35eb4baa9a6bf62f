"""The swarm: a plan from one seed. Every run draws its own mix of job, width, options, workload and faults.

A drawn plan is valid by construction, and ends well by construction: its restart strategy survives its faults, or is
meant to give up at the last of them, and its faults are scheduled where they can act.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.engine.swarm.end import afresh, draw_policy, draw_user_end, rescaled
from holdfast.harness.engine.swarm.faults import draw_countable_failures, draw_faults, draw_lost_splits
from holdfast.harness.engine.swarm.layers import state_elsewhere
from holdfast.harness.engine.swarm.mix import SWARM, Mix
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.job import STATEFUL, Job, VertexKind
from holdfast.harness.model.jobs import BOUNDED_JOBS, JOBS, REDUCED
from holdfast.harness.model.lossy_jobs import ITERATION, over_sockets
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Topology, WorkloadSpec
from holdfast.harness.model.units import duration_ms
from holdfast.harness.sim.streams import Stream

Options = dict[str, str]
_CHAINING = "pipeline.operator-chaining.enabled"
_CONCURRENT = "execution.checkpointing.max-concurrent-checkpoints"
_INLINE_THRESHOLD, _NO_BYTES = "execution.checkpointing.data-inline-threshold", "0 b"
_RETAINED = "execution.checkpointing.num-retained"
_UNALIGNED = "execution.checkpointing.unaligned.enabled"
_ALIGNMENT_TIMEOUT = "execution.checkpointing.aligned-checkpoint-timeout"
_DEBLOAT = "taskmanager.network.memory.buffer-debloat"
_MANY = "1000"
_STRATEGIES = ("fixed-delay", "failure-rate", "exponential-delay")
_SAFETY_INTERVALS = 30
_ARRIVAL_INTERVALS = (3, 5)
_ARRIVAL_INTERVALS_OF_BOUNDED = (8, 10)
"""The job must not be over before its faults have acted."""
_AFTER_FINISH = ("true",) * 7 + ("false",)


def draw_plan(seed: int, mix: Mix = SWARM) -> Plan:
    """The plan of a draw seed."""
    stream = Stream(seed, "draw")
    ends = stream.chance(mix.bounded_percent / 100)
    job = _job(stream, mix, ends=ends)
    if not ends and Stream(seed, "loops").chance(mix.iteration_percent / 100):
        job = ITERATION
    topology = Topology(parallelism=stream.weighted(mix.parallelism))
    interval_ms = stream.between(*mix.interval_ms)
    latest = stream.chance(mix.latest_percent / 100) and not ends
    options = _checkpointing(stream, mix, interval_ms) if mix.options else {}
    state_files = options.get(_INLINE_THRESHOLD) == _NO_BYTES and bool(job.of_kind(*STATEFUL))
    silent = options.get(_CHAINING) != "false" and job.never_aligns()
    drops = options.get(_RETAINED) == "1"
    scene = Scene(
        stream,
        mix,
        job,
        topology,
        interval_ms,
        state_files,
        settled_start=latest,
        drops=drops,
        overlapping=options.get(_CONCURRENT, "1") != "1",
        has_channels=not silent,
    )
    if stream.chance(mix.boundary_percent / 100) and not ends:
        faults, end, strategy = _at_the_boundary(scene)
        options.update(strategy)
    elif mix.options and stream.chance(mix.user_end_percent / 100) and not ends and not latest:
        faults, end, policy = draw_user_end(scene)
        options.update({**_forgiving(scene), **policy})
    else:
        faults, end = draw_faults(scene), ExpectedEnd.FINISHED if ends else ExpectedEnd.RUNNING
        if mix.options:
            options.update(_forgiving(scene))
    if stream.chance(mix.failover_percent / 100):
        options["jobmanager.execution.failover-strategy"] = stream.choice(("region", "full"))
    if stream.chance(mix.enumerated_percent / 100) and not ends:
        options["source.split-assignment"] = "enumerator"
        options.setdefault("heartbeat.interval", f"{2 * interval_ms} ms")
        faults = (*draw_lost_splits(scene), *faults)
    if job.iterative:
        options |= _forced(options)
    if mix.options and stream.chance(mix.retention_percent / 100):
        options = {**draw_policy(scene), **options}
    if latest:
        options["scan.startup.mode"] = "latest-offset"
    if ends and mix.options:
        options["execution.checkpointing.checkpoints-after-tasks-finish"] = _after_finish(stream, faults)
    plan = Plan(
        system=mix.system,
        job=job,
        topology=topology,
        options=options,
        workload=_workload(scene, latest=latest),
        faults=faults,
        expected_end=end,
        draw_seed=seed,
        run_seed=stream.below(1 << 53),
        bounds=Bounds(safety_ms=_SAFETY_INTERVALS * interval_ms, settle_ms=_settle_ms(job, options, interval_ms)),
    )
    plan = rescaled(plan, Stream(seed, "widths"), mix.rescaled_percent)
    plan = afresh(plan, Stream(seed, "afresh"), mix.afresh_percent)
    rereads = ends or latest or "source.split-assignment" in options
    if not rereads and Stream(seed, "sockets").chance(mix.socket_percent / 100):
        plan = replace(plan, job=over_sockets(job))
    places = Stream(seed, "layers")
    return state_elsewhere(plan, places) if places.chance(mix.elsewhere_percent / 100) else plan


def _job(stream: Stream, mix: Mix, *, ends: bool) -> Job:
    """A job, or one whose input ends."""
    name = stream.weighted(mix.jobs)
    return BOUNDED_JOBS[stream.choice((f"bounded-{name}", f"bounded-{name}", REDUCED.name))] if ends else JOBS[name]


def _checkpointing(stream: Stream, mix: Mix, interval_ms: int) -> Options:
    at_least_once = stream.chance(mix.at_least_once_percent / 100)
    unaligned = not at_least_once and stream.chance(mix.unaligned_percent / 100)
    concurrent = stream.choice(("1", "1", "1", "2"))
    options = {
        "execution.checkpointing.interval": f"{interval_ms} ms",
        "execution.checkpointing.mode": "AT_LEAST_ONCE" if at_least_once else "EXACTLY_ONCE",
        "execution.checkpointing.min-pause": f"{stream.choice((0, 0, interval_ms // 4))} ms",
        _CONCURRENT: "1" if unaligned else concurrent,
        _RETAINED: stream.choice(("1", "1", "2", "3")),
        _INLINE_THRESHOLD: stream.choice((_NO_BYTES, _NO_BYTES, "20 kb")),
        _CHAINING: stream.choice(("true", "true", "false")),
        "source.max-batch-records": str(stream.between(8, 20)),
        "taskmanager.network.memory.buffers-per-channel": str(stream.between(1, 8)),
    }
    if unaligned:
        options[_UNALIGNED] = "true"
        if stream.chance(mix.switching_percent / 100):
            options[_ALIGNMENT_TIMEOUT] = f"{stream.between(1, interval_ms)} ms"
    if stream.chance(mix.debloat_percent / 100):
        options |= {
            f"{_DEBLOAT}.enabled": "true",
            f"{_DEBLOAT}.target": f"{stream.between(1, interval_ms)} ms",
            f"{_DEBLOAT}.period": f"{stream.between(1, interval_ms)} ms",
            f"{_DEBLOAT}.samples": str(stream.between(1, 5)),
        }
    return options


def _forced(options: Options) -> Options:
    """What a job with a loop must say to have checkpoints."""
    unaligned = {"execution.checkpointing.unaligned.forced": "true"} if _UNALIGNED in options else {}
    return {"holdfast.force-checkpointing": "true", **unaligned}


def _forgiving(scene: Scene) -> Options:
    """A policy that no drawn faults exhaust, and timeouts short enough to fire."""
    stream, interval_ms = scene.stream, scene.interval_ms
    options = {
        "execution.checkpointing.timeout": f"{stream.between(2, 6) * interval_ms} ms",
        "execution.checkpointing.tolerable-failed-checkpoints": stream.choice(("0", "1", "2", _MANY)),
        **_strategy(scene, stream.choice(_STRATEGIES), _MANY),
    }
    if stream.chance(scene.mix.heartbeat_percent / 100):
        options["heartbeat.interval"] = f"{interval_ms // 2} ms"
        options["heartbeat.timeout"] = f"{2 * interval_ms} ms"
    return options


def _at_the_boundary(scene: Scene) -> tuple[tuple[FaultSpec, ...], ExpectedEnd, Options]:
    """Exactly as many failures as the policy allows, or one more than that."""
    stream = scene.stream
    failures = stream.between(2, 3)
    gives_up = stream.chance(0.4)
    options = {
        "execution.checkpointing.tolerable-failed-checkpoints": _MANY,
        **_strategy(scene, stream.choice(_STRATEGIES), str(failures - gives_up)),
    }
    end = ExpectedEnd.FAILED if gives_up else ExpectedEnd.RUNNING
    return draw_countable_failures(scene, failures), end, options


def _strategy(scene: Scene, name: str, limit: str) -> Options:
    delay = f"{scene.stream.between(5, scene.interval_ms // 2)} ms"
    prefix = f"restart-strategy.{name}"
    limits = {
        "fixed-delay": {"attempts": limit, "delay": delay},
        "failure-rate": {"max-failures-per-interval": limit, "failure-rate-interval": "10 min", "delay": delay},
        "exponential-delay": {
            "attempts-before-reset-backoff": limit,
            "initial-backoff": delay,
            "max-backoff": f"{scene.interval_ms} ms",
        },
    }
    return {"restart-strategy.type": name, **{f"{prefix}.{key}": value for key, value in limits[name].items()}}


def _after_finish(stream: Stream, faults: tuple[FaultSpec, ...]) -> str:
    """Without such checkpoints a sink whose last notice is lost is never told again what it must commit."""
    told_again = all(spec.kind != "lose-notices" for spec in faults)
    return stream.choice(_AFTER_FINISH) if told_again else "true"


def _settle_ms(job: Job, options: Options, interval_ms: int) -> int:
    """Longer than what can still change committed output: a missed heartbeat restarts the job, and what was held back
    just before a barrier is committed with the checkpoint after the next."""
    held_back_ms = sum(interval_ms + vertex.latency_ms for vertex in job.of_kind(VertexKind.MINI_BATCH))
    return interval_ms + held_back_ms + duration_ms(options.get("heartbeat.timeout", "0 ms"))


def _workload(scene: Scene, *, latest: bool) -> WorkloadSpec:
    """A part is there at the start; the rest arrives over some checkpoints, so that faults find input unread."""
    stream, mix = scene.stream, scene.mix
    sources = len(scene.job.of_kind(VertexKind.SOURCE))
    partitions = max(scene.topology.parallelism, sources) + stream.below(2)
    records = stream.between(*mix.records)
    preloaded_percent = 100 if latest else stream.choice((0, 25, 50))
    arriving = records * (100 - preloaded_percent) // 100 // partitions if not latest else records // partitions
    span_ms = scene.interval_ms * stream.between(
        *(_ARRIVAL_INTERVALS_OF_BOUNDED if scene.job.bounded else _ARRIVAL_INTERVALS)
    )
    parameters: dict[str, int | str] = {
        "records": records,
        "keys": stream.between(*mix.keys),
        "partitions": partitions,
        "skew_percent": stream.choice((0, 0, 50, 80)),
        "preloaded_percent": preloaded_percent,
        "records_per_second": max(1, arriving * 1_000 // span_ms),
    }
    if latest:
        parameters["idle_partition"] = stream.below(partitions)
        parameters["starts_ms"] = scene.interval_ms * stream.between(1, 4) + stream.below(scene.interval_ms)
    return WorkloadSpec("synthetic", parameters)
