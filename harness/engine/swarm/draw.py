"""The swarm: a plan from one seed. Every run draws its own mix of job, width, options, workload and faults.

A drawn plan is valid by construction, and its expected end is known: its restart strategy survives its faults, or is
meant to give up at the last of them. Faults may fall together in any way: a run that cannot be judged for that is
inconclusive and counted by its cause.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.engine.swarm.end import afresh, draw_policy, draw_user_end, rescaled
from holdfast.harness.engine.swarm.faults import (
    draw_countable_failures,
    draw_disturbance,
    draw_faults,
    draw_lost_splits,
)
from holdfast.harness.engine.swarm.layers import state_elsewhere
from holdfast.harness.engine.swarm.mix import SWARM, Mix
from holdfast.harness.engine.swarm.options import (
    CHAINING,
    CONCURRENT,
    INLINE_THRESHOLD,
    MANY,
    NO_BYTES,
    RETAINED,
    STRATEGIES,
    Options,
    draw_checkpointing,
    draw_edges,
    draw_forgiving,
    forced,
    strategy,
)
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.engine.swarm.workload import draw_workload
from holdfast.harness.model.job import STATEFUL, Job
from holdfast.harness.model.jobs import BOUNDED_JOBS, JOBS, REDUCED
from holdfast.harness.model.lossy_jobs import ITERATION, over_sockets
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Topology
from holdfast.harness.oracles.models.settle_window import lengthened
from holdfast.harness.sim.streams import Stream

_SAFETY_INTERVALS = 30
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
    options = draw_checkpointing(stream, mix, interval_ms) if mix.options else {}
    state_files = options.get(INLINE_THRESHOLD) == NO_BYTES and bool(job.of_kind(*STATEFUL))
    silent = options.get(CHAINING) != "false" and job.never_aligns()
    drops = options.get(RETAINED) == "1"
    scene = Scene(
        stream,
        mix,
        job,
        topology,
        interval_ms,
        state_files,
        settled_start=latest,
        drops=drops,
        overlapping=options.get(CONCURRENT, "1") != "1",
        has_channels=not silent,
        backlog=not latest and stream.chance(mix.backlog_percent / 100),
    )
    if stream.chance(mix.boundary_percent / 100) and not ends:
        faults, end, policy = _at_the_boundary(scene)
        options.update(policy)
    elif mix.options and stream.chance(mix.user_end_percent / 100) and not ends and not latest:
        faults, end, policy = draw_user_end(scene)
        options.update({**draw_forgiving(scene), **draw_edges(scene, options), **policy})
    else:
        disturbance = draw_disturbance(replace(scene, stream=Stream(seed, "disturbances")))
        faults = (*draw_faults(scene), *disturbance)
        end = ExpectedEnd.FINISHED if ends else ExpectedEnd.RUNNING
        if mix.options:
            options.update({**draw_forgiving(scene), **draw_edges(scene, options)})
    if stream.chance(mix.failover_percent / 100):
        options["jobmanager.execution.failover-strategy"] = stream.choice(("region", "full"))
    if stream.chance(mix.enumerated_percent / 100) and not ends:
        options["source.split-assignment"] = "enumerator"
        options.setdefault("heartbeat.interval", f"{2 * interval_ms} ms")
        faults = (*draw_lost_splits(scene), *faults)
    if job.iterative:
        options |= forced(options)
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
        workload=draw_workload(scene, latest=latest),
        faults=faults,
        expected_end=end,
        draw_seed=seed,
        run_seed=stream.below(1 << 53),
        bounds=Bounds(safety_ms=_SAFETY_INTERVALS * interval_ms, settle_ms=0 if mix.options else interval_ms),
    )
    plan = replace(plan, bounds=lengthened(plan))
    plan = rescaled(plan, Stream(seed, "widths"), mix.rescaled_percent)
    plan = afresh(plan, Stream(seed, "afresh"), mix.afresh_percent)
    removed = any(spec.kind == "truncate" for spec in faults)
    rereads = ends or latest or removed or "source.split-assignment" in options
    if not rereads and Stream(seed, "sockets").chance(mix.socket_percent / 100):
        plan = replace(plan, job=over_sockets(job))
    places = Stream(seed, "layers")
    return state_elsewhere(plan, places) if places.chance(mix.elsewhere_percent / 100) else plan


def _job(stream: Stream, mix: Mix, *, ends: bool) -> Job:
    """A job, or one whose input ends."""
    name = stream.weighted(mix.jobs)
    return BOUNDED_JOBS[stream.choice((f"bounded-{name}", f"bounded-{name}", REDUCED.name))] if ends else JOBS[name]


def _at_the_boundary(scene: Scene) -> tuple[tuple[FaultSpec, ...], ExpectedEnd, Options]:
    """Exactly as many failures as the policy allows, or one more than that."""
    stream = scene.stream
    failures = stream.between(2, 3)
    gives_up = stream.chance(0.4)
    options = {
        "execution.checkpointing.tolerable-failed-checkpoints": MANY,
        **strategy(scene, stream.choice(STRATEGIES), str(failures - gives_up)),
    }
    end = ExpectedEnd.FAILED if gives_up else ExpectedEnd.RUNNING
    return draw_countable_failures(scene, failures), end, options


def _after_finish(stream: Stream, faults: tuple[FaultSpec, ...]) -> str:
    """Without such checkpoints a sink whose last notice is lost is never told again what it must commit."""
    told_again = all(
        spec.kind != "lose-notices" and (spec.kind, spec.parameters.get("message")) != ("lose-messages", "complete")
        for spec in faults
    )
    return stream.choice(_AFTER_FINISH) if told_again else "true"
