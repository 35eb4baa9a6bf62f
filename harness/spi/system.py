"""The system under test, as the engine sees it, and what an adapter may have beside `System`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from holdfast.harness.model.capability import Claims, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.configuration import EffectiveConfiguration
from holdfast.harness.model.deviation import DeviationTable
from holdfast.harness.model.events import Event
from holdfast.harness.model.inspection import InspectedCheckpoint
from holdfast.harness.model.message_contract import MessageContract
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.model.state_machine import StateMachine
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.fault import UndoRecord
from holdfast.harness.spi.mutant import Mutant
from holdfast.harness.spi.offered import Offered


class OptionUse(StrEnum):
    """What an adapter does with an option of a plan; none is ignored."""

    APPLIED = "applied"
    """The system gets it as it stands in the plan."""
    EQUIVALENT = "equivalent"
    """Something else of the system stands in for it."""
    UNSUPPORTED = "unsupported"
    """The system has nothing like it."""


class OptionAccount(msgspec.Struct, frozen=True):
    """The account of one option. `equivalent` names what stands in for it. UNSUPPORTED makes a plan not applicable."""

    key: str
    use: OptionUse
    equivalent: str = ""


class GateReached(msgspec.Struct, frozen=True):
    """The system under test waits at an armed gate. `precision` is `exact`, `boundary` or `polled`."""

    gate: int
    node: str
    precision: str = "exact"


class DiedAtOnce(OSError):
    """The system under test ended by itself before it did anything, however often it was started.

    Args:
        sentence: what happened.
        deaths: how often, and with which last words.
    """

    def __init__(self, sentence: str, deaths: OwnDeaths) -> None:
        super().__init__(sentence)
        self.deaths = deaths


class Recording(msgspec.Struct, frozen=True):
    """What a deployment saw.

    The times of all events count from the start of the run, on the clock of `Deployment.now_ms`.

    Attributes:
        nodes: events of each node in sequence, or one list in causal order when `ordered`.
        ordered: `nodes` has one entry, already in causal order.
        output: the committed reader's.
        dispatched: events dispatched by the simulator, 0 elsewhere.
        trace_hash: on the simulator.
        problem: why the run decides nothing, such as a node that never registered; empty otherwise.
        expected: what the output must hold where its author states it: each row as a record of contract RECORDS; None:
            what follows from the input.
        job_error: the first error that the job itself raised, with its place in the code of its author; empty:
            none was seen, or it is not known whose it is.
        wrote_nothing: that the job wrote no row where it says that it does, though all that it had to do is done, and
            what was seen, in words; empty: it wrote some, or that is not known.
        looked: what was seen of the job and where somebody looked, in words; empty: that is not told.
        unread: why no stored state could be read back though it was to be; empty: some was, or none was asked for.
    """

    nodes: tuple[Sequence[Event], ...]
    ordered: bool
    output: Output
    dispatched: int = 0
    trace_hash: str = ""
    problem: str = ""
    expected: InputLog | None = None
    job_error: str = ""
    wrote_nothing: str = ""
    looked: str = ""
    unread: str = ""


class Deployment(Protocol):
    """A system that stands, fed with its workload. Obtained from `System.deploy`; used by one thread.

    The engine's life cycle: `advance` until the safety phase is over, heal through `controls`, `advance` until the
    expected end and through the settle window, `stop`, and in every case `close`.
    """

    @property
    def controls(self) -> Controls: ...

    @property
    def now_ms(self) -> float:
        """The system's own time since the start: virtual on the simulator, monotonic elsewhere."""

    def advance(self, until_ms: float) -> Sequence[Event | GateReached]:
        """Let the system run until something the engine watches for happened, or until a time.

        Args:
            until_ms: on the clock of `now_ms`.

        Returns:
            What happened, in order: gates reached, and events of the kinds in WATCHED. Empty when the time is up.

        Raises:
            OSError: the system fell silent, answered garbage or died before it registered; one sentence, and the reason
                why the run is inconclusive. DiedAtOnce if it ended by itself before it did anything: after a few runs
                of a case that end alike, no further one begins.
        """

    def record(self, event: Event) -> None:
        """Record what the harness did (a fault injected or healed) at this point of the history, under a node of the
        harness. The deployment stamps the header; on the simulator the event takes its exact place in the order."""

    def feed_markers(self) -> None:
        """Every fault is healed: let the markers of each partition arrive behind its other records.

        Called at most once. Until then the deployment holds them back; see `Partition.markers`.
        """

    def drained(self) -> bool:
        """Whether all input has taken effect, by the system's own report.

        A system without checkpoints must reach that to have ended well; one with checkpoints shows it by its positions.
        One of micro-batches is asked, too, where its last checkpoint has none.
        """

    def stop(self, *, audit: bool) -> Recording:
        """End the run in good order and hand over what was recorded.

        Args:
            audit: restore every retained checkpoint once more into a fresh runtime and list the storage.
        """

    def close(self) -> None:
        """End everything that was started and free what was taken. Safe to call twice, and after a failure."""


