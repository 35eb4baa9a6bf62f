"""The oracles' own interpretation of RULED_SUM: each record times the factor of its key at its time.

It is written from the definition (`model.job.VertexKind`), and shares no code with any system. Whether a record waits
in the end depends on nothing but how far the watermark of all splits has come.
"""

from __future__ import annotations

import msgspec
import numpy as np

from holdfast.harness.model.job import RULED_FACTORS, VertexKind
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.fold_model import FoldModel
from holdfast.harness.oracles.shared.lineage import KeyedInput, Lane, keyed_input
from holdfast.harness.oracles.shared.split_windows import Record, passed_ms, records_of, source_of

Rules = dict[str, list[tuple[int, int, int]]]
"""By key: since when a rule holds, the split that it came from, and its factor; each replaces the one before."""


def ruled_model(plan: Plan, inputs: InputLog) -> FoldModel:
    """What each key must show at every prefix of the records that wait no more.

    Args:
        plan: whose job sums by rules.
        inputs: what the system under test was fed.
    """
    [vertex] = plan.job.of_kind(VertexKind.RULED_SUM)
    data, ruling = (edge.upstream for edge in plan.job.inputs_of(vertex.name))
    splits = [records_of(plan, inputs, split) for split in range(len(inputs.partitions))]
    sources = [source_of(plan.job, split).name for split in range(len(splits))]
    rules = _rules([records if source == ruling else [] for records, source in zip(splits, sources, strict=True)])
    keyed, passed = (
        keyed_input(plan.job, inputs),
        passed_ms(plan.job, splits, over=plan.expected_end is ExpectedEnd.FINISHED),
    )
    partitions, lanes = list(inputs.partitions), list[Lane]()
    for lane, records, source in zip(keyed.lanes, splits, sources, strict=True):
        if source != data:
            lanes.append(lane)
            continue
        applied = [record for record in records if record.event_ms < passed]
        values = partitions[lane.partition].value.copy()
        values[lane.origins] *= np.array([_factor(rules, record) for record in records], np.int64)
        partitions[lane.partition] = msgspec.structs.replace(partitions[lane.partition], value=values)
        count = len(applied)  # event time rises with the offset
        lanes.append(Lane(lane.partition, lane.origins[:count], lane.offsets[:count]))
    weighed = msgspec.structs.replace(inputs, partitions=tuple(partitions))
    return FoldModel(weighed, plan.digest_key, KeyedInput(lanes))


def _rules(splits: list[list[Record]]) -> Rules:
    rules: Rules = {}
    received = [(record.event_ms, split, record) for split, records in enumerate(splits) for record in records]
    for since_ms, split, record in sorted(received, key=lambda each: each[:2]):
        rules.setdefault(record.key, []).append((since_ms, split, 1 + record.value % RULED_FACTORS))
    return rules


def _factor(rules: Rules, record: Record) -> int:
    factor = 1
    for since_ms, _, then in rules.get(record.key, ()):
        if since_ms <= record.event_ms:
            factor = then
    return factor
