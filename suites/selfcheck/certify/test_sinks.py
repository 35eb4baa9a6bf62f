"""The kit of sinks: right ones pass it, and each wrong one is refuted by the check named for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.mutants.sinks import VARIANTS
from holdfast.fixtures.sinks.database import SqliteSink, SqliteUpsertSink
from holdfast.fixtures.sinks.files import FileSink
from holdfast.fixtures.sinks.memory import (
    MemoryLog,
    MemoryReader,
    MemorySink,
    MemoryStagedTable,
    MemoryTable,
    MemoryWriter,
)
from holdfast.fixtures.sinks.transaction import Transaction
from holdfast.harness import cli
from holdfast.harness.model.journal import Journal, Title
from holdfast.harness.model.status import Status
from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.sink import (
    Committable,
    Outcome,
    OutcomeKind,
    Row,
    SinkContext,
    SinkFactory,
    SinkFlag,
)
from holdfast.suites.certify import sink
from holdfast.suites.certify.check import CheckVerdict
from holdfast.suites.certify.connector_kit import Connected
from holdfast.suites.certify.scaffolds.sink.wrong import WrongSink
from holdfast.suites.certify.sink import judge
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.programs import PROGRAMS as PROGRAM_CHECKS
from holdfast.suites.selfcheck.certify.written import refuting, unshrunk

RIGHT: tuple[SinkFactory, ...] = (MemorySink, MemoryLog, MemoryStagedTable, FileSink, SqliteSink, SqliteUpsertSink)
CHECKS = {check.id: check for check in sink.CHECKS}
KILLED_BY = {
    "shows-prepared": "E2E-03/program",
    "writes-in-place": "E2E-03/program",
    "promises-from-memory": "E2E-02/program",
    "closing-aborts": "FIN-03/program",
    "promises-nothing": "TPC-01/program",
    "forgets-aborted": "TPC-03/program",
    "commit-drops-open": "E2E-02/program",
    "takes-batches-apart": "TPC-03/program",
    "commits-everything": "TPC-02/program",
    "commits-the-newest": "TPC-02/program",
    "commits-up-to-it": "TPC-02/program",
    "fills-its-chunks": "E2E-03/program",
    "not-synchronised": "TPC-01/synchronised",
    "names-not-synchronised": "TPC-01/synchronised",
    "commit-not-synchronised": "TPC-01/synchronised",
    "appends-pieces": "TPC-05/errors",
    "commits-again": "TPC-05/program",
    "forgets-commits": "TPC-05/program",
    "remembers-a-hundred": "TPC-05/program",
    "replaces-again": "TPC-09/program",
    "retries-for-ever": "TPC-05/program",
    "swallows-errors": "TPC-05/errors",
    "fails-transients": "TPC-05/errors",
    "reads-any-version": "TPC-05/versions",
    "commits-unknown": "TPC-05/unknown",
    "one-outcome": "TPC-05/errors",
    "forgets-old-commits": "TPC-08/program",
    "knows-the-newest-only": "TPC-08/program",
    "skips-up-to-the-newest": "TPC-08/program",
    "expires-silently": "TPC-07/expired",
    "expires-for-a-while": "TPC-07/expired",
    "expires-too-early": "TPC-07/in-time",
    "expires-from-the-first-row": "TPC-07/in-time",
    "aborts-restored": "TPC-04/program",
    "keeps-orphans": "TPC-06/program",
    "keeps-open-ones": "TPC-06/program",
    "aborts-own-subtasks": "TPC-06/program",
    "aborts-ten-subtasks": "RSC-05/program",
    "aborts-the-last-attempt": "TPC-06/program",
    "keeps-two-hundred": "TPC-04/program",
    "joins-names": "TPC-06/names",
    "knows-its-process": "TPC-06/another-process",
    "aborts-by-prefix": "TPC-06/names",
    "names-as-patterns": "TPC-06/names",
    "names-without-case": "TPC-06/names",
    "aborts-up-to-a-gap": "TPC-06/program",
    "commits-what-others-restored": "TPC-06/program",
    "fences-nobody": "TPC-06/program",
    "fences-writers-only": "TPC-06/program",
    "begins-backwards": "TPC-06/program",
    "commits-own-subtasks": "E2E-02/program",
    "refuses-other-widths": "RSC-05/program",
    "keeps-the-first": "TPC-09/program",
    "appends-to-its-table": "TPC-09/program",
    "replaces-late": "TPC-06/program",
    "looks-before-it-replaces": "TPC-06/late-values",
    "skips-what-it-wrote": "TPC-09/program",
    "flushes-when-full": "TPC-06/program",
    "keeps-its-buffer": "E2E-04/program",
    "names-by-checkpoint": "E2E-04/program",
    "overflows-behind": "TPC-09/program",
    "claims-too-much": "E2E-01/claim",
    "takes-any-option": "E2E-01/options",
    "sorts-rows": "E2E-06/program",
    "long-ones-last": "E2E-06/program",
    "numbers-without-zeros": "E2E-06/program",
    "parts-as-text": "E2E-06/program",
    "pieces-as-text": "E2E-01/program",
    "rows-as-text": "E2E-01/program",
    "lengths-of-two-bytes": "E2E-01/program",
    "attempts-as-text": "TPC-06/program",
    "aborts-by-prefix-of-operators": "TPC-06/names",
    "outcomes-backwards": "E2E-02/program",
    "stops-at-the-lost": "E2E-02/program",
    "commits-in-portions": "TPC-05/versions",
    "lands-late": "TPC-06/late-commit",
    "begins-late": "TPC-06/late-begin",
}
PROGRAMS = {check.id for check in PROGRAM_CHECKS}
"""They name the rule whose sentence is broken."""
BY_PROGRAMS = (
    "aborts-restored",
    pytest.param("commits-again", marks=pytest.mark.nightly),
    pytest.param("fences-nobody", marks=pytest.mark.nightly),
)
"""What a random program finds by itself, and shrinks."""
MOST_STEPS = 14


class OrderedTable(MemoryTable):
    """A near miss: of the rows of a key, which replace each other, the last one is in order."""

    description = replace(MemoryTable.description, flags=MemoryTable.description.flags | {SinkFlag.ORDERED})


# The certificate of the reference asks these, too.
test_memory = pytest.mark.nightly(sink.kit(f"{MemorySink.__module__}:MemorySink"))
test_files = pytest.mark.nightly(sink.kit(FileSink))
test_sqlite = pytest.mark.nightly(sink.kit(SqliteSink))
test_sqlite_upsert = pytest.mark.nightly(sink.kit(SqliteUpsertSink))
test_memory_log = sink.kit(MemoryLog)
test_memory_staged_table = sink.kit(MemoryStagedTable)
test_memory_table = sink.kit(MemoryTable)
test_ordered_table = sink.kit(OrderedTable)


def refuted(variant: str, check: str) -> CheckVerdict:
    verdict = judge(CHECKS[check], VARIANTS[variant])
    return refuting(verdict, *({verdict.rule} if check in PROGRAMS else ()))


def test_each_variant_is_in_the_table() -> None:
    assert VARIANTS.keys() == KILLED_BY.keys()


@pytest.mark.parametrize(("variant", "check"), KILLED_BY.items())
def test_it_is_refuted_by_its_check(variant: str, check: str) -> None:
    with unshrunk():
        assert refuted(variant, check).reason


@pytest.mark.parametrize("variant", BY_PROGRAMS)
def test_a_program_that_refutes_it_is_short_and_the_same_again(variant: str) -> None:
    verdict = refuted(variant, "E2E-02/program")
    assert 2 <= len(verdict.witness) <= MOST_STEPS, verdict.text
    assert "The contract says: " in verdict.reason, verdict.text
    assert refuted(variant, "E2E-02/program") == verdict


@pytest.mark.parametrize("check", sorted(set(KILLED_BY.values())))
@pytest.mark.share(3)
def test_the_same_check_accepts_a_right_one(check: str) -> None:
    assert any(judge(CHECKS[check], right).status is Status.PASS for right in RIGHT)


class Late(FileSink):
    """A near miss: an attempt that is over is not told so, but what it commits is gone."""

    def require_newest(self) -> None:
        return


def test_a_late_commit_that_finds_nothing_is_right() -> None:
    assert judge(CHECKS["TPC-06/late-commit"], Late).status is Status.PASS
    assert judge(CHECKS["TPC-06/program"], Late).status is Status.FAIL


def test_what_the_next_attempt_meets_while_a_commit_stands_still_is_its_own() -> None:
    verdict = judge(CHECKS["TPC-06/late-commit"], WrongSink)
    assert verdict.status is Status.FAIL, verdict.text
    assert "is not there" in verdict.reason


class CommitsInOrder(MemorySink):
    """A near miss: what stands behind others of its writer is to be retried until those are committed."""

    def commit_one(self, transaction: Transaction, now_ms: int) -> Outcome:
        if any(each[:4] == transaction[:4] and each < transaction for each in self.place.prepared):
            return Outcome(OutcomeKind.RETRY, "earlier ones are not committed yet")
        return super().commit_one(transaction, now_ms)


def test_a_commit_that_waits_for_earlier_ones_is_right() -> None:
    assert judge(CHECKS["TPC-02/program"], CommitsInOrder).status is Status.PASS


class AnswersInWords(MemorySink):
    """A near miss: a commit of an attempt that is over has no effect, and is not Fenced."""

    def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
        try:
            return super().commit(committables, now_ms=now_ms)
        except Fenced as error:
            return [Outcome(OutcomeKind.RETRY, str(error))] * len(committables)


@pytest.mark.parametrize("check", ["TPC-06/program", "TPC-04/program"])
def test_a_late_commit_without_an_effect_is_right(check: str) -> None:
    assert judge(CHECKS[check], AnswersInWords).status is Status.PASS


class KeepsLongOnesApart(MemorySink):
    """A near miss: long values are laid aside, and put in their places by the first phase."""

    def writer(self, subtask: int, *, now_ms: int) -> MemoryWriter:
        return _KeepsLongOnesApart(self, subtask)


class _KeepsLongOnesApart(MemoryWriter):
    def __init__(self, sink: MemorySink, subtask: int) -> None:
        super().__init__(sink, subtask)
        self.apart: list[tuple[int, Row]] = []

    def append(self, rows: Sequence[Row]) -> None:
        already = len(self.sink.place.open.get(self.transaction, ()))
        self.apart += [(already + place, row) for place, row in enumerate(rows) if len(row.value) > 1_000]
        super().append([row._replace(value=row.value[:1_000]) for row in rows])

    def make_durable(self, transaction: Transaction, now_ms: int) -> None:
        for place, row in self.apart:
            self.sink.place.open[transaction][place] = row
        self.apart = []
        super().make_durable(transaction, now_ms)


def test_long_rows_that_come_back_to_their_places_are_right() -> None:
    assert judge(CHECKS["E2E-06/program"], KeepsLongOnesApart).status is Status.PASS


@pytest.mark.parametrize("right", [FileSink, SqliteSink])
@pytest.mark.parametrize("uri", ["kafka://broker/topic", "file:"])
def test_a_uri_that_is_no_folder_is_one_sentence(right: SinkFactory, uri: str) -> None:
    with pytest.raises(ValueError, match="names no folder: write") as raised:
        right(SinkContext(uri=uri, job="job", operator="sink", attempt=1))
    assert uri in str(raised.value)


@pytest.mark.parametrize(
    ("right", "supplied"), [(MemorySink, "committed reader"), (FileSink, "count of unfinished transactions")]
)
@pytest.mark.share(2)
def test_the_certificate_names_what_the_author_supplied(
    right: type[MemorySink | FileSink], supplied: str, tmp_path: Path
) -> None:
    factory = f"{right.__module__}:{right.__name__}"
    assert cli.execute(["certify", "--sink", factory, "--area", "TPC", "--out", str(tmp_path)]) == 0
    journal = msgspec.json.decode((tmp_path / "latest" / "results.json").read_bytes(), type=Journal)
    assert (journal.subject, journal.certificate.title) == ("SNK", Title.PARTIAL)
    assert journal.certificate.supplied_by_author == (supplied,)
    assert next(each.status for each in journal.rules if each.rule.id == "TPC-06") is Status.PASS


def test_a_wrong_one_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "holdfast.fixtures.mutants.sinks.attempts:KeepsOrphans"
    assert cli.execute(["certify", "--sink", wrong, "--rule", "TPC-06", "--out", str(tmp_path)]) == 1
    assert "transactions of dead attempts are left; 0 is right." in capsys.readouterr().out


class Elsewhere(MemorySink):
    """A sink that no folder is for."""

    description = replace(MemorySink.description, name="elsewhere", options={"speed": ("low", "of the line")})

    def __init__(self, context: SinkContext) -> None:
        if not context.uri.startswith("far://away/") or context.options != {"speed": "high"}:
            raise ValueError(f"URI {context.uri!r} with {context.options}: far://away/ and no-such-option are wanted.")
        super().__init__(replace(context, options={}))


@pytest.mark.parametrize("check", ["TPC-07/in-time", "TPC-06/names", "E2E-02/program"])
def test_a_sink_can_be_tried_elsewhere(check: str) -> None:
    connected = Connected("far://away", {"speed": "high"})
    assert judge(CHECKS[check], Elsewhere, connected=connected).status is Status.PASS
    assert judge(CHECKS[check], Elsewhere).status is Status.FAIL


class ClosesOnce(MemorySink):
    """What is closed cannot be closed."""

    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("the sink is closed")
        self.closed = True


def test_a_sink_that_closes_once_is_refuted() -> None:
    verdict = judge(sink.CHECKS[0], ClosesOnce)
    assert (verdict.status, verdict.reason) == (Status.FAIL, "close() raised RuntimeError('the sink is closed')")


@pytest.mark.parametrize("number", [0, 1])
def test_what_the_end_of_an_attempt_raises_is_kept_and_no_fault_point_strikes_there(number: int) -> None:
    bench = Bench(ClosesOnce, "TPC-06")
    job = bench.job(parallelism=2)
    bench.points.arm(number, crash=True)
    job.end()
    assert (bench.living, bench.points.arrived, bench.points.strikes) == (1, [], number)
    assert [str(each) for each in bench.close()] == ["the sink is closed"] * 4


class HoldsConnections(MemorySink):
    """A near miss: each object and each reader holds a connection, and there are not many."""

    most = 50
    held: ClassVar[set[object]] = set()

    def __init__(self, context: SinkContext) -> None:
        super().__init__(context)
        self.hold(self)

    def hold(self, holder: object) -> None:
        self.held.add(holder)
        if len(self.held) > self.most:
            raise RuntimeError("sorry, too many clients already")

    def committed_reader(self) -> MemoryReader:
        return _HoldsConnection(self)

    def close(self) -> None:
        self.held.discard(self)
        super().close()


class _HoldsConnection(MemoryReader):
    def __init__(self, sink: HoldsConnections) -> None:
        super().__init__(sink.place)
        self.sink = sink
        sink.hold(self)

    def close(self) -> None:
        self.sink.held.discard(self)
        super().close()


@pytest.mark.parametrize(
    ("check", "seed"),
    [
        ("TPC-04/crashes", 0),
        ("TPC-05/errors", 0),
        ("TPC-06/late-begin", 0),
        ("TPC-06/names", 0),
        ("TPC-06/names", 2),
        ("TPC-06/names", 5),
        ("TPC-06/program", 0),
        ("RSC-05/program", 0),
    ],
)
def test_a_sink_of_few_connections_is_right(check: str, seed: int) -> None:
    HoldsConnections.held.clear()
    verdict = judge(CHECKS[check], HoldsConnections, seed)
    assert verdict.status is Status.PASS, verdict.text
    assert not HoldsConnections.held


class ReadsByItself(MemorySink):
    """A near miss: what reads it does so over what it holds itself, and cannot be closed behind it."""

    closed = False

    def committed_reader(self) -> MemoryReader:
        return _ReadsByIt(self)

    def close(self) -> None:
        self.closed = True
        super().close()


class _ReadsByIt(MemoryReader):
    def __init__(self, sink: ReadsByItself) -> None:
        super().__init__(sink.place)
        self.sink = sink

    def close(self) -> None:
        if self.sink.closed:
            raise RuntimeError("the connection is closed")
        super().close()


def test_a_sink_whose_reader_needs_it_is_right() -> None:
    verdict = judge(CHECKS["TPC-05/errors"], ReadsByItself)
    assert verdict.status is Status.PASS, verdict.text
