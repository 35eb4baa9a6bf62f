"""What the swarm is made of, as data: so that it can be tuned, and restricted to what a system declares."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.capability import Capability
from holdfast.harness.model.demands import demands
from holdfast.harness.model.jobs import JOBS
from holdfast.harness.model.message_contract import ORDERED_CONNECTION, MessageContract
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.spi.system import MessageContractAware, System

Weights = dict[str, int]
Counts = dict[int, int]
Range = tuple[int, int]

NEEDS = {
    "kill-worker": Capability.KILL_WORKER,
    "kill-coordinator": Capability.KILL_COORDINATOR,
    "pause-worker": Capability.PAUSE_WORKER,
    "pause-coordinator": Capability.PAUSE_COORDINATOR,
    "supersede-coordinator": Capability.SUPERSEDE_COORDINATOR,
    "cut": Capability.CUT_CHANNEL,
    "slow": Capability.SLOW_CHANNEL,
    "slow-task": Capability.SLOW_TASK,
    "storage-error": Capability.STORAGE_ERROR,
    "poison": Capability.POISON_RECORD,
    "surge": Capability.SURGE_INPUT,
    "slow-storage": Capability.SLOW_STORAGE,
    "lose-notices": Capability.LOSE_NOTICES,
    "request-checkpoint": Capability.COMMANDS,
    "delay-messages": Capability.DISTURB_MESSAGES,
    "double-messages": Capability.DISTURB_MESSAGES,
    "lose-messages": Capability.DISTURB_MESSAGES,
    "forge": Capability.FORGE_MESSAGE,
    "truncate": Capability.TRUNCATE_INPUT,
}
"""The attacks that can be drawn, with the capability that each needs."""


class Mix(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Weights are relative, ranges inclusive, percentages of plans or, where it says so, of faults.

    Attributes:
        system: that the plans name.
        jobs, attacks: weights by name.
        disturbances: weights of attacks that come on top of the others, drawn from a stream of their own.
        worker_gates, coordinator_gates: weights of the effects that an aimed fault waits for, by whose effect it is.
        recovery_gates: weights of the effects of a recovery that a second strike waits for, by role and effect.
        failing_operations, slow_operations: weights of the storage operations that fail or take long.
        events: what an unaimed fault may wait for after its progress.
        fault_count, parallelism: weights by number.
        records, keys, interval_ms: ranges.
        aimed_percent, timed_percent, eventful_percent: of faults, by schedule; the rest acts on progress alone.
        second_strike_percent: of kills: the recovery from it is struck as well.
        boundary_percent: the restart strategy allows exactly the failures there are, or one fewer and must give up.
        heartbeat_percent: heartbeats are short enough to be missed by a drawn pause.
        bounded_percent: the input ends, and with it the job.
        latest_percent: the sources start at the latest offset, and one partition is idle at first.
        at_least_once_percent: no alignment.
        elsewhere_percent: options are stated in a file and by calls as well, in either spelling, under either profile.
        failover_percent: the failover strategy is said, as often region as full.
        enumerated_percent: an enumerator assigns the splits.
        lost_splits_percent: of these: some of its first messages are lost or late.
        disturbed_percent: of those that neither fail nor are ended by a user: one of the disturbances comes on top.
        iteration_percent: the job has a loop, and forces its checkpoints.
        user_end_percent: of those that neither end by themselves nor at the boundary: a user ends the job.
        retention_percent: what a job leaves is said.
        rescaled_percent: of jobs that are submitted behind another, and may be so: of another parallelism.
        afresh_percent: of all that are submitted so: it starts empty.
        socket_percent: input comes over sockets, which say everything once.
        unaligned_percent: of those with alignment, barriers overtake.
        switching_percent: of these: not before an alignment timeout has passed.
        debloat_percent: buffers follow the throughput.
        repeating_sink_percent: the sink writes at once and may repeat itself (at-least-once).
        edge_percent: of the options that have edges, each: it is at one.
        backlog_percent: input has piled up before the start, a task is slow, and a worker dies again and again.
        long_percent: of lasting faults: longer than the timeouts of the plan.
        second_job_percent: of plans in which another job is submitted: faults act on that one, too.
        checkpoints, options: False for a system that has none.
        message_contract: what may be done to control messages.
        acknowledges: True for a system without checkpoints that acknowledges its input.
    """

    system: str
    jobs: Weights
    attacks: Weights
    disturbances: Weights
    worker_gates: Weights
    coordinator_gates: Weights
    recovery_gates: Weights
    failing_operations: Weights
    slow_operations: Weights
    events: tuple[str, ...]
    fault_count: Counts
    parallelism: Counts
    records: Range
    keys: Range
    interval_ms: Range
    aimed_percent: int
    timed_percent: int
    eventful_percent: int
    second_strike_percent: int
    boundary_percent: int
    heartbeat_percent: int
    bounded_percent: int
    latest_percent: int
    at_least_once_percent: int
    elsewhere_percent: int
    failover_percent: int
    enumerated_percent: int
    lost_splits_percent: int
    unaligned_percent: int
    iteration_percent: int = 0
    disturbed_percent: int = 0
    user_end_percent: int = 0
    retention_percent: int = 0
    rescaled_percent: int = 0
    afresh_percent: int = 0
    socket_percent: int = 0
    switching_percent: int = 0
    debloat_percent: int = 0
    repeating_sink_percent: int = 0
    edge_percent: int = 0
    backlog_percent: int = 0
    long_percent: int = 0
    second_job_percent: int = 0
    checkpoints: bool = True
    acknowledges: bool = False
    options: bool = True
    message_contract: MessageContract = msgspec.field(default_factory=lambda: dict(ORDERED_CONNECTION))


