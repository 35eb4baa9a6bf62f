"""How the docstrings of the code become pages: a griffe extension, named in `mkdocs.yml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import griffe

_SEVERAL = re.compile(r"^( +)(\w+(?:, \w+)+): ((?:.*)(?:\n\1 +\S.*)*)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+): .*(?:\n {8}.*)*", re.MULTILINE)
_LIST = re.compile(r"\n(?= *- )")


class Docstrings(griffe.Extension):
    """Our docstrings are written to be read in the code; what a page needs besides is added here."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """An object was read."""
        if obj.docstring:
            obj.docstring.value = as_page(obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """All members of a class were read."""
        if cls.docstring:
            values = {name: each.value for name, each in cls.attributes.items() if each.value is not None}
            cls.docstring.value = with_defaults(cls.docstring.value, {name: str(values[name]) for name in values})


def as_page(docstring: str) -> str:
    """A docstring with an entry for each name of an entry such as `key, value: of the row.`, and with a blank line
    before each list, as Markdown wants it."""
    return "\n\n".join(_spaced(block) for block in _SEVERAL.sub(_apart, docstring).split("\n\n"))


def with_defaults(docstring: str, values: Mapping[str, str]) -> str:
    """A docstring whose entries tell what an attribute is if nobody sets it, by the source of each value."""

    def listed(entry: re.Match[str]) -> str:
        value = values.get(entry[1])
        return entry[0] if value is None else f"{entry[0].rstrip('.')}. Default: `{value}`."

    return _ENTRY.sub(listed, docstring)


def _apart(entry: re.Match[str]) -> str:
    indent, names, meaning = entry.groups()
    return "\n".join(f"{indent}{name}: {meaning}" for name in names.split(", "))


def _spaced(block: str) -> str:
    return block if block.lstrip().startswith("- ") else _LIST.sub("\n\n", block, count=1)
