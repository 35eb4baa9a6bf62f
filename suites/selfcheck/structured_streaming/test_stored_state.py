"""What checkpoints of a query hold is read back as it is, from either state store, and what is damaged is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from holdfast.fixtures.host.installed_spark import quick_java
from holdfast.fixtures.pipelines.declaration import Declaration
from holdfast.fixtures.pipelines.input.feeder import FedRecords, InputFiles, fed_by_files
from holdfast.fixtures.pipelines.input.incoming import Incoming
from holdfast.fixtures.pipelines.loading import load
from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.pipelines.rows.row_form import FIRST_WINDOW
from holdfast.fixtures.systems.structured_streaming import options
from holdfast.fixtures.systems.structured_streaming.checkpoint_log import FIRST_CHECKPOINT, CheckpointLog
from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.fixtures.systems.structured_streaming.messages import PartState, ReadState, StateRead
from holdfast.fixtures.systems.structured_streaming.pipeline import RIGHT, pipelines_of
from holdfast.fixtures.systems.structured_streaming.positions import FileNotes
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.engine.site.spark_session import judging_session
from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.state_fold import MODULUS, StateFold
from holdfast.harness.oracles.shared.windows import first_open_offsets, window_sums
from holdfast.suites.selfcheck.dropped_sockets import collect_sockets
from holdfast.suites.selfcheck.structured_streaming.own import windowed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Py4J leaves the sockets that foreachBatch is called through to the garbage collector.
pytestmark = [
    pytest.mark.tier("spark"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"),
]
DIGEST_KEY, FEEDINGS = 7, 3
STORES = {
    "hashmap": {"state.backend.type": "hashmap"},
    "rocksdb": {"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true"},
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with judging_session("local[2]", {"spark.driver.extraJavaOptions": quick_java()}) as session:
        yield session
    collect_sockets()


@pytest.fixture(autouse=True)
def no_socket_is_left_to_others() -> Iterator[None]:
    yield
    collect_sockets()


@pytest.fixture(scope="module")
def inputs() -> InputLog:
    return Synthetic().generate({"records": 90, "keys": 3, "partitions": 2, "records_per_second": 30}, 1)


def run(
    spark: SparkSession, inputs: InputLog, folder: Path, store: str, pipeline: Declaration = RIGHT[0]
) -> tuple[ReadState, InputFiles]:
    """Let a query sum up a log in some batches; returns what asks for the state of each that had input."""
    configuration = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        **options.configuration(STORES[store]),
    }
    session = spark.newSession()
    for key, value in configuration.items():
        session.conf.set(key, value)
    feeder, files = fed_by_files(FedRecords(inputs, Incoming(), DIGEST_KEY, markers_ahead=False), folder / "input")
    source, output, checkpoint = ((folder / name).as_uri() for name in ("input", "output", "checkpoint"))
    query = load(pipeline.reference)(session, Endpoints(source, output, checkpoint, partitions=2, trigger_ms=10))
    try:
        feeder.begin(0.0)
        for feeding in range(1, FEEDINGS + 1):
            query.processAllAvailable()
            feeder.tend(feeding * 1_000.0)
        query.processAllAvailable()
    finally:
        query.stop()
    batches = tuple(range(FEEDINGS + 1))
    return ReadState("query", pipeline.expectation.meaning, checkpoint, 2, batches, configuration), files


def read(spark: SparkSession, command: ReadState) -> StateRead:
    from holdfast.fixtures.systems.structured_streaming.driver_results import read_state

    session = spark.newSession()
    for key, value in command.configuration.items():
        session.conf.set(key, value)
    return read_state(session, command)


def of_batch(found: StateRead, batch: int) -> list[PartState]:
    return [part for part in found.parts if part.batch == batch]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.share(2)
def test_the_state_of_every_batch_is_read_back(
    spark: SparkSession, inputs: InputLog, tmp_path: Path, store: str
) -> None:
    command, files = run(spark, inputs, tmp_path, store)
    found = read(spark, command)
    assert found.problems == {}
    fold = StateFold(inputs, DIGEST_KEY)
    for batch in command.batches:
        parts = of_batch(found, batch)
        below = fold.below(dict(enumerate(files.positions(f"part-{batch:06}.parquet"))))
        sums = (
            sum(part.records for part in parts),
            sum(part.value for part in parts),
            sum(part.digest for part in parts),
        )
        assert (sums[0], sums[1] % MODULUS, sums[2] % MODULUS) == below
        assert sum(part.keys for part in parts) == len({key for part in parts for key in part.entries or ()})
    assert sum(part.records for part in of_batch(found, FEEDINGS)) == inputs.total_records


@pytest.mark.parametrize(("store", "variant"), [("rocksdb", ""), ("hashmap", windowed.__name__)])
@pytest.mark.nightly
def test_of_windows_those_are_read_back_that_the_watermark_of_the_batch_has_not_passed(
    spark: SparkSession, tmp_path: Path, store: str, variant: str
) -> None:
    """In one store those of ours, in the other those of somebody else, whose state is laid out differently."""
    [windows] = [each for each in pipelines_of(variant) if each.expectation.contract is Contract.WINDOW]
    rate = {"records_per_second": 600, "preloaded_percent": 10}
    inputs = Synthetic().generate({"records": 1_500, "keys": 3, "partitions": 2, **rate}, 1)
    command, files = run(spark, inputs, tmp_path, store, windows)
    log = CheckpointLog(LocalFiles(tmp_path), "checkpoint", FileNotes(files.positions), (0, 0))
    completed = [event for event in log.poll() if isinstance(event, CheckpointCompleted)]
    batches = tuple(event.checkpoint - FIRST_CHECKPOINT for event in completed)
    found = read(spark, msgspec.structs.replace(command, batches=batches))
    assert (found.batches, found.problems) == (batches, {})
    for batch, event in zip(batches, completed, strict=True):
        assert event.watermark_ms is not None
        since = first_open_offsets(inputs, event.watermark_ms)
        wanted = window_sums(inputs, DIGEST_KEY, event.positions, since)
        parts = of_batch(found, batch)
        held = [row for part in parts for row in part.windows or ()]
        assert len(held) == len(wanted)
        found_here = {(row.key, row.window - FIRST_WINDOW): (row.value % MODULUS, row.digest % MODULUS) for row in held}
        assert found_here == wanted
        assert sum(part.records for part in parts) == sum(event.positions) - sum(since)
    assert first_open_offsets(inputs, completed[-1].watermark_ms or 0) > (0, 0)


@pytest.mark.nightly
def test_state_that_is_damaged_is_told_and_what_is_older_is_read(
    spark: SparkSession, inputs: InputLog, tmp_path: Path
) -> None:
    command, _ = run(spark, inputs, tmp_path, "hashmap")
    [delta] = tmp_path.glob(f"checkpoint/state/0/0/{FEEDINGS}.delta")  # The state behind batch n is version n + 1.
    delta.unlink()
    found = read(spark, command)
    assert sorted(found.problems) == [FEEDINGS - 1, FEEDINGS]
    assert all(f"{FEEDINGS}.delta does not exist" in problem for problem in found.problems.values())
    assert found.batches == tuple(range(FEEDINGS - 1))
    assert {part.batch for part in found.parts} == set(found.batches)


@pytest.mark.nightly
def test_what_is_wrong_with_something_else_says_nothing_of_state(
    spark: SparkSession, tmp_path: Path, inputs: InputLog
) -> None:
    command, _ = run(spark, inputs, tmp_path, "hashmap")
    wrong = msgspec.structs.replace(command, meaning="json:loads")
    found = read(spark, wrong)
    assert found == StateRead(command.query, unread=found.unread)
    assert found.unread.startswith("TypeError: ")