WIDTHS = (1, 2, 3)
"""Parallelisms that a system is asked about."""

SWARM = Mix(
    system="reference",
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
    attacks={
        "kill-worker": 6,
        "kill-coordinator": 3,
        "pause-worker": 2,
        "pause-coordinator": 1,
        "supersede-coordinator": 1,
        "cut": 2,
        "slow": 2,
        "slow-task": 2,
        "storage-error": 3,
        "poison": 2,
        "surge": 2,
        "slow-storage": 1,
        "lose-notices": 1,
        "request-checkpoint": 1,
    },
    disturbances={"delay-messages": 2, "double-messages": 2, "lose-messages": 2, "forge": 1, "truncate": 2},
    worker_gates={"acknowledge": 3, "pre-commit": 2, "commit": 3, "write-state": 1, "send-barrier": 1},
    coordinator_gates={"send-trigger": 1, "publish-metadata": 2, "during-publish-metadata": 2, "notify": 3},
    recovery_gates={"deploy": 2, "restored": 2},
    failing_operations={
        "write-state": 2,
        "publish-metadata": 3,
        "pre-commit": 2,
        "commit": 4,
        "read-metadata": 4,
        "read-state": 1,
        "fix-state": 1,
        "persist-job-record": 3,
    },
    slow_operations={
        "write-state": 2,
        "publish-metadata": 2,
        "delete": 2,
        "pre-commit": 1,
        "commit": 1,
        "persist-job-record": 2,
    },
    events=("checkpoint_triggered", "transaction_precommitted", "transaction_committed", "rows_visible"),
    fault_count={2: 8, 3: 4, 4: 2, 6: 1},
    parallelism={2: 7, 3: 1},
    records=(40, 100),
    keys=(4, 12),
    interval_ms=(30, 60),
    aimed_percent=35,
    timed_percent=10,
    eventful_percent=20,
    second_strike_percent=25,
    boundary_percent=10,
    heartbeat_percent=30,
    bounded_percent=15,
    latest_percent=5,
    at_least_once_percent=15,
    elsewhere_percent=15,
    failover_percent=60,
    enumerated_percent=25,
    lost_splits_percent=60,
    unaligned_percent=40,
    iteration_percent=3,
    disturbed_percent=60,
    user_end_percent=8,
    retention_percent=30,
    rescaled_percent=50,
    afresh_percent=25,
    socket_percent=3,
    switching_percent=50,
    debloat_percent=20,
    repeating_sink_percent=8,
    edge_percent=8,
    backlog_percent=12,
    long_percent=20,
    second_job_percent=50,
)
"""What `certify` draws from."""


def mix_for(system: System, mix: Mix = SWARM) -> Mix:
    """The part of a mix that a system declares itself able to take, with the jobs and widths that it accepts."""
    able = system.capabilities
    gates = system.gates if Capability.GATES in able else frozenset[str]()
    held = {
        name: {effect: weight for effect, weight in getattr(mix, name).items() if effect in gates}
        for name in ("worker_gates", "coordinator_gates", "recovery_gates")
    }
    needs = {
        "boundary_percent": Capability.RESTART_STRATEGIES,
        "bounded_percent": Capability.BOUNDED_INPUT,
        "latest_percent": Capability.START_AT_LATEST,
        "at_least_once_percent": Capability.AT_LEAST_ONCE_MODE,
        "elsewhere_percent": Capability.CONFIGURATION,
        "failover_percent": Capability.REGIONAL_FAILOVER,
        "enumerated_percent": Capability.ENUMERATED_SPLITS,
        "lost_splits_percent": Capability.LOSE_SPLITS,
        "iteration_percent": Capability.ITERATION,
        "user_end_percent": Capability.JOB_CONTROL,
        "retention_percent": Capability.JOB_CONTROL,
        "rescaled_percent": Capability.RESCALE,
        "afresh_percent": Capability.JOB_CONTROL,
        "socket_percent": Capability.SOCKET_INPUT,
        "unaligned_percent": Capability.UNALIGNED_CHECKPOINTS,
        "switching_percent": Capability.UNALIGNED_CHECKPOINTS,
        "debloat_percent": Capability.BUFFER_DEBLOATING,
        "repeating_sink_percent": Capability.TWO_PHASE_COMMIT,
    }
    jobs = {name: weight for name, weight in mix.jobs.items() if any(_accepts(system, name, width) for width in WIDTHS)}
    widths = {width for width in WIDTHS if all(_accepts(system, name, width) for name in jobs)}
    return msgspec.structs.replace(
        mix,
        system=system.name,
        jobs=jobs or mix.jobs,
        parallelism={width: mix.parallelism[width] for width in mix.parallelism if width in widths}
        or {min(widths, default=1): 1},
        attacks={name: weight for name, weight in mix.attacks.items() if NEEDS[name] in able},
        disturbances={name: weight for name, weight in mix.disturbances.items() if NEEDS[name] in able},
        checkpoints=Capability.CHECKPOINTS in able,
        acknowledges=Capability.ACKNOWLEDGES_INPUT in able and Capability.CHECKPOINTS not in able,
        options=Capability.OPTIONS in able,
        message_contract=system.message_contract if isinstance(system, MessageContractAware) else mix.message_contract,
        **held,
        **{name: getattr(mix, name) if need in able else 0 for name, need in needs.items()},
    )


def _accepts(system: System, job: str, width: int) -> bool:
    if demands(JOBS[job]) - system.capabilities:
        return False
    plan = Plan(system=system.name, job=JOBS[job], topology=Topology(width), workload=WorkloadSpec("synthetic"))
    try:
        system.account(plan)
    except ValueError:
        return False
    return True
