"""What the swarm is made of, as data: so that it can be tuned, and restricted to what a system declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import account_of, answer_of, evidence_of
from holdfast.harness.model.capability import Capability, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.job import demands
from holdfast.harness.model.jobs import ENDLESS_JOBS, KEYED_JOBS, REGIONAL_JOBS
from holdfast.harness.model.message_contract import ORDERED_CONNECTION, MessageContract
from holdfast.harness.model.plan import FaultSpec, Gate, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.spi.attack import Attack, Drawn, Occasion, Precluding, Weights
from holdfast.harness.spi.fault import AnyFault
from holdfast.harness.spi.system import MessageContractAware, SuitsPlans, System, TierAware, declared

Counts = dict[int, int]
Range = tuple[int, int]


class Mix(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Weights are relative, ranges inclusive, percentages of plans or, where it says so, of faults.

    Attributes:
        system: that the plans name.
        jobs: weights by name.
        faults: by kind, of which those are drawn that have attacks; empty: all that are registered.
        attacks: shares by name of the only attacks that are drawn; None: all, each with its own share.
        able: what the system offers.
        gates: effects that a gate can hold; None: all.
        worker_gates, coordinator_gates: weights of the effects that an aimed fault waits for, by whose effect it is.
        events: what an unaimed fault may wait for after its progress.
        fault_count, parallelism: weights by number.
        calm_percent, single_percent: of all plans, those without any fault, and those with one attack.
        records, keys, interval_ms: ranges.
        aimed_percent, timed_percent, eventful_percent: of faults, by schedule; the rest acts on progress alone.
        boundary_percent: the restart strategy allows exactly the failures there are, or one fewer and must give up.
        heartbeat_percent: heartbeats are short enough to be missed by a drawn pause.
        bounded_percent: the input ends, and with it the job.
        latest_percent: the sources start at the latest offset, and one partition is idle at first.
        at_least_once_percent: no alignment.
        elsewhere_percent: options are stated in a file and by calls as well, in either spelling, under either profile.
        failover_percent: the failover strategy is set, as often region as full.
        enumerated_percent: an enumerator assigns the splits.
        disturbed_percent: of those that neither fail nor are ended by a user: one of the disturbances comes on top.
        regional_percent: the job has several regions, of which one restarts alone and a second fault strikes.
        regional_jobs: weights of these jobs by name.
        keyed_percent: of those that neither end nor have loops or several regions: the job has more state by key.
        keyed_jobs: weights of these jobs by name.
        iteration_percent: the job has a loop, and forces its checkpoints.
        user_end_percent: of those that neither end by themselves nor at the boundary: a user ends the job.
        retention_percent: the retention policy is set.
        rescaled_percent: of jobs that are submitted behind another, and may be so: of another parallelism.
        afresh_percent: of all that are submitted so: it starts empty.
        socket_percent: input comes over sockets, which send each record once.
        unaligned_percent: of those with alignment, barriers overtake.
        switching_percent: of these: not before an alignment timeout has passed.
        debloat_percent: buffers follow the throughput.
        incremental_percent: checkpoints share files.
        repeating_sink_percent: the sink writes at once and may repeat itself (at-least-once).
        edge_percent: of the options that have edges, each: it is at one.
        within_edges: options of checkpoints that are at none.
        backlog_percent: input has piled up before the start, a task is slow, and a worker dies again and again.
        long_percent: of lasting faults: longer than the timeouts of the plan.
        second_job_percent: of plans in which another job is submitted: faults act on that one, too.
        checkpoints, options: False for a system that has none.
        starts: a fault waits for so many checkpoints at least.
        apart: so many checkpoints longer at least than the one before it.
        message_contract: what may be done to control messages.
        acknowledges: True for a system without checkpoints that acknowledges its input.
    """

    system: str
    jobs: dict[str, int]
    faults: Mapping[str, AnyFault] = {}
    attacks: Weights | None = None
    able: frozenset[str] = frozenset(Capability)
    gates: frozenset[str] | None = None
    worker_gates: Weights
    coordinator_gates: Weights
    events: tuple[str, ...]
    fault_count: Counts
    parallelism: Counts
    records: Range
    keys: Range
    interval_ms: Range
    aimed_percent: int
    timed_percent: int
    eventful_percent: int
    boundary_percent: int
    heartbeat_percent: int
    bounded_percent: int
    latest_percent: int
    at_least_once_percent: int
    elsewhere_percent: int
    failover_percent: int
    enumerated_percent: int
    unaligned_percent: int
    iteration_percent: int = 0
    disturbed_percent: int = 0
    regional_percent: int = 0
    regional_jobs: dict[str, int] = {}
    keyed_percent: int = 0
    keyed_jobs: dict[str, int] = {}
    calm_percent: int = 0
    single_percent: int = 0
    user_end_percent: int = 0
    retention_percent: int = 0
    rescaled_percent: int = 0
    afresh_percent: int = 0
    socket_percent: int = 0
    switching_percent: int = 0
    debloat_percent: int = 0
    incremental_percent: int = 0
    repeating_sink_percent: int = 0
    edge_percent: int = 0
    within_edges: frozenset[str] = frozenset()
    backlog_percent: int = 0
    long_percent: int = 0
    second_job_percent: int = 0
    checkpoints: bool = True
    acknowledges: bool = False
    options: bool = True
    starts: int = 0
    apart: int = 0
    message_contract: MessageContract = msgspec.field(default_factory=lambda: dict(ORDERED_CONNECTION))

    def drawn_attacks(self) -> Mapping[Occasion, Mapping[Attack, int]]:
        """By occasion, the attacks that are drawn, each with its share."""
        shares = None if self.attacks is None else tuple(self.attacks.items())
        return _drawn(self._known(), self.able, shares)

    def precluding_faults(self) -> Mapping[str, Precluding]:
        """By kind, the faults that do not go with everything."""
        return _precluding(self._known())

    def _known(self) -> tuple[AnyFault, ...]:
        return tuple((self.faults or registry.toolbox().faults).values())


