"""A node imports nothing in the middle of a recovery."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.deployment import WARM

NODE = """
import importlib
import sys
from pathlib import Path

import msgspec

from holdfast.fixtures.reference.drivers.processes.deployment import PRELOAD
from holdfast.fixtures.reference.drivers.processes.file_log import write_log
from holdfast.fixtures.reference.drivers.processes.run_context import RunContext, RunSettings
from holdfast.fixtures.reference.operators.read_run import ReadRun
from holdfast.fixtures.reference.parts import Variant
from holdfast.harness.adapter.network.sockets import Address
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.model.jobs import KEYED_SUM, SLIDING_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec

for module in PRELOAD:
    importlib.import_module(module)
job = KEYED_SUM if sys.argv[2] == KEYED_SUM.name else SLIDING_SUM
plan = Plan(job=job, workload=WorkloadSpec("synthetic"), options={"state.backend.type": sys.argv[3]})
folder = Path(sys.argv[1])
(folder / "log").mkdir()
write_log(folder / "log", Synthetic().generate({}, 1))
run = RunContext(RunSettings(plan, Variant(), str(folder), Address("", 0), (), {}, event_steps_ms=(10, 10)))
imported = set(sys.modules)
offset, key, value = run.log.read(0, 0, 10)
operators = {name: run.operator(descriptor, run.graph, 1) for name, descriptor in run.graph.tasks.items()}
batch = operators["source[0]"].process(run.representation.read(ReadRun(0, offset, key, value)))
run.representation.from_arrow(run.representation.to_arrow(batch))
for operator in operators.values():
    operator.open()
    operator.state.close()
print(sorted(set(sys.modules) - imported))
"""


@pytest.mark.parametrize(
    ("job", "backend"), [("keyed-sum", "hashmap"), ("keyed-sum", "rocksdb"), ("sliding-sum", "hashmap")]
)
def test_whatever_a_node_needs_is_imported_before_it_is_forked(job: str, backend: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", NODE, str(tmp_path), job, backend]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (answer.stdout, answer.stderr) == ("[]\n", "")


def test_arrow_does_without_pandas_and_pandas_is_there_for_others() -> None:
    pytest.importorskip("pandas")
    code = f"import sys, {WARM}; print('pandas' in sys.modules); import pandas; print('pandas' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (answer.stdout, answer.stderr) == ("False\nTrue\n", "")
