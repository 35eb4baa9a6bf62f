"""CFG-05: a storage or a file system is made where it can work, and says what it is."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

from holdfast.harness.lease import Lease
from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.errors import Transient
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.outside.bench import OUTLIVES_PROCESS, OutsideBench


def description(bench: OutsideBench) -> None:
    first = bench.description
    if first.spi_version != SPI_VERSION:
        raise Violation(bench.rule, f"it is written for version {first.spi_version} of the SPI; this is {SPI_VERSION}.")
    if not first.name or (first.max_file_bytes is not None and first.max_file_bytes < 1):
        raise Violation(bench.rule, f"its description has no name, or a limit below 1: {first}.")
    made = bench.make(bench.own)
    made.close()
    for moment in (made.describe(), bench.make("another").describe()):
        if moment != first:
            raise Violation(bench.rule, f"its description changed from {first} to {moment}.")


def options(bench: OutsideBench) -> None:
    bench.refuses(
        "make one with an option that it does not declare",
        ValueError,
        lambda: bench.make(bench.own, options={"holdfast.unknown-option": "1"}),
        naming="holdfast.unknown-option",
    )
    given = bench.target.options
    defaults = {key: default for key, (default, _) in bench.description.options.items() if key not in given}
    bench.step("make one with all defaults")
    bench.make("defaults", options=defaults)


def uris(bench: OutsideBench) -> None:
    mere_names = OUTLIVES_PROCESS not in bench.flags  # Within a process, any of them may be.
    for uri in ("", "no uri at all") if mere_names else ("holdfast-no-such-scheme://place/folder", "", "no uri at all"):
        bench.refuses(f"make one at {uri!r}", ValueError, _at, bench, uri)


def _at(bench: OutsideBench, uri: str) -> object:
    return bench.at(uri, bench.own, bench.options)


def place(bench: OutsideBench) -> None:
    """A folder has a name that its URI encodes; then the process works in another folder."""
    there = bench.location.awkward()
    made = bench.make(bench.own, uri=there.uri)
    with Lease("kit") as temporary:
        # So deep that a relative path which fitted before leads somewhere else.
        elsewhere = Path(temporary, *["deeper"] * len(Path.cwd().parts))
        elsewhere.mkdir(parents=True)
        with chdir(elsewhere):
            bench.step(f"store something at {there.uri}, while the process works in another folder")
            bench.leave(made)
    if not there.names():
        raise Violation(bench.rule, f"what was stored at {there.uri} does not lie in the folder that this URI names.")
    for uri in (there.uri, f"{there.uri}/"):
        bench.step(f"list what is at {uri}")
        if not bench.finds(bench.make(bench.own, uri=uri)):
            raise Violation(bench.rule, f"what was stored at {there.uri} is not found at {uri}.")


def unreachable(bench: OutsideBench) -> None:
    if not bench.location.unreachable:
        raise CannotTry("it has no place that could not be reached")
    bench.refuses(
        f"make one at {bench.location.unreachable!r}",
        (PermissionError, Transient),
        _at,
        bench,
        bench.location.unreachable,
    )


CHECKS: tuple[Check[Any], ...] = (
    Check("CFG-05/description", "Its description is complete, and stays the same.", description),
    Check("CFG-05/options", "An unknown option is refused by name; defaults are accepted.", options),
    Check("CFG-05/uris", "A URI of another kind is refused where it is made.", uris),
    Check("CFG-05/place", "A URI means one folder, whatever that is called and wherever a process works.", place,
          frozenset({OUTLIVES_PROCESS})),
    Check("CFG-05/unreachable", "A place that cannot be reached is refused where it is made.", unreachable,
          frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
