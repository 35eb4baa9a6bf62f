"""The reference runtime on real processes: judged by the oracles, broken on purpose, and gone afterwards."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.processes import spawner
from holdfast.fixtures.reference.drivers.processes.deployment import ProcessDeployment
from holdfast.fixtures.reference.drivers.processes.surroundings import NO_SERVICES, RunServices, run_services
from holdfast.fixtures.reference.parts import Variant
from holdfast.fixtures.reference.protocol.configuration.configuration import DEFAULTS, Configuration
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.systems.reference import ReferenceSystem, variant_named
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.adapter.network.sockets import address_of, listen
from holdfast.harness.adapter.process import Process, descendants
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    Event,
    FaultHealed,
    NodeDied,
    NodeStarted,
    RowsVisible,
    StorageListed,
    SubtaskAudited,
)
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, JOBS, KEYED_SUM, REBALANCE
from holdfast.harness.model.option_values import Connector, Profile
from holdfast.harness.model.plan import Bounds, FaultSpec, Gate, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run
from holdfast.suites.selfcheck.started import Started

LIMIT_S = 30.0
WORKER, OTHER_WORKER = Target(Role.WORKER, 0), Target(Role.WORKER, 1)
OPTIONS = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.data-inline-threshold": "100 b",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "20",
    "restart-strategy.fixed-delay.delay": "20 ms",
    "source.max-batch-records": "20",
}
RECORDS: dict[str, int | str] = {"records": 800, "records_per_second": 200, "preloaded_percent": 10}
"""Of two partitions: the last one arrives after 1,800 ms, when even a busy machine has completed a few checkpoints."""


def plan(*faults: FaultSpec, job: Job = KEYED_SUM, parallelism: int = 2, options: dict[str, str] | None = None) -> Plan:
    return Plan(
        job=job,
        topology=Topology(parallelism),
        options={**OPTIONS, **(options or {})},
        workload=WorkloadSpec("synthetic", RECORDS),
        faults=faults,
        bounds=Bounds(safety_ms=4_000, liveness_ms=10_000, settle_ms=100),
    )


def run(plan: Plan, folder: Path, variant: str = "") -> Run:
    return counting_run(plan, ReferenceSystem(variant), Tier.PROCESS, folder)


def deploy(folder: Path, *faults: FaultSpec, **changed: Any) -> ProcessDeployment:
    chosen = plan(*faults)
    arguments = {"variant": Variant(), "port": 0, **changed}
    inputs = Synthetic().generate(chosen.workload.parameters, chosen.run_seed)
    return ProcessDeployment(chosen, inputs, configuration=configure(chosen), folder=folder, **arguments)


@pytest.fixture(autouse=True)
def others() -> Iterator[None]:
    """What other tests of this process keep for longer is none of a run's. Meanwhile this process inherits what loses
    its zygote, so that it is found."""
    _OTHERS.update(descendants(os.getpid()))
    _inherit(True)
    yield
    _inherit(False)
    _OTHERS.clear()


_OTHERS: set[int] = set()


_SET_CHILD_SUBREAPER = 36


def _inherit(does: bool) -> None:
    assert ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(does), 0, 0, 0) == 0


def processes() -> list[Process]:
    """What runs of a test started and still lives, but for the zygote that they share."""
    kept = set() if spawner._root is None else {spawner._root._process.pid}
    return living([each for each in descendants(os.getpid()) if each not in _OTHERS | kept])


def living(pids: Sequence[int]) -> list[Process]:
    """Those of some processes that live."""
    found = []
    for pid in pids:
        with suppress(ProcessLookupError):
            found.append(Process(pid))
    return [process for process in found if not process.dead]


def test_all_is_given_back_though_the_supervisor_cannot_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise OSError("no room for the log.")

    deployment = deploy(tmp_path)
    monkeypatch.setattr(deployment.supervisor, "close", fails)
    with pytest.raises(OSError, match="no room"):
        deployment.close()
    assert not processes()


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
@pytest.mark.share(7)
def test_an_undisturbed_run_passes_every_oracle(tmp_path: Path, job: Job) -> None:
    judged = run(plan(job=job), tmp_path)
    assert_passes(judged)
    history = judged.history
    assert history.output.units
    assert [event.name for event in history.of(RowsVisible)] == [unit.name for unit in history.output.units]
    assert len(history.of(AttemptStarted)) == 1
    assert {event.node for event in history.of(NodeStarted)} == {
        "coordinator.0",
        "worker-0.0",
        "worker-1.0",
        "reader.0",
    }
    assert history.of(SubtaskAudited)
    assert history.of(StorageListed)
    assert processes() == []


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.share(2)
def test_it_runs_at_any_width(tmp_path: Path, parallelism: int) -> None:
    assert_passes(run(plan(parallelism=parallelism), tmp_path))


def test_at_least_once_needs_no_alignment(tmp_path: Path) -> None:
    assert_passes(run(plan(options={"execution.checkpointing.mode": "AT_LEAST_ONCE"}), tmp_path))


def after(checkpoints: int, gate: Gate | None = None) -> Schedule:
    return Schedule(after_checkpoint=checkpoints, gate=gate)


CUT = FaultSpec("cut", Target(Role.CHANNEL, 0), after(2), duration_ms=600)
STORAGE_ERROR: dict[str, int | str] = {"operation": "publish-metadata", "occurrences": 1, "after_effect": 1}


@pytest.mark.parametrize(
    "fault",
    [
        FaultSpec("kill", OTHER_WORKER, after(2)),
        FaultSpec("kill", COORDINATOR, after(2)),
        FaultSpec("pause", WORKER, after(2), duration_ms=150),
        FaultSpec("pause", COORDINATOR, after(2), duration_ms=150),
        FaultSpec("cut", Target(Role.CHANNEL, 1), after(2), duration_ms=600),
        CUT,
        FaultSpec("slow", Target(Role.CHANNEL, 2), after(2), duration_ms=600, parameters={"delay_ms": 40}),
        FaultSpec("storage-error", STORAGE, after(2), duration_ms=1_500, parameters=STORAGE_ERROR),
        FaultSpec("forge", Target(Role.TASK), after(2), parameters={"message": "acknowledge", "subtask": "sum[0]"}),
        FaultSpec("kill", WORKER, after(2, Gate("commit", WORKER))),
        FaultSpec("kill", OTHER_WORKER, after(1, Gate("acknowledge", OTHER_WORKER, vertex="sink"))),
        FaultSpec("kill", COORDINATOR, after(1, Gate("notify", COORDINATOR))),
        FaultSpec("kill", COORDINATOR, after(1, Gate("during-publish-metadata", COORDINATOR))),
        FaultSpec("kill", WORKER, after(1, Gate("during-pre-commit", WORKER))),
        FaultSpec("kill", WORKER, after(1, Gate("during-commit", WORKER))),
        FaultSpec("kill", WORKER, after(1, Gate("send-barrier", Target(Role.TASK, 0), occurrence=2))),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.target}-{fault.schedule.gate.effect if fault.schedule.gate else ''}",
)
@pytest.mark.share(5)
def test_it_survives_every_kind_of_fault(tmp_path: Path, fault: FaultSpec) -> None:
    assert_passes(run(plan(fault), tmp_path))


def test_it_survives_one_fault_after_the_other(tmp_path: Path) -> None:
    faults = (
        FaultSpec("kill", WORKER, after(1)),
        FaultSpec("kill", COORDINATOR, after(2)),
        FaultSpec("kill", OTHER_WORKER, after(3)),
    )
    judged = run(plan(*faults, job=REBALANCE), tmp_path)
    assert_passes(judged)
    assert {event.dead_node for event in judged.history.of(NodeDied)} == {"worker-0.0", "coordinator.0", "worker-1.0"}


def test_all_times_of_a_run_count_from_its_start(tmp_path: Path) -> None:
    before_ns = time.monotonic_ns()
    judged = run(plan(FaultSpec("kill", WORKER, after(1))), tmp_path)
    took_ns = time.monotonic_ns() - before_ns
    history = judged.history
    times = {event.node: event.time_ns for event in reversed(history.events)}  # the first of each node
    assert {"harness", "coordinator.0", "worker-0.1", "reader.0", "audit"} <= set(times)
    assert all(0 <= event.time_ns <= took_ns for event in history.events)
    (healed,) = history.of(FaultHealed)
    checkpoints = [event.time_ns for event in history.of(CheckpointCompleted)]
    assert healed.time_ns <= history.end.healed_ns <= history.end.ended_ns <= times["audit"]
    assert checkpoints[0] < history.end.healed_ns
    assert any(history.end.healed_ns < each < history.end.ended_ns for each in checkpoints)


def test_a_mutant_is_refuted_on_real_processes_too(tmp_path: Path) -> None:
    """G1 writes metadata in place: killed in the middle, it takes the torn piece for a checkpoint."""
    killed = FaultSpec("kill", COORDINATOR, after(2, Gate("during-publish-metadata", COORDINATOR)))
    judged = run(plan(killed), tmp_path, "G1")
    assert judged.outcome is Outcome.FAIL


# --- ends ------------------------------------------------------------------------------------------------------------


def test_a_port_in_use_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    with listen() as taken, pytest.raises(OSError, match=rf"^Port {address_of(taken).port} of .* is it in use\?$"):
        deploy(tmp_path, port=address_of(taken).port)
    assert not (tmp_path / "events").exists()


def test_a_runtime_that_cannot_be_prepared_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="variant 'nonsense' of the reference runtime is unknown"):
        deploy(tmp_path, variant=variant_named("nonsense"))
    assert processes() == []


@pytest.mark.parametrize(("faults", "there"), [((), 5), ((CUT,), 5 + 1)], ids=["no-relay", "a-relay"])
def test_closing_in_the_middle_leaves_nothing(tmp_path: Path, faults: Sequence[FaultSpec], there: int) -> None:
    deployment = deploy(tmp_path, *faults)
    while not any(isinstance(event, CheckpointCompleted) for event in deployment.advance(LIMIT_S * 1000)):
        pass
    assert len(processes()) == there
    deployment.controls[ProcessControl].pause(WORKER)
    deployment.close()
    deployment.close()
    assert processes() == []


def test_what_the_reader_saw_and_is_not_there_any_more_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = deploy(tmp_path)
    while not any(isinstance(event, RowsVisible) for event in deployment.advance(LIMIT_S * 1000)):
        pass
    read_logs = deployment._read_logs
    torn: list[str] = []

    def tear_after_the_last_read() -> list[Sequence[Event]]:
        folder = tmp_path / "storage" / "committed"
        file = min(folder.glob("*/sink*"))
        file.write_bytes(file.read_bytes()[:-9])
        torn.append(str(file.relative_to(folder)))
        return read_logs()

    monkeypatch.setattr(deployment, "_read_logs", tear_after_the_last_read)
    recording = deployment.stop(audit=False)
    deployment.close()
    assert recording.problem.startswith(f"{torn[0]} had ")
    assert recording.output.units


def test_the_loss_of_the_reader_ends_the_run_with_a_problem(tmp_path: Path) -> None:
    deployment = deploy(tmp_path)
    deployment.supervisor.member("reader").living().kill()
    with pytest.raises(OSError, match=r"reader\.0 ended.*: SIGKILL"):
        advance_to_the_end(deployment)
    deployment.close()


def advance_to_the_end(deployment: ProcessDeployment) -> None:
    until_ms = deployment.now_ms + LIMIT_S * 1000
    while deployment.now_ms < until_ms:
        deployment.advance(until_ms)


HARNESS = """
import sys
from pathlib import Path
from holdfast.suites.selfcheck.processes.test_deployment import CUT, deploy
deployment = deploy(Path(sys.argv[1]), CUT)
print("stands", flush=True)
while True:
    deployment.advance(1e9)
