"""What the tests of systems share: a plan, a drive from start to end, and a slow model of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from holdfast.fixtures.systems.json_lines.deployment import JsonLinesDeployment
from holdfast.fixtures.systems.json_lines.system import JsonLines
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import Event
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import FoldRow, InputLog, Output
from holdfast.harness.spi.system import GateReached, Recording

PLAN = Plan(
    job=KEYED_SUM,
    topology=Topology(parallelism=1),
    workload=WorkloadSpec("synthetic"),
    bounds=Bounds(settle_ms=300),
)
LIMIT_MS = 60_000
MODULUS = 1 << 64
Step = Callable[[JsonLinesDeployment, Sequence[Event | GateReached]], None]


def records(count: int = 1_000, records_per_second: int = 500) -> InputLog:
    """A log of two partitions, a tenth of it there from the start."""
    return Synthetic().generate(
        {"records": count, "preloaded_percent": 10, "records_per_second": records_per_second, "keys": 4}, 1
    )


def deployed(system: JsonLines, inputs: InputLog, folder: Path) -> JsonLinesDeployment:
    deployment = system.deploy(PLAN, inputs, Tier.PROCESS, folder)
    assert isinstance(deployment, JsonLinesDeployment)
    return deployment


def drive(
    system: JsonLines, inputs: InputLog, folder: Path, step: Step = lambda deployment, happened: None
) -> Recording:
    """Run a system until its input is drained, calling `step` with what happened, at least every 20 ms."""
    with closing(deployed(system, inputs, folder)) as deployment:
        while not deployment.drained():
            assert deployment.now_ms < LIMIT_MS, "the input was not drained"
            step(deployment, deployment.advance(deployment.now_ms + 20))
        return deployment.stop(audit=False)


def last_rows(output: Output) -> dict[str, FoldRow]:
    """The newest row of each key."""
    rows = {}
    for row in output.rows():
        assert isinstance(row, FoldRow)
        rows[row.key] = row
    return rows


def model_row(inputs: InputLog, key: str, counts: tuple[int, ...]) -> FoldRow:
    """The row of a key after so many of its records of each partition."""
    value, digest, found = 0, 0, [0] * len(counts)
    for index, partition in enumerate(inputs.partitions):
        for offset in range(len(partition)):
            if inputs.keys[partition.key[offset]] == key and found[index] < counts[index]:
                found[index] += 1
                value += int(partition.value[offset])
                digest = (digest + identity_hash(index, offset)) % MODULUS
    return FoldRow(key, value, tuple(found), digest)


def model_rows(inputs: InputLog) -> dict[str, FoldRow]:
    """The rows after all records."""
    everything = inputs.lengths()
    rows = {key: model_row(inputs, key, everything) for key in inputs.keys}
    return {key: row for key, row in rows.items() if sum(row.counts)}


def identity_hash(partition: int, offset: int) -> int:
    z = (PLAN.digest_key + (partition << 48) + offset + 1) % MODULUS
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % MODULUS
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % MODULUS
    return z ^ (z >> 31)
