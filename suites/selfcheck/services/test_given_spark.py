"""A Spark cluster that we did not start: both systems run there, and what is not ours is left alone."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.errors import NotApplicable
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import NodeStarted, SnapshotTaken
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.service import Site
from holdfast.suites.chaos import structured_streaming
from holdfast.suites.chaos.reference import BROKER, SHORT, containers, executor, lasting
from holdfast.suites.conformance.plans import LATE_CHANNELS, WORKERS
from holdfast.suites.selfcheck.replaced_runs import counting_run

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.stack import Stack


_CLASS = "/opt/spark/home/bin/spark-class"
_MASTER = "their-master"
_PORT = 7077
_CORES, _MEMORY = "3", "3g"
_WEB = 8080
_SOURCES = """
import py4j, pyspark
from pathlib import Path
from py4j.version import __version__
from zipfile import ZipFile

home = Path(pyspark.__file__).parent
(home / "python" / "lib").mkdir(parents=True)
for name, package in (("pyspark", home), (f"py4j-{__version__}-src", Path(py4j.__file__).parent)):
    with ZipFile(home / "python" / "lib" / f"{name}.zip", "w") as archive:
        for source in package.rglob("*"):
            if source.suffix in (".py", ".json"):
                archive.write(source, source.relative_to(package.parent))
