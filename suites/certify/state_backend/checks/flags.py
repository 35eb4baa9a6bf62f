"""SBK-09: a backend is made by its factory, and does what it declares. What it can do is tried by the other checks."""

from __future__ import annotations

from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.state import Flag, Manifest, StateDescriptor, StateKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench, shared_paths
from holdfast.suites.certify.state_backend.live import Live, fill


def description(bench: Bench) -> None:
    first = bench.description
    if first.spi_version != SPI_VERSION:
        raise Violation("SBK-09", f"it is written for version {first.spi_version} of the SPI; this is {SPI_VERSION}.")
    if not first.name or min(first.max_key_bytes, first.max_value_bytes, first.max_namespace_bytes) < 1:
        raise Violation("SBK-09", f"its description has no name, or a limit below 1: {first}.")
    if unknown := set(first.flags) - set(Flag):
        raise Violation("SBK-09", f"it declares flags that do not exist: {sorted(unknown)}.")
    live = bench.fresh(range(2))
    fill(live)
    if live.backend.describe() != first:
        raise Violation("SBK-09", f"its description changed from {first} to {live.backend.describe()}.")


def options(bench: Bench) -> None:
    bench.step("make a backend with an option that it does not declare")
    try:
        bench.backend(bench.factory, options={"holdfast.unknown-option": "1"})
    except ValueError as error:
        if "holdfast.unknown-option" not in str(error):
            raise Violation("SBK-09", f"the refusal of an unknown option does not name it: {error}") from error
    else:
        raise Violation("SBK-09", "an unknown option was not refused; ValueError is right.")
    defaults = {key: default for key, (default, _) in bench.description.options.items()}
    bench.backend(bench.factory, options=defaults)


def undeclared_ttl(bench: Bench) -> None:
    if Flag.TTL in bench.flags:
        return
    live = bench.fresh()
    try:
        live.backend.table(StateDescriptor(name="mortal", kind=StateKind.VALUE, ttl_ms=10))
    except ValueError:
        return
    raise Violation("SBK-09", "a time to live is accepted, though TTL is not declared; ValueError is right.")


def incremental(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    completed = bench.checkpoint(live)
    live.put("value", GROUPS.start, b"", [(b"k", b"changed")])
    second = _uploaded(bench, live)
    if not shared_paths(completed.parts[0]) or second.base != completed.checkpoint:
        raise Violation("SBK-09", "INCREMENTAL is declared, and no snapshot refers to a file of a confirmed one.")


def _uploaded(bench: Bench, live: Live) -> Manifest:
    return bench.upload(live.snapshot())


CHECKS = (
    Check("SBK-09/description", "Its description is complete, and stays the same.", description),
    Check("SBK-09/options", "An unknown option is refused by name; defaults are accepted.", options),
    Check("SBK-09/undeclared-ttl", "A time to live is refused where it is not declared.", undeclared_ttl),
    Check("SBK-09/incremental", "Who declares increments makes some.", incremental, frozenset({Flag.INCREMENTAL})),
)
