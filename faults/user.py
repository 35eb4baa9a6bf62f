"""What users may ask for at any time: rescale, cancel, stop, take a savepoint, dispose of it or move it (RULES SAV).
None of it is a failure; it is a fault in that a plan schedules it like one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import ONE_AFTER_ANOTHER, Momentary, effects, injection, of_kinds, struck
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.checkpoint import CheckpointOrigin, SavepointFormat
from holdfast.harness.model.consequence import ANY_FAILURE, Consequence
from holdfast.harness.model.events import (
    CheckpointRequested,
    CheckpointRetained,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    RescaleAccepted,
    RescaleRefused,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.submitted_jobs import MAX_PARALLELISM, PARALLELISM, RESCALE, STATE_BACKEND, SUBMIT
from holdfast.harness.model.target import COORDINATOR, Role
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.job import JobControl

_REQUESTS = ("user", "forced", "user user", "user forced user")


def _draw_requests(scene: Scene) -> list[FaultSpec]:
    parameters: dict[str, int | str] = {"origins": scene.stream.choice(_REQUESTS)}
    return [FaultSpec("request-checkpoint", COORDINATOR, scene.unaimed(), parameters=parameters)]


class UserCommand(Momentary):
    """What the wishes of users have in common: one command to the coordinator, with the parameters as they are."""

    command: str
    control = JobControl
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {}

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.JOB_CONTROL

    def inject(self, control: JobControl, spec: FaultSpec) -> None:
        control.command(self.command, dict(spec.parameters))


class RequestCheckpoint(UserCommand):
    """Checkpoints are asked for, besides those of the interval."""

    kind = "request-checkpoint"
    as_request = "requests for checkpoints"
    command = "checkpoint"
    parameters: Mapping[str, tuple[type, str]] = {
        "origins": (str, "who makes requests, one after the other: words out of `user`, `forced`; `user` if not given"),
        "times": (int, "how often all of them make requests; 1 if not given"),
    }
    colour = "#ddcc77"
    leaves = "nothing: a checkpoint more changes no result"
    may_cause = frozenset({Consequence.REQUESTS_CHECKPOINT, Consequence.FAILS_TASK})
    attacks: Sequence[Attack] = (
        Attack("request-checkpoint", _draw_requests, (Capability.COMMANDS,), Occasion.MIXED, 1, place=14),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.COMMANDS

    def landed(self, history: History, fault: int) -> bool:
        """A request that is not the interval's arrived after the injection."""
        return bool(
            effects(
                history,
                fault,
                CheckpointRequested,
                of_kinds(self.kind),
                lasting=False,
                counts=lambda request: request.origin not in (CheckpointOrigin.PERIODIC, CheckpointOrigin.SAVEPOINT),
                most=_requests,
            )
        )


class Rescale(UserCommand):
    """The running job goes on at another parallelism (Flink's `PUT /jobs/:jobid/resource-requirements`)."""

    kind = command = RESCALE
    as_request = "a user's rescale"
    parameters: Mapping[str, tuple[type, str]] = {
        PARALLELISM: (int, "how wide every vertex is from then on; above the max parallelism it is refused")
    }
    colour = "#bbcc33"
    leaves = "the job at that parallelism"
    may_cause = frozenset({Consequence.RESCALES_JOB})

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.RESCALE_IN_PLACE

    def landed(self, history: History, fault: int) -> bool:
        """A requirement was accepted or refused after the injection."""
        kinds: tuple[type[RescaleAccepted | RescaleRefused], ...] = (RescaleAccepted, RescaleRefused)
        same = of_kinds(self.kind)
        return any(effects(history, fault, kind, same, lasting=False, most=_once) for kind in kinds)


ENDING = ("cancel", "suspend", "stop", "cancel-with-savepoint")
"""The kinds of fault with which a user ends a job."""


def _once(_: FaultSpec) -> int:
    return ONE_AFTER_ANOTHER


def _requests(spec: FaultSpec) -> int:
    """How many requests come of a RequestCheckpoint."""
    return int(spec.parameters.get("times", 1)) * len(str(spec.parameters.get("origins", "user")).split())


class EndJob(UserCommand):
    """The job is ended for good, in one of the ways that are a user's."""

    status: JobStatus
    may_cause = ANY_FAILURE | {Consequence.ENDS_JOB}

    def landed(self, history: History, fault: int) -> bool:
        """The job ended so after the injection; or it left a checkpoint to the user, as only a job that ends does,
        though another one was submitted before it had said so."""
        rivals = of_kinds(*ENDING)
        notified = effects(
            history,
            fault,
            JobSwitched,
            rivals,
            lasting=False,
            counts=lambda switched: switched.status is self.status,
            most=_once,
        )
        return bool(notified or effects(history, fault, CheckpointRetained, rivals, lasting=False))


class Cancel(EndJob):
    """A user wants no more of the job."""

    kind = command = "cancel"
    as_request = "a user's cancel"
    status = JobStatus.CANCELED
    colour = "#44bb99"
    leaves = "the checkpoints that are configured to outlast it"


class Suspend(EndJob):
    """A user wants the job to go on later."""

    kind = command = "suspend"
    as_request = "a user's suspend"
    status = JobStatus.SUSPENDED
    colour = "#99ddff"
    leaves = "the checkpoints that are configured to outlast it"


