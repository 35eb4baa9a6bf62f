"""The kit of sources: right ones pass it, and each wrong one is refuted by the check named for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.mutants.sources import VARIANTS
from holdfast.fixtures.sources.files import FileSource, ObjectSource
from holdfast.fixtures.sources.log import LogReader, LogSource, QueueSource
from holdfast.fixtures.sources.splits import Position, Reader
from holdfast.fixtures.sources.sqlite_queue import QueueTable
from holdfast.harness import cli
from holdfast.harness.model.journal import Journal, Title
from holdfast.harness.model.status import Status
from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.source import SourceContext, SourceFactory, SourceFlag
from holdfast.suites.certify import source
from holdfast.suites.certify.check import CheckVerdict
from holdfast.suites.certify.scaffolds.source.right import Source as Example
from holdfast.suites.certify.source import judge
from holdfast.suites.selfcheck.certify.written import refuting, unshrunk

RIGHT: tuple[SourceFactory, ...] = (LogSource, FileSource, ObjectSource, QueueSource, QueueTable)
CHECKS = {check.id: check for check in source.CHECKS}
KILLED_BY = {
    "resumes-one-late": "REC-02/resumes",
    "resumes-at-the-batch": "REC-02/resumes",
    "counts-lines": "REC-02/resumes",
    "resumes-behind-the-block": "REC-02/resumes",
    "positions-of-31-bits": "REC-02/resumes",
    "stops-at-one-mebibyte": "REC-02/long-splits",
    "halves-long-files": "REC-02/long-splits",
    "wraps-the-next-id": "REC-02/last-ids",
    "takes-long-lines-for-torn": "E2E-05/followed",
    "fills-its-batch": "REC-02/errors-between",
    "adds-one-by-one": "REC-02/foreign",
    "looks-behind-it-once": "REC-02/lost-while-read",
    "begins-at-the-published": "E2E-07/begins-again",
    "numbers-as-found": "E2E-05/beside-others",
    "stays-at-its-segment": "E2E-05/followed",
    "looks-without-readers": "E2E-05/begins-late",
    "reads-two-blocks": "E2E-05/any-bytes",
    "looks-64-ahead": "E2E-06/late-times",
    "buffers-sixteen-splits": "RSC-05/hundreds",
    "forgets-found": "REC-02/ended",
    "looks-once": "REC-02/discovered",
    "lists-behind-the-last": "REC-02/discovered",
    "loses-new-splits": "REC-02/discovered",
    "splits-by-base-name": "REC-02/unread",
    "loses-behind-errors": "REC-02/errors",
    "takes-any-split": "REC-02/foreign",
    "takes-any-state": "REC-02/foreign",
    "follows-published": "E2E-07/published",
    "snapshots-the-published": "E2E-07/unpublished",
    "raises-unpublished": "E2E-07/not-publishable",
    "counts-its-positions": "E2E-05/again",
    "reads-more-than-asked": "E2E-05/again",
    "ends-in-the-middle": "E2E-05/again",
    "claims-replay": "E2E-05/from-a-checkpoint",
    "keeps-its-own": "E2E-05/moved",
    "takes-nothing-back": "E2E-05/one-reader",
    "passes-over-new-splits": "E2E-05/latest",
    "starts-at-the-earliest": "E2E-05/latest",
    "waits-for-a-split": "E2E-05/ends",
    "looks-on-and-on": "E2E-05/ends",
    "ends-before-it-looks": "E2E-05/begins",
    "ends-while-splits-wait": "E2E-05/begins",
    "ends-without-a-split": "E2E-05/begins",
    "ends-when-read": "E2E-05/begins",
    "ends-though-given-back": "E2E-05/begins",
    "takes-the-end-late": "E2E-05/ends",
    "values-as-text": "E2E-05/any-bytes",
    "cuts-long-values": "E2E-05/any-bytes",
    "times-from-the-epoch-on": "E2E-05/any-bytes",
    "ends-when-idle": "E2E-05/goes-on",
    "forgets-idle-splits": "E2E-05/goes-on",
    "rereads-its-queue": "E2E-05/at-most-once",
    "reverses-batches": "E2E-06/order",
    "sorts-by-time": "E2E-06/order",
    "the-last-records-time": "E2E-06/watermarks",
    "one-watermark-for-all": "E2E-06/watermarks",
    "runs-ahead": "E2E-06/watermarks",
    "falls-back": "E2E-06/watermarks",
    "add-replaces": "RSC-05/rescaled",
    "hands-out-twice": "RSC-05/handed-out-once",
    "keeps-handed-out": "RSC-05/handed-out-once",
    "forgets-waiting": "RSC-05/late-readers",
    "assigns-to-anyone": "RSC-05/late-readers",
    "declares-nothing": "E2E-01/claim",
    "takes-any-option": "E2E-01/options",
    "waits-behind-the-end": "REC-02/lost-end",
    "places-as-text": "REC-02/many-discovered",
    "numbers-modulo-16": "RSC-05/hundreds",
    "keeps-none-given-back": "RSC-05/given-back",
}
BY_PROGRAMS = (
    "reverses-batches",
    pytest.param("resumes-one-late", marks=pytest.mark.nightly),
    pytest.param("keeps-handed-out", marks=pytest.mark.nightly),
    pytest.param("follows-published", marks=pytest.mark.nightly),
)
"""What a random program finds by itself, and shrinks."""
MOST_STEPS = 14

# The certificate of the reference asks these, too.
test_log = pytest.mark.nightly(source.kit(f"{LogSource.__module__}:LogSource"))
test_files = pytest.mark.nightly(source.kit(FileSource))
test_objects = pytest.mark.nightly(source.kit(ObjectSource))
test_queue = source.kit(QueueSource)


def refuted(variant: str, check: str) -> CheckVerdict:
    return refuting(judge(CHECKS[check], VARIANTS[variant]))


def test_each_variant_is_in_the_table() -> None:
    assert VARIANTS.keys() == KILLED_BY.keys()


@pytest.mark.parametrize(("variant", "check"), KILLED_BY.items())
def test_it_is_refuted_by_its_check(variant: str, check: str) -> None:
    with unshrunk():
        assert refuted(variant, check).reason


@pytest.mark.parametrize("variant", BY_PROGRAMS)
def test_a_program_that_refutes_it_is_short_and_the_same_again(variant: str) -> None:
    verdict = refuted(variant, "E2E-05/program")
    steps = [line for line in verdict.witness if line.startswith("state.")]
    assert 2 <= len(steps) <= MOST_STEPS, verdict.text
    assert refuted(variant, "E2E-05/program") == verdict


@pytest.mark.parametrize("check", sorted(set(KILLED_BY.values())))
def test_the_same_check_accepts_a_right_one(check: str) -> None:
    assert any(judge(CHECKS[check], right).status is Status.PASS for right in RIGHT)


class Backwards(LogSource):
    """A near miss: partitions are found in another order, which nothing promises."""

    def look(self) -> Sequence[Position]:
        return list(reversed(super().look()))


@pytest.mark.parametrize("check", sorted({check for check in KILLED_BY.values() if not check.endswith("/program")}))
@pytest.mark.share(3)
def test_the_same_check_accepts_the_one_to_begin_with(check: str) -> None:
    """It fixed what a bounded job reads before there were readers."""
    verdict = judge(CHECKS[check], Example)
    assert verdict.status in {Status.PASS, Status.NOT_APPLICABLE}, verdict.text


def test_another_order_of_splits_is_right() -> None:
    assert {verdict.status for verdict in source.certify(Backwards)} <= {Status.PASS, Status.NOT_APPLICABLE}


def test_what_was_read_ahead_of_a_lost_end_is_right() -> None:
    assert judge(CHECKS["REC-02/lost-while-read"], ObjectSource).status is Status.PASS


class Files(FileSource):
    """A near miss: a split that was read to its end is none that the reader has, and nothing is said of it."""

    description = replace(FileSource.description, flags=FileSource.description.flags | {SourceFlag.WATERMARKS})

    def reader(self, subtask: int) -> Reader:
        return WholeFiles(self, subtask)


class WholeFiles(Reader):
    """Looks at all that is left of a file."""

    def watermarks(self) -> Mapping[str, int]:
        left = {id_: self.source.read(each, 10**6)[0] for id_, each in self.positions.items() if id_ in self.last_ms}
        return {id_: min(record.timestamp_ms for record in records) - 1 for id_, records in left.items()}


@pytest.mark.parametrize("check", ["E2E-06/watermarks", "E2E-06/late-times"])
def test_nothing_said_of_ended_splits_is_right(check: str) -> None:
    assert judge(CHECKS[check], Files).status is Status.PASS


@pytest.mark.parametrize("line", [b"no tab\n", b"x\tvalue\n", b"5\tcut"])
def test_a_line_that_is_no_record_is_damage(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"1\tgood\n" + line)
    made = FileSource(SourceContext(uri=f"file://{tmp_path}", job="job", operator="source", attempt=1))
    reader = made.reader(0)
    reader.add(made.enumerator(None).assign([0], now_ms=0)[0])
    assert [record.value for record in reader.poll(1, now_ms=0).records] == [b"good"]
    with pytest.raises(Damaged, match=r"part has .* at 7: timestamp, tab"):
        reader.poll(1, now_ms=0)


@pytest.mark.parametrize(
    ("right", "supplied", "narrowed", "title"),
    [(LogSource, ("feeder",), (), Title.CERTIFIED), (FileSource, (), ("--rule", "E2E-07"), Title.PARTIAL)],
)
def test_the_certificate_names_what_the_author_supplied(
    right: type[LogSource | FileSource],
    supplied: tuple[str, ...],
    narrowed: tuple[str, ...],
    title: Title,
    tmp_path: Path,
) -> None:
    factory = f"{right.__module__}:{right.__name__}"
    assert cli.execute(["certify", "--source", factory, "--tier", "sim", *narrowed, "--out", str(tmp_path)]) == 0
    journal = msgspec.json.decode((tmp_path / "latest" / "results.json").read_bytes(), type=Journal)
    assert (journal.subject, journal.certificate.title) == ("SRC", title)
    assert journal.certificate.supplied_by_author == supplied


def test_a_wrong_one_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "holdfast.fixtures.mutants.sources.inputs:FollowsPublished"
    assert cli.execute(["certify", "--source", wrong, "--rule", "E2E-07", "--out", str(tmp_path)]) == 1
    assert "was read" in capsys.readouterr().out


class ClosesOnce(LogSource):
    """What is closed cannot be closed."""

    def reader(self, subtask: int) -> Reader:
        class Once(Reader):
            closed = False

            def close(self) -> None:
                if self.closed:
                    raise RuntimeError("the reader is closed")
                self.closed = True

        return Once(self, subtask)


def test_a_reader_that_closes_once_is_refuted() -> None:
    verdict = judge(CHECKS["REC-02/unread"], ClosesOnce)
    assert (verdict.status, verdict.reason) == (Status.FAIL, "close() raised RuntimeError('the reader is closed')")


class HoldsConnections(LogSource):
    """A near miss: each reader holds a connection, and there are not many."""

    most = 24
    held: ClassVar[set[Reader]] = set()

    def reader(self, subtask: int) -> Reader:
        made = _HoldsConnection(self, subtask)
        self.held.add(made)
        if len(self.held) > self.most:
            raise RuntimeError("sorry, too many clients already")
        return made


class _HoldsConnection(LogReader):
    def close(self) -> None:
        HoldsConnections.held.discard(self)
        super().close()


@pytest.mark.parametrize("check", ["REC-02/errors", "REC-02/errors-between", "REC-02/resumes", "E2E-05/program"])
def test_a_source_of_few_connections_is_right(check: str) -> None:
    HoldsConnections.held.clear()
    verdict = judge(CHECKS[check], HoldsConnections)
    assert verdict.status is Status.PASS, verdict.text
    assert not HoldsConnections.held