@lru_cache(maxsize=16)
def _precluding(faults: tuple[AnyFault, ...]) -> Mapping[str, Precluding]:
    return {fault.kind: fault for fault in faults if isinstance(fault, Precluding)}


@lru_cache(maxsize=64)
def _drawn(
    faults: tuple[AnyFault, ...], able: frozenset[str], shares: tuple[tuple[str, int], ...] | None
) -> Mapping[Occasion, Mapping[Attack, int]]:
    """See Mix.drawn_attacks; by place, and those of the same place by name.

    Raises:
        UsageError: two attacks have one name.
    """
    found: dict[str, Attack] = {}
    for fault in faults:
        for attack in fault.attacks if isinstance(fault, Drawn) else ():
            if found.setdefault(attack.name, attack) is not attack:
                raise UsageError(f"attack {attack.name!r} of fault {fault.kind!r} is there twice: rename one.")
    wanted = {attack.name: attack.share for attack in found.values()} if shares is None else dict(shares)
    drawn: dict[Occasion, dict[Attack, int]] = {occasion: {} for occasion in Occasion}
    for attack in sorted(found.values(), key=lambda each: (each.place, each.name)):
        if wanted.get(attack.name) and able.issuperset(attack.needs):
            drawn[attack.occasion][attack] = wanted[attack.name]
    return drawn


WIDTHS = (1, 2, 3)
"""Parallelisms that are tried with a system."""

