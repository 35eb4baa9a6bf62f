"""E2E-01, E2E-04, E2E-06 and TPC-09: what is claimed, sinks without a second phase, and order."""

from __future__ import annotations

from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.sink import DeliveryGuarantee, Row, SinkContext, SinkFlag
from holdfast.suites.certify.awkward import AWKWARD
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.readers import READERS

LONG = b"".join(b"%07d/" % number for number in range(100_000))
"""Longer than ten pieces of 64 KiB, no two of which are alike, and shorter than what brokers refuse by default."""
LENGTHS = (0, 70_000, 0, 300, 5_000, 20_000, 0, 800_000, 100, 300_000, 0)
"""From shorter to longer ones and back, so that each is behind a longer one; below what brokers refuse by default."""
UPSERT = frozenset({SinkFlag.UPSERT})
ORDERED = frozenset({SinkFlag.ORDERED})


def claim(bench: Bench) -> None:
    """Exactly once takes a second phase, or rows that replace each other."""
    declared = bench.description
    if declared.guarantee is DeliveryGuarantee.EXACTLY_ONCE and not declared.flags & {
        SinkFlag.TWO_PHASE,
        SinkFlag.UPSERT,
    }:
        raise Violation(bench.rule, "it claims exactly-once, and has neither two-phase nor upsert.")
    if declared.committable_version not in declared.readable_versions:
        raise Violation(bench.rule, f"it cannot read committables of its own version {declared.committable_version}.")
    if declared.committed_reader not in ("", *READERS):
        raise Violation(
            bench.rule, f"committed_reader is {declared.committed_reader!r}; {', '.join(READERS)} or '' is right."
        )
    if declared.spi_version != SPI_VERSION:
        raise Violation(bench.rule, f"spi_version is {declared.spi_version}; {SPI_VERSION} is right.")
    if bench.sink("other", 7).describe() != declared:
        raise Violation(bench.rule, "two sinks of one factory describe themselves differently.")


def options(bench: Bench) -> None:
    """An option that does not exist is refused by name."""
    key = "no-such-option"
    try:
        bench.factory(SinkContext(uri="file:///nowhere", job="job", operator="sink", attempt=1, options={key: "1"}))
    except ValueError as error:
        if key not in str(error):
            raise Violation(
                bench.rule, f"the factory raised {error!r}; a sentence that names {key} is right."
            ) from error
        return
    raise Violation(bench.rule, f"the factory took option {key}; ValueError is right.")


def any_bytes(bench: Bench) -> None:
    """Rows of bytes that mean something elsewhere; also long ones, longer than two bytes count and than ten buffers."""
    job = bench.job()
    for pieces in (AWKWARD, AWKWARD[::-1], [piece * (2_000 // len(piece)) for piece in AWKWARD], [b"\0a" * 35_000]):
        job.rewrite([Row(b"%d/" % number + piece, piece) for number, piece in enumerate(pieces)])
        job.checkpoint()
        bench.check()
    job.rewrite([Row(b"", b""), Row(AWKWARD[0], b""), Row(b"long", LONG)])
    job.checkpoint()
    bench.check()


def at_least_once(bench: Bench) -> None:
    """Everything is visible when `prepare` returns; what is repeated is there more than once, and nothing else is."""
    if bench.description.guarantee is not DeliveryGuarantee.AT_LEAST_ONCE:
        raise CannotTry("it claims more than at-least-once")
    job = bench.job()
    job.write(0)
    job.checkpoint()
    bench.check()
    repeated = [*job.write(0), *job.write(0)]
    bench.check()
    job.prepare()
    bench.check()
    job.restart()
    bench.check()
    job.rewrite(repeated)
    job.checkpoint()
    bench.hit("repeated")
    bench.check()


def replaces(bench: Bench) -> None:
    """A key is there once, with what was written last, however often it was repeated."""
    job = bench.job()
    first = [row for key in (b"a", b"b", b"") for row in job.write(0, 1, key)]
    job.checkpoint()
    bench.check()
    later = [*job.write(0, 2, b"a"), *job.write(1, 1, b"c")]
    job.prepare()
    bench.check()
    job.restart()
    job.rewrite(later)
    job.checkpoint()
    bench.check()
    job.restart()
    bench.hit("repeated")
    job.rewrite(first)
    job.rewrite(later)
    job.checkpoint()
    bench.check()


def by_another(bench: Bench) -> None:
    """A writer writes what it wrote last for a key once more, when another one has replaced it."""
    job = bench.job()
    first, second = job.row(b"a"), job.row(b"a")
    for subtask, row in ((0, first), (1, second), (0, first), (0, second), (1, second), (1, first)):
        job.rewrite([row], subtask)
        job.checkpoint()
        bench.check()
    bench.hit("repeated")


def old_values(bench: Bench) -> None:
    """An attempt that is over does not put an old value back."""
    job = bench.job()
    old = job.attempt
    late = [job.row(b"a")]
    job.restart()
    job.write(0, 1, b"a")
    job.checkpoint()
    bench.hit("zombie")
    try:
        old.write(0, late)
        job.commit_once([old.prepare(0, 99)], old)
    except (Fenced, Transient) as error:
        bench.step(f"    {error}")
    bench.check()


def order(bench: Bench) -> None:
    """Rows of a key, in one checkpoint and over more than ten, and behind a restart into the tenth attempt."""
    job = bench.job(first_attempt=9)
    right = []
    for _ in range(12):
        right += [*job.write(0, 3, b"k"), *job.write(0, 12, b"k")]
        job.checkpoint()
    right += job.write(0, 2, b"k")
    job.complete(job.prepare())
    job.restart()
    right += job.write(0, 3, b"k")
    job.checkpoint()
    bench.check()
    bench.check_order(b"k", right)


def lengths(bench: Bench) -> None:
    """Rows of a key with values and keys of very different lengths, in one write and in many; a short one is the last,
    and a long one."""
    job = bench.job(parallelism=1)
    for key in (b"k", b"k" * 5_000):
        right: list[Row] = []
        for lengths in (LENGTHS, LENGTHS[::-1]):
            rows = [row._replace(value=row.value.ljust(length, b"x")) for row, length in
                    ((job.row(key), length) for length in lengths)]  # fmt: skip
            job.rewrite(rows)
            for row in rows:
                again = row._replace(value=b"again/" + row.value)
                job.rewrite([again])
                rows = [*rows, again]
            right += rows
            job.checkpoint()
            bench.check()
            bench.check_order(key, right)


CHECKS = (
    Check("E2E-01/claim", "What it claims and what it declares fit together.", claim),
    Check("E2E-01/options", "An option that it does not have is refused.", options),
    Check("E2E-01/any-bytes", "Rows are bytes of any content.", any_bytes),
    Check("E2E-04/repeats", "Nothing is missing, and what is more is a repeat.", at_least_once, windows=("repeated",)),
    Check(
        "TPC-09/replaces", "A row replaces that of its key, also where it is repeated.", replaces, UPSERT, ("repeated",)
    ),
    Check(
        "TPC-09/by-another",
        "A row replaces that of another writer, whatever was written before.",
        by_another,
        UPSERT,
        ("repeated",),
    ),
    Check("TPC-06/old-values", "An attempt that is over replaces nothing.", old_values, UPSERT, ("zombie",)),
    Check("E2E-06/order", "The rows of a key stay in order.", order, ORDERED),
    Check("E2E-06/lengths", "They do, however long each of them is.", lengths, ORDERED),
)
