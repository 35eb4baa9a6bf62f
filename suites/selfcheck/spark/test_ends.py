"""Whatever ends, nothing of it stays; whoever does not belong to a run is kept out of it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.harness.spi.controls.process import ProcessControl

pytest.importorskip("pyspark")

from holdfast.fixtures.reference.drivers.spark.cluster import LocalCluster, Session, local_session
from holdfast.fixtures.reference.drivers.spark.deployment import SparkDeployment
from holdfast.fixtures.reference.drivers.spark.messages import NodeArrived, arrive
from holdfast.fixtures.reference.parts import Variant
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.services.spark_jobs import python_error
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness import label, lease
from holdfast.harness.adapter.network.sockets import address_of
from holdfast.harness.adapter.process import Process, descendants
from holdfast.harness.model.events import CheckpointCompleted
from holdfast.suites.selfcheck.processes.test_deployment import living
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.spark.plans import WORKER, plan
from holdfast.suites.selfcheck.started import Started

pytestmark = pytest.mark.tier("spark")
LIMIT_S = 60.0


def deploy(folder: Path, session: Session | None = None) -> SparkDeployment:
    chosen = plan()
    inputs = Synthetic().generate(chosen.workload.parameters, chosen.run_seed)
    folder.mkdir(exist_ok=True)
    return SparkDeployment(chosen, inputs, Variant(), configure(chosen), folder, session or local_session())


def advance_to_a_checkpoint(deployment: SparkDeployment) -> None:
    until_ms = deployment.now_ms + LIMIT_S * 1000
    while not any(isinstance(event, CheckpointCompleted) for event in deployment.advance(until_ms)):
        assert deployment.now_ms < until_ms, "no checkpoint completes"


def started(deployment: SparkDeployment, name: str) -> list[Process]:
    """The living processes of a run whose name begins like this."""
    return living([life.pid for life in deployment.supervisor._held if life.node.startswith(name)])


@pytest.mark.nightly
def test_closing_in_the_middle_ends_the_workers_and_leaves_the_driver_program(tmp_path: Path) -> None:
    with closing(deploy(tmp_path / "first")) as first:
        advance_to_a_checkpoint(first)
        workers, programs = started(first, "worker"), started(first, "coordinator")
        assert (len(workers), len(programs)) == (2, 1)
        first.controls[ProcessControl].pause(WORKER)
        first.close()
    assert all(worker.wait_end(LIMIT_S) for worker in workers)
    with closing(deploy(tmp_path / "second")) as second:
        advance_to_a_checkpoint(second)
        assert [program.pid for program in started(second, "coordinator")] == [programs[0].pid]


@pytest.mark.nightly
def test_who_belongs_to_another_run_or_to_an_older_epoch_is_not_let_in(tmp_path: Path) -> None:
    session = local_session()
    with closing(deploy(tmp_path)) as deployment, ThreadPoolExecutor(1) as elsewhere:
        advance_to_a_checkpoint(deployment)
        for run in ("another run", str(tmp_path)):
            said = NodeArrived(run, "worker-0.0", 0, "", os.getpid(), os.getppid())
            answer = elsewhere.submit(arrive, address_of(session._listener), session.token, said)
            while not answer.done():
                deployment.advance(deployment.now_ms + 10)
            assert answer.result() is None, run
            advance_to_a_checkpoint(deployment)


def test_an_error_in_a_worker_is_told_by_its_last_line() -> None:
    reason = (
        "Job aborted due to stage failure: Could not recover from a failed barrier ResultStage. Most recent failure "
        'reason: org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File "worker.py", '
        "line 5, in run\n    open(path)\nFileNotFoundError: no such folder\n\n\tat org.apache.spark.api.python.Base\n"
        "Driver stacktrace:"
    )
    assert python_error(reason) == "FileNotFoundError: no such folder"


@pytest.mark.nightly
def test_two_runs_at_a_time_are_refused_in_one_sentence(tmp_path: Path) -> None:
    with closing(deploy(tmp_path / "first")) as first:
        with pytest.raises(OSError, match=r"^another run has the Spark session of this process: end that one first\.$"):
            deploy(tmp_path / "second")
        advance_to_a_checkpoint(first)


def test_a_spark_that_does_not_come_up_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    cluster = LocalCluster(1, {"spark.driver.memory": "much"})
    sentence = r"^Spark does not come up: the driver program ended \(.+\)\.$"
    with closing(Session(cluster)) as session, pytest.raises(OSError, match=sentence):
        deploy(tmp_path, session)
    assert not cluster.folder.exists()


def test_what_left_the_group_of_the_driver_program_ends_before_its_folder_is_removed() -> None:
    cluster = LocalCluster(1)
    labelled = {label.NAME: str(cluster.folder / "1")}
    with Started("/bin/sleep", "60", env=labelled, start_new_session=True) as daemon:
        cluster.close()
        assert daemon.poll() == -9
    assert not cluster.folder.exists()


HARNESS = """
import sys
from pathlib import Path
from holdfast.fixtures.reference.drivers.spark.cluster import LocalCluster
from holdfast.fixtures.reference.drivers.spark.cluster import Session
from holdfast.suites.selfcheck.spark.test_ends import advance_to_a_checkpoint, deploy
cluster = LocalCluster(2)
deployment = deploy(Path(sys.argv[1]), Session(cluster))
advance_to_a_checkpoint(deployment)
print(cluster.folder, flush=True)
while True:
    deployment.advance(1e9)
"""


@pytest.mark.nightly
def test_after_a_sigkill_of_the_harness_nothing_lives_on(tmp_path: Path) -> None:
    with Started.python(HARNESS, tmp_path) as harness:
        folder = harness.read_line()
        processes = living(descendants(harness.pid))
        assert len(processes) >= 8  # a zygote, reader, driver program, two workers, and the JVMs
        assert len(mentioning(folder)) == 3  # JVMs of the driver program and of two executors
        harness.kill()
        assert all(process.wait_end(LIMIT_S) for process in processes)
    assert becomes(lambda: not mentioning(folder), LIMIT_S)
    list(lease.sweep())
    assert not Path(folder).exists(), "a sweep clears away after one that was killed"


def mentioning(text: str) -> list[str]:
    """Command lines of living processes with a text in it."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if text in line:
            lines.append(line)
    return lines