"""
"""Spark as it is distributed brings those of PySpark; our image goes without."""
_LIMIT_S = 5.0
_START_LIMIT_S = 180.0
"""Two workers start at once, on cores that others want, too."""


class ForeignCluster(NamedTuple):
    """A master and two workers of three slots.

    Attributes:
        master: its URL.
        containers: what it runs in.
    """

    master: str
    containers: tuple[Container, ...]

    def applications(self) -> list[str]:
        """Names of those that run there."""
        host = self.master.removeprefix("spark://").partition(":")[0]
        with urllib.request.urlopen(f"http://{host}:{_WEB}/json/", timeout=_LIMIT_S) as answer:
            return [each["name"] for each in json.load(answer)["activeapps"]]


@contextmanager
def foreign_cluster() -> Iterator[ForeignCluster]:
    """As long as the context lasts."""
    from holdfast.fixtures.services.container import Container, Session
    from holdfast.fixtures.services.spark_cluster import QUICK_JAVA

    with closing(Session({})) as session:

        def started(name: str, *command: str) -> Container:
            environment = {
                "SPARK_DAEMON_MEMORY": "256m",
                "JDK_JAVA_OPTIONS": QUICK_JAVA,  # for executors, too, whoever's application it is
                "SPARK_NO_DAEMONIZE": "1",
                "SPARK_LOCAL_HOSTNAME": name,
            }
            container = Container(session, name, "spark", command=(_CLASS, *command), environment=environment)
            container.start()
            return container

        master = started(_MASTER, "org.apache.spark.deploy.master.Master", "--host", _MASTER, "--port", str(_PORT))
        size = ("--cores", _CORES, "--memory", _MEMORY)
        url = f"spark://{_MASTER}:{_PORT}"
        workers = []
        for name in ("their-worker-0", "their-worker-1"):
            workers.append(started(name, "org.apache.spark.deploy.worker.Worker", url, "--host", name, *size))
        for worker in workers:
            code, said = worker.execute(["python", "-c", _SOURCES])
            assert code == 0, said
            worker.wait_until(partial(_registered, worker), _START_LIMIT_S)
        yield ForeignCluster(f"spark://{master.address}:{_PORT}", (master, *workers))


def _registered(worker: Container) -> bool:
    return "Successfully registered with master" in worker.log()


pytestmark = pytest.mark.tier("containers")
System = ReferenceSystem | StructuredStreaming
THEIRS = Site(
    spark_master="spark://theirs:7077",
    kafka_bootstrap="theirs:9092",
    s3_endpoint="http://theirs:9000",
    s3_access_key="key",
    s3_secret_key="key",
)
ALLOWED = replace(THEIRS, allow_faults_on=frozenset({"spark", "kafka", "object-store"}))
LATE_CHANNEL = slow(LATE_CHANNELS[0], 700, 4_000)
FEW = WorkloadSpec(
    "synthetic", {"records": 300, "keys": 8, "partitions": 2, "preloaded_percent": 10, "records_per_second": 120}
)
"""They come in for a little more than a second: whether it runs there, not for how long."""


def attached(system: System, site: Site) -> System:
    """With a stack of its own that is never started."""
    system.attach(lambda: SiteServices(site))
    return system


@pytest.mark.parametrize(
    ("site", "fault", "sentence"),
    [
        (THEIRS, executor(WORKERS[0]), "spark at spark://theirs:7077 is not ours: no fault acts on it without --allow"),
        (THEIRS, LATE_CHANNEL, "spark at spark://theirs:7077 is not ours"),
        (THEIRS, lasting("cut", BROKER, 500), "kafka at theirs:9092 is not ours"),
        (ALLOWED, executor(WORKERS[0]), r"kill of worker\[0\] at spark://theirs:7077: no signal of ours reaches exec"),
        (ALLOWED, lasting("pause", WORKERS[1], 500), r"faults\[0\] is a pause of worker\[1\] at spark://theirs:7077"),
        (ALLOWED, lasting("cut", BROKER, 500), "brokers that are not ours are reached directly"),
        (ALLOWED, lasting("outage", STORAGE, 500), "at http://theirs:9000: only its owner can stop it"),
        (
            ALLOWED,
            storage_error("commit"),
            "it has a storage-error in workers, and those at spark://theirs:7077 do not",
        ),
        (ALLOWED, lasting("slow-task", Target(Role.TASK), 500), "it has a slow-task in workers"),
    ],
    ids=[
        "kill",
        "late-channel",
        "broker-cut",
        "kill-allowed",
        "pause-allowed",
        "broker-cut-allowed",
        "store-outage-allowed",
        "commit-fails",
        "slow-task",
    ],
)
def test_what_cannot_act_there_is_not_applicable(site: Site, fault: FaultSpec, sentence: str) -> None:
    with pytest.raises(NotApplicable, match=sentence):
        check_plan(containers(fault), attached(ReferenceSystem(), site), Tier.CONTAINERS, toolbox())


@pytest.mark.parametrize("fault", [LATE_CHANNEL, lasting("cut", STORAGE, 500)], ids=["late-channel", "store-cut"])
def test_what_is_reachable_may_act_where_it_is_allowed(fault: FaultSpec) -> None:
    check_plan(containers(fault), attached(ReferenceSystem(), ALLOWED), Tier.CONTAINERS, toolbox())


def test_what_is_ours_needs_no_permission() -> None:
    for fault in (kill(COORDINATOR), storage_error("publish-metadata")):
        check_plan(containers(fault), attached(ReferenceSystem(), THEIRS), Tier.CONTAINERS, toolbox())


def test_no_executor_of_theirs_is_killed_under_structured_streaming() -> None:
    plan = structured_streaming.CASES[0].plan_for(1)
    with pytest.raises(NotApplicable, match="no signal of ours reaches executors on machines of others"):
        check_plan(plan, attached(StructuredStreaming(), ALLOWED), Tier.CONTAINERS, toolbox())


@pytest.fixture(scope="module")
def theirs() -> Iterator[ForeignCluster]:
    with foreign_cluster() as cluster:
        yield cluster
        assert all(container.running for container in cluster.containers)


@pytest.fixture(scope="module")
def stack(theirs: ForeignCluster) -> Iterator[Stack]:
    """Of our own broker, store and links, beside their cluster."""
    from holdfast.fixtures.services.stack import Stack

    with closing(Stack(Site(spark_master=theirs.master, allow_faults_on=frozenset({"spark"})))) as stack:
        yield stack
    assert not theirs.applications(), "nothing of ours goes on there"


def run(plan: Plan, system: System, stack: Stack, folder: Path) -> Run:
    services = SiteServices(Site())
    services.containers = stack
    system.attach(lambda: services)
    folder.mkdir(exist_ok=True)
    check_plan(plan, system, Tier.CONTAINERS, toolbox())
    return counting_run(plan, system, Tier.CONTAINERS, folder)


@pytest.mark.nightly
def test_the_reference_runs_there_and_is_seen_whole(stack: Stack, tmp_path: Path) -> None:
    """Its channel leads through a link of ours, its driver program is killed, its workers send their events."""
    judged = run(containers(LATE_CHANNEL, kill(COORDINATOR, after_checkpoint=3)), ReferenceSystem(), stack, tmp_path)
    assert judged.outcome is Outcome.PASS, judged.reason
    history = judged.history
    assert history.end.faults_landed == (True, True), history.end.fault_troubles
    assert {"worker-0.0", "worker-1.0", "worker-0.1"} <= {event.node for event in history.of(NodeStarted)}
    assert {event.node[:8] for event in history.of(SnapshotTaken)} == {"worker-0", "worker-1"}
    assert stack.spark.workers == ()


@pytest.mark.nightly
def test_a_wrong_variant_is_refuted_there(stack: Stack, tmp_path: Path) -> None:
    """By what its workers say, and before anything is broken."""
    judged = run(containers(workload=SHORT), ReferenceSystem("commits-on-barrier"), stack, tmp_path)
    clauses = {anomaly.clause for verdict in judged.verdicts for anomaly in verdict.anomalies}
    assert judged.outcome is Outcome.FAIL
    assert "committed-before-completion" in clauses


@pytest.mark.nightly
def test_structured_streaming_runs_there(stack: Stack, tmp_path: Path) -> None:
    """Its driver is killed at a relay of ours in front of the store, while state is kept in RocksDB."""
    (case,) = (each for each in structured_streaming.CASES if each.id == "chaos/spark-foreach-batch")
    judged = run(replace(case.plan_for(1), workload=FEW), StructuredStreaming(), stack, tmp_path)
    assert judged.outcome is Outcome.PASS, judged.reason
    assert judged.history.end.faults_landed == (True,), judged.history.end.fault_troubles


@pytest.mark.nightly
def test_workers_that_lack_something_are_refused_by_name(
    theirs: ForeignCluster, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.fixtures.services.stack import Stack

    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")
    keys = stack.object_store.keys
    site = Site(
        spark_master=theirs.master,
        kafka_bootstrap=stack.kafka.proxied,
        s3_endpoint=stack.object_store.proxied,
        s3_access_key=keys.access_key,
        s3_secret_key=keys.secret_key,
    )
    with closing(Stack(site)) as another:
        system, services = ReferenceSystem(), SiteServices(site)
        services.containers = another
        system.attach(lambda: services)
        judged = run_plan(containers(), system, toolbox(), Tier.CONTAINERS, tmp_path)
    assert judged.outcome is Outcome.INCONCLUSIVE
    lacking = "cannot import boto3, cannot import confluent_kafka, cannot import msgspec"
    assert f"OSError: the workers of {theirs.master} {lacking}" in judged.history.end.problem
