"""The reference runtime on Spark executors, reading and writing Kafka, with its checkpoints on an object store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill, pause
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, LATE_CHANNELS, RESTART, WORKERS, gate, plan, with_needs

BROKER = Target(Role.BROKER)
CONTAINERS = (Tier.CONTAINERS,)
OPTIONS = {
    f"{CHECKPOINTING}.interval": "500 ms",
    f"{CHECKPOINTING}.timeout": "5 s",
    f"{RESTART}.type": "fixed-delay",
    f"{RESTART}.fixed-delay.attempts": "30",
    f"{RESTART}.fixed-delay.delay": "200 ms",
    "source.max-batch-records": "256",
    **plans.TOLERANT,
}
WORKLOAD = WorkloadSpec("synthetic",
                        {"records": 12_000, "keys": 16, "partitions": 2, "preloaded_percent": 10, "starts_ms": 2_000,
                         "records_per_second": 800})  # fmt: skip
SHORT = replace(WORKLOAD, parameters={**WORKLOAD.parameters, "records": 8_000})
"""For what is broken at once and stands again soon: it comes in for four and a half seconds."""
BOUNDS = Bounds(safety_ms=40_000, liveness_ms=60_000, settle_ms=1_500)
PART: dict[str, int | str] = {"part": "executor"}
AFTER_A_RESTORE = (Window.RESTORED_STATE,)
SINK_GUARANTEE = "sink.delivery-guarantee"


def containers(*faults: FaultSpec, options: Mapping[str, str] = {}, **fields: Any) -> Plan:
    """A keyed sum of 12,000 records that come in for seven seconds by default, which ten checkpoints take."""
    whole = plan(*faults, workload=WORKLOAD, bounds=BOUNDS)
    return replace(whole, options={**OPTIONS, **options}, **fields)


def wrong(variant: str, chosen: Plan) -> Plan:
    """The same plan on a wrong variant of the runtime."""
    return replace(chosen, system=f"reference+{variant}")


def executor(target: Target, **when: Any) -> FaultSpec:
    """SIGKILL of the executor that hosts a worker, while input is unread."""
    return replace(kill(target, **when), parameters={**PART, "unread": 1})


def lasting(
    kind: str, target: Target, duration_ms: int, parameters: Mapping[str, int | str] = {}, **when: Any
) -> FaultSpec:
    """A fault that heals by itself."""
    return FaultSpec(kind, target, Schedule(**when), duration_ms, dict(parameters))


EXECUTOR_KILLED = containers(executor(WORKERS[0], after_checkpoint=3), workload=SHORT)
BROKER_RESTARTED = containers(lasting("outage", BROKER, 2_000, after_checkpoint=3))
STORE_CUT_OFF = containers(
    lasting("cut", STORAGE, 3_000, after_checkpoint=2, gate=gate("publish-metadata", COORDINATOR)),
    executor(WORKERS[1], after_checkpoint=3),
)
SLOW_WHILE_ALIGNING = containers(slow(LATE_CHANNELS[0], 700, 4_000), executor(WORKERS[0], after_checkpoint=3))
BETWEEN_BARRIER_AND_COMPLETION = containers(
    kill(COORDINATOR, after_checkpoint=2, gate=gate("publish-metadata", COORDINATOR)), workload=SHORT
)
ROWS_IN_EACH = {f"{CHECKPOINTING}.min-pause": "500 ms"}
"""A checkpoint that follows a late one at once covers no rows."""
REPEATS = containers(executor(WORKERS[0], after_checkpoint=3, gate=gate("acknowledge", WORKERS[0], "sink")),
                     options={SINK_GUARANTEE: "at-least-once", **ROWS_IN_EACH}, workload=SHORT)  # fmt: skip
"""The rows of the checkpoint are published, and the checkpoint is not complete: they come once more."""
READ_BEYOND = containers(executor(WORKERS[0], after_checkpoint=3, gate=gate("acknowledge", WORKERS[0], "sink")),
                         options=ROWS_IN_EACH, workload=SHORT)  # fmt: skip
"""More was read than the checkpoint covers that is restored: the next one is not complete."""
TWO_ATTEMPTS = {f"{RESTART}.fixed-delay.attempts": "2", f"{RESTART}.fixed-delay.delay": "1 s"}
THREE_KILLS = containers(*(replace(kill(WORKERS[number % 2], after_checkpoint=2 * number + 2), parameters=PART)
                           for number in range(3)),
                         options=TWO_ATTEMPTS, workload=SHORT, expected_end=ExpectedEnd.FAILED,
                         bounds=replace(BOUNDS, liveness_ms=20_000))  # fmt: skip
ZOMBIE = containers(replace(pause(WORKERS[0], 6_000, after_checkpoint=3), parameters={"part": "python-worker"}),
                    options={"heartbeat.interval": "500 ms", "heartbeat.timeout": "2 s"})  # fmt: skip


def _worked_example() -> Plan:
    """A checkpoint at record 3 and 4; record 4 of the first source overtakes the late barrier of the second: the
    first trigger comes between pause and interval, when both channels are slow, and the record a second later."""
    return containers(slow(LATE_CHANNELS[0], 3_000, 9_000), slow(LATE_CHANNELS[1], 3_000, 9_000),
                      kill(WORKERS[0], after_checkpoint=1),
                      workload=WorkloadSpec("worked-example", {"resumes_ms": 3_000, "records_per_second": 1}),
                      options={f"{CHECKPOINTING}.interval": "2 s", f"{CHECKPOINTING}.min-pause": "1500 ms",
                               f"{CHECKPOINTING}.timeout": "20 s"})  # fmt: skip


def case(
    name: str, purpose: str, method: str, passes: str, chosen: Plan, windows: tuple[Window, ...] = AFTER_A_RESTORE
) -> Case:
    """A guarantee that must stand, after a restore unless other windows are named."""
    return Case(id=f"chaos/{name}", purpose=purpose, method=method, passes=passes, decides=(), plan=chosen,
                windows=windows, tiers=CONTAINERS)  # fmt: skip


def control(name: str, variant: str, method: str, chosen: Plan, *refutes: str) -> Case:
    """A wrong variant that must be refuted, by one of some clauses."""
    return Case(id=f"chaos/{name}-control", purpose=f"Is {variant} caught on real Kafka, with real kills?",
                method=method, passes="An oracle refutes it.", decides=(), plan=wrong(variant, chosen),
                expected=Outcome.FAIL, refutes=frozenset(refutes), tiers=CONTAINERS)  # fmt: skip


EXACT = ("EXACT/row-wrong", "EXACT/counts-stepped-back", "EXACT/input-missing")
REPEATED = ("EXACT/row-repeated", "EXACT/counts-stepped-back")
"""Which of them depends on whether what is read again is cut into the same batches."""
EXACTLY_ONCE_HOLDS = "Each committed row is what the oracle's model holds at its counts; the last ones hold all input."

CASES = with_needs(
    case("executor-kill", "Does every record count once when a Spark executor is killed?",
         "SIGKILL from outside hits the executor of a worker after the third checkpoint, while input comes in.",
         EXACTLY_ONCE_HOLDS, EXECUTOR_KILLED),
    control("executor-kill", "source-repeats-one", "The same kill.", EXECUTOR_KILLED, *EXACT),
    case("broker-restart", "Does every record count once when the broker dies and comes back?",
         "SIGKILL of the Kafka broker after the third checkpoint; it is started again two seconds later.",
         EXACTLY_ONCE_HOLDS, BROKER_RESTARTED, ()),
    case("store-cut-off",
         "Does every record count once when the object store is out of reach in the middle of a checkpoint?",
         "The link to the store is cut when the metadata is about to be published; then an executor is killed.",
         EXACTLY_ONCE_HOLDS, STORE_CUT_OFF),
    control("store-cut-off", "notifies-before-durable", "The same cut and kill.", STORE_CUT_OFF,
            "COORD/notified-before-durable"),
    case("slow-channel", "Is the cut consistent when one channel is late during the alignment?",
         "A channel is 700 ms late for four seconds, then an executor is killed.",
         "Snapshots hold exactly what lies before the barriers, and "
         + EXACTLY_ONCE_HOLDS[0].lower()
         + EXACTLY_ONCE_HOLDS[1:],
         SLOW_WHILE_ALIGNING),
    control("slow-channel", "A3", "The same channel, the same kill.", SLOW_WHILE_ALIGNING,
            "CUT/processed-while-blocked"),
    case("at-least-once", "Is nothing lost with an at-least-once sink?",
         "The sink publishes on the barrier; an executor is killed, so that rows are published again.",
         "Every record has its effect in the output; repeats are allowed.", REPEATS),
    control("at-least-once", "claims-exactly-once", "The same sink under a claim that it cannot keep.", REPEATS,
            *REPEATED),
    control("commit-on-barrier", "commits-on-barrier",
            "The coordinator is killed between the barrier and the completion of a checkpoint.",
            BETWEEN_BARRIER_AND_COMPLETION, "TXN/committed-before-completion"),
    case("commit-on-completion", "Is nothing visible before its checkpoint is complete?",
         "The coordinator is killed between the barrier and the completion of a checkpoint.", EXACTLY_ONCE_HOLDS,
         BETWEEN_BARRIER_AND_COMPLETION),
    case("fixed-delay", "Are failures counted, and delays kept, on the clock on the wall?",
         "Two attempts with a second between them; three executors are killed.",
         "Two restarts, none earlier than its delay, and the third failure ends the job.", THREE_KILLS),
    control("fixed-delay", "restarts-once-more", "The same kills.", THREE_KILLS, "COUNT/restarted-beyond-policy"),
    control("group-offsets", "source-follows-group-offsets",
            "An executor is killed when its sink is about to acknowledge a checkpoint.", READ_BEYOND, *EXACT),
    case("zombie", "Is a worker that comes back from the dead fenced?",
         "A worker is paused until its successor runs, and continues then.", EXACTLY_ONCE_HOLDS, ZOMBIE),
    case("worked-example-aligned", "Does the worked example of seeds/002 come out of a real topic with two partitions?",
         "Record 4 of the first partition arrives before the barrier of the second; the job restarts from there.",
         "The checkpoint holds even 8 and odd 8; the last rows are even 40 and odd 32.", _worked_example()),
    control("worked-example-aligned", "A3", "The same records.", _worked_example(), "GOLDEN/checkpoint-value",
            "GOLDEN/final-value"),
)  # fmt: skip
