"""JSON files: a plan, the Journal as `results.json`, and the details of a run as `details.json`. An untrusted file is
decoded to a value, or refused in one sentence that says where it is wrong."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import msgspec.inspect

from holdfast.harness.engine.artefacts.files import read_content, write_readable
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.journal import RESULTS_VERSION, Journal
from holdfast.harness.model.plan import PLAN_VERSION, Plan
from holdfast.harness.model.rule import Source, SourceKind
from holdfast.harness.model.run_details import RunDetails
from holdfast.harness.model.sentence import known_names
from holdfast.harness.spi.outside_files import OutsideFileError, require_length

Value = TypeVar("Value")
_PLACE = re.compile(r"(?P<what>.*?)(?: - at `(?:key in )?\$(?P<path>[^`]*)`)?")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*)`")
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z_0-9]*)|\[(\d*|\.\.\.)\]")

_VALUE_LENGTH = 80
_LARGEST_SHOWN = 1 << 20
"""To show one value, all of a document is decoded; of a larger one no value is shown."""


def decode(raw: bytes, kind: type[Value], source: str) -> Value:
    """A value of a kind from its JSON.

    Args:
        raw: what was read.
        kind: what it must be.
        source: where it was read from, as the user knows it.

    Raises:
        UsageError: not JSON, truncated, or not of this kind; it names field, value and what is allowed.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{source}: {_explained(raw, kind, str(error))}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{source}: not whole JSON ({error}); it was cut off or edited: write it again.") from error


def check_version(raw: bytes, newest: int, noun: str, source: str) -> None:
    """Refuse what a newer program wrote; the version before `newest` is still read.

    Raises:
        UsageError: the version is newer, too old, or missing.
    """
    version = version_of(raw)
    if version is None:
        return  # Something else is wrong as well, and is named when the whole is decoded.
    oldest = max(1, newest - 1)
    if version > newest:
        raise UsageError(
            f"{source}: version {version} of a {noun} is newer than {newest}, the newest this program reads: update it."
        )
    if version < oldest:
        raise UsageError(
            f"{source}: version {version} of a {noun} is older than {oldest}, the oldest one read: write it anew."
        )


def version_of(raw: bytes) -> int | None:
    """The version that a document states, without decoding the rest of it."""
    try:
        return msgspec.json.decode(raw, type=_Versioned).version
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


class _Versioned(msgspec.Struct):
    version: int


def _explained(raw: bytes, kind: type, message: str) -> str:
    match = _PLACE.fullmatch(message)
    what, path = (match["what"], match["path"] or "") if match else (message, "")
    place = path.lstrip(".") or "the top level"
    steps = [name or (int(index) if index.isdigit() else None) for name, index in _STEP.findall(path)]
    shape = _shape_at(msgspec.inspect.type_info(kind), steps)
    unknown = _UNKNOWN.fullmatch(what)
    if unknown and isinstance(shape, msgspec.inspect.StructType):
        allowed = known_names(unknown["field"], (field.encode_name for field in shape.fields), "allowed are")
        return f"unknown field {unknown['field']!r} at {place}; {allowed}: remove or rename it"
    if "missing required" in what:
        return f"{place}: {what[:1].lower()}{what[1:]}: add it"
    if len(raw) > _LARGEST_SHOWN:
        return f"{place}: {what[:1].lower()}{what[1:]}: write it again"
    try:
        value = msgspec.json.encode(_value_at(msgspec.json.decode(raw), steps)).decode()[:_VALUE_LENGTH]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return f"{place}: {what[:1].lower()}{what[1:]}, and behind it is no whole JSON ({error}): write it again"
    if isinstance(shape, msgspec.inspect.EnumType):
        allowed = known_names(value.strip('"'), (str(member.value) for member in shape.cls), "allowed are")
        return f"{place} is {value}; {allowed}: use one of these"
    return f"{place} is {value}: {what[:1].lower()}{what[1:]}"


def _shape_at(shape: Any, steps: list[Any]) -> Any:
    """The type that a path leads to, or None where it cannot be followed."""
    for step in steps:
        shape = next((each for each in getattr(shape, "types", ()) if hasattr(each, "fields")), shape)
        if isinstance(shape, msgspec.inspect.StructType):
            shape = next((field.type for field in shape.fields if field.encode_name == step), None)
        elif isinstance(shape, msgspec.inspect.DictType):
            shape = shape.value_type
        else:
            shape = getattr(shape, "item_type", None)
    return next((each for each in getattr(shape, "types", ()) if hasattr(each, "fields")), shape)


def _value_at(value: Any, steps: list[Any]) -> Any:
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return value
    return value


def read_plan(raw: bytes, source: str) -> Plan:
    """A plan from its JSON.

    Raises:
        UsageError: one sentence that names the source and the field.
    """
    check_version(raw, PLAN_VERSION, "plan", source)
    return decode(raw, Plan, source)


def read_plan_file(path: Path) -> Plan:
    """A plan from a file.

    Raises:
        UsageError: it cannot be read or is no plan.
    """
    return read_plan(read_content(path), str(path))


def write_plan(path: Path, plan: Plan) -> None:
    """Write a plan in a form that a person can read and edit."""
    write_readable(path, plan)


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


_SINCE_VERSION_2 = ("after_acknowledged", "after_restored")
"""Fields of a schedule that plans of version 1 do not have."""


def plan_digest(plan: Plan) -> str:
    """SHA-256 of the canonical form of a plan, in hexadecimal; two plans that are equal have the same."""
    if plan.version >= 2:
        return hashlib.sha256(msgspec.json.encode(plan, order="deterministic")).hexdigest()
    content = msgspec.to_builtins(plan)
    for fault in content["faults"]:
        for field in _SINCE_VERSION_2:
            if not fault["schedule"][field]:
                del fault["schedule"][field]
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()
