"""The Journal as `results.json`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.decode import check_version, decode
from holdfast.harness.engine.artefacts.files import read_content, write_readable
from holdfast.harness.model.journal import RESULTS_VERSION, Journal
from holdfast.harness.model.rule import Source, SourceKind


def write_journal(path: Path, journal: Journal) -> None:
    """The journal as `results.json`."""
    write_readable(path, journal)


def read_journal(path: Path) -> Journal:
    """A journal from its file.

    Raises:
        UsageError: it cannot be read, or is of a newer version.
    """
    raw = read_content(path)
    check_version(raw, RESULTS_VERSION, "result", str(path))
    return decode(_as_of_now(raw), Journal, str(path))


def _as_of_now(raw: bytes) -> bytes:
    """A journal of the previous version as one of this version."""
    try:
        content = msgspec.json.decode(raw)
        if content["version"] != RESULTS_VERSION - 1:
            return raw
        for each in content["rules"]:
            rule = each["rule"]
            titles = [Source(kind=SourceKind.DOCUMENT, title=title) for title in rule["sources"]]
            each["rule"] = {**rule, "why": "", "sources": titles}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, LookupError, TypeError, AttributeError):
        return raw  # What is wrong with it is named when it is decoded.
    return msgspec.json.encode({**content, "version": RESULTS_VERSION})
