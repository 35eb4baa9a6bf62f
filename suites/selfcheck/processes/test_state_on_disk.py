"""RocksDB is really used: its files lie on the disks of workers, and its tables in the store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.run_context import STATE, STORAGE
from holdfast.fixtures.storages import stored_files
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointCompleted, FileWritten
from holdfast.harness.model.plan import Plan
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.incremental import INCREMENTAL, LONG
from holdfast.suites.conformance.state_backends import BY_NIGHT
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run

pytest.importorskip("rocksdict")
TABLE = (0x88E241B785F4CFF7).to_bytes(8, "little")
"""What every block-based table of RocksDB ends with."""
LIMIT_MS = 60_000


def test_tables_are_on_the_disks_of_workers_and_in_the_store(tmp_path: Path) -> None:
    plan = plans.plan(options=INCREMENTAL, records=LONG)
    inputs = Synthetic().generate(plan.workload.parameters, plan.run_seed)
    with closing(ReferenceSystem().deploy(plan, inputs, Tier.PROCESS, tmp_path)) as deployment:
        completed = 0
        while completed < 2 and deployment.now_ms < LIMIT_MS:
            happened = deployment.advance(deployment.now_ms + 20)
            completed += sum(isinstance(event, CheckpointCompleted) for event in happened)
        # Nobody writes any more; what was written when the processes were ended, no event names.
        recording = deployment.stop(audit=False)
        local = {path.relative_to(tmp_path / STATE).parts[0] for path in (tmp_path / STATE).rglob("database/CURRENT")}
        written = {event.file.path for node in recording.nodes for event in node if isinstance(event, FileWritten)}
        tables = list((tmp_path / STORAGE).rglob("shared/*.sst"))
        shared = [path.read_bytes() for path in tables if str(path.relative_to(tmp_path / STORAGE)) in written]
    assert local == {"worker-0.0", "worker-1.0"}
    assert shared
    assert all(content[: -stored_files.SEAL_BYTES].endswith(TABLE) for content in shared)


@pytest.mark.nightly
@pytest.mark.parametrize("plan", BY_NIGHT)
def test_more_of_the_cases_of_state_backends(plan: Plan, tmp_path: Path) -> None:
    assert_passes(counting_run(plan, ReferenceSystem(), Tier.PROCESS, tmp_path))