SWARM = Mix(
    system="reference",
    able=frozenset(Capability) - {Capability.MEMBERSHIP, Capability.MICRO_BATCHES},
    jobs={
        "keyed-sum": 6,
        "forward": 2,
        "rebalance": 5,
        "union": 2,
        "diamond": 2,
        "join": 1,
        "self-join": 1,
        "broadcast": 1,
        "pipeline": 1,
        "steps": 1,
        "mini-batch": 2,
    },
    worker_gates={"acknowledge": 3, "pre-commit": 2, "commit": 3, "write-state": 1, "send-barrier": 1},
    coordinator_gates={"send-trigger": 1, "publish-metadata": 2, "during-publish-metadata": 2, "notify": 3},
    events=("checkpoint_triggered", "transaction_precommitted", "transaction_committed", "rows_visible"),
    fault_count={2: 8, 3: 4, 4: 2, 6: 1},
    parallelism={2: 7, 3: 1},
    records=(40, 100),
    keys=(4, 12),
    interval_ms=(30, 60),
    aimed_percent=35,
    timed_percent=10,
    eventful_percent=20,
    boundary_percent=10,
    heartbeat_percent=30,
    bounded_percent=15,
    latest_percent=5,
    at_least_once_percent=15,
    elsewhere_percent=15,
    failover_percent=60,
    enumerated_percent=25,
    unaligned_percent=40,
    iteration_percent=3,
    disturbed_percent=60,
    regional_percent=8,
    regional_jobs={"forward": 2, "two-pipelines": 1},
    keyed_percent=8,
    keyed_jobs={
        "delayed-sum": 3,
        "sliding-sum": 3,
        "tumbling-sum": 1,
        "session-sum": 2,
        "top-sum": 2,
        "deduplicate": 2,
        "interval-join": 2,
        "ruled-sum": 2,
        "throttle": 1,
        "debounce": 1,
    },
    calm_percent=8,
    single_percent=12,
    user_end_percent=8,
    retention_percent=30,
    rescaled_percent=50,
    afresh_percent=25,
    socket_percent=3,
    switching_percent=50,
    debloat_percent=20,
    incremental_percent=25,
    repeating_sink_percent=8,
    edge_percent=8,
    backlog_percent=12,
    long_percent=20,
    second_job_percent=50,
)
"""What `certify` draws from, with the attacks of all faults that are registered."""


def mix_for(system: System, mix: Mix = SWARM, tier: Tier = Tier.SIM) -> Mix:
    """The part of a mix that a system declares itself able to take on a tier, with the jobs and widths that it accepts,
    and the events that it reports."""
    able = system.capabilities[tier]
    acknowledges = Capability.ACKNOWLEDGES_INPUT in able and Capability.CHECKPOINTS not in able
    needs = {
        "boundary_percent": Capability.RESTART_STRATEGIES,
        "bounded_percent": Capability.BOUNDED_INPUT,
        "latest_percent": Capability.START_AT_LATEST,
        "at_least_once_percent": Capability.AT_LEAST_ONCE_MODE,
        "elsewhere_percent": Capability.CONFIGURATION,
        "failover_percent": Capability.REGIONAL_FAILOVER,
        "regional_percent": Capability.REGIONAL_FAILOVER,
        "enumerated_percent": Capability.ENUMERATED_SPLITS,
        "iteration_percent": Capability.ITERATION,
        "user_end_percent": Capability.JOB_CONTROL,
        "retention_percent": Capability.JOB_CONTROL,
        # What follows a program always goes on from it, as wide as its own attack says.
        "rescaled_percent": Capability.CHECKPOINTS if acknowledges else Capability.RESCALE,
        "afresh_percent": Capability.CHECKPOINTS if acknowledges else Capability.JOB_CONTROL,
        "socket_percent": Capability.SOCKET_INPUT,
        "unaligned_percent": Capability.UNALIGNED_CHECKPOINTS,
        "switching_percent": Capability.UNALIGNED_CHECKPOINTS,
        "debloat_percent": Capability.BUFFER_DEBLOATING,
        "incremental_percent": Capability.INCREMENTAL_CHECKPOINTS,
        "repeating_sink_percent": Capability.TWO_PHASE_COMMIT,
    }
    # Where none is accepted here, one that is accepted elsewhere tells best why.
    names = (tier, *system.capabilities)
    jobs = next(filter(None, (accepted_jobs(system, mix, each) for each in names)), {})
    regional = {name: weight for name, weight in mix.regional_jobs.items() if _accepts(system, name, max(WIDTHS), tier)}
    keyed = {name: weight for name, weight in mix.keyed_jobs.items() if _accepts(system, name, max(WIDTHS), tier)}
    accepted = [(name, width) for name in jobs for width in WIDTHS if _accepts(system, name, width, tier)]
    widths = {width for width in WIDTHS if all((name, width) in accepted for name in jobs)}
    gates = frozenset[str]()
    if Capability.GATES in able:
        gates = _accepted_gates(system, accepted, tier) if jobs else system.gates
    return msgspec.structs.replace(
        mix,
        system=system.name,
        jobs=jobs or mix.jobs,
        regional_jobs=regional,
        keyed_jobs=keyed,
        parallelism={width: mix.parallelism[width] for width in mix.parallelism if width in widths}
        or {min(widths, default=1): 1},
        able=able,
        gates=gates,
        events=tuple(event for event in mix.events if event in _reported(system, tier)),
        checkpoints=Capability.CHECKPOINTS in able,
        acknowledges=acknowledges,
        options=Capability.OPTIONS in able,
        # Before the first micro-batch is over, nothing is under way that is reported; what dies with its driver cannot
        # be hit again until one is over.
        starts=int(Capability.MICRO_BATCHES in able),
        apart=int(Capability.MICRO_BATCHES in able),
        message_contract=system.message_contract if isinstance(system, MessageContractAware) else mix.message_contract,
        **{name: getattr(mix, name) if need in able else 0 for name, need in needs.items()},
    )


