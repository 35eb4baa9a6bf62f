"""The processes of a cluster are the same on this machine and in containers; where they run decides hosts and links."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.services.ports import LOOPBACK
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.systems.flink import configuration, services
from holdfast.fixtures.systems.flink.cluster import MASTER, FlinkProcess
from holdfast.fixtures.systems.flink.place import THIS_MACHINE, Door
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.adapter.network.pipe import NOTHING, Impairment, Impairments
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.harness.spi.service import Site
from holdfast.suites.chaos.flink import contained
from holdfast.suites.conformance.flink.twins import flink

pytest.importorskip("docker")
FIRST = Target(Role.WORKER, 0)


class Relay:
    """fixtures.services.toxiproxy.Toxiproxy, for which any order is a line."""

    def __init__(self) -> None:
        self.orders: list[tuple[Any, ...]] = []

    def create(self, name: str, upstream: str, port: int) -> str:
        self.orders.append(("create", name, upstream, port))
        return f"toxiproxy:{port}"

    def address(self, link: str) -> str:
        return f"toxiproxy:{link.rpartition('-')[2]}"

    def __getattr__(self, verb: str) -> Any:
        return lambda *words: self.orders.append((verb, *words))


class Sleeper:
    """fixtures.services.container.Container, whose first process is one of this machine."""

    def __init__(self, command: Sequence[str], **given: Any) -> None:
        self.command, self.given = command, given
        self.process = subprocess.Popen(["sleep", "60"])
        self.pid = self.process.pid
        self.calls: list[str] = []

    @property
    def exit_code(self) -> int:
        return self.process.wait()

    def __getattr__(self, verb: str) -> Any:
        return lambda: self.calls.append(verb)


class AStack:
    """fixtures.services.stack.Stack, of which nothing runs."""

    def __init__(self, exchange: Path) -> None:
        self.exchange, self.relay = exchange, Relay()
        self.started: list[Sleeper] = []

    def run_program(self, command: Sequence[str], **given: Any) -> Sleeper:
        self.started.append(Sleeper(command, **given))
        return self.started[-1]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[AStack]:
    made = AStack(tmp_path)
    yield made
    for each in made.started:
        each.process.kill()
        each.process.wait()


def in_containers(stack: AStack) -> Any:
    from holdfast.fixtures.systems.flink.place import InContainers

    return InContainers(stack)  # type: ignore[arg-type]


def test_a_process_in_a_container_lives_dies_and_lives_again(stack: AStack) -> None:
    place = in_containers(stack)
    process = FlinkProcess(
        MASTER, place, ["-cp", "jars", "Main"], place.folder().path, environment={"KEY": "1"}, port=8081
    )
    first = stack.started[0]
    assert first.command[0] == "java"
    assert first.command[-4:] == [
        f"-Dlog.file={stack.exchange}/{first.given['working_dir'].rpartition('/')[2]}/{MASTER}.0.log",
        "-cp",
        "jars",
        "Main",
    ]
    assert (first.given["name"], first.given["port"], first.given["environment"]) == (MASTER, 8081, {"KEY": "1"})
    lives = [process.alive]
    process.life.pause()
    lives.append(process.alive)
    process.life.resume()
    lives.append(process.alive)
    assert lives == [True, False, True]
    assert process.life.end() == -9
    assert process.life.dead
    process.start()
    assert first.calls == ["pause", "resume", "remove", "forget"]
    assert process.alive
    assert f"{MASTER}.1.log" in " ".join(stack.started[1].command)


def test_one_that_dies_by_itself_is_dead_without_a_question_to_the_engine(stack: AStack) -> None:
    place = in_containers(stack)
    process = FlinkProcess(MASTER, place, [], place.folder().path)
    stack.started[0].process.kill()
    stack.started[0].process.wait()
    assert process.life.dead
    assert stack.started[0].calls == []


def test_each_process_has_its_host_and_is_reached_through_toxiproxy(stack: AStack) -> None:
    place = in_containers(stack)
    assert (place.host(MASTER), THIS_MACHINE.host(MASTER)) == (MASTER, LOOPBACK)
    own = configuration.settings(Path("/tmp"), place.host(MASTER), (1, 2, 3))
    assert {own[key] for key in ("rest.address", "rest.bind-address", "jobmanager.bind-host")} == {MASTER}
    doors = {COORDINATOR: Door(MASTER, 5), FIRST: Door("taskmanager-0", 6)}
    inner = place.relay(doors, [Door(MASTER, 7)], Path("/tmp"))
    assert (inner.address(COORDINATOR), inner.address(FIRST)) == ("toxiproxy:5", "toxiproxy:6")
    inner.links.act(inner.name(FIRST), "cut", "forward")
    inner.links.restore(inner.name(FIRST), "cut", "forward")
    inner.close()
    orders = stack.relay.orders
    made = [order[2:] for order in orders if order[0] == "create"]
    assert made == [(f"{MASTER}:5", 5), ("taskmanager-0:6", 6), (f"{MASTER}:7", 7)]
    assert orders[3:5] == [
        ("impair", "flink-taskmanager-0-6", "cut", Impairments(Impairment(cut=True), NOTHING)),
        ("impair", "flink-taskmanager-0-6", "cut", Impairments(NOTHING, NOTHING)),
    ]
    assert {order[0] for order in orders[5:]} == {"remove"}
    assert len(orders) == 8


def test_a_cluster_is_kept_for_the_stack_that_it_is_in(stack: AStack, tmp_path: Path) -> None:
    assert in_containers(stack) == in_containers(stack)
    assert in_containers(stack) != in_containers(AStack(tmp_path))


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (contained(), ""),
        (flink(), ""),
        (flink(options={profile.DIRECTORY: "file:///tmp"}), "containers share no files: leave source.connector,"),
        (flink(options={profile.BATCH_RECORDS: "8"}), f"{profile.BATCH_RECORDS} is for a source or sink of ours"),
        (flink(FaultSpec("damage", STORAGE)), "damage acts on a file, and checkpoints are objects"),
    ],
)
def test_containers_have_topics_and_objects(plan: Plan, sentence: str) -> None:
    found = services.objection(
        services.as_run(plan, Tier.CONTAINERS), "", lambda: SiteServices(Site()), Tier.CONTAINERS
    )
    assert found.startswith(sentence)
    assert bool(found) is bool(sentence)
    assert services.as_run(plan, Tier.PROCESS) is plan


def test_a_drawn_plan_names_what_it_gets_there() -> None:
    plan = Flink().suited(flink(), Tier.CONTAINERS)
    assert services.needed(plan) == ("kafka", "object-store")
    assert services.needed(Flink().suited(flink(), Tier.PROCESS)) == ()
