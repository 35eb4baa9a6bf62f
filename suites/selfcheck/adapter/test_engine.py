"""The base of engines and its child processes: what is wrong is one sentence, and nothing is left."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.adapter import process
from holdfast.harness.adapter.child import Child
from holdfast.harness.adapter.engine import EngineDeployment
from holdfast.harness.adapter.process import children_by_parent
from holdfast.harness.adapter.reader import Reader
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.label import NAME, end_labelled
from holdfast.harness.model.capability import Capability, Evidence
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.events import (
    ConnectionsRefused,
    InputAcknowledged,
    NodeDied,
    NodeStarted,
    ProgramReady,
    StateFound,
)
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.journal import Status
from holdfast.harness.model.plan import Bounds, Plan, Topology
from holdfast.harness.model.records import FoldRow, InputLog
from holdfast.harness.model.target import STORAGE, Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.controls.network import LinkImpairment
from holdfast.harness.spi.controls.process import MembershipControl, ProcessControl
from holdfast.harness.spi.outside_files import read_outside
from holdfast.harness.spi.system import DiedAtOnce, OptionUse, Recording
from holdfast.suites.certify.scaffolds.system.right import Engine
from holdfast.suites.conformance.programs import ENGINE_CASES, engines
from holdfast.suites.selfcheck.services.listener import as_stranger, becomes
from holdfast.suites.selfcheck.services.spawning import paused, spawns, states, stop_pending
from holdfast.suites.selfcheck.started import Started

PLAN: Plan = replace(engines(), bounds=Bounds(settle_ms=300))
TWO: Plan = replace(PLAN, topology=Topology(parallelism=2))
LIMIT_MS = 60_000


class Gives3Positions(Engine):
    def positions(self) -> Sequence[int]:
        return [0, 0, 0]


class DiesAtOnce(Engine):
    def command(self, worker: int) -> Sequence[str]:
        return [sys.executable, "-c", "raise SystemExit('no room')"]


class SaysReady(Engine):
    """It is ready when it says so, on a line that holds more than that."""

    ready_line = "state RUNNING"

    def command(self, worker: int) -> Sequence[str]:
        program = "import os, sys; print('now in state RUNNING', flush=True); os.execv(sys.executable, sys.argv[1:])"
        return [sys.executable, "-c", program, *super().command(worker)]


class NeverReady(SaysReady):
    ready_line = "state WALKING"


class CannotBegin(Engine):
    """What did not begin is not ended."""

    def begin(self) -> None:
        raise OSError("port 80 is taken: free it.")


def records(count: int = 400) -> InputLog:
    """A log of two partitions, a tenth of it there from the start."""
    return Synthetic().generate({"records": count, "preloaded_percent": 10, "records_per_second": 500, "keys": 4}, 1)


def deployed(engine: Engine, folder: Path, plan: Plan = PLAN, inputs: InputLog | None = None) -> EngineDeployment:
    folder.mkdir(exist_ok=True)
    deployment = engine.deploy(plan, inputs or records(), Tier.PROCESS, folder)
    assert isinstance(deployment, EngineDeployment)
    return deployment


def driven(engine: Engine, folder: Path, plan: Plan = PLAN) -> Recording:
    """Run an engine until its input is drained."""
    with closing(deployed(engine, folder, plan)) as deployment:
        deployment.feed_markers()
        while not deployment.drained():
            assert deployment.now_ms < LIMIT_MS, "the input was not drained"
            deployment.advance(deployment.now_ms + 20)
        return deployment.stop(audit=False)


pytestmark = pytest.mark.tier("process")


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    return tmp_path / "fifo"


@pytest.fixture
def child(tmp_path: Path, fifo: Path) -> Iterator[Child]:
    """One that waits for a child of its own to begin."""
    made = Child(spawns(fifo), tmp_path, tmp_path / "log")
    try:
        assert becomes(lambda: states(made.pid) == ["D", "S"]), made.log()
        yield made
    finally:
        made.close()


def test_one_that_is_starting_a_child_stands_still_with_it(child: Child, fifo: Path) -> None:
    with paused(child.pid, fifo, child.pause):
        assert becomes(lambda: states(child.pid) == ["T", "T"])
        child.resume()
        assert becomes(lambda: states(child.pid) == ["S", "S"])


def test_a_pause_that_does_not_come_about_fails_and_is_undone(
    child: Child, fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STANDSTILL_LIMIT_S", 0.2)
    with pytest.raises(OSError, match=r"process \d+ does not stand still 0\.2 s after SIGSTOP\."):
        child.pause()
    child.resume()
    assert not stop_pending(child.pid)
    with os.fdopen(os.open(fifo, os.O_RDWR)):
        assert becomes(lambda: states(child.pid) == ["S", "S"])


FIRST, SECOND = Target(Role.WORKER, 0), Target(Role.WORKER, 1)


def counted(recording: Recording) -> tuple[int, ...]:
    """By partition, how many records the newest rows count."""
    newest = {row.key: row for row in recording.output.rows() if isinstance(row, FoldRow)}
    return tuple(map(sum, zip(*(row.counts for row in newest.values()), strict=True)))


def advanced(deployment: EngineDeployment) -> None:
    """Let a deployment run until something is wrong, or for a minute."""
    while deployment.now_ms < LIMIT_MS:
        deployment.advance(deployment.now_ms + 100)


def test_an_engine_is_fed_read_and_ended(tmp_path: Path) -> None:
    before = children_by_parent()[os.getpid()]
    recording = driven(Engine(), tmp_path / "run", TWO)
    assert recording.problem == ""
    assert counted(recording) == records().lengths()
    events = [event for node in recording.nodes for event in node]
    acknowledged = [event for event in events if isinstance(event, InputAcknowledged)]
    assert {event.evidence for event in acknowledged} == {Evidence.DERIVED}
    assert {event.node for event in acknowledged} == {"engine.0"}
    assert len([event for event in events if isinstance(event, NodeStarted)]) == 3, "two workers and the reader"
    assert children_by_parent()[os.getpid()] == before


def test_a_life_begins_from_what_is_persisted(tmp_path: Path) -> None:
    with closing(deployed(Engine(), tmp_path / "run")) as deployment:
        processes = deployment.controls[ProcessControl]
        while not any(isinstance(each, InputAcknowledged) for each in deployment.advance(deployment.now_ms + 20)):
            pass
        processes.kill(FIRST)
        assert not processes.alive(FIRST)
        while not processes.alive(FIRST):
            deployment.advance(deployment.now_ms + 20)
        recording = deployment.stop(audit=False)
    events = [event for node in recording.nodes for event in node]
    first, second = (event for event in events if isinstance(event, StateFound))
    assert not any(first.positions)
    assert any(second.positions)
    assert [event.cause for event in events if isinstance(event, NodeDied)] == ["kill"]


def test_a_worker_that_leaves_stays_away_until_it_comes_back(tmp_path: Path) -> None:
    with closing(deployed(Engine(), tmp_path / "run", TWO)) as deployment:
        members = deployment.controls[MembershipControl]
        while not members.alive(SECOND):
            deployment.advance(deployment.now_ms + 20)
        members.leave(SECOND)
        deployment.advance(deployment.now_ms + 500)
        assert members.alive(FIRST)
        assert not members.alive(SECOND)
        with pytest.raises(OSError, match="worker-1 is dead already"):
            members.leave(SECOND)
        members.come_back(SECOND)
        while not members.alive(SECOND):
            deployment.advance(deployment.now_ms + 20)
        recording = deployment.stop(audit=False)
    died = [event for node in recording.nodes for event in node if isinstance(event, NodeDied)]
    assert [(event.dead_node, event.cause) for event in died] == [("worker-1.0", "leave")]


@pytest.mark.nightly
def test_an_engine_says_when_it_is_ready(tmp_path: Path) -> None:
    recording = driven(SaysReady(), tmp_path / "run")
    assert counted(recording) == records().lengths()
    log = tmp_path / "never" / "logs" / "worker-0.0.out.log"
    with closing(deployed(NeverReady(), tmp_path / "never")) as deployment:
        while not (log.exists() and read_outside(log)):
            deployment.advance(deployment.now_ms + 20)
        assert not deployment.controls[ProcessControl].alive(FIRST)
        found = deployment.stop(audit=False)
    assert not any(isinstance(event, ProgramReady) for node in found.nodes for event in node)
    assert read_outside(log) == b"now in state RUNNING\n"


@pytest.mark.nightly
def test_one_that_dies_at_once_is_not_started_for_ever(tmp_path: Path) -> None:
    died = pytest.raises(DiedAtOnce, match=r"worker-0 of .*DiesAtOnce died by itself 5 times .* no room")
    with closing(deployed(DiesAtOnce(), tmp_path / "run")) as deployment, died:
        advanced(deployment)


def test_wrong_positions_are_named(tmp_path: Path) -> None:
    wrong = pytest.raises(OSError, match="gave 3 positions for 2 partitions")
    with closing(deployed(Gives3Positions(), tmp_path / "run")) as deployment, wrong:
        advanced(deployment)


def test_what_cannot_begin_says_why(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="port 80 is taken: free it"):
        deployed(CannotBegin(), tmp_path / "run")


@pytest.mark.nightly
def test_links_are_offered_and_led_through(tmp_path: Path) -> None:
    led: list[str] = []

    class Linked(Engine):
        links = {STORAGE: "127.0.0.1:9"}

        def controls(self, controls: Controls) -> None:
            led.append(self.place.links[STORAGE])

    linked = Linked()
    assert Capability.IMPAIR_STORAGE in linked.capabilities[Tier.PROCESS]
    with closing(deployed(linked, tmp_path / "run")) as deployment:
        assert LinkImpairment in deployment.controls
    assert led[0] not in ("", "127.0.0.1:9")


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
@pytest.mark.parametrize("reached", [False, True], ids=["left alone", "reached into"])
@pytest.mark.share(2)
def test_a_stranger_at_a_link_makes_a_run_inconclusive(reached: bool, wrong: bool, tmp_path: Path) -> None:
    class Linked(Engine):
        links = {STORAGE: "127.0.0.1:9"}

        def append(self, partition: int, offset: int, records: Sequence[tuple[str, int]]) -> None:
            super().append(partition, offset, [(key, value + wrong) for key, value in records])

        def command(self, worker: int) -> Sequence[str]:
            if reached:
                host, _, port = self.place.links[STORAGE].rpartition(":")
                assert as_stranger(host, int(port)) == "refused"
            return super().command(worker)

    run = run_plan(PLAN, Linked(), registry.toolbox(), Tier.PROCESS, tmp_path / "run")
    strangers = [(event.link, event.connections) for event in run.history.of(ConnectionsRefused)]
    if reached:
        assert run.outcome is Outcome.INCONCLUSIVE
        assert strangers == [(str(STORAGE), 1)]
        assert run.reason.startswith(f"1 connection to {STORAGE} came from processes that are not of the run")
    else:
        assert run.outcome is (Outcome.FAIL if wrong else Outcome.PASS), run.reason
        assert strangers == []


def test_plans_that_do_not_fit_are_refused_in_one_sentence() -> None:
    engine = Engine()
    with pytest.raises(ValueError, match=r"topology\.parallelism is 3: use 1 to 2"):
        engine.account(replace(PLAN, topology=Topology(parallelism=3)))
    with pytest.raises(ValueError, match="this engine sums by key"):
        engine.account(replace(PLAN, job=FORWARD))
    [option] = engine.account(replace(PLAN, options={"taskmanager.memory": "1g"}))
    assert option.use is OptionUse.UNSUPPORTED
    with pytest.raises(ValueError, match=r"has no variants: remove '\+fast'"):
        Engine("fast")


@pytest.mark.nightly
@pytest.mark.parametrize("case", ENGINE_CASES, ids=lambda case: case.id)
def test_the_right_engine_passes_what_engines_are_asked(case: Case, tmp_path: Path) -> None:
    found = run_case(Engine().name, case, Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.PASS, found.reason


@pytest.mark.nightly
def test_all_processes_of_a_run_are_found_by_the_label_of_its_folder(tmp_path: Path) -> None:
    deployment = deployed(Engine(), tmp_path / "run", TWO)
    partitions: set[int] = set()
    while len(partitions) < 2:  # Each worker has come to its work.
        happened = deployment.advance(deployment.now_ms + 20)
        partitions |= {event.partition for event in happened if isinstance(event, InputAcknowledged)}
    assert end_labelled((tmp_path / "run").resolve()) in (2, 3), "the reader may not have begun"
    deployment.close()


@pytest.mark.parametrize(("attribute", "value"), [("mode", "fast"), ("workers", "2"), ("claimed", "exactly-once")])
def test_an_attribute_that_means_something_else_is_one_sentence(attribute: str, value: str) -> None:
    with pytest.raises(
        TypeError, match=rf"^Own\.{attribute} is '{value}': an engine's {attribute} is of type \w+; [^\n]*$"
    ):
        type("Own", (Engine,), {attribute: value})
    type("Own", (Engine,), {"workers": 3, "patience_ms": 2_000, "own": "fast"})


def test_a_reader_whose_argument_is_no_text_is_refused_at_once() -> None:
    factory: Any = Path
    with pytest.raises(TypeError, match=r"^argument 4 of reader Path is no text: write str\(\.\.\.\)\.$"):
        Reader.of(factory, "folder", 4)  # type: ignore[arg-type]


def test_what_carries_a_label_is_gone_when_it_was_ended(tmp_path: Path) -> None:
    """Its folder was removed while it still wrote there, and so remained."""
    environment = {**os.environ, NAME: str(tmp_path)}
    with ExitStack() as stack:
        sleepers = [stack.enter_context(Started("sleep", "60", env=environment)) for _ in range(20)]
        assert end_labelled(tmp_path) == len(sleepers)
        assert [each.poll() for each in sleepers] == [-signal.SIGKILL] * len(sleepers)
