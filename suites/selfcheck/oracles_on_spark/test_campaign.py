"""A campaign whose seeds are drawn by Spark's executors comes to the same ledger as one on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from holdfast.harness import cli
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import never_interrupted
from holdfast.harness.engine.exploration import long_campaign, on_spark, spark_task
from holdfast.harness.engine.exploration.fingerprint import fingerprint
from holdfast.harness.engine.exploration.ledger import LEDGER
from holdfast.harness.engine.exploration.long_campaign import LongCampaign
from holdfast.harness.engine.site import registry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.tier("spark"),
    pytest.mark.xdist_group("judging-session"),
    # PySpark drops the sockets of its answers.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
HERE = "local[2]"
"""The session that the tests share is at this master."""
WRONG = "reference+A3"
"""Its barriers overtake records, which the swarm sees often."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_campaign, "CHUNK", 2)


def campaign(
    folder: Path, master: str, system: str = "reference", interrupted: Callable[[], str] = never_interrupted
) -> LongCampaign:
    found = LongCampaign(system, (1, 10), folder)
    with found.ledger:
        for _ in found.draw(1, interrupted, master):
            pass
    return found


@pytest.mark.parametrize("system", [WRONG, "reference"])
@pytest.mark.nightly
def test_the_ledger_and_the_plans_of_alarms_are_the_same(spark: SparkSession, tmp_path: Path, system: str) -> None:
    there, here = campaign(tmp_path / "spark", HERE, system), campaign(tmp_path / "here", "", system)
    assert (tmp_path / "spark" / LEDGER).read_bytes() == (tmp_path / "here" / LEDGER).read_bytes()
    assert here.total().drawn == 10
    assert bool(here.open_alarms()) == (system == WRONG)
    for seed in here.open_alarms():
        assert there.ledger.plan_of(seed).read_bytes() == here.ledger.plan_of(seed).read_bytes()


@pytest.mark.nightly
def test_workers_draw_with_the_code_that_was_sent(spark: SparkSession) -> None:
    system, tools = registry.system("reference"), registry.toolbox()
    archive = spark.sparkContext.broadcast(on_spark.archive(system, tools))
    code = on_spark.Code(fingerprint(system, tools), archive)
    rows = on_spark.draw_on_spark(spark, "reference", code, [(1, 2), (3, 4)]).drop("drawn").collect()
    assert [(row.first, row.last, row.passed + row.failed + row.inconclusive) for row in rows] == [(1, 2, 2), (3, 4, 2)]

    def imported(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in spark_task.draw("reference", *code, [(1, 1)], batches):
            import holdfast.harness.engine.exploration.drawn_chunk as drawn_there

            yield pa.RecordBatch.from_pylist([{"place": drawn_there.__file__}])

    (row,) = spark.range(1).mapInArrow(imported, "place string").collect()
    assert f"/{spark_task.FOLDER}{code.fingerprint}/" in row.place


@pytest.mark.nightly
def test_workers_with_other_code_are_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_campaign, "fingerprint", lambda *_: "of-tomorrow")
    with pytest.raises(UsageError, match=r"the workers of local\[2\] cannot draw: .*ours has of-tomorrow"):
        campaign(tmp_path, HERE)


@pytest.mark.nightly
def test_an_interruption_ends_what_executors_draw(spark: SparkSession, tmp_path: Path) -> None:
    reasons = iter(["", *["interrupted"] * 10_000])
    broken_off = campaign(tmp_path, HERE, interrupted=lambda: next(reasons))
    assert broken_off.ledger.chunks == []
    assert campaign(tmp_path, HERE).total().drawn == 10


def test_either_processes_or_executors_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["campaign", "reference", "--jobs", "2", "--workers", "local[2]", "--out", str(tmp_path)]
    assert cli.execute(command) == 3
    assert "only one of them can draw" in capsys.readouterr().err