"""


def test_after_a_sigkill_of_the_harness_nothing_lives_on(tmp_path: Path) -> None:
    with Started.python(HARNESS, tmp_path) as harness:
        assert harness.read_line() == "stands"
        # A process may be between its two forks, so that there is one more for a moment.
        deadline_s = time.monotonic() + LIMIT_S
        while len(started := living(descendants(harness.pid))) != 6 + 1 and time.monotonic() < deadline_s:
            time.sleep(0.02)
        assert len(started) == 6 + 1, "two zygotes, reader, coordinator, two workers, and the relay"
    assert all(process.wait_end(LIMIT_S) for process in started)


def test_the_feed_goes_by_the_clock(tmp_path: Path) -> None:
    deployment = deploy(tmp_path)
    while not deployment.drained():
        deployment.advance(LIMIT_S * 1000)
    took_ms = deployment.now_ms
    deployment.close()
    assert took_ms >= 1_790


def test_forward_rows_arrive_in_the_order_of_their_partition(tmp_path: Path) -> None:
    judged = run(plan(job=FORWARD), tmp_path)
    offsets: dict[int, list[int]] = {0: [], 1: []}
    for row in judged.history.output.rows():
        partition, offset = msgspec.structs.astuple(row)
        offsets[partition].append(offset)
    assert offsets == {
        partition: list(range(length)) for partition, length in enumerate(judged.history.inputs.lengths())
    }


INPUTS = Synthetic().generate({}, 1)
FILES = DEFAULTS[Profile.FLINK_2]
QUEUES = replace(FILES, source_connector=Connector.RABBITMQ)


class Services:
    """Addresses of a stack that never starts anything, and what becomes of a run's own there."""

    run = "abc"

    def __init__(self) -> None:
        self.made: list[str] = []
        login = SimpleNamespace(_asdict=lambda: {"host": "h", "port": 1, "user": "u", "password": "p"})
        self.queues = SimpleNamespace(login=login, proxied=login)
        self.kafka = SimpleNamespace(external="kafka:1", proxied="kafka:2")
        keys = SimpleNamespace(access_key="a", secret_key="s")
        self.object_store = SimpleNamespace(
            external="http://store:1", proxied="http://store:2", keys=keys, create_bucket=self.made.append
        )
        self.database = SimpleNamespace(create_database=self.made.append, drop_database=self.made.remove)

    def start(self) -> None:
        self.made.append("started")

    def save_logs(self, folder: Path) -> None:
        folder.mkdir()


