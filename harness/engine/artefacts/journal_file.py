"""The Journal as `results.json`, and the details of a run as `details.json`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.decode import check_version, decode, version_of
from holdfast.harness.engine.artefacts.files import read_content, write_readable
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.journal import RESULTS_VERSION, Journal
from holdfast.harness.model.rule import Source, SourceKind
from holdfast.harness.model.run_details import RunDetails
from holdfast.harness.spi.outside_files import OutsideFileError, require_length

_BEFORE_BYTES = 8 << 20
"""Of a journal of the previous version, whose parts are changed as objects of Python: they take 0.2 GB."""


def write_journal(path: Path, journal: Journal) -> None:
    write_readable(path, journal)


def read_journal(path: Path) -> Journal:
    """A journal from its file.

    Raises:
        UsageError: it cannot be read, or is of a newer version.
    """
    raw = read_content(path)
    check_version(raw, RESULTS_VERSION, "result", str(path))
    return decode(_as_of_now(raw, str(path)), Journal, str(path))


def _as_of_now(raw: bytes, source: str) -> bytes:
    """A journal of the previous version as one of this version."""
    if version_of(raw) != RESULTS_VERSION - 1:
        return raw
    try:
        require_length(len(raw), _BEFORE_BYTES)
    except OutsideFileError as error:
        raise UsageError(f"{source}: {error}.") from error
    try:
        content = msgspec.json.decode(raw)
        for each in content["rules"]:
            rule = each["rule"]
            titles = [Source(kind=SourceKind.DOCUMENT, title=title) for title in rule["sources"]]
            each["rule"] = {**rule, "why": "", "sources": titles}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, LookupError, TypeError, AttributeError):
        return raw  # What is wrong with it is named when it is decoded.
    return msgspec.json.encode({**content, "version": RESULTS_VERSION})


DETAILS = "details.json"


def write_details(folder: Path, details: RunDetails) -> str:
    """Store what there is beside a run; the name of the file, or an empty text if there is nothing to store."""
    if details == RunDetails():
        return ""
    write_readable(folder / DETAILS, details)
    return DETAILS
