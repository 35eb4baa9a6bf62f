"""The protocol of a program in any language: every message, from its type."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

import msgspec

import holdfast.fixtures.systems
from holdfast.fixtures.systems.json_lines import messages

README = Path(holdfast.fixtures.systems.__path__[0]) / "README.md"
PART = re.compile(r"^## A program over JSON lines, protocol version 2\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^[<>] (\{.*\})$", re.MULTILINE)
_FIELD = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_WORDS = {"string": "text", "null": "null"}


def pages() -> dict[str, str]:
    """`json-lines.md`."""
    return {"json-lines.md": "\n".join(_page())}


def _page() -> Iterator[str]:
    part = PART.search(README.read_text())
    assert part, f"{README} has no part on the protocol"
    examples = {(each["type"], each.get("version") == 1): each for each in map(json.loads, _EXAMPLE.findall(part[1]))}
    yield "# JSON lines"
    yield part[1]
    yield "## Every message"
    yield ""
    yield "`holdfast schema adapter` prints those of version 2 as JSON Schema."
    kinds = (*get_args(messages.Order), *get_args(messages.Answer))
    for kind in sorted(kinds, key=_is_first_version):
        yield from _message(kind, examples[tag(kind), _is_first_version(kind)])
    for enumeration in (messages.Claim, messages.Offer):
        yield from _names(enumeration)


def tag(kind: type[msgspec.Struct]) -> str:
    """What stands in the field `type` of a message."""
    return str(kind.__struct_config__.tag)


def anchor(kind: type[msgspec.Struct]) -> str:
    """Of a message on its page."""
    return f"{tag(kind)}-of-version-1" if _is_first_version(kind) else tag(kind)


def _is_first_version(kind: type[msgspec.Struct]) -> bool:
    return kind is messages.FirstInit


def _message(kind: type[msgspec.Struct], example: Mapping[str, Any]) -> Iterator[str]:
    said = inspect.getdoc(kind) or ""
    meanings = {name: " ".join(meaning.split()) for name, meaning in _FIELD.findall(said)}
    sender = "the harness" if kind in get_args(messages.Order) else "the program"
    yield f"\n### {anchor(kind).replace('-', ' ')} {{ #{anchor(kind)} }}\n"
    yield f"**From {sender}.** {' '.join(said.partition('Attributes:')[0].split())}"
    schema = msgspec.json.schema(kind)["$defs"][kind.__name__]
    yield "\n| field | type | meaning |\n|---|---|---|"
    yield f'| `type` | text | `"{tag(kind)}"` |'
    for name, field in schema["properties"].items():
        if name != "type":
            left_out = "" if name in schema["required"] else f" If left out: `{json.dumps(field.get('default'))}`."
            yield f"| `{name}` | {_words(field)} | {meanings[name].rstrip('.')}.{left_out} |"
    yield f"\n```json\n{json.dumps(example, separators=(',', ':'))}\n```"


def _words(field: Mapping[str, Any], plural: str = "") -> str:
    """The type of a field, for people; `plural` is an s where an array holds many."""
    if "anyOf" in field:
        return " or ".join(_words(each, plural) for each in field["anyOf"])
    if "$ref" in field:
        names = f"{field['$ref'].rpartition('/')[2].lower()}s"
        return f"{'some' if plural else 'one'} of [{names}](#{names})"
    if "prefixItems" in field:
        return f"[{', '.join(map(_words, field['prefixItems']))}]"
    if field["type"] == "array":
        return f"array of {_words(field['items'], 's')}"
    return f"whole number{plural}" if field["type"] == "integer" else _WORDS[field["type"]]


def _names(enumeration: type[StrEnum]) -> Iterator[str]:
    heading = f"{enumeration.__name__}s"
    yield f"\n### {heading} {{ #{heading.lower()} }}\n"
    yield " ".join((enumeration.__doc__ or "").split())
    yield "\n| name | meaning |\n|---|---|"
    for name, meaning in member_meanings(enumeration).items():
        yield f"| `{name}` | {meaning} |"


def member_meanings(enumeration: type[StrEnum]) -> dict[str, str]:
    """By value, what the docstring behind each member says, which only the source holds."""
    (definition,) = ast.parse(dedent(inspect.getsource(enumeration))).body
    assert isinstance(definition, ast.ClassDef)
    said = zip(definition.body, definition.body[1:], strict=False)
    texts = {
        ast.unparse(member.targets[0]): inspect.cleandoc(ast.literal_eval(text.value))
        for member, text in said
        if isinstance(member, ast.Assign) and isinstance(text, ast.Expr)
    }
    return {member.value: " ".join(texts[member.name].split()) for member in enumeration}
