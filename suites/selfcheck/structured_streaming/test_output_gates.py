"""Gates behind output: what publishes it, behind which part the driver stands still, and when it goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from holdfast.fixtures.systems.structured_streaming.output_gates import BEHIND_OUTPUT, OutputGates, published
from holdfast.fixtures.systems.structured_streaming.session import Session
from holdfast.harness.model.plan import Gate
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.spi.system import GateReached

LIMIT_S = 10


class Driver:
    """A session that tells when it was stopped."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.dead = False

    def pause(self) -> None:
        if self.dead:
            raise OSError("it is dead.")
        self.stopped.set()

    def resume(self) -> None:
        self.stopped.clear()


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def gates(driver: Driver, tmp_path: Path) -> Iterator[OutputGates]:
    with closing(OutputGates(tmp_path / "output", cast("Session", driver))) as made:
        yield made


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), set()),
        (("a/part-0.parquet", "a/_SUCCESS", "a/._SUCCESS.crc"), {"a/_SUCCESS"}),
        (("_spark_metadata/0", "_spark_metadata/.0.crc", "part-0.json"), {"_spark_metadata/0"}),
        (("_delta_log/00000000000000000001.json", "part-0.parquet"), {"_delta_log/00000000000000000001.json"}),
        (("orders/metadata/v2.metadata.json", "orders/metadata/snap-1.avro"), {"orders/metadata/v2.metadata.json"}),
        (("rows.db", "rows.db-journal", "_temporary/0/part-0", ".hidden"), {"rows.db"}),
    ],
)
def test_marks_of_committers_publish_output_and_else_every_finished_file(
    names: tuple[str, ...], expected: set[str], tmp_path: Path
) -> None:
    write(tmp_path, *names)
    assert published(tmp_path).keys() == expected


def test_the_driver_stands_still_behind_the_part_that_was_named(
    gates: OutputGates, driver: Driver, tmp_path: Path
) -> None:
    write(tmp_path, "output/0/_SUCCESS")
    gate = gates.arm(Gate(BEHIND_OUTPUT, COORDINATOR, 2))
    write(tmp_path, "output/1/_SUCCESS")
    assert not driver.stopped.wait(0.05)
    write(tmp_path, "output/2/_SUCCESS")
    assert driver.stopped.wait(LIMIT_S)
    while not (reached := gates.reached("coordinator.0")):
        pass
    assert reached == [GateReached(gate, "coordinator.0", "boundary")]
    assert gates.reached("coordinator.0") == []
    gates.release(gate)
    assert not driver.stopped.is_set()


def test_output_that_is_written_again_in_its_place_is_a_further_part(
    gates: OutputGates, driver: Driver, tmp_path: Path
) -> None:
    write(tmp_path, "output/_SUCCESS")
    gates.arm(Gate(BEHIND_OUTPUT, COORDINATOR))
    assert not driver.stopped.wait(0.05)
    os.utime(tmp_path / "output/_SUCCESS", ns=(1, 1))
    assert driver.stopped.wait(LIMIT_S)


def test_a_gate_that_is_disarmed_holds_nobody(gates: OutputGates, driver: Driver, tmp_path: Path) -> None:
    gates.disarm(gates.arm(Gate(BEHIND_OUTPUT, COORDINATOR)))
    write(tmp_path, "output/_SUCCESS")
    assert not driver.stopped.wait(0.05)


def test_a_dead_driver_is_held_at_the_next_chance(gates: OutputGates, driver: Driver, tmp_path: Path) -> None:
    driver.dead = True
    gates.arm(Gate(BEHIND_OUTPUT, COORDINATOR))
    write(tmp_path, "output/_SUCCESS")
    assert not driver.stopped.wait(0.05)
    driver.dead = False
    assert driver.stopped.wait(LIMIT_S)


def test_whoever_stands_still_goes_on_when_nobody_looks_any_more(driver: Driver, tmp_path: Path) -> None:
    with closing(OutputGates(tmp_path, cast("Session", driver))) as gates:
        gates.arm(Gate(BEHIND_OUTPUT, COORDINATOR))
        write(tmp_path, "_SUCCESS")
        assert driver.stopped.wait(LIMIT_S)
    assert not driver.stopped.is_set()


@pytest.mark.parametrize(
    "gate", [Gate("write-commit", COORDINATOR), Gate(BEHIND_OUTPUT, Target(Role.WORKER, 0))], ids=["effect", "target"]
)
def test_another_gate_is_refused(gate: Gate, gates: OutputGates) -> None:
    with pytest.raises(ValueError, match="is unknown: the coordinator has behind-output on this machine"):
        gates.arm(gate)
