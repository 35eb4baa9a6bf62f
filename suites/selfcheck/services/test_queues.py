"""RabbitMQ as a process, and a queue as the reference runtime reads it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.services.processes.queue_broker import QueueBrokerProcess, missing_queues
from holdfast.harness.adapter.feeder import Feeder
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Bounds, FaultSpec, Schedule
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.model.target import SOURCE_SYSTEM
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import plan
from holdfast.suites.conformance.sources import EXACTLY, ONE, QUEUES, READ_AGAIN
from holdfast.suites.selfcheck.marks import unless
from holdfast.suites.selfcheck.replaced_runs import named_clauses

ABSENT = missing_queues()
pytestmark = [
    pytest.mark.tier("process"),
    pytest.mark.nightly,
    unless(ABSENT),
]
RECORDS = 40


@pytest.fixture(scope="module")
def broker() -> Iterator[QueueBrokerProcess]:
    from holdfast.fixtures.services.processes.stack import ProcessStack

    with closing(ProcessStack()) as stack:
        started = stack.queues
        assert isinstance(started, QueueBrokerProcess)
        yield started


@pytest.fixture(params=[True, False], ids=["ids", "no-ids"])
def queue(broker: QueueBrokerProcess, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The settings of a queue that holds all records."""
    import numpy as np

    from holdfast.fixtures.reference.connectors.queue_log import QueueAppender
    from holdfast.fixtures.reference.connectors.settings import QueueSettings

    numbers = np.arange(RECORDS)
    inputs = InputLog(("a", "b"), (Partition(numbers % 2, numbers * 10, preloaded=RECORDS),))
    settings = QueueSettings(run=request.node.name[-12:], partitions=1, ids=request.param, **broker.login._asdict())
    feeder = Feeder(inputs, QueueAppender(settings))
    feeder.preload()
    yield settings
    feeder.close()
    feeder.close()


def reading(settings: Any) -> Any:
    from holdfast.fixtures.reference.connectors.queue_log import QueueLog

    return QueueLog(settings, ("a", "b"))


def taken(log: Any, offset: int, until: int) -> list[tuple[int, int, int]]:
    """(offset, key, value) of what a reader is given until it has read to an offset."""
    found: list[tuple[int, int, int]] = []
    while offset < until:
        first, keys, values = log.read(0, offset, until)
        found += [(first + index, *each) for index, each in enumerate(zip(keys.tolist(), values.tolist(), strict=True))]
        offset = first + len(keys)
    return found


WRONG = {
    "forgets-message-ids": (READ_AGAIN[0], {"EXACT/row-wrong", "EXACT/row-repeated", "EXACT/beyond-input"}),
    "acknowledges-at-once": (READ_AGAIN[0], {"EXACT/row-wrong", "EXACT/input-missing", "LIVE/input-not-drained"}),
}
"""By variant, the plan that refutes it, and the clauses of which one does. Who has lost all stands still."""


@pytest.mark.parametrize("variant", WRONG)
def test_a_wrong_reader_is_refuted(variant: str, tmp_path: Path) -> None:
    plan, clauses = WRONG[variant]
    run = run_plan(plan, registry.system(f"reference+{variant}"), registry.toolbox(), Tier.PROCESS, tmp_path)
    assert named_clauses(run) & clauses


@pytest.mark.parametrize("kind", ["outage", "cut", "black-hole", "reset"])
def test_what_befalls_the_broker_or_its_link_lands_and_costs_nothing(kind: str, tmp_path: Path) -> None:
    befalls = FaultSpec(kind, SOURCE_SYSTEM, Schedule(after_checkpoint=1), 0 if kind == "reset" else 1_500)
    chosen = plan(
        befalls,
        options=QUEUES | EXACTLY | {"restart-strategy.fixed-delay.attempts": "1000"},
        topology=ONE,
        records={"records": 2_000, "records_per_second": 400},
        bounds=Bounds(safety_ms=40_000, liveness_ms=60_000, settle_ms=1_500),
    )
    run = run_plan(chosen, registry.system("reference"), registry.toolbox(), Tier.PROCESS, tmp_path)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")


EVERYTHING = [(offset, offset % 2, offset * 10) for offset in range(RECORDS)]


def test_a_reader_is_given_all_records_in_order(queue: Any) -> None:
    with closing(reading(queue)) as log:
        assert taken(log, 0, RECORDS) == EVERYTHING


def test_what_is_not_confirmed_comes_again_and_is_known_by_its_id(queue: Any) -> None:
    with closing(reading(queue)) as log:
        taken(log, 0, RECORDS)
        log.confirm(0, 10)
    with closing(reading(queue)) as log:
        again = taken(log, 25, RECORDS)
    assert again == EVERYTHING[25 if queue.ids else 10 :]


def test_the_same_reader_goes_back(queue: Any) -> None:
    with closing(reading(queue)) as log:
        taken(log, 0, RECORDS)
        assert taken(log, 5, RECORDS) == EVERYTHING[5 if queue.ids else 0 :]


def test_what_the_queue_has_forgotten_is_an_error(queue: Any) -> None:
    with closing(reading(queue)) as log:
        taken(log, 0, RECORDS)
        log.confirm(0, 10)
    with closing(reading(queue)) as log, pytest.raises(OSError, match="holds record 10 and not record 4 any more"):
        taken(log, 4, RECORDS)


def test_a_broker_that_dies_gives_again_what_nobody_has_confirmed(broker: QueueBrokerProcess, queue: Any) -> None:
    with closing(reading(queue)) as log:
        taken(log, 0, RECORDS)
        broker.down()
        with pytest.raises(OSError, match=r"RabbitMQ at|cannot be read"):
            taken(log, 5, RECORDS)
        broker.up()
        assert taken(log, 5, RECORDS) == EVERYTHING[5 if queue.ids else 0 :]


def test_its_password_is_in_no_command_line_and_no_log(broker: QueueBrokerProcess) -> None:
    listed = subprocess.run(["/bin/ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert broker.login.password not in listed
    assert broker.login.password not in broker.process.log()


def test_its_port_mapper_ends_with_its_session() -> None:
    from holdfast.fixtures.services.processes.stack import ProcessStack

    stack = ProcessStack()
    started = stack.queues
    assert isinstance(started, QueueBrokerProcess)
    folder = Path(started.process.folder)
    stack.close()
    assert not folder.exists()
    assert not [each for each in Path("/proc").glob("[0-9]*/environ") if str(folder) in _text(each)]


def _text(environment: Path) -> str:
    """Empty if it is somebody else's, or of a process that has ended."""
    try:
        return environment.read_bytes().decode(errors="replace")
    except OSError:
        return ""
