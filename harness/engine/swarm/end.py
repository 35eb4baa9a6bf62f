"""How the job of a drawn plan ends, what its policy leaves of it, and whether another one goes on from that."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.engine.swarm.faults import draw_faults, draw_later_faults
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model import profile
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan, Schedule
from holdfast.harness.model.submitted_jobs import PARALLELISM, SUBMIT
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.sim.streams import Stream

POLICIES = ("NO_EXTERNALIZED_CHECKPOINTS", "DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION")
_LEAVES = POLICIES[-1]
_ENDS = {"cancel": ExpectedEnd.CANCELED, "suspend": ExpectedEnd.SUSPENDED}
_CALM = 2
"""So many checkpoints after the last fault there is a coordinator that can be asked."""


WIDTHS = (1, 2, 3, 4)
"""Of a job that goes on from what another one has left."""


def rescaled(plan: Plan, stream: Stream, percent: int) -> Plan:
    """The same plan, but a job that is submitted in it may be of another parallelism, unless it holds records back:
    these cannot be spread over other subtasks."""
    if any(vertex.kind is VertexKind.MINI_BATCH for vertex in plan.job.vertices):
        return plan
    faults = []
    for spec in plan.faults:
        if spec.kind == SUBMIT and stream.chance(percent / 100):
            spec = replace(spec, parameters={**spec.parameters, PARALLELISM: stream.choice(WIDTHS)})
        faults.append(spec)
    return replace(plan, faults=tuple(faults))


def afresh(plan: Plan, stream: Stream, percent: int) -> Plan:
    """The same plan, but a job that is submitted in it may start empty, whatever the last one has left."""
    faults = tuple(
        replace(spec, parameters={**spec.parameters, "restore": 0})
        if spec.kind == SUBMIT and stream.chance(percent / 100)
        else spec
        for spec in plan.faults
    )
    return replace(plan, faults=faults)


def draw_policy(scene: Scene) -> dict[str, str]:
    """What is to become of checkpoints when the job is over."""
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
