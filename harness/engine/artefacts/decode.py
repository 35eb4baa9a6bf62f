"""From bytes that somebody else wrote to a value, or one sentence that says where they are wrong."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
import msgspec.inspect

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.nearest import known_names

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
    """The version that a document says it has, without a look at the rest of it."""
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
