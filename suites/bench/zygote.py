"""How long the zygote takes to fork a warm worker, and that it forks many of them without a hang.

python -m holdfast.suites.bench.zygote [FORKS]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from holdfast.fixtures.reference.drivers.processes.spawner import open_zygote
from holdfast.fixtures.reference.drivers.processes.zygote import thread_count

PRELOAD = ("numpy", "pyarrow", "pyarrow.ipc", "pyarrow.compute", "msgspec", "holdfast.suites.bench.zygote")
DEATH_LIMIT_S = 10.0


def work(arguments: bytes, descriptors: object) -> None:
    """What a forked worker does here: use the libraries whose threads and locks a fork could have broken."""
    import numpy as np
    import pyarrow as pa

    batch = pa.record_batch({"value": np.arange(1000)})
    restored = pa.ipc.read_record_batch(batch.serialize(), batch.schema)
    if restored.column(0).to_numpy().sum() != 499_500 or thread_count() != 1:
        os._exit(3)


def main(forks: int) -> int:
    """Fork so many workers, one after the other; 0 if each of them did its work."""
    alive_ms, dead_ms = [], []
    with tempfile.TemporaryDirectory() as folder:
        spawner, zygote = open_zygote(PRELOAD, Path(folder, "zygote.log"))
        for number in range(forks):
            started = time.perf_counter()
            process = spawner.spawn("holdfast.suites.bench.zygote:work", b"", [], Path(folder, "worker.log"))
            alive_ms.append((time.perf_counter() - started) * 1000)
            if not process.wait_end(DEATH_LIMIT_S):
                print(f"worker {number} hangs", file=sys.stderr)
                return 1
            process.close()
            while not (deaths := spawner.ended()):
                pass
            dead_ms.append((time.perf_counter() - started) * 1000)
            if deaths[0].exit_code:
                print(f"worker {number}: exit code {deaths[0].exit_code}", file=sys.stderr)
                return 1
        spawner.close()
        zygote.wait_end(DEATH_LIMIT_S)
    for name, sample in (("until it lives", alive_ms), ("until it worked and its death is known", dead_ms)):
        cuts = statistics.quantiles(sample, n=100)
        print(f"{forks} forks, {name}: median {cuts[49]:.2f} ms, p99 {cuts[98]:.2f} ms, worst {max(sample):.2f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
