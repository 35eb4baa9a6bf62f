"""Nothing of Spark outlives the harness, whatever ends it, or the driver program, whatever ends that."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.systems.structured_streaming.deployment import StreamingDeployment
from holdfast.fixtures.systems.structured_streaming.local_host import session_here
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness import lease
from holdfast.harness.label import NAME, end_labelled, variables_of
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.suites.selfcheck.marks import sweeps
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.started import Started

LIMIT_S = 90.0
COORDINATOR, WORKERS = Target(Role.COORDINATOR), (Target(Role.WORKER, 0), Target(Role.WORKER, 1))
PLAN = Plan(system="spark", job=KEYED_SUM, workload=WorkloadSpec("synthetic"))
DEPLOY_AND_PAUSE = """
import sys
from pathlib import Path
from holdfast.fixtures.systems.structured_streaming.local_host import session_here
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.suites.selfcheck.structured_streaming.test_processes import COORDINATOR, WORKERS, standing

deployment = standing(Path(sys.argv[1]))
deployment.controls[ProcessControl].pause(COORDINATOR)
deployment.controls[ProcessControl].pause(WORKERS[0])
print(session_here().host.folder, flush=True)
sys.stdin.read()
"""

pytestmark = pytest.mark.tier("spark")


def standing(folder: Path) -> StreamingDeployment:
    """A query that runs, with both executors."""
    deployment = StructuredStreaming().deploy(PLAN, Synthetic().generate({}, 1), Tier.SPARK, folder)
    assert isinstance(deployment, StreamingDeployment)
    assert becomes(lambda: bool(deployment.advance(deployment.now_ms + 100)) and all_alive(deployment), LIMIT_S)
    return deployment


def all_alive(deployment: StreamingDeployment) -> bool:
    return all(deployment.controls[ProcessControl].alive(target) for target in (COORDINATOR, *WORKERS))


def labelled(folder: Path) -> list[int]:
    """Processes that carry the label of a session, or of a run."""
    label = f"{NAME}={folder}".encode()
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if label in variables_of(pid)]


@pytest.mark.nightly
def test_executors_end_with_their_driver_and_a_session_with_its_close(tmp_path: Path) -> None:
    folder = session_here().host.folder
    with closing(standing(tmp_path)) as deployment:
        first = set(labelled(folder))
        assert len(first) >= 4  # Python and Java of the driver, two executors
        deployment.controls[ProcessControl].kill(COORDINATOR)
        assert not deployment.controls[ProcessControl].alive(COORDINATOR)
        assert becomes(
            lambda: deployment.advance(deployment.now_ms + 100) is not None and all_alive(deployment), LIMIT_S
        )
        assert not first & set(labelled(folder))
    session_here().close()
    assert not labelled(folder)
    assert not folder.exists()


@sweeps
@pytest.mark.nightly
def test_a_killed_harness_leaves_nothing_that_a_sweep_does_not_end(tmp_path: Path) -> None:
    """Even what is paused, and hears of nobody's end."""
    with Started.python(DEPLOY_AND_PAUSE, tmp_path) as harness:
        session = Path(harness.read_line())
    assert labelled(session)
    [swept] = [each for each in lease.sweep() if str(session) in each]
    assert swept.startswith(f"{session}: removed, ")
    end_labelled(tmp_path)
    assert becomes(lambda: not labelled(session) and not labelled(tmp_path), LIMIT_S)
    assert not session.exists()
