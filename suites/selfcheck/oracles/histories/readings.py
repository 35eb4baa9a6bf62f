"""Histories for PLACE, STABLE, INVARIANT, CONFIG and TREND: folders, what the reader saw, what a submit tells, and many
checkpoints."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import profile
from holdfast.harness.model.capability import AT_LEAST_ONCE, OutputMode
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.configuration import EffectiveConfiguration, Note, NoteKind, Origin, Setting
from holdfast.harness.model.events import (
    CheckpointFolderSeen, FileReference, FileWritten, InvariantChecked, JobConfigured, QueryStarted, ReaderPolled,
    RowsChanged, RowsVisible, SnapshotReleased, StateSummary,
)  # fmt: skip
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.oracles.configuration.configuration_model import DEFAULTS
from holdfast.harness.oracles.coordinator.trend import FEWEST
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, undecided
from holdfast.suites.selfcheck.oracles.lines import aborted, acked, attempt, completed, deleted, snapshot, triggered

# --- PLACE: where queries keep their progress -------------------------------------------------------------------------

HOME = "s3a:/runs/1/checkpoint"


def query(name: str, run: str, folder: str, start: int = 1, *, judged: bool = True) -> QueryStarted:
    return QueryStarted(query=name, run=run, start=start, folder=folder, given=HOME, judged=judged)


bad, near = exhibits("PLACE")

bad("folder-shared", "two queries of one folder", query("q", "r1", HOME), query("q", "r2", HOME, judged=False))
near("folder-shared", "started again", query("q", "r1", HOME), query("q", "r2", HOME, start=2))
near("folder-shared", "a folder for each",
     query("q", "r1", f"{HOME}/sales"), query("p", "r2", f"{HOME}/refunds", judged=False))  # fmt: skip

bad("written-elsewhere", "a folder beside it", query("q", "r1", f"{HOME}-mine"))
near("written-elsewhere", "a folder below it", query("q", "r1", f"{HOME}/sales"))
near("written-elsewhere", "a second query that shows rows",
     query("q", "r1", f"{HOME}/"), query("p", "r2", "file:/tmp/temporary-7", judged=False))  # fmt: skip

bad("not-written", "nothing behind a micro-batch", query("q", "r1", HOME), CheckpointFolderSeen(folder=HOME, files=0))
near("not-written", "its first entries", query("q", "r1", HOME), CheckpointFolderSeen(folder=HOME, files=4))

# --- STABLE: what the committed reader reported -----------------------------------------------------------------------


SEEN = RowsVisible(name="unit-0", poll=3, records=2, checksum=7)
POLLED = ReaderPolled(polls=40, interval_ms=10)
TABLE = RowsVisible(name="orders", poll=3, records=2, checksum=7)
REPLACED = RowsChanged(name="orders", poll=6, vanished=False, records=2, compared=1)

bad, near = exhibits("STABLE")

bad("row-changed", "unit rewritten", SEEN, RowsChanged(name="unit-0", poll=9, vanished=False), POLLED)
near("row-changed", "another unit added", SEEN, RowsVisible(name="unit-1", poll=9, records=1, checksum=8), POLLED)

bad("row-vanished", "unit removed", SEEN, RowsChanged(name="unit-0", poll=9, vanished=True), POLLED)
near("row-vanished", "unit stays", SEEN, POLLED)

bad("row-changed", "unit replaced where rows are appended",
    SEEN, RowsChanged(name="unit-0", poll=9, vanished=False, records=2), POLLED)  # fmt: skip

bad("row-vanished", "row of an upserted table gone",
    TABLE, RowsChanged(name="orders", poll=9, vanished=False, records=1, gone=("order_id=7",)), POLLED,
    mode=OutputMode.UPSERT)  # fmt: skip
bad("row-vanished", "upserted table dropped",
    TABLE, RowsChanged(name="orders", poll=9, vanished=True), POLLED, mode=OutputMode.UPSERT)  # fmt: skip
bad("row-vanished", "row of an appended table gone",
    TABLE, RowsChanged(name="orders", poll=9, vanished=False, gone=("order_id=7",)), POLLED)  # fmt: skip
near("row-vanished", "rows of an upserted table replaced", TABLE, REPLACED, POLLED, mode=OutputMode.UPSERT)

bad("row-rolled-back", "row goes back to an older version",
    TABLE, REPLACED, RowsChanged(name="orders", poll=12, vanished=False, records=2, compared=1, older=("order_id=7",)),
    POLLED, mode=OutputMode.UPSERT)  # fmt: skip
near("row-rolled-back", "row replaced by a newer one",
     TABLE, REPLACED, RowsChanged(name="orders", poll=12, vanished=False, records=2, compared=1), POLLED,
     mode=OutputMode.UPSERT)  # fmt: skip

bad("second-read-differs", "folder overwritten before the second read",
    SEEN, RowsChanged(name="unit-0", poll=40, vanished=False, final=True, records=3), POLLED,
    mode=OutputMode.OVERWRITE)  # fmt: skip
bad("second-read-differs", "overwritten folder gone at the second read",
    SEEN, RowsChanged(name="unit-0", poll=40, vanished=True, final=True), POLLED,
    mode=OutputMode.OVERWRITE)  # fmt: skip
bad("second-read-differs", "row replaced before the second read",
    TABLE, REPLACED, RowsChanged(name="orders", poll=40, vanished=False, final=True, records=2, compared=1), POLLED,
    mode=OutputMode.UPSERT)  # fmt: skip
near("second-read-differs", "folder away while it is overwritten",
     SEEN, RowsChanged(name="unit-0", poll=9, vanished=True),
     RowsChanged(name="unit-0", poll=10, vanished=False, records=3), POLLED, mode=OutputMode.OVERWRITE)  # fmt: skip
bad("second-read-differs", "unit gone at the second read",
    SEEN, RowsChanged(name="unit-0", poll=40, vanished=True, final=True), POLLED)  # fmt: skip
bad("second-read-differs", "unit new at the second read",
    SEEN, RowsVisible(name="unit-1", poll=40, records=1, checksum=8, final=True), POLLED)  # fmt: skip
near("second-read-differs", "empty unit at the second read",
     SEEN, RowsVisible(name="unit-1", poll=40, records=0, checksum=0, final=True), POLLED)  # fmt: skip

near("reader-too-slow", "ten polls per interval", SEEN, POLLED, options={"execution.checkpointing.interval": "100 ms"})

# --- INVARIANT: what the predicates of a user returned at the looks of the committed reader ---------------------------

SUM = "the sum of all accounts"
HOLDS = InvariantChecked(name=SUM, poll=3, unit="unit-0", rows=2)

bad, near = exhibits("INVARIANT", SEEN, HOLDS)

bad("broken", "a sum that is not preserved for a while",
    InvariantChecked(name=SUM, poll=4, unit="unit-1", rows=4, problem="it is 990 instead of 1000"),
    InvariantChecked(name=SUM, poll=5, unit="unit-2", rows=6))  # fmt: skip
near("broken", "a sum that is preserved at each look", InvariantChecked(name=SUM, poll=4, unit="unit-1", rows=4))

# --- CONFIG: what a submit tells of a plan's options ------------------------------------------------------------------

TIMEOUT, INTERVAL = "execution.checkpointing.timeout", "execution.checkpointing.interval"
MODE, UNALIGNED = "execution.checkpointing.mode", "execution.checkpointing.unaligned.enabled"
GIVEN = {TIMEOUT: "1 min"}
COUNTED_UNALIGNED = {UNALIGNED: "true", MODE: "AT_LEAST_ONCE"}
OFF = {UNALIGNED: ("false", Origin.DERIVED), MODE: ("AT_LEAST_ONCE", Origin.CODE)}
Told = Mapping[str, tuple[str, Origin]]


def configured(changes: Told, *notes: tuple[NoteKind, str], without: str = "", max_parallelism: int = 0) -> list[Line]:
    """A submit of these options is answered with the defaults but for the changes."""
    values: dict[str, tuple[str, Origin]] = {
        key: (value, Origin.DEFAULT) for key, value in DEFAULTS[profile.FLINK_2].items()
    }
    values |= changes
    settings = tuple(Setting(key, value, origin) for key, (value, origin) in values.items() if key != without)
    said = tuple((Note(kind, name, "because.") for kind, name in notes))
    event = JobConfigured(configuration=EffectiveConfiguration(settings, said, max_parallelism))
    return [event]


bad, near = exhibits("CONFIG", expected=ExpectedEnd.ACCEPTED, options={})

bad("max-parallelism-wrong", "key groups are not those of the formula", configured({}, max_parallelism=64))
near("max-parallelism-wrong", "key groups are as the plan says", configured({}, max_parallelism=128))

bad("value-wrong", "option is left at its default", configured({}), options=GIVEN)
bad("value-wrong", "option is not told", configured({}, without=TIMEOUT))
bad("value-wrong", "option in its older spelling is not heard",
    configured({}), options={"state.checkpoints.num-retained": "2"})  # fmt: skip
near("value-wrong", "option is told in another unit", configured({TIMEOUT: ("60000 ms", Origin.CODE)}), options=GIVEN)

bad("origin-wrong", "option is said to be of the file", configured({TIMEOUT: ("60000 ms", Origin.FILE)}), options=GIVEN)
near("origin-wrong", "default that is also given is of the code",
     configured({TIMEOUT: ("600000 ms", Origin.CODE)}), options={TIMEOUT: "10 min"})  # fmt: skip

bad("warning-wrong", "option gives way in silence", configured(OFF), options=COUNTED_UNALIGNED, claimed=AT_LEAST_ONCE)
bad("warning-wrong", "nothing gives way and a warning says so", configured({}, (NoteKind.WARNING, "interval-raised")))
near("warning-wrong", "option gives way with a warning",
     configured(OFF, (NoteKind.WARNING, "unaligned-switched-off")), options=COUNTED_UNALIGNED,
     claimed=AT_LEAST_ONCE)  # fmt: skip

bad("lint-wrong", "what cannot act is not pointed out",
    configured({"state.backend.async": ("false", Origin.CODE)}), options={"state.backend.async": "false"})  # fmt: skip
near("lint-wrong", "what cannot act is pointed out",
     configured({"state.backend.async": ("false", Origin.CODE)}, (NoteKind.LINT, "synchronous-snapshots")),
     options={"state.backend.async": "false"})  # fmt: skip

bad("claimed-too-much", "exactly once is claimed without alignment",
    configured({MODE: ("AT_LEAST_ONCE", Origin.CODE)}), options={MODE: "AT_LEAST_ONCE"})  # fmt: skip
near("claimed-too-much", "less is claimed than could be kept", configured({}), claimed=AT_LEAST_ONCE)

# --- TREND: many checkpoints, one after the other ---------------------------------------------------------------------

MANY = FEWEST + 60
LATE = FailureReason.EXPIRED
UNCHAINED = {"pipeline.operator-chaining.enabled": "false"}


def checkpoint(
    number: int,
    ack_ms: float = 5,
    publish_ms: float = 5,
    *,
    ends: bool = True,
    versions: int | None = None,
    files: int = 0,
) -> list[Line]:
    """One of a single participant.

    Args:
        number: its id.
        ack_ms, publish_ms: until its ack comes, and from then on until it completes.
        ends: it completes; else it is aborted.
        versions, files: how many it leaves behind; None: it has no snapshots.
    """
    file = FileReference(f"chk-{number}/a", 1, 1)
    gone: list[Line] = [] if files else [deleted(file)]
    ended: Line = completed(number) if ends else aborted(number, LATE)
    taken = snapshot("sum[0]", number, state=StateSummary())
    release = SnapshotReleased(subtask="sum[0]", checkpoint=number, kept_entries=0, open_versions=0)
    cut: list[Line] = [] if versions is None else [taken, *([] if versions else [release])]
    return [triggered(number, "sum[0]"), FileWritten(file=file), *cut, ack_ms, acked(number, "sum[0]"), publish_ms,
            ended, *gone]  # fmt: skip


NUMBERS = range(1, MANY + 1)

bad, near = exhibits("TREND", attempt(), claimed=frozenset(), options=UNCHAINED)

bad("acks-slow-down", "each ack comes later",
    [checkpoint(n, ack_ms=5 + n / 10, publish_ms=100 - n / 10) for n in NUMBERS])  # fmt: skip
near("acks-slow-down", "acks come as they did", [checkpoint(n, ack_ms=5 + n % 7) for n in NUMBERS])

bad("duration-grows", "each takes longer", [checkpoint(n, publish_ms=5 + n / 30) for n in NUMBERS])
near("duration-grows", "one takes very long", [checkpoint(n, publish_ms=5_000 if n > MANY - 3 else 5) for n in NUMBERS])
near("duration-grows", "it grows by less than is worth a word",
     [checkpoint(n, publish_ms=100 + n / 100) for n in NUMBERS])  # fmt: skip

bad("files-grow", "a file of each stays", [checkpoint(n, files=1) for n in NUMBERS])
near("files-grow", "files go", [checkpoint(n) for n in NUMBERS])

bad("versions-grow", "a version of some stays", [checkpoint(n, versions=int(n % 5 == 0)) for n in NUMBERS])
near("versions-grow", "versions go", [checkpoint(n, versions=0) for n in NUMBERS])

# Too few to say anything.
undecided("TREND", "few",
          attempt(), [checkpoint(n, publish_ms=n) for n in NUMBERS[: FEWEST - 1]], options=UNCHAINED,
          claimed=frozenset())  # fmt: skip

# What comes behind the first checkpoint that fails is not looked at.
undecided("TREND", "until one fails",
          attempt(), [checkpoint(n, publish_ms=n, ends=n != FEWEST) for n in NUMBERS], options=UNCHAINED,
          claimed=frozenset())  # fmt: skip
