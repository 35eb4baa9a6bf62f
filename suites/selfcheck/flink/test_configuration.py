"""How Flink is configured, and how its files are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink import configuration
from holdfast.fixtures.systems.flink.connectors import PartFiles
from holdfast.fixtures.systems.flink.log import LogTail
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.commands.services import install_flink
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model import profile
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.case import Tier
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, JOIN, KEYED_SUM, TOP_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import FoldRow
from holdfast.harness.spi.system import OptionUse
from holdfast.suites.conformance.flink.twins import flink

OPTIONS = {profile.INTERVAL: "200 ms", profile.DIRECTORY: "file:///checkpoints", profile.RETAINED: "3"}


def a_plan(options: dict[str, str] = OPTIONS) -> Plan:
    return Plan(system="flink", job=KEYED_SUM, options=options, workload=WorkloadSpec("synthetic"))


def test_every_option_is_accounted_for() -> None:
    accounts = {each.key: each.use for each in Flink().account(a_plan(OPTIONS | {"sink.connector": "jdbc"}))}
    assert accounts == {
        profile.INTERVAL: OptionUse.APPLIED,
        profile.DIRECTORY: OptionUse.EQUIVALENT,
        profile.RETAINED: OptionUse.APPLIED,
        "sink.connector": OptionUse.UNSUPPORTED,
    }


def test_an_option_goes_to_the_cluster_or_to_the_job(tmp_path: Path) -> None:
    assert configuration.of_cluster(OPTIONS, "2.3.0") == {profile.RETAINED: "3"}
    given = configuration.of_job(OPTIONS, tmp_path)
    assert profile.RETAINED not in given
    assert given[profile.INTERVAL] == "200 ms"
    assert given[profile.DIRECTORY] == f"file://{tmp_path}/checkpoints"


def test_a_job_that_it_does_not_compile_does_not_suit_it_and_an_unknown_variant_is_refused() -> None:
    other = Plan(system="flink", job=TOP_SUM, options=OPTIONS, workload=WorkloadSpec("synthetic"))
    assert "kind top-sum" in Flink().objection(other, Tier.PROCESS)
    with pytest.raises(ValueError, match="no variant 'x'"):
        Flink("x")


def test_in_1_20_the_cluster_decides_what_lies_in_metadata() -> None:
    inline = {profile.INLINE_THRESHOLD: "0 b"}
    assert configuration.of_cluster(inline, "2.3.0") == {}
    assert configuration.of_cluster(inline, "1.20.3") == inline


def test_a_system_is_of_a_version_and_so_are_its_wrong_jobs() -> None:
    found = {
        name: Flink(name).versions(Tier.PROCESS)["flink"] for name in ("", "2", "1.20", "1.20.3", "keeps-in-field")
    }
    assert found == {"": "2.3.0", "2": "2.3.0", "1.20": "1.20.3", "1.20.3": "1.20.3", "keeps-in-field": "2.3.0"}
    older = Flink("1.20+keeps-in-field")
    assert older.name == "flink+1.20+keeps-in-field"
    assert older.of_its_version("flink+changes-uid") == "flink+1.20+changes-uid"
    assert Flink().of_its_version("flink+changes-uid") == "flink+changes-uid"
    for wrong in ("1.2", "1.20+nobody", "nobody+1.20", "1.20.", "+1.20"):
        with pytest.raises(ValueError, match=r"use a version of 2\.3\.0, .*1\.20\.3, .*one of keeps-in-field"):
            Flink(wrong)


def test_a_version_that_the_adapter_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Flink 1\.2 is none that the adapter knows: use 2\.3\.0"):
        install_flink("1.2")
    with pytest.raises(UsageError, match=r"Flink 2\.30 is none"):
        install_flink("2.30")


def test_rows_of_finished_files_alone_and_a_file_that_grows_is_read_on(tmp_path: Path) -> None:
    files = PartFiles(str(tmp_path / "output"))
    assert files.new_rows() == []
    (tmp_path / "output").mkdir()
    part = tmp_path / "output/part-a-0"
    part.write_text("key\t3\t18446744073709551615\t1\t0\nke")
    (tmp_path / "output/.part-b-0.inprogress").write_text("key\t9\t1\t1\t0\n")
    [(place, row)] = files.new_rows()
    assert place == "part-a-0:0"
    assert isinstance(row, FoldRow)
    assert (row.key, row.value, row.counts, row.digest) == ("key", 3, (1, 0), 2**64 - 1)
    part.write_text(part.read_text() + "y\t4\t5\t2\t0\n")
    assert [place for place, _ in files.new_rows()] == ["part-a-0:1"]
    assert files.new_rows() == []


def test_a_log_is_read_as_it_grows_and_what_is_no_entry_is_left_out(tmp_path: Path) -> None:
    tail = LogTail(tmp_path / "log")
    assert list(tail.lines()) == []
    (tmp_path / "log").write_text('{"t":1.5,"c":"a.B","m":"one"}\nno entry\n{"t":2,"c":"a.B",')
    assert [(line.t, line.logger, line.m) for line in tail.lines()] == [(1.5, "B", "one")]
    with (tmp_path / "log").open("a") as log:
        log.write('"m":"two","e":"trace"}\n')
    assert [(line.m, line.e) for line in tail.lines()] == [("two", "trace")]


def test_a_drawn_plan_is_not_suspended_and_commits_what_its_input_ends_with() -> None:
    """No command of Flink suspends a job, and without a checkpoint behind the end Flink does not commit it."""
    off = {profile.AFTER_FINISH: "false"}
    for job, end in ((KEYED_SUM, ExpectedEnd.RUNNING), (bounded(KEYED_SUM), ExpectedEnd.FINISHED)):
        plan = Flink().suited(flink(job=job, options=off, expected_end=ExpectedEnd.SUSPENDED), Tier.PROCESS)
        assert plan.expected_end is end
        assert (profile.AFTER_FINISH in plan.options) is not job.bounded


@pytest.mark.parametrize(
    ("job", "parallelism", "mode", "claimed"),
    [
        (FORWARD, 2, "AT_LEAST_ONCE", EXACTLY_ONCE),
        (KEYED_SUM, 1, "AT_LEAST_ONCE", EXACTLY_ONCE),
        (KEYED_SUM, 2, "AT_LEAST_ONCE", AT_LEAST_ONCE),
        (JOIN, 1, "AT_LEAST_ONCE", AT_LEAST_ONCE),
        (JOIN, 2, "EXACTLY_ONCE", EXACTLY_ONCE),
    ],
)
def test_what_never_aligns_is_exactly_once_in_either_mode(
    job: Job, parallelism: int, mode: str, claimed: frozenset[Guarantee]
) -> None:
    plan = flink(job=job, options={profile.MODE: mode}, topology=Topology(parallelism))
    assert Flink().claims(plan).state == claimed