class System(Protocol):
    """One system under test with its adapter. An entry point in the group `holdfast.systems`, or `module:name`, names
    a factory without arguments.

    Attributes:
        name: as the user types it; a variant follows a plus sign (`reference+D1`).
        subject: what is certified: RT, SB, ST, SRC, SNK or PIP (model.rule.Subject).
        capabilities: by tier where it can run, what it can do there: each a `Capability`, or a word that a fault of a
            third party needs; nothing else is demanded of it. What needs a mechanism is declared where the
            deployment offers that (`Deployment.controls`).
        gates: names of the effects that a gate can hold.
        profile: the version profile whose defaults are in force, such as `flink-2.x`.
        supplied_by_author: parts of the judgement that came with the system under test, such as its committed reader.
        strict: rules that are SHOULD for others and marked `must_for_reference` are MUST for it; False unless it is
            there to show that all mechanisms can be had at once.
    """

    name: str
    subject: str
    profile: str
    supplied_by_author: tuple[str, ...]
    strict: bool

    @property
    def capabilities(self) -> Mapping[Tier, frozenset[str]]: ...
    @property
    def gates(self) -> frozenset[str]: ...

    def claims(self, plan: Plan) -> Claims:
        """What it claims under this plan."""

    def evidence(self) -> Mapping[str, Evidence]:
        """By event kind, how it is supplied; a kind that is not named is not supplied."""

    def account(self, plan: Plan) -> Sequence[OptionAccount]:
        """Account for every option of the plan, wherever it is given.

        Raises:
            ValueError: the value of an option is refused; the sentence names key, value and what is allowed. This is
                what submitting the job would answer, and is what a plan with `expected_end: refused` asks for.
            OSError: whether they are refused is not known, such as in an outage.
        """

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        """Stand it up and begin to feed it.

        Args:
            plan: validated and accounted for.
            inputs: the workload's log; the deployment feeds it by itself, preloaded records first.
            tier: one of `tiers`.
            folder: an empty folder of its own for whatever it writes, absolute; None on the simulator.

        Raises:
            OSError: it cannot stand here (a port in use, a missing program); one sentence that says what to do.
            ValueError: it refuses an option only now; as of `account`.
        """


def declared(system: System) -> frozenset[str]:
    """What a system can do on some tier."""
    return frozenset().union(*system.capabilities.values())


