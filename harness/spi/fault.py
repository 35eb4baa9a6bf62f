"""A fault: one way to break a system, written once against the mechanism that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

import msgspec

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.model.message_contract import MessageContract
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Mechanism
from holdfast.harness.spi.offered import Offered


class UndoRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An undo as it is written down before its fault acts: enough to heal from another process.

    Attributes:
        fault: index in the plan.
        kind: of the fault; its `undo` is called with this record's spec.
        spec: what was injected.
    """

    fault: int
    kind: str
    spec: FaultSpec


class Fault(Protocol[Mechanism]):
    """Registered under `holdfast.faults` by kind.

    Attributes:
        kind: as a plan names it.
        roles: targets that it can hit.
        parameters: allowed parameters, name to (type, one-line meaning); others are refused.
        colour: of its band on the timeline, a CSS colour.
        leaves: what it leaves undecided, in words that the report shows: such as `the outcome of what was under way`,
            or `nothing: ` and why.
        lasting: whether it has a duration; a kill has none.
        control: the protocol of the mechanism that it needs, one of `spi.controls` or of the author's own.
    """

    kind: str
    roles: frozenset[Role]
    parameters: Mapping[str, tuple[type, str]]
    colour: str
    leaves: str
    lasting: bool
    control: type[Mechanism]

    def needs(self, spec: FaultSpec) -> str:
        """The capability that this fault needs of the system, given its target: a `Capability`, or a word of the
        author's own that the system declares."""

    def inject(self, control: Mechanism, spec: FaultSpec) -> None:
        """Act. Called once, after the undo was written down.

        Raises:
            OSError: it could not act (the target was gone already, say); the run goes on and the fault has not landed.
        """

    def undo(self, control: Mechanism, spec: FaultSpec) -> None:
        """Undo; must be idempotent, and do nothing where the target is gone."""

    def healed(self, control: Mechanism, spec: FaultSpec) -> bool:
        """Whether the undo has taken effect. Polled by the engine until a bound."""

    def landed(self, history: History, fault: int) -> bool | None:
        """Prove from the history that fault number `fault` hit what it aimed at, never from the trigger's timing.

        None: it acted too late, when nothing could come of it any more.
        """


AnyFault = Fault[Any]


@runtime_checkable
class Declaring(Protocol, metaclass=Offered):
    """A fault that declares its consequences.

    Oracles excuse a system by that, and by nothing else of a fault. Behind one that declares nothing they excuse every
    failure (ANY_FAILURE), and no delay.

    Attributes:
        may_cause: whatever its target and parameters are. A rule that is judged less strictly for its sake needs a
            history that it saves, and one that it must not save.
    """

    may_cause: frozenset[Consequence]


@runtime_checkable
class Requested(Protocol, metaclass=Offered):
    """What a fault has beside Fault that breaks nothing: somebody asks for something.

    Attributes:
        as_request: how a finding calls it, such as `a user's cancel`; others are called by kind and target.
    """

    as_request: str


@runtime_checkable
class Commanding(Protocol, metaclass=Offered):
    """What a fault has beside Fault that gives the job a command (controls.job.JobControl).

    Attributes:
        command: its name, as the mechanism knows it.
    """

    command: str


def request_of(fault: AnyFault) -> str:
    """What somebody asks for, in words; empty for a fault that breaks something."""
    return fault.as_request if isinstance(fault, Requested) else ""


def declared(fault: AnyFault) -> tuple[Consequence, ...] | None:
    """What a fault declares that it may cause, in the order of words; None if it declares nothing."""
    return tuple(sorted(fault.may_cause)) if isinstance(fault, Declaring) else None


@runtime_checkable
class ContractBound(Protocol, metaclass=Offered):
    """What a fault has beside Fault that acts on control messages, which a system bears by contract only."""

    def beyond(self, spec: FaultSpec, contract: MessageContract) -> str:
        """Why the contract does not allow this, in one sentence that says what to do; empty if it does.

        Raises:
            ValueError: a parameter names what does not exist; one sentence.
        """


@runtime_checkable
class InputBound(Protocol, metaclass=Offered):
    """What a fault has beside Fault that names a part of the input."""

    def beyond_input(self, spec: FaultSpec, inputs: InputLog) -> str:
        """Why the input has no such part, as `parameters.partition is 7; allowed is 0 to 1: change it.`; empty if it
        has."""


FaultFactory = Callable[[], AnyFault]


def needs_of(spec: FaultSpec) -> str:
    """What a fault of a plan needs (`Fault.needs`); empty: no such fault is registered.

    By this an adapter makes ready what will be acted on, or objects, and never by a kind.
    """
    fault = registered_faults().get(spec.kind)
    return fault.needs(spec) if fault is not None else ""


def command_of(spec: FaultSpec) -> str:
    """The command that a fault of a plan gives the job; empty: it gives none."""
    fault: object = registered_faults().get(spec.kind)
    return fault.command if isinstance(fault, Commanding) else ""


@cache
def registered_faults() -> Mapping[str, AnyFault]:
    """Every registered fault by kind. An entry point is one factory or several, of which several come first.

    The order decides nothing of what is drawn: the swarm sorts attacks by place and name.

    Raises:
        ValueError: two faults have one kind.
    """
    entries = sorted(entry_points(group="holdfast.faults"), key=lambda each: each.name)
    found: dict[str, AnyFault] = {}
    for factories in sorted((entry.load() for entry in entries), key=callable):
        for factory in (factories,) if callable(factories) else factories:
            fault = factory()
            if type(found.setdefault(fault.kind, fault)) is not type(fault):
                raise ValueError(f"fault {fault.kind!r} is registered twice: give one of the two another kind.")
    return found