class Submit(UserCommand):
    """Another job of the same program, which may be edited, is submitted on the same root, to a cluster that knows
    nothing of the last."""

    kind = command = SUBMIT
    as_request = "a user's new job"
    parameters: Mapping[str, tuple[type, str]] = {
        "restore": (
            int,
            "0: it starts empty; 1, from the latest checkpoint that the last one has left, if not given; 2, from the "
            "latest savepoint, whatever has completed since",
        ),
        PARALLELISM: (int, "how wide it is, at most its max parallelism; as the last if not given"),
        MAX_PARALLELISM: (int, "how many key groups it has; as many as the last if not given"),
        STATE_BACKEND: (str, "where it keeps its state, such as `rocksdb`; as the last if not given"),
        "edit": (
            str,
            "an edge that has a new operator, `source->sum`; a new name, `sum=total`; a format of state, `sum@2`",
        ),
    }
    colour = "#eedd88"
    leaves = "nothing of the last job but what is stored"
    may_cause = ANY_FAILURE | {Consequence.BEGINS_JOB}

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.RESCALE if {PARALLELISM, MAX_PARALLELISM} & spec.parameters.keys() else Capability.JOB_CONTROL

    def landed(self, history: History, fault: int) -> bool:
        """A coordinator began to work for a new job after the injection."""
        return bool(effects(history, fault, JobSubmitted, of_kinds(self.kind), lasting=False, most=_once))


def command(kind: str, parameters: Mapping[str, int | str] = {}, **when: Any) -> FaultSpec:
    """A user cancels or suspends the job, or submits another."""
    return FaultSpec(kind, COORDINATOR, Schedule(**when), parameters=dict(parameters))


def rescale(parallelism: int, **when: Any) -> FaultSpec:
    """A user requires another parallelism of the running job."""
    return command(RESCALE, {PARALLELISM: parallelism}, **when)


def request_checkpoint(origins: str = "user", times: int = 1, **when: Any) -> FaultSpec:
    """Users ask for checkpoints, one after the other."""
    return FaultSpec("request-checkpoint", COORDINATOR, Schedule(**when), 0, {"origins": origins, "times": times})


TARGET = "savepoints"
"""Where the savepoints of a plan go that does not say."""
_PLACE: Mapping[str, tuple[type, str]] = {
    "target": (str, f"below which directory of the storage; `{TARGET}` if not given, empty: what is configured"),
    "format": (str, "`canonical` or `native`; `canonical` if not given"),
}


SAVEPOINTS = ("savepoint", "stop", "cancel-with-savepoint")
"""The kinds of fault that ask for one."""


class TakeSavepoint(UserCommand):
    """A user wants a savepoint of the running job."""

    kind = command = "savepoint"
    as_request = "a user's savepoint"
    parameters = _PLACE
    colour = "#225ea8"
    leaves = "a savepoint, which is the user's"
    may_cause = ANY_FAILURE | {Consequence.REQUESTS_SAVEPOINT}

    def landed(self, history: History, fault: int) -> bool:
        """A request for a savepoint arrived after the injection."""
        return bool(
            effects(
                history,
                fault,
                CheckpointRequested,
                of_kinds(*SAVEPOINTS),
                lasting=False,
                counts=lambda request: request.origin is CheckpointOrigin.SAVEPOINT,
                most=lambda _: ONE_AFTER_ANOTHER,
            )
        )


class StopWithSavepoint(TakeSavepoint):
    """A user stops the job with a savepoint."""

    kind = command = "stop"
    as_request = "a user's stop with a savepoint"
    parameters: Mapping[str, tuple[type, str]] = {
        **_PLACE,
        "drain": (int, "1: everything that is held back is emitted first; 0 if not given"),
    }
    colour = "#c51b8a"


class CancelWithSavepoint(TakeSavepoint):
    """A user cancels the job as soon as a savepoint of it is complete."""

    kind = command = "cancel-with-savepoint"
    as_request = "a user's cancel with a savepoint"
    colour = "#ae017e"


class MoveSavepoint(UserCommand):
    """A user moves the last savepoint to another place, and leaves nothing behind."""

    kind = command = "move-savepoint"
    as_request = "a user's move of the savepoint"
    colour = "#7a0177"
    leaves = "the savepoint at another place"
    may_cause = frozenset({Consequence.MOVES_SAVEPOINT})

    def landed(self, history: History, fault: int) -> bool | None:
        """Nothing in a history shows it but a job that is given another path afterwards; None: there was none yet."""
        if injection(history, fault) is None:
            return False
        former = {each.what for each in struck(history, fault)}
        submitted = effects(history, fault, JobSubmitted, of_kinds(self.kind), lasting=False)
        return any(each.path and each.path not in former for each in submitted) or None


def savepoint(target: str = TARGET, how: SavepointFormat = SavepointFormat.CANONICAL, **when: Any) -> FaultSpec:
    """A user takes a savepoint."""
    return FaultSpec("savepoint", COORDINATOR, Schedule(**when), parameters={"target": target, "format": str(how)})


def stop(
    target: str = TARGET, how: SavepointFormat = SavepointFormat.CANONICAL, *, drain: bool = False, **when: Any
) -> FaultSpec:
    """A user stops the job with a savepoint."""
    parameters: dict[str, int | str] = {"target": target, "format": str(how), "drain": int(drain)}
    return FaultSpec("stop", COORDINATOR, Schedule(**when), parameters=parameters)


def cancel_with_savepoint(
    target: str = TARGET, how: SavepointFormat = SavepointFormat.CANONICAL, **when: Any
) -> FaultSpec:
    """A user cancels the job with a savepoint."""
    parameters: dict[str, int | str] = {"target": target, "format": str(how)}
    return FaultSpec("cancel-with-savepoint", COORDINATOR, Schedule(**when), parameters=parameters)


def move_savepoint(**when: Any) -> FaultSpec:
    """A user moves the last savepoint."""
    return FaultSpec("move-savepoint", COORDINATOR, Schedule(**when))
