"""E2E-01: what is declared, and options."""

from __future__ import annotations

from holdfast.fixtures.feeders import FEEDERS
from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.source import SourceContext, SourceFlag
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.source.bench import Bench


def claim(bench: Bench) -> None:
    """What it declares fits together, and is always the same."""
    declared = bench.description
    if not declared.flags & {SourceFlag.BOUNDED, SourceFlag.UNBOUNDED}:
        raise Violation(bench.rule, "it declares neither bounded nor unbounded.")
    if not {declared.split_version, declared.state_version} <= declared.readable_versions:
        raise Violation(bench.rule, "it cannot read what it writes itself: see its versions.")
    if declared.feeder not in ("", *FEEDERS):
        raise Violation(bench.rule, f"feeder is {declared.feeder!r}; {', '.join(FEEDERS)} or empty is right.")
    if declared.spi_version != SPI_VERSION:
        raise Violation(bench.rule, f"spi_version is {declared.spi_version}; {SPI_VERSION} is right.")
    if bench.source("other", 7).describe() != declared:
        raise Violation(bench.rule, "two sources of one factory describe themselves differently.")


def options(bench: Bench) -> None:
    """An option that does not exist is refused by name."""
    key = "no-such-option"
    try:
        bench.factory(SourceContext(uri="file:///nowhere", job="job", operator="source", attempt=1, options={key: "1"}))
    except ValueError as error:
        if key not in str(error):
            right = f"a sentence that names {key} is right"
            raise Violation(bench.rule, f"the factory raised {error!r}; {right}.") from error
        return
    raise Violation(bench.rule, f"the factory took option {key}; ValueError is right.")


CHECKS = (
    Check("E2E-01/claim", "What it declares fits together.", claim),
    Check("E2E-01/options", "An option that it does not have is refused.", options),
)
