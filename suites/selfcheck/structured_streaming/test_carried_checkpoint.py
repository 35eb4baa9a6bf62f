"""A checkpoint that Spark 3.5 wrote goes on under the Spark that is installed here: its state is in what follows."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.images.spark_releases import SparkRelease, named_release
from holdfast.fixtures.pipelines.input.feeder import FedRecords, fed_by_files
from holdfast.fixtures.pipelines.input.incoming import Incoming
from holdfast.fixtures.services.processes.installation import missing
from holdfast.fixtures.systems.structured_streaming import options
from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.fixtures.systems.structured_streaming.fetched_results import audit
from holdfast.fixtures.systems.structured_streaming.local_host import LocalHost
from holdfast.fixtures.systems.structured_streaming.messages import Ended, ReadState, Start, Stop
from holdfast.fixtures.systems.structured_streaming.pipeline import RIGHT
from holdfast.fixtures.systems.structured_streaming.session import Session
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.model.events import SubtaskAudited
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.oracles.shared.state_fold import MODULUS, StateFold
from holdfast.suites.selfcheck.marks import unless

OLDER = named_release("3.5")
LIMIT_S = 120.0
DIGEST_KEY = 7


def let_run(session: Session, start: Start) -> None:
    """Let a query take all input that there is, and stop it."""
    session.start()
    session.send(start)
    session.send(Stop(start.query, idle=True))
    until_s = time.monotonic() + LIMIT_S
    while time.monotonic() < until_s:
        for report in session.hear():
            if isinstance(report, Ended):
                assert not report.error, report.error
                return
        assert not session.dead, session.written()[-2000:]
        session.wait(0.1)
    pytest.fail(f"the query did not end in {LIMIT_S:.0f} s: {session.written()[-2000:]}")


@pytest.mark.nightly
@pytest.mark.tier("spark")
@unless(missing(OLDER.environment_part))
@pytest.mark.parametrize("first", [OLDER, None], ids=["3.5", "the-same"])
def test_state_of_an_older_spark_is_in_what_follows(first: SparkRelease | None, tmp_path: Path) -> None:
    inputs = Synthetic().generate({"records": 90, "keys": 3, "partitions": 2, "records_per_second": 30}, 1)
    configuration = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        **options.configuration({"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true"}),
    }
    feeder, files = fed_by_files(FedRecords(inputs, Incoming(), DIGEST_KEY, markers_ahead=False), tmp_path / "input")
    pipeline = RIGHT[0]

    source, output, progress = ((tmp_path / name).as_uri() for name in ("input", "output", "checkpoint"))
    endpoints = Endpoints(source, output, progress, partitions=2, trigger_ms=10)
    start = Start("query", pipeline.reference, endpoints, configuration)
    feeder.begin(0.0)
    feeder.tend(1_000.0)
    with closing(Session(LocalHost(spark=first))) as session:
        let_run(session, start)
        assert session.version.startswith("3.5." if first else "4.")
    for file in (tmp_path / "input").glob("*.parquet"):
        before = sum(files.positions(file.name))
        file.unlink()  # What was in it is in the state alone.
    assert 0 < before < inputs.total_records
    feeder.tend(10_000.0)
    with closing(Session(LocalHost())) as session:
        let_run(session, start)
        last = max(int(each.name) for each in (tmp_path / "checkpoint" / "commits").iterdir() if each.name.isdigit())
        command = ReadState("query", pipeline.expectation.meaning, progress, 2, (last,), configuration)
        [vertex] = KEYED_SUM.of_kind(VertexKind.KEYED_SUM)
        events, unread = audit(session, command, vertex)
    assert not unread
    states = [event.state for event in events if isinstance(event, SubtaskAudited) and event.state]
    found = (
        sum(state.records for state in states),
        sum(state.value for state in states) % MODULUS,
        sum(state.digest for state in states) % MODULUS,
    )
    whole = StateFold(inputs, DIGEST_KEY).below(dict(enumerate(inputs.lengths())))
    assert found == whole