def accepted_jobs(system: System, mix: Mix, tier: Tier) -> dict[str, int]:
    """The jobs of a mix, with their weights, that a system accepts on a tier."""
    return {
        name: weight
        for name, weight in mix.jobs.items()
        if any(_accepts(system, name, width, tier) for width in WIDTHS)
    }


def _reported(system: System, tier: Tier) -> Collection[str]:
    """What a fault may wait for."""
    if isinstance(system, SuitsPlans):
        return answer_of(system.awaited, tier, kind=Collection, of=str)
    return {kind for kind, evidence in evidence_of(system).items() if evidence is not Evidence.NONE}


def _accepted_gates(system: System, accepted: Collection[tuple[str, int]], tier: Tier) -> frozenset[str]:
    """The gates at which a fault of a plan may wait, where its job and its width are accepted without it.

    What is refused without a fault is refused with one, and the account of options says nothing of faults: only
    objections are asked for.
    """
    targets = COORDINATOR, Target(Role.WORKER)
    kills = [
        (effect, FaultSpec("kill", each, Schedule(gate=Gate(effect, each))))
        for effect in system.gates
        for each in targets
    ]
    found = set[str]()
    for effect, kill in kills:
        if effect not in found and any(not _objects(system, _plan(system, *each, kill), tier) for each in accepted):
            found.add(effect)
    return frozenset(found)


def _accepts(system: System, job: str, width: int, tier: Tier) -> bool:
    plan = _plan(system, job, width)
    if demands(plan.job) - declared(system):
        return False
    try:
        account_of(system, plan)
    except ValueError:
        return False
    return not _objects(system, plan, tier)


def _objects(system: System, plan: Plan, tier: Tier) -> bool:
    try:
        return isinstance(system, TierAware) and bool(answer_of(system.objection, plan, tier, kind=str))
    except ValueError:
        return True


def _plan(system: System, job: str, width: int, *faults: FaultSpec) -> Plan:
    shape = (ENDLESS_JOBS | REGIONAL_JOBS | KEYED_JOBS)[job]
    return Plan(
        system=system.name, job=shape, topology=Topology(width), workload=WorkloadSpec("synthetic"), faults=faults
    )
