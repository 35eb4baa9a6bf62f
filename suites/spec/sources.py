"""What rules cite, each source once.

`sources.toml` has a table for each source: its kind, title and address. A rule names the key of the table, or
`key: section` where only a part is meant. So an address stands in one place, and none is without its title.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

import msgspec

from holdfast.harness.model.rule import Source, SourceKind
from holdfast.harness.model.sentence import known_names

SOURCES = "sources.toml"
"""Beside the areas."""
_FORMS: Mapping[SourceKind, tuple[re.Pattern[str], str]] = {
    SourceKind.REPORT: (
        re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+"),
        "https://github.com/OWNER/NAME/issues/NUMBER or .../pull/NUMBER",
    ),
    SourceKind.CODE: (
        re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/blob/(?!(?:main|master|trunk)/)[\w.-]+/.+"),
        "https://github.com/OWNER/NAME/blob/COMMIT/PATH, with a commit or a release and no branch",
    ),
}
_FILE_NAME = re.compile(r"\S+\.(txt|md|html)\b")


def parse_sources(name: str, text: str) -> dict[str, Source]:
    """The table of a TOML text by key; ValueError names the file and the key."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name}: not valid TOML: {error}.") from error
    return {key: _source(f"{name}: source {key!r}", table) for key, table in tables.items()}


def _source(label: str, table: object) -> Source:
    try:
        source = msgspec.convert(table, Source)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"{label}: {error}; a source has kind ({', '.join(SourceKind)}), title and an address that begins with "
            "https://."
        ) from error
    _refuse_file_name(label, source.title)
    if source.section:
        raise ValueError(f"{label}: 'section' belongs to a rule, which cites `key: section`; remove it here.")
    if (source.kind is SourceKind.DOCUMENT) is bool(source.address):
        raise ValueError(
            f"{label}: address {source.address!r}; a {SourceKind.DOCUMENT} of the project has none, every other kind "
            "has one: add or remove it, or change the kind."
        )
    pattern, form = _FORMS.get(source.kind, (None, ""))
    if pattern and not pattern.fullmatch(source.address):
        raise ValueError(f"{label}: address {source.address!r}; for kind {source.kind} it is {form}.")
    return source


def cited(citation: str, sources: Mapping[str, Source], label: str) -> Source:
    """The source that a rule cites as `key` or `key: section`.

    Raises:
        ValueError: there is no such key, or the section is the name of a file.
    """
    key, _, section = citation.partition(": ")
    if key not in sources:
        raise ValueError(
            f"{label}: source {key!r} is not known; {known_names(key, sources)}; add it to {SOURCES} or cite another."
        )
    _refuse_file_name(label, section)
    return msgspec.structs.replace(sources[key], section=section)


def _refuse_file_name(label: str, words: str) -> None:
    if found := _FILE_NAME.search(words):
        raise ValueError(f"{label}: {found[0]!r} is the name of a file; cite what it says of itself, its title.")
