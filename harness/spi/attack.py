"""How the swarm draws faults: a fault declares its attacks, and each attack draws its faults for the scene of one plan.

The swarm knows no fault by name. Whatever is registered under `holdfast.faults` and has attacks is drawn, on systems
that offer what the attack needs. To be drawn in some plans, a fault of a third party needs one line:
`attacks = (Attack("hiccup", draw, needs=(Capability.PAUSE_WORKER,)),)`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, TypeVar, runtime_checkable

import msgspec

from holdfast.harness.model.job import Job
from holdfast.harness.model.message_contract import MessageContract
from holdfast.harness.model.plan import FaultSpec, Schedule, Topology
from holdfast.harness.model.target import Target
from holdfast.harness.spi.offered import Offered

Item = TypeVar("Item")
Weights = Mapping[str, int]
PLAN_STREAM = "draw"
"""Label of the random stream from which most of a plan is drawn."""


class Draws(Protocol):
    """A sequence of random draws, the same for the same seed on every machine."""

    def below(self, bound: int) -> int:
        """A whole number in [0, bound)."""

    def between(self, low: int, high: int) -> int:
        """A whole number in [low, high], both included."""

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""

    def chance(self, probability: float) -> bool:
        """True with this probability."""

    def weighted(self, weights: Mapping[Item, int]) -> Item:
        """One of the keys, drawn by weight; some weight must be positive."""


class Scene(Protocol):
    """The plan for which faults are drawn, as far as it is known by then.

    Attributes:
        stream: where every draw comes from; nothing else may decide what is drawn.
        job, topology: of the plan.
        interval_ms: between two checkpoints.
        progress: how many checkpoints a fault waits for.
        failures: how many failures an attack of Occasion.BOUNDARY makes, no more and no fewer.
        able: what the system offers on the tier.
        message_contract: what may be done to its control messages.
        settled_start: faults wait for the first checkpoint: before it the right answer is not determined.
        overlapping: a checkpoint may complete soon after another one.
        input_arrives: after `progress` input still arrives.
        enumerated: an enumerator assigns splits to readers.
        regional: the job has several regions, each of which restarts alone.
        user_ends: a user ends the job, and perhaps submits another.
        gates: names of effects in front of which a gate can be put; None: of all.
    """

    @property
    def stream(self) -> Draws: ...
    @property
    def job(self) -> Job: ...
    @property
    def topology(self) -> Topology: ...
    @property
    def interval_ms(self) -> int: ...
    @property
    def progress(self) -> int: ...
    @property
    def failures(self) -> int: ...
    @property
    def able(self) -> Collection[str]: ...
    @property
    def message_contract(self) -> MessageContract: ...
    @property
    def settled_start(self) -> bool: ...
    @property
    def overlapping(self) -> bool: ...
    @property
    def input_arrives(self) -> bool: ...
    @property
    def enumerated(self) -> bool: ...
    @property
    def regional(self) -> bool: ...
    @property
    def user_ends(self) -> bool: ...
    @property
    def gates(self) -> Collection[str] | None: ...

    def worker(self) -> Target:
        """Any worker."""

    def channels(self) -> Sequence[str]:
        """The network channels of the job, by index of their target; a job in one chain has none."""

    def schedule(self, target: Target, *, timed: bool = False) -> Schedule:
        """When a drawn fault acts, after some progress: at a gate before an effect of the target, at a time if `timed`,
        or `unaimed`."""

    def unaimed(self, progress: int | None = None) -> Schedule:
        """After so many checkpoints (`progress` if not given), at once or at an event; after rows where nothing shows
        what is persisted."""

    def lasting_ms(self) -> int:
        """How long a lasting fault lasts: a few checkpoint intervals, sometimes longer than every timeout."""

    def is_long(self) -> bool:
        """Whether a delay is to be longer than the timeouts of the plan."""

    def possible(self, effects: Weights) -> Weights:
        """Of some effects, by weight, those that happen in this plan after `progress`."""

    def aimable(self, effects: Weights) -> Weights:
        """Of some effects, by weight, those in front of which a gate can be put."""


class Occasion(StrEnum):
    """When the swarm asks an attack for faults."""

    MIXED = "mixed"
    """It is one of the several attacks of a plan, chosen by weight."""
    DISTURBANCE = "disturbance"
    """It is the one attack that comes on top of these in some plans, chosen by weight."""
    FIRST = "first"
    """In front of all others, in a share of the plans."""
    LAST = "last"
    """Behind all others, in a share of the plans whose job neither fails nor is ended by a user."""
    BACKLOG = "backlog"
    """Input has piled up before the job starts: in front of the mixed ones."""
    BOUNDARY = "boundary"
    """The restart strategy allows exactly `Scene.failures` failures, or one fewer: the only faults of the plan."""
    LIVES = "lives"
    """The system has no checkpoints and acknowledges its input: in place of the mixed ones."""


class Attack(msgspec.Struct, frozen=True, eq=False):
    """One way in which the swarm draws a fault, with what comes with it.

    Attributes:
        name: unique among all attacks.
        draw: the faults of one attack, in the order of the plan; none where nothing fits.
        needs: capabilities of the system without which it is not drawn.
        occasion: when it is drawn.
        share: percent of the plans for FIRST and LAST; otherwise its weight among those of its occasion.
        possible: whether it makes sense in a plan.
        stream: label of the random stream that it draws from, for FIRST and LAST; empty: its name, so that nothing else
            of a plan depends on it; PLAN_STREAM: that of the plan. The others draw from the stream of their occasion.
        place: among the attacks of its occasion, the lowest first; with other places, seeds draw other plans. If not
            given, it comes behind all that ship with Holdfast.
    """

    name: str
    draw: Callable[[Scene], Sequence[FaultSpec]]
    needs: tuple[str, ...] = ()
    occasion: Occasion = Occasion.LAST
    share: int = 10
    possible: Callable[[Scene], bool] = lambda scene: True
    stream: str = ""
    place: int = 100


class Feature(StrEnum):
    """What a drawn plan may have unless one of its faults precludes it."""

    SOCKETS = "sockets"
    """Its input comes over sockets, which say everything once."""
    NO_FINAL_CHECKPOINT = "no-final-checkpoint"
    """No checkpoint is taken once a task has finished, so that a sink hears nothing more."""


@runtime_checkable
class Drawn(Protocol, metaclass=Offered):
    """What a fault has beside spi.fault.Fault that the swarm draws.

    Attributes:
        attacks: ways in which it is drawn.
    """

    attacks: Sequence[Attack]


@runtime_checkable
class Precluding(Protocol, metaclass=Offered):
    """What a drawn fault has that does not go with everything in a plan."""

    def precludes(self, spec: FaultSpec) -> Collection[Feature]:
        """What the plan must do without."""
