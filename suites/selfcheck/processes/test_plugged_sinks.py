"""Sinks and state backends of somebody else's in the reference runtime, judged under faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.faults.process import kill
from holdfast.fixtures.reference.connectors.polled_table import PolledTable
from holdfast.fixtures.reference.connectors.units import TableUnits
from holdfast.fixtures.tables.readers import OwnReader, RowFiles
from holdfast.harness import cli
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Capability, Guarantee
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import RowsChanged, RowsVisible
from holdfast.harness.model.job import Contract
from holdfast.harness.model.jobs import DELAYED_SUM, FORWARD, KEYED_SUM
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import AT_LEAST_ONCE, WORKERS, plan
from holdfast.suites.conformance.transactions import ANSWER_LOST, BY_KEY, LONGER, TABLE
from holdfast.suites.selfcheck.replaced_runs import counting_run, named_clauses

FILES = "holdfast.fixtures.sinks.files:FileSink"
UPSERTS = "holdfast.fixtures.sinks.database:SqliteUpsertSink"
OURS = "holdfast.suites.selfcheck.processes.unknown_source:UnknownSink"
REPLAYS = "holdfast.fixtures.mutants.sinks.commits:CommitsAgain"
RESTARTED = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))


def plugged(sink: str) -> Any:
    return registry.system(f"reference+sink={sink}")


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("sink=no_such_module:Sink", "cannot be loaded: No module named 'no_such_module'. Name it module:factory."),
        ("sink=holdfast.fixtures.sinks.files:Missing", "cannot be loaded: module 'holdfast.fixtures.sinks.files'"),
        ("sink=holdfast.fixtures.sinks.files:PREPARED", "is a str: name a callable that returns a Sink."),
        (f"sink={FILES}@kafka://broker/topic", "URI 'kafka://broker/topic' names no folder"),
        (f"reader={FILES}", "'reader' cannot be plugged into the reference runtime: sink=module:factory can"),
    ],
)
def test_what_cannot_be_plugged_in_is_one_sentence(variant: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        registry.system(f"reference+{variant}")
    assert said in str(raised.value)


def test_a_name_in_a_file_needs_trust() -> None:
    assert registry.needs_trust(f"reference+sink={FILES}", repeats=True)


def test_it_runs_on_processes_alone_and_has_what_it_declares() -> None:
    two_phase, upserts = plugged(FILES), plugged(UPSERTS)
    assert set(two_phase.capabilities) == {Tier.PROCESS}
    assert Capability.TWO_PHASE_COMMIT in two_phase.capabilities[Tier.PROCESS]
    assert Capability.TWO_PHASE_COMMIT not in upserts.capabilities[Tier.PROCESS]
    assert Capability.NAMED_TRANSACTIONS not in two_phase.capabilities[Tier.PROCESS]
    assert (two_phase.supplied_by_author, plugged(OURS).supplied_by_author) == (("sink",), ("sink", "committed reader"))


def test_more_is_claimed_only_of_the_table_that_a_job_wants() -> None:
    upserts = plugged(UPSERTS)
    assert upserts.claims(plan(job=FORWARD)).output == {Guarantee.NO_LOSS}
    wanted = plan(job=FORWARD, options=BY_KEY | AT_LEAST_ONCE)
    assert upserts.claims(wanted).output == {Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE}
    assert upserts.objection(wanted, Tier.PROCESS) == ""
    for other in (plan(options=TABLE), plan(options={"sink.connector": "kafka"})):
        assert "sink sqlite-upsert is plugged in, which is another one" in upserts.objection(other, Tier.PROCESS)


@pytest.mark.tier("process")
@pytest.mark.parametrize("sink", [FILES, OURS])
def test_a_right_one_is_exact_under_faults(sink: str, tmp_path: Path) -> None:
    run = counting_run(plan(*RESTARTED, job=KEYED_SUM), plugged(sink), Tier.PROCESS, tmp_path)
    verdicts = {verdict.oracle: verdict for verdict in run.verdicts}
    assert not [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    assert (verdicts["EXACT"].outcome, verdicts["TXN"].outcome) == (Outcome.PASS, Outcome.PASS)


@pytest.mark.nightly
@pytest.mark.tier("process")
def test_the_rules_of_transactions_are_decided_of_a_right_one(tmp_path: Path) -> None:
    """Whatever it calls its files."""
    arguments = ("--tier", "process", "--area", "TPC", "--budget", "2min", "--out", str(tmp_path))
    assert cli.execute(["certify", f"reference+sink={FILES}", *arguments]) == 0


@pytest.mark.tier("process")
def test_a_wrong_one_is_refuted(tmp_path: Path) -> None:
    replayed = plan(ANSWER_LOST, records=LONGER)
    run = counting_run(replayed, plugged(REPLAYS), Tier.PROCESS, tmp_path)
    named = named_clauses(run)
    assert "EXACT/row-repeated" in named, run.reason


def row(offset: int) -> bytes:
    return b'%d/%d\t{"partition":0,"offset":%d}\n' % (0, offset, offset)


def test_files_are_read_as_the_spi_says(tmp_path: Path) -> None:
    folder, seen = tmp_path / "rows", tmp_path / "seen"
    seen.mkdir()
    table = PolledTable(RowFiles(folder), TableUnits("files", "", False, Contract.RECORDS, str(seen)))
    assert table.poll() == []
    (folder / "part" / ".hidden").mkdir(parents=True)
    (folder / "part" / "b").write_bytes(row(2).replace(b"/", b"%2F"))
    (folder / "part" / "_open").write_bytes(b"nothing")
    (folder / "part" / ".hidden" / "c").write_bytes(b"nothing")
    [first] = table.poll()
    assert isinstance(first, RowsVisible)
    assert (first.records, first.name) == (1, "rows-000001")
    (folder / "part" / "a").write_bytes(row(1))
    assert [event.records for event in table.poll() if isinstance(event, RowsVisible)] == [1]
    (folder / "part" / "b").unlink()
    [gone] = table.poll(final=True)
    assert isinstance(gone, RowsChanged)
    assert (gone.gone, gone.final) == (("0/2",), True)


def test_a_reader_that_does_not_answer_is_waited_for(tmp_path: Path) -> None:
    class Silent:
        def rows(self) -> list[Any]:
            raise OSError("no answer")

        def unfinished(self, job: str) -> int | None:
            return None

        def close(self) -> None: ...

    table = PolledTable(OwnReader(Silent()), TableUnits("x:Y", "", False, Contract.RECORDS, str(tmp_path)))
    assert table.poll() == []
    assert (table.polls, table.blind_ns > 0) == (0, True)
    with pytest.raises(OSError, match="no answer"):
        table.poll(final=True)


STRANGER = "holdfast.suites.certify.scaffolds.state_backend.right:Backend"


@pytest.fixture
def runtime() -> Any:
    return registry.system(f"reference+state-backend={STRANGER}")


@pytest.mark.tier("process")
def test_a_right_one_is_exact_under_faults_and_no_option_is_wrong(runtime: Any, tmp_path: Path) -> None:
    faults = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))
    run = counting_run(plan(*faults, job=KEYED_SUM), runtime, Tier.PROCESS, tmp_path)
    verdicts = {verdict.oracle: verdict.outcome for verdict in run.verdicts}
    assert Outcome.FAIL not in verdicts.values(), run.reason
    assert (verdicts["EXACT"], verdicts["CONFIG"]) == (Outcome.PASS, Outcome.PASS)


def test_a_job_that_needs_what_it_does_not_declare_is_not_applicable(runtime: Any) -> None:
    objection = runtime.objection(plan(job=DELAYED_SUM), Tier.PROCESS)
    assert objection.endswith(f"needs timers, which state backend {STRANGER} does not declare.")
    assert runtime.objection(plan(job=KEYED_SUM), Tier.PROCESS) == ""
