"""The plan: one value that contains everything about a run but the tier it runs on."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from holdfast.harness.model.configuration import Call, ConfigurationFile
from holdfast.harness.model.job import Job
from holdfast.harness.model.target import Role, Target

PLAN_VERSION = 2
"""1: without conditions on acknowledgements and on restored state."""


class Topology(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How wide the job runs. Worker i hosts subtask i of every vertex.

    Attributes:
        parallelism: subtasks of every vertex.
        max_parallelism: number of key groups; 0: the system chooses it (RULES RSC-02).
    """

    parallelism: int = 2
    max_parallelism: int = 128


class WorkloadSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A registered workload by name, with its parameters.

    Attributes:
        name: as registered under `holdfast.workloads`, such as `synthetic`, `flights`, `worked-example`.
        parameters: whole numbers and texts that the workload documents.
    """

    name: str
    parameters: dict[str, int | str] = {}


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An effect that the system under test is held in front of.

    Attributes:
        effect: name of the effect, from the adapter's `gates`, such as `acknowledge` or `commit`.
        target: whose effect.
        occurrence: which one of those that satisfy the rest, from 1.
        vertex: only effects of subtasks of this vertex; empty: of any.
    """

    effect: str
    target: Target
    occurrence: int = 1
    vertex: str = ""


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a fault acts: by progress, at a gate, or, on the simulator only, at a time. All given conditions must hold.

    Attributes:
        after_checkpoint: this many checkpoints have completed since the start.
        after_rows: this many committed rows are visible.
        after_acknowledged: the system has acknowledged input this often since its present life began: checkpoints that
            completed, or acknowledgements of a program.
        after_restored: this many lives of the system have begun from persisted state: attempts that restored a
            checkpoint that holds something, or starts of a program whose table was not empty.
        at_event: an event of this kind happens after the conditions above hold.
        gate: then arm this gate and act when it is reached.
        at_time_ms: then at this virtual time.
    """

    after_checkpoint: int = 0
    after_rows: int = 0
    after_acknowledged: int = 0
    after_restored: int = 0
    at_event: str = ""
    gate: Gate | None = None
    at_time_ms: int | None = None


class FaultSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One planned fault.

    Attributes:
        kind: as registered under `holdfast.faults`: `kill`, `pause`, `cut`, `slow`, `storage-error`.
        target: whom it hits.
        schedule: when.
        duration_ms: how long until it heals by itself; 0: until the heal phase (a kill has no duration).
        parameters: what the fault documents, such as `delay_ms` or `operation`.
    """

    kind: str
    target: Target = Target(Role.WORKER, 0)
    schedule: Schedule = Schedule()
    duration_ms: int = 0
    parameters: dict[str, int | str] = {}


class ExpectedEnd(StrEnum):
    """What the liveness phase must reach."""

    RUNNING = "running"
    """All input drained and two new complete checkpoints."""
    FINISHED = "finished"
    """All input has come to its end, and so has every task."""
    CANCELED = "canceled"
    """A user cancelled it."""
    SUSPENDED = "suspended"
    """A user suspended it."""
    FAILED = "failed"
    """By the restart policy, after exactly the failures that it allows."""
    REFUSED = "refused"
    """The configuration is refused at submit, before anything starts."""
    ACCEPTED = "accepted"
    """The configuration is accepted at submit, and reported; nothing starts."""
    UNAVAILABLE = "unavailable"
    """Correctly unavailable: what it needs is gone, and it reports that."""


class Bounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits in the system's own time. On a real machine that has more to run than it can, the first two count only the
    time in which everything could run, up to four times as long (engine.patience).

    Attributes:
        safety_ms: the safety phase ends at the latest then.
        liveness_ms: from the heal until the expected end.
        settle_ms: how long output is watched after the expected end. The engine lengthens it, and the liveness phase,
            to what the options of the plan need (oracles.output.settle_window), so no timeout can change output later.
    """

    safety_ms: int = 5_000
    liveness_ms: int = 20_000
    settle_ms: int = 200


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fully expanded: no default of the machine it runs on takes part.

    Attributes:
        version: schema version.
        system: the system under test with its variant, such as `reference` or `reference+D1`.
        job: what runs.
        topology: how wide.
        options: Flink's keys with values as Flink writes them; the job's program sets them.
        calls: by which the program sets more of them, in this order; the later one wins.
        configuration_file: of the cluster; what the program sets wins over it.
        workload: what it is fed.
        faults: what breaks it.
        expected_end: how it must end.
        draw_seed: the seed that this plan was drawn from; 0: written by hand.
        run_seed: forked by label into every random stream of the run.
        digest_key: of the identity hash (see Contract).
        bounds: limits.
    """

    version: int = PLAN_VERSION
    system: str = "reference"
    job: Job
    topology: Topology = Topology()
    options: dict[str, str] = {}
    calls: tuple[Call, ...] = ()
    configuration_file: ConfigurationFile | None = None
    workload: WorkloadSpec
    faults: tuple[FaultSpec, ...] = ()
    expected_end: ExpectedEnd = ExpectedEnd.RUNNING
    draw_seed: int = 0
    run_seed: int = 0
    digest_key: int = 0x9E3779B97F4A7C15
    bounds: Bounds = Bounds()
