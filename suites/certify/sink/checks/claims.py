"""E2E-01: what is claimed, and which options it takes."""

from __future__ import annotations

from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.sink import DeliveryGuarantee, SinkContext, SinkFlag
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.place import READERS


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


CHECKS = (
    Check("E2E-01/claim", "What it claims and what it declares fit together.", claim),
    Check("E2E-01/options", "An option that it does not have is refused.", options),
)
