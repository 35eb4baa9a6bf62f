"""Inputs that only benchmarks need, registered for their own runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct

from holdfast.fixtures.workloads.parameters import documented, read
from holdfast.harness.engine.site.registry import Toolbox, toolbox
from holdfast.harness.model.records import InputLog, Partition

_VALUE_LIMIT = 1_000


class UniformParameters(Struct, frozen=True):
    """See the descriptions."""

    keys: Annotated[int, Meta(ge=1, le=10_000_000, description="distinct keys")] = 1_000_000
    passes: Annotated[int, Meta(ge=1, le=1_000, description="how often every key comes in a round")] = 4
    repeat: Annotated[int, Meta(ge=1, le=10_000, description="how many rounds there are")] = 1
    partitions: Annotated[int, Meta(ge=1, le=1_024, description="source partitions")] = 2


class Uniform:
    """Many keys, all alike: the input is one shuffle of all keys after the other, spread over the partitions, so that
    every key has state as soon as the first shuffle is read."""

    name = "bench-uniform"
    parameters = documented(UniformParameters)

    def generate(self, parameters: Mapping[str, int | str], seed: int) -> InputLog:
        chosen = read(self.name, UniformParameters, parameters)
        draw = np.random.default_rng(seed)
        key = np.concatenate([draw.permutation(chosen.keys) for _ in range(chosen.passes)])
        value = draw.integers(-_VALUE_LIMIT, _VALUE_LIMIT, len(key))
        return InputLog(
            tuple(f"key-{index}" for index in range(chosen.keys)),
            tuple(
                Partition(
                    np.tile(key[index :: chosen.partitions], chosen.repeat),
                    np.tile(value[index :: chosen.partitions], chosen.repeat),
                    preloaded=len(key[index :: chosen.partitions]) * chosen.repeat,
                )
                for index in range(chosen.partitions)
            ),
        )


class UnevenParameters(Struct, frozen=True):
    """See the descriptions."""

    flood: Annotated[int, Meta(ge=1, description="records of the first partition, all there from the start")] = 100_000
    trickle: Annotated[int, Meta(ge=1, description="records of the second partition")] = 500
    records_per_second: Annotated[int, Meta(ge=1, description="how fast those arrive")] = 50
    keys: Annotated[int, Meta(ge=1, le=1_000_000, description="distinct keys, all alike")] = 1_000


class Uneven:
    """Skew between channels: one partition has more than can be taken, the other a little at a time."""

    name = "bench-uneven"
    parameters = documented(UnevenParameters)

    def generate(self, parameters: Mapping[str, int | str], seed: int) -> InputLog:
        chosen = read(self.name, UnevenParameters, parameters)
        draw = np.random.default_rng(seed)

        def partition(records: int, preloaded: int, rate: int) -> Partition:
            key, value = draw.integers(0, chosen.keys, records), draw.integers(-_VALUE_LIMIT, _VALUE_LIMIT, records)
            return Partition(key, value, preloaded, records_per_second=rate)

        return InputLog(
            tuple(f"key-{index}" for index in range(chosen.keys)),
            (partition(chosen.flood, chosen.flood, 0), partition(chosen.trickle, 0, chosen.records_per_second)),
        )


def bench_toolbox(without: frozenset[str] = frozenset()) -> Toolbox:
    """What a benchmark's run needs: everything registered, and these inputs, but not the oracles that are named."""
    tools = toolbox()
    own = {each.name: each for each in (Uniform(), Uneven())}
    oracles = tuple(oracle for oracle in tools.oracles if oracle.name not in without)
    return msgspec.structs.replace(tools, workloads={**tools.workloads, **own}, oracles=oracles)
