"""The cluster: our code runs on it as us, its parts can be killed one by one, and it comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.spark_cluster import SparkCluster
    from holdfast.fixtures.services.stack import Stack

pytestmark = [pytest.mark.tier("containers"), pytest.mark.nightly]
JOB_LIMIT_S = 120.0
JOB = """
import json, os, socket
from pyspark.sql import SparkSession

def look(rows):
    from holdfast.fixtures.reference.protocol.tasks import barrier_handler
    with open(os.path.join(os.environ["HOME"], f"{socket.gethostname()}.seen"), "w") as file:
        file.write("from an executor")
    yield socket.gethostname(), os.getuid(), barrier_handler.__name__

spark = (
    SparkSession.builder.master(os.environ["MASTER"])
    .config("spark.driver.host", socket.gethostname())
    .config("spark.executor.memory", "512m")
    # One slot on each worker.
    .config("spark.executor.cores", "1")
    .config("spark.cores.max", "2")
    .config("spark.driver.extraJavaOptions", os.environ["QUICK_JAVA"])
    .config("spark.executor.extraJavaOptions", os.environ["QUICK_JAVA"])
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
found = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(look).collect()
open("found.json", "w").write(json.dumps(found))
spark.stop()
"""


@pytest.fixture(scope="module")
def cluster(stack: Stack) -> SparkCluster:
    from holdfast.fixtures.services.spark_cluster import SparkCluster

    assert isinstance(stack.spark, SparkCluster)
    return stack.spark


def lives(container: Container) -> bool:
    return container.running


def frozen(container: Container) -> bool:
    return container.paused


def test_our_code_runs_on_executors_as_this_user(stack: Stack, cluster: SparkCluster) -> None:
    from holdfast.fixtures.services.spark_cluster import QUICK_JAVA

    (stack.exchange / "job.py").write_text(JOB)
    environment = {"MASTER": stack.spark_master, "QUICK_JAVA": QUICK_JAVA}
    driver = stack.run_driver(["python", "job.py"], name="job", environment=environment)
    driver.wait_for_end(JOB_LIMIT_S)
    assert driver.exit_code == 0, driver.log()
    found = json.loads((stack.exchange / "found.json").read_text())
    module = "holdfast.fixtures.reference.protocol.tasks.barrier_handler"
    assert sorted(found) == [[worker.name, os.getuid(), module] for worker in cluster.workers]
    written = sorted(stack.exchange.glob("*.seen"))
    assert [path.stat().st_uid for path in written] == [os.getuid()] * 2
    driver.remove()


def test_classes_come_from_the_archive_of_the_image(cluster: SparkCluster) -> None:
    """A virtual machine that finds other jars than those of the archive goes on without it, and tells nobody."""
    for worker in cluster.workers:
        assert "/opt/spark/classes.jsa" in Path(f"/proc/{worker.pid}/maps").read_text()


def test_a_killed_worker_comes_back(cluster: SparkCluster) -> None:
    worker = cluster.workers[0]
    worker.kill()
    assert not lives(worker)
    assert worker.exit_code == 137
    cluster.bring_up(worker)
    assert lives(worker)
    assert Path(f"/proc/{worker.pid}/cmdline").read_bytes().startswith(b"/usr/lib/jvm")
    assert cluster.alive_workers == len(cluster.workers)


def test_a_list_of_processes_that_is_lost_is_asked_for_again(probe: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(0, ""), (0, "  1  0 init\n")]
    monkeypatch.setattr(probe, "execute", lambda _: answers.pop(0))
    assert [process.command for process in probe.processes()] == ["init"]
    monkeypatch.setattr(probe, "execute", lambda _: (0, ""))
    with pytest.raises(OSError, match="lists no process, not even the one that lists them"):
        probe.processes()


def test_a_container_is_paused_and_resumed(probe: Container) -> None:
    probe.pause()
    assert frozen(probe)
    assert lives(probe)
    probe.pause()
    probe.resume()
    assert not frozen(probe)
    probe.resume()
    assert probe.execute(["true"])[0] == 0


@pytest.mark.parametrize(("failures", "reason", "freezes"), [(2, "x: unable to freeze", True), (1, "no", False)])
def test_an_engine_that_gives_up_freezing_is_asked_again_and_no_other_one(
    probe: Container, monkeypatch: pytest.MonkeyPatch, *, failures: int, reason: str, freezes: bool
) -> None:
    from docker.errors import APIError
    from docker.models import containers

    pause, left = containers.Container.pause, [None] * failures

    def reluctant(container: object) -> None:
        if left:
            left.pop()
            raise APIError("500 Server Error", explanation=reason)
        pause(container)

    monkeypatch.setattr(containers.Container, "pause", reluctant)
    if freezes:
        probe.pause()
    else:
        with pytest.raises(OSError, match=f"cannot be paused: {reason}"):
            probe.pause()
    assert frozen(probe) is freezes
    probe.resume()
