"""Services of a stack go down and come up: each life is a node, and each death carries the fault that it is of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.services.own_service import OwnService
from holdfast.fixtures.services.service_controls import StackServices, kill_spark_worker, offer_services, record_birth
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import Event, FaultStruck, NodeDied
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.controls.network import LinkImpairment
from holdfast.harness.spi.controls.storage import ServiceControl

BROKER, STORAGE = Target(Role.BROKER), Target(Role.STORAGE)
FAULT = 3


class Process:
    """own_service.Runnable."""

    def __init__(self) -> None:
        self.running = True
        self.paused = False

    def start(self) -> None:
        self.running = True

    def wait_until(self, ready: object) -> None:
        assert self.running

    def kill(self) -> None:
        self.running = False

    def start_again(self) -> None:
        self.running = True

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False


class Service(OwnService):
    def serves(self) -> bool:
        return True


class Stack:
    """A broker of ours, and an object store that is not."""

    def __init__(self) -> None:
        self.kafka = Service(Process())
        self.object_store = object()
        self.links = object()

    def require_faults_allowed(self, name: str) -> None:
        if name != "kafka":
            raise ValueError(f"{name} is not ours.")


def made() -> Any:
    """It has what services are asked for, and nothing else of a stack."""
    return Stack()


class Stand:
    def __init__(self) -> None:
        self._recorder = Recorder()
        self._recorder.acting.fault = FAULT
        self.born: list[str] = []
        self.stack = made()
        self.services = StackServices(self.stack, self._recorder, self.born.append)

    @property
    def recorded(self) -> list[tuple[type[Event], str]]:
        """What it did, and to which node."""
        events = self._recorder.nodes.get(HARNESS, ())
        return [(type(each), each.dead_node if isinstance(each, NodeDied) else _what(each)) for each in events]


def _what(event: Event) -> str:
    assert isinstance(event, FaultStruck)
    assert event.fault == FAULT
    return event.what


def test_each_life_is_a_node_and_its_death_carries_the_fault() -> None:
    stand = Stand()
    stand.services.begin([Role.BROKER])
    stand.services.take_down(BROKER)
    assert stand.recorded == [(FaultStruck, "broker.0"), (NodeDied, "broker.0")]
    assert stand.services.down == {Role.BROKER}
    assert not stand.services.alive(BROKER)
    stand.services.bring_up(BROKER)
    assert stand.born == ["broker.0", "broker.1"]
    assert not stand.services.down
    assert stand.services.alive(BROKER)


def test_one_that_is_up_is_not_born_again() -> None:
    stand = Stand()
    stand.services.begin([Role.BROKER])
    stand.services.bring_up(BROKER)
    assert stand.born == ["broker.0"]


def test_one_that_is_down_is_not_taken_down_again() -> None:
    """The second fault counted, though it did nothing."""
    stand = Stand()
    stand.services.begin([Role.BROKER])
    stand.services.take_down(BROKER)
    recorded = stand.recorded
    with pytest.raises(OSError, match="the broker is down already"):
        stand.services.take_down(BROKER)
    assert stand.recorded == recorded


def test_what_is_not_ours_goes_neither_down_nor_up() -> None:
    stand = Stand()
    with pytest.raises(OSError, match="object-store is not ours: nobody but its owner can take it down"):
        stand.services.take_down(STORAGE)
    assert not stand.recorded
    assert not stand.services.down


@pytest.mark.parametrize("target", [Target(Role.WORKER), Target(Role.BROKER, 1)])
def test_what_is_no_service_is_named(target: Target) -> None:
    stand = Stand()
    for verb in (stand.services.take_down, stand.services.bring_up, stand.services.alive, stand.services.link):
        with pytest.raises(ValueError, match=r"is unknown: services are broker\[0\], storage\[0\], source-system\[0\]"):
            verb(target)


def test_a_link_to_what_is_not_ours_needs_to_be_allowed() -> None:
    stand = Stand()
    assert stand.services.link(BROKER) == (stand.stack.links, "kafka")
    with pytest.raises(OSError, match="object-store is not ours"):
        stand.services.link(STORAGE)


def test_other_targets_are_channels_where_there_are_such() -> None:
    controls, asked = Controls(), []

    def channels(target: Target) -> Any:
        asked.append(target)
        return SimpleNamespace(act=lambda *arguments: None), "channel"

    offer_services(controls, Stand().services, channels)
    assert ServiceControl in controls
    controls[LinkImpairment].limit(Target(Role.CHANNEL), 10)
    assert asked == [Target(Role.CHANNEL)]


def test_a_birth_is_the_first_line_of_a_log_of_its_own(tmp_path: Path) -> None:
    record_birth(tmp_path, 1, "broker.0")
    assert '"node_started"' in (tmp_path / "broker.0.jsonl").read_text()
    with pytest.raises(OSError, match="exists"):
        record_birth(tmp_path, 1, "broker.0")


def test_a_stack_without_a_cluster_has_no_worker_to_kill() -> None:
    with pytest.raises(NotImplementedError, match="no containers"):
        kill_spark_worker(Stand().stack, 0)
