"""STO-09, SBK-07: requests fail and answers are lost, and limits are kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.file_system import FileSystem
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.file_system.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import ENDPOINT, MEBIBYTE, bytes_of
from holdfast.suites.certify.outside.relay import WireFault

MOST_REQUESTS = 30
"""Of one program; further ones are not tried."""
LONGEST_TRIED = 64 * MEBIBYTE
Result = TypeVar("Result")


def requests(bench: Bench) -> None:
    """Each request of a program is refused, cut, or answered to nobody; whoever asked asks once more."""
    relay = bench.relay
    for fault in WireFault:
        for number in range(MOST_REQUESTS):
            relay.disarm()
            files = bench.files(options={ENDPOINT: relay.url})
            path = f"{fault}/{number}"
            bench.step(f"{fault} at request {number} of a program")
            relay.arm(number, fault)
            for size in (300, bench.longest(6 * MEBIBYTE))[: 2 if number % 4 == 0 else 1]:
                content = bytes_of(size, number)
                _persistently(bench, _publish, files, f"{path}/{size}", content)
                if (found := _persistently(bench, content_of, files, f"{path}/{size}")) != content:
                    raise Violation(bench.rule, f"{len(found)} bytes of {size} are read.")
                bench.require_content(bench.files(), f"{path}/{size}", content)
            listed = list(_persistently(bench, files.paths, path))
            if listed != list(bench.files().paths(path)) or not listed:
                raise Violation(bench.rule, f"paths({path!r}) shows {listed}, through the relay alone.")
            if left := _persistently(bench, files.remove, listed):
                raise Violation(bench.rule, f"{list(left)} could not be removed.")
            bench.require_paths(bench.files(), "", [])
            _persistently(bench, files.abandon_uploads)
            files.close()
            if not relay.struck:
                break
            bench.hit(f"request-{fault}")
    bench.files().abandon_uploads()
    if bench.location.uploads():
        raise Violation("ASY-05", f"{bench.location.uploads()} uploads are left open.")


def _publish(files: FileSystem, path: str, content: bytes) -> None:
    """Publish, and behind Transient once more; begin anew where that was in a write."""
    upload = files.begin(path)
    try:
        upload.write(content)
    except OSError:
        with suppress(OSError):
            upload.abandon()
        raise
    try:
        upload.publish()
    except Transient:
        with suppress(FileExistsError):  # It is this very file: whoever reads it finds out.
            upload.publish()


def _persistently(bench: Bench, call: Callable[..., Result], *arguments: object) -> Result:
    """What a call returns that is repeated once behind Transient."""
    try:
        return call(*arguments)
    except Transient:
        bench.hit("tried-again")
        return call(*arguments)


def longest(bench: Bench) -> None:
    limit = bench.description.max_file_bytes
    if limit is None or limit > LONGEST_TRIED:
        raise CannotTry("it has no limit, or one that is too large to be tried")
    files = bench.files()
    bench.publish(files, "longest", bytes_of(limit), pieces=3)
    bench.require_content(files, "longest", bytes_of(limit))
    bench.refuses("write a byte more than max_file_bytes", Full, _publish, files, "longer", bytes_of(limit + 1))
    bench.require_paths(files, "", ["longest"])


CHECKS = (
    Check("STO-09/requests", "Any one request may fail: who tries again succeeds.", requests,
          windows=("tried-again", *(f"request-{fault}" for fault in WireFault))),
    Check("SBK-07/longest", "The longest file that is declared fits, and one byte more does not.", longest),
)  # fmt: skip