@runtime_checkable
class Sweeper(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where more than processes can outlive a harness that was killed."""

    def sweep(self, folder: Path, undos: Sequence[UndoRecord]) -> Sequence[str]:
        """Undo and end what a run left behind. Called from another process than the one that began the run, when all
        processes are gone that carried the label of its folder.

        Args:
            folder: that `deploy` was given.
            undos: of every fault that may have acted.

        Returns:
            What was found and done, one sentence each.
        """


@runtime_checkable
class ConfigurationAware(Protocol, metaclass=Offered):
    """What an adapter may have beside System, for `holdfast config check`; one that declares Capability.CONFIGURATION
    must."""

    def effective_configuration(self, plan: Plan) -> EffectiveConfiguration:
        """What would be in force for the job of a plan.

        Raises:
            ValueError: it is refused, as by `System.account`.
        """


@runtime_checkable
class SelfDescribing(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where the parts of the system under test go through named states."""

    def state_machines(self) -> Sequence[StateMachine]:
        """The tables that its diagrams are drawn from."""


class Part(msgspec.Struct, frozen=True):
    """A part of a system that implements a contract of the SPI.

    Attributes:
        contract: name of the kit that judges it, such as `state-backend`.
        factory: as the kit knows it: a registered name, a URI, or `module:name`.
        requires: a module without which it is not there, such as one of an extra; empty: none.
        location, options: as Kit.certify.
        plugged: it is somebody else's, and the system is certified for its sake: its kit runs on whatever tiers.
    """

    contract: str
    factory: str
    requires: str = ""
    location: str = ""
    options: Mapping[str, str] = {}
    plugged: bool = False


@runtime_checkable
class MadeOfParts(Protocol, metaclass=Offered):
    """What an adapter may have beside System, some of whose parts have kits: each is judged by its own."""

    def certified_parts(self) -> Sequence[Part]:
        """Those parts; of a contract the simplest first."""


@runtime_checkable
class VariantIsProgram(Protocol, metaclass=Offered):
    """What the factory of a system may have, where a variant names a program of the user's that only `deploy` runs: a
    stored run that names one is judged like any other, and repeated with the user's permission. Of other systems a
    variant that is no plain word counts as code which the factory itself runs."""

    variant_is_program: bool


@runtime_checkable
class BringsMutants(Protocol, metaclass=Offered):
    """What the factory of a system may have, whose variants are known to be wrong: `holdfast mutants` tries them."""

    def mutants(self) -> Iterable[Mutant]:
        """No two have one name."""


@runtime_checkable
class BringsDeviations(Protocol, metaclass=Offered):
    """What the factory of a system may have, whose protocol is known step by step."""

    def deviations(self) -> DeviationTable:
        """Each step, each way to take it wrongly, and what sees that."""


@runtime_checkable
class BringsFormats(Protocol, metaclass=Offered):
    """What the factory of a system may have, where others write what it reads: `holdfast schema NAME`.

    Attributes:
        formats: by name, the type of what is exchanged; a union where it is one of several messages.
    """

    formats: Mapping[str, Any]


@runtime_checkable
class TierAware(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where not every plan can run on every tier."""

    def objection(self, plan: Plan, tier: Tier) -> str:
        """Why this plan cannot run there, though others can, in one sentence; empty if it can."""


@runtime_checkable
class Rehearsed(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where a third party states what is expected of the system under test, or
    where its output appears."""

    def rehearsals(self, tier: Tier) -> Sequence[Plan]:
        """Plans without faults that are run on a tier before all others, one for each contract that it is judged by.
        Where one shows that something is missing, or that the contract is violated, no fault is tried."""


@runtime_checkable
class TellsVersions(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where what runs on one tier may be of another version than on another."""

    def versions(self, tier: Tier) -> Mapping[str, str]:
        """By name, what the system under test is made of on a tier, such as `pyspark`; a version that is unknown before
        it runs is left out."""


@runtime_checkable
class Versioned(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where the name of a system contains its version."""

    def of_its_version(self, name: str) -> str:
        """The name of another variant, such as a negative control, in the version of this one."""


@runtime_checkable
class SuitsPlans(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where plans are to be drawn that suit it better than its capabilities and
    its evidence say."""

    def awaited(self, tier: Tier) -> Collection[str]:
        """Event kinds that come again and again while input arrives, so that a fault may wait for one."""

    def suited(self, plan: Plan, tier: Tier) -> Plan:
        """A drawn plan for a tier, with the options that its faults need to take effect there, and without faults that
        it has nothing for."""


@runtime_checkable
class Described(Protocol, metaclass=Offered):
    """What an adapter may have beside System, whose system declares itself what it is and can do."""

    def described(self) -> Sequence[tuple[str, str]]:
        """What it declares, in the order in which it is shown: a name, such as `claims`, and a few words."""


@runtime_checkable
class MessageContractAware(Protocol, metaclass=Offered):
    """What an adapter has beside System whose control messages bear more, or less, than ORDERED_CONNECTION allows.

    Attributes:
        message_contract: by kind, what may happen to a message; plans that go beyond it are refused.
    """

    message_contract: MessageContract


@runtime_checkable
class SideBySide(Protocol, metaclass=Offered):
    """What an adapter may have beside System, where several deployments can stand at a time, each begun by a process of
    its own.

    Attributes:
        side_by_side: tiers where each keeps to its folder and to ports that the machine chose, so that none sees
            another. On real tiers that are not named, one deployment stands at a time.
    """

    side_by_side: frozenset[Tier]


WATCHED = (
    "job_submitted",
    "job_switched",
    "attempt_started",
    "rescale_requested",
    "rescale_accepted",
    "rescale_refused",
    "failure_counted",
    "checkpoint_triggered",
    "checkpoint_completed",
    "checkpoint_aborted",
    "checkpoint_retained",
    "savepoint_triggered",
    "savepoint_completed",
    "checkpoint_refused",
    "transaction_precommitted",
    "transaction_committed",
    "operator_finished",
    "finish_received",
    "rows_visible",
    "state_found",
    "state_restored",
    "program_ready",
    "input_acknowledged",
    "node_died",
    "node_started",
    "restart_refused",
    "recovery_failed",
)
"""Event kinds that end a call of `Deployment.advance`; schedules (`at_event`) may name these."""


Code = type | Callable[..., Any] | str | Path
"""A class, a function, `module:name` where a module cannot be imported, or a file."""


class SystemCode(NamedTuple):
    """Which code makes a system what it is.

    Attributes:
        packages: names of packages; a docstring in them that names a rule (`REC-06`) marks the place that keeps it.
        variant: what makes this variant differ from the system that it was made from, most telling first.
        replaced: what it stands in for in that system.
    """

    packages: tuple[str, ...] = ()
    variant: tuple[Code, ...] = ()
    replaced: tuple[Code, ...] = ()


@runtime_checkable
class ShowsCode(Protocol, metaclass=Offered):
    """What an adapter may have beside System, so that `holdfast rules ID` and the report lead to its code."""

    def code(self) -> SystemCode:
        """Its code. Nothing is run for it."""


class InspectsCheckpoints(Protocol):
    """A system whose checkpoints are files."""

    def inspect(self, path: Path) -> InspectedCheckpoint:
        """Read a checkpoint or savepoint, by its folder or by its metadata file (RULES STO-10).

        Raises:
            ValueError: there is none, or it is damaged; one sentence.
        """