def has(stack: Services, configuration: Configuration, **wanted: bool) -> RunServices:
    return run_services(cast("Any", stack), INPUTS, configuration, **{"connects": False, **wanted})


@pytest.mark.parametrize(
    ("configuration", "wanted", "lives"),
    [
        (FILES, {"connects": True}, (Role.BROKER, Role.STORAGE)),
        (QUEUES, {}, (Role.SOURCE_SYSTEM,)),
        (QUEUES, {"connects": True}, (Role.BROKER, Role.STORAGE, Role.SOURCE_SYSTEM)),
        (FILES, {"writes_table": True}, ()),
    ],
)
def test_the_lives_of_what_it_uses_belong_to_the_run(
    configuration: Configuration, wanted: dict[str, bool], lives: tuple[Role, ...]
) -> None:
    stack = Services()
    services = has(stack, configuration, **wanted)
    assert services.lives == lives
    assert ("started" in stack.made) == ("connects" in wanted)
    assert NO_SERVICES.lives == ()


def test_the_runtime_reaches_them_through_links() -> None:
    services = has(Services(), FILES, connects=True)
    ours, theirs = services.connectors, services.inner_connectors
    assert ours is not None
    assert theirs is not None
    assert (ours.kafka_bootstrap, ours.s3_endpoint) == ("kafka:1", "http://store:1")
    assert (theirs.kafka_bootstrap, theirs.s3_endpoint) == ("kafka:2", "http://store:2")
    assert ours.run == theirs.run


def test_a_run_that_cannot_stand_gives_back_its_database(tmp_path: Path) -> None:
    stack = Services()
    services = has(stack, FILES, writes_table=True)
    assert len(stack.made) == 1
    with pytest.raises(ValueError, match="variant 'nonsense'"):
        deploy(tmp_path, variant=variant_named("nonsense"), services=services)
    assert stack.made == []
    assert [path.name for path in tmp_path.iterdir()] == ["services"]
