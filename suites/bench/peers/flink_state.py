"""Flink's state backends in a process of their own: the program of `state_backends`, one key after the other.

What they ask a task for is stood in for by `FlinkState.java`, which Java compiles when it starts. Like a slot they have
64 MB of managed memory. The cost is that of the last of some rounds, when Java has compiled what it runs. Keys and
values are objects; RocksDB is given bytes, which is part of the cost there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from holdfast.suites.bench.peers.cache import PeerCache
from holdfast.suites.bench.peers.children import answer
from holdfast.suites.bench.peers.flink_cluster import FLINK

PROGRAM = Path(__file__).with_name("FlinkState.java")
BACKENDS = ("hashmap", "rocksdb")
OPENED = ("java.base/java.util=ALL-UNNAMED", "java.base/java.lang=ALL-UNNAMED")
ROUNDS = 3
LIMIT_S = 600.0


def cost(cache: PeerCache, backend: str, keys: int, cores: Sequence[int]) -> dict[str, float]:
    """Microseconds of `put`, `get` and `merge` of one key, and `records` per second.

    Args:
        cache: where Flink is, or goes.
        backend: one of BACKENDS.
        keys: that are put.
        cores: that it is pinned to.

    Raises:
        OSError: Flink cannot be had or fails.
    """
    cache.python("flink", FLINK)
    library = cache.packages("flink") / "pyflink" / "lib"
    archives = [str(each) for pattern in ("flink-dist-*.jar", "log4j-*.jar") for each in sorted(library.glob(pattern))]
    opened = [f"--add-opens={each}" for each in OPENED]
    command = ["java", *opened, "-cp", ":".join(archives), str(PROGRAM), backend, str(keys), str(ROUNDS)]
    printed = answer(command, cores, dict(os.environ), LIMIT_S)
    return {name: float(value) for name, value in json.loads(printed.splitlines()[-1]).items()}
