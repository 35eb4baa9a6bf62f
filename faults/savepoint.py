"""What users do with savepoints: take one, stop a job with one, move it to another place (RULES SAV)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.landing import ONE_AFTER_ANOTHER, effects, injection, of_kinds, struck
from holdfast.faults.user import UserCommand
from holdfast.harness.model.checkpoint import CheckpointOrigin, SavepointFormat
from holdfast.harness.model.consequence import ANY_FAILURE, Consequence
from holdfast.harness.model.events import CheckpointRequested, JobSubmitted
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR

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
