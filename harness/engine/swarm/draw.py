"""The swarm: a plan from one seed. Every run draws its own mix of job, width, options, workload and faults.

A drawn plan is valid by construction, and its expected end is known: its restart strategy survives its faults, or is
meant to give up at the last of them. Faults may fall together in any way: a run that cannot be judged for that is
inconclusive and counted by its cause.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from holdfast.harness.engine.swarm.mix import SWARM, Mix
from holdfast.harness.engine.swarm.options import (
    MANY,
    NO_BYTES,
    STRATEGIES,
    Options,
    draw_apart,
    draw_checkpointing,
    draw_dependent_edges,
    draw_edges,
    draw_forgiving,
    strategy,
    with_forced_checkpoints,
)
from holdfast.harness.engine.swarm.scene import (
    Scene,
    draw_boundary_faults,
    draw_disturbance,
    draw_faults,
    draw_later_faults,
    draw_shares,
    only_occasions,
)
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.configuration import Call, ConfigurationFile
from holdfast.harness.model.job import STATEFUL, Job, VertexKind
from holdfast.harness.model.jobs import (
    BOUNDED_JOBS,
    ENDLESS_JOBS,
    ITERATION,
    JOBS,
    KEYED_JOBS,
    REDUCED,
    REGIONAL_JOBS,
    over_sockets,
)
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.submitted_jobs import PARALLELISM, SUBMIT
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.oracles.output.settle_window import lengthened
from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.attack import PLAN_STREAM, Feature, Occasion

POLICIES = ("NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION")
_LEAVES = POLICIES[-1]
_ENDS = {"cancel": ExpectedEnd.CANCELED, "suspend": ExpectedEnd.SUSPENDED}
_CALM = 2
"""So many checkpoints after the last fault there is a coordinator that takes requests."""


WIDTHS = (1, 2, 3, 4)
"""Of a job that goes on from what another one has left."""


def with_rescaled_jobs(plan: Plan, stream: Stream, percent: int) -> Plan:
    """A plan in which a job that is submitted may be of another parallelism, unless it holds records back: these cannot
    be spread over other subtasks."""
    if any(vertex.kind is VertexKind.MINI_BATCH for vertex in plan.job.vertices):
        return plan
    faults = []
    for spec in plan.faults:
        if spec.kind == SUBMIT and stream.chance(percent / 100):
            spec = replace(spec, parameters={**spec.parameters, PARALLELISM: stream.choice(WIDTHS)})
        faults.append(spec)
    return replace(plan, faults=tuple(faults))


def with_empty_starts(plan: Plan, stream: Stream, percent: int) -> Plan:
    """A plan in which a job that is submitted may start empty, whatever the last one has left."""
    faults = tuple(
        replace(spec, parameters={**spec.parameters, "restore": 0})
        if spec.kind == SUBMIT and stream.chance(percent / 100)
        else spec
        for spec in plan.faults
    )
    return replace(plan, faults=faults)


def draw_policy(scene: Scene) -> dict[str, str]:
    """Draw the retention policy of checkpoints."""
    return {profile.RETENTION: scene.stream.choice(POLICIES)}


def draw_user_end(scene: Scene) -> tuple[tuple[FaultSpec, ...], ExpectedEnd, dict[str, str]]:
    """A user ends the job behind its faults; in half of the plans another one is submitted then, which restores what
    the first has left, and must run.

    Returns:
        All faults, the expected end, and options that these need.
    """
    stream = scene.stream
    scene = replace(scene, user_ends=True)
    faults = () if scene.single else draw_faults(scene)
    progress = max((spec.schedule.after_checkpoint for spec in faults), default=0) + _CALM
    word = stream.choice(tuple(_ENDS))
    end = FaultSpec(word, COORDINATOR, Schedule(after_checkpoint=progress))
    if scene.single or stream.chance(0.5):
        return (*faults, end), _ENDS[word], draw_policy(scene)
    left = Schedule(after_checkpoint=progress, at_event="checkpoint_retained")
    submit = FaultSpec("submit", COORDINATOR, left)
    later: tuple[FaultSpec, ...] = ()
    if stream.chance(scene.mix.second_job_percent / 100):
        later = draw_later_faults(scene, progress + stream.between(0, 2))
    return (*faults, end, submit, *later), ExpectedEnd.RUNNING, {profile.RETENTION: _LEAVES}


_SAFETY_INTERVALS = 30
_AFTER_FINISH = ("true",) * 7 + ("false",)


def draw_plan(seed: int, mix: Mix = SWARM) -> Plan:
    """The plan of a draw seed."""
    stream = Stream(seed, PLAN_STREAM)
    ends = stream.chance(mix.bounded_percent / 100)
    job = _job(stream, mix, ends=ends)
    if not ends and Stream(seed, "loops").chance(mix.iteration_percent / 100):
        job = ITERATION
    regions = Stream(seed, "regions")
    regional = not ends and not job.iterative and bool(mix.regional_jobs) and regions.chance(mix.regional_percent / 100)
    if regional:
        job = REGIONAL_JOBS[regions.weighted(mix.regional_jobs)]
    keyed = Stream(seed, "keyed jobs")
    if mix.keyed_jobs and keyed.chance(mix.keyed_percent / 100) and not (ends or regional or job.iterative):
        job = KEYED_JOBS[keyed.weighted(mix.keyed_jobs)]
    topology = Topology(parallelism=stream.weighted(mix.parallelism))
    interval_ms = stream.between(*mix.interval_ms)
    latest = stream.chance(mix.latest_percent / 100) and not ends
    options = draw_checkpointing(stream, mix, interval_ms) if mix.options else {}
    state_files = options.get(profile.INLINE_THRESHOLD) == NO_BYTES and bool(job.of_kind(*STATEFUL))
    silent = options.get(profile.CHAINING) != "false" and job.never_aligns()
    drops = options.get(profile.RETAINED) == "1"
    few = Stream(seed, "few faults")
    calm, single = few.chance(mix.calm_percent / 100), few.chance(mix.single_percent / 100)
    attacks = mix.drawn_attacks()
    if calm or single:
        attacks = only_occasions(attacks, *(() if calm else (Occasion.MIXED, Occasion.LIVES)))
    scene = Scene(
        stream,
        mix,
        job,
        topology,
        interval_ms,
        state_files,
        settled_start=latest,
        drops=drops,
        overlapping=options.get(profile.MAX_CONCURRENT, "1") != "1",
        aligns=not silent,
        regional=regional,
        attacks=attacks,
        single=single,
        backlog=not latest and stream.chance(mix.backlog_percent / 100),
    )
    faults, end, further = _happenings(scene, options, seed, calm=calm)
    options.update(further)
    if stream.chance(mix.failover_percent / 100):
        options[profile.FAILOVER] = stream.choice(("region", "full"))
    if regional:
        options[profile.FAILOVER] = "region"
    if stream.chance(mix.enumerated_percent / 100) and not ends:
        options[profile.SPLIT_ASSIGNMENT] = "enumerator"
        options.setdefault(profile.HEARTBEAT_INTERVAL, f"{2 * interval_ms} ms")
        scene = replace(scene, enumerated=True)
    faults = (*draw_shares(scene, Occasion.FIRST, seed), *faults)
    if job.iterative:
        options |= with_forced_checkpoints(options)
    if mix.options and stream.chance(mix.retention_percent / 100):
        options = {**draw_policy(scene), **options}
    if latest:
        options[profile.STARTUP] = "latest-offset"
    precluded = _precluded(mix, faults)
    if ends and mix.options:
        final = "true" if Feature.NO_FINAL_CHECKPOINT in precluded else stream.choice(_AFTER_FINISH)
        options[profile.AFTER_FINISH] = final
    if mix.options:
        options |= draw_apart(seed, mix)
    options |= draw_dependent_edges(Stream(seed, "edges"), options, interval_ms, mix.edge_percent)
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
    rereads = ends or latest or Feature.SOCKETS in precluded or profile.SPLIT_ASSIGNMENT in options
    return _surrounded(plan, mix, rereads=rereads)


def _happenings(
    scene: Scene, options: Options, seed: int, *, calm: bool
) -> tuple[tuple[FaultSpec, ...], ExpectedEnd, Options]:
    """The faults of a plan, the end to which they lead, and the options for which they were drawn."""
    stream, mix, ends = scene.stream, scene.mix, scene.job.bounded
    few = calm or scene.single
    if stream.chance(mix.boundary_percent / 100) and not ends and not scene.regional and not few:
        return _at_the_boundary(scene)
    user_ends = mix.options and stream.chance(mix.user_end_percent / 100) and not ends and not scene.settled_start
    if user_ends and not calm:
        faults, end, policy = draw_user_end(scene)
        return faults, end, {**draw_forgiving(scene), **draw_edges(scene, options, faults), **policy}
    disturbance = draw_disturbance(replace(scene, stream=Stream(seed, "disturbances")))
    faults = (*draw_faults(scene), *disturbance, *draw_shares(scene, Occasion.LAST, seed))
    end = ExpectedEnd.FINISHED if ends else ExpectedEnd.RUNNING
    return faults, end, {**draw_forgiving(scene), **draw_edges(scene, options, faults)} if mix.options else {}


def _surrounded(plan: Plan, mix: Mix, *, rereads: bool) -> Plan:
    """The plan with bounds that suit it; by further draws with other widths, a fresh start, sockets, state elsewhere.

    Args:
        plan: as it was drawn so far.
        mix: of the plan.
        rereads: its input must be read again from a position, which a socket cannot do.
    """
    seed = plan.draw_seed
    plan = replace(plan, bounds=lengthened(plan))
    job = plan.job
    plan = with_rescaled_jobs(plan, Stream(seed, "widths"), mix.rescaled_percent)
    plan = with_empty_starts(plan, Stream(seed, "afresh"), mix.afresh_percent)
    if not rereads and Stream(seed, "sockets").chance(mix.socket_percent / 100):
        plan = replace(plan, job=over_sockets(job))
    places = Stream(seed, "layers")
    return state_elsewhere(plan, places) if places.chance(mix.elsewhere_percent / 100) else plan


def _job(stream: Stream, mix: Mix, *, ends: bool) -> Job:
    """A job, or one whose input ends."""
    if not ends:
        return ENDLESS_JOBS[stream.weighted(mix.jobs)]
    name = stream.weighted({each: weight for each, weight in mix.jobs.items() if each in JOBS})
    chosen = stream.choice((f"bounded-{name}", f"bounded-{name}", REDUCED.name))
    return BOUNDED_JOBS[chosen if Capability.OPERATORS in mix.able else f"bounded-{name}"]


def _at_the_boundary(scene: Scene) -> tuple[tuple[FaultSpec, ...], ExpectedEnd, Options]:
    """Exactly as many failures as the policy allows, or one more than that."""
    stream = scene.stream
    failures = stream.between(2, 3)
    gives_up = stream.chance(0.4)
    options = {
        profile.TOLERABLE_FAILURES: MANY,
        **strategy(scene, stream.choice(STRATEGIES), str(failures - gives_up)),
    }
    end = ExpectedEnd.FAILED if gives_up else ExpectedEnd.RUNNING
    return draw_boundary_faults(scene, failures), end, options


def _precluded(mix: Mix, faults: tuple[FaultSpec, ...]) -> frozenset[Feature]:
    """What the faults of a plan do not go with."""
    precluding = mix.precluding_faults()
    return frozenset(
        each for spec in faults if spec.kind in precluding for each in precluding[spec.kind].precludes(spec)
    )


FLAT, NESTED = "flink-conf.yaml", "config.yaml"
_MAPPING = "execution"
_OLDER_OF = {newest[0]: older for older, newest in profile.OLDER.items() if len(newest) == 1}
_OVERRULED = {
    profile.STRATEGY: "none",
    profile.INTERVAL: "1 h",
    profile.TIMEOUT: "10 ms",
    profile.RETAINED: "9",
    profile.DELIVERY: "at-least-once",
}
"""What a cluster may say in vain about options that the program states."""


def state_elsewhere(plan: Plan, stream: Stream) -> Plan:
    """The plan with the same configuration in several places: in the cluster's file, by calls, in older spellings, more
    than once."""
    places: dict[str, list[tuple[str, str]]] = {"code": [], "call": [], "file": []}
    for key, text in [*plan.options.items(), (profile.PROFILE, stream.choice((profile.FLINK_1_14, profile.FLINK_2)))]:
        place = stream.choice(("code", "call", "file", "file"))
        places[place].append((_spelled(key, stream), text))
        if place != "file" and key in _OVERRULED:
            places["file"].append((_spelled(key, stream), _OVERRULED[key]))
    write = stream.choice((_flat, _nested))
    return msgspec.structs.replace(
        plan,
        options=dict(places["code"]),
        calls=tuple(Call("configure", pair) for pair in places["call"]),
        configuration_file=write(places["file"]),
    )


def _spelled(key: str, stream: Stream) -> str:
    return stream.choice((key, _OLDER_OF.get(key, key)))


def _flat(options: list[tuple[str, str]]) -> ConfigurationFile:
    return ConfigurationFile(FLAT, "".join(f"{key}: {text}\n" for key, text in options))


def _nested(options: list[tuple[str, str]]) -> ConfigurationFile:
    """What belongs to the execution stands below it, the rest under keys with dots."""
    below = f"{_MAPPING}."
    inner = [f"  {key.removeprefix(below)}: {text}\n" for key, text in options if key.startswith(below)]
    outer = [f"{key}: {text}\n" for key, text in options if not key.startswith(below)]
    return ConfigurationFile(NESTED, "".join([*outer, *([f"{_MAPPING}:\n", *inner] if inner else [])]))


_ARRIVAL_INTERVALS = (3, 5)
_ARRIVAL_INTERVALS_OF_BOUNDED = (8, 10)
"""The job must not be over before its faults have acted."""
_BEFORE = (0, 25, 50)
_BEFORE_LATEST = (25, 50, 100)
"""How much of its partitions, but for an idle one, a job that starts at the latest offset never reads."""
BACKLOG_TIMES = 4
"""So many times as many records has a plan whose input is there before the job starts."""


def draw_workload(scene: Scene, *, latest: bool) -> WorkloadSpec:
    """A part is there at the start; the rest arrives over some checkpoints, so that faults find input unread."""
    stream, mix = scene.stream, scene.mix
    sources = len(scene.job.of_kind(VertexKind.SOURCE))
    partitions = max(scene.topology.parallelism, sources) + stream.below(2)
    records = stream.between(*mix.records) * (BACKLOG_TIMES if scene.backlog else 1)
    before = _BEFORE_LATEST if latest else (75,) if scene.backlog else _BEFORE
    preloaded_percent = (stream.fork("arrivals") if latest or scene.backlog else stream).choice(before)
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
