"""What is looked for in source files. Each is read once; its tree, which is large, is not kept."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from pathlib import Path
from typing import NamedTuple

RULE = re.compile(r"\b[A-Z][A-Z0-9]{2}-[0-9]{2}\b")
"""Id of a rule."""
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Way(Enum):
    """How a clause is named, the most telling way first."""

    VIOLATED = auto()
    GIVEN = auto()
    DESCRIBED = auto()


class Defined(NamedTuple):
    """A class or a function, and what is defined in it, the outermost first."""

    name: str
    number: int
    inner: tuple[Defined, ...]


class Imported(NamedTuple):
    """A module, and what is imported from it by name."""

    module: str
    names: tuple[str, ...]


class Docstring(NamedTuple):
    """One that names a rule, with name and line of what it is about."""

    name: str
    number: int
    text: str


class Source(NamedTuple):
    """One file; numbers are those of lines.

    Attributes:
        texts: by text, its first line.
        patterns: of texts that are made of others, by a regular expression of what they may be.
        clauses: by way and text, where a clause may be named so.
        imports: in their order.
        defined: outside of everything, and behind that within other things, too.
        docstrings: of whatever stands in it.
    """

    texts: Mapping[str, int]
    patterns: Mapping[str, int]
    clauses: Mapping[tuple[Way, str], Sequence[int]]
    imports: tuple[Imported, ...]
    defined: tuple[Defined, ...]
    docstrings: tuple[Docstring, ...]


@cache
def source_of(file: Path) -> Source:
    """What stands in a file of Python."""
    content = file.read_text(encoding="utf-8")
    tree = ast.parse(content)
    nodes = _walked(tree)
    constants = [*_texts(nodes)]
    texts: dict[str, int] = {}
    for text in constants:
        texts[str(text.value)] = min(texts.get(str(text.value), text.lineno), text.lineno)
    patterns: dict[str, int] = {}
    imports: list[Imported] = []
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            patterns.setdefault(_pattern(node), node.lineno)
        elif isinstance(node, ast.ImportFrom):
            imports.append(Imported(str(node.module), tuple(alias.name for alias in node.names)))
    named = _docstrings(tree, file.stem) if RULE.search(content) else ()
    docstrings = tuple(each for each in named if RULE.search(each.text))
    return Source(texts, patterns, _clauses(nodes, constants), tuple(imports), _defined(tree), docstrings)


def _walked(node: ast.AST) -> list[ast.AST]:
    """What `ast.walk` finds, in its order and in half the time, but for what says how a name is used."""
    found = [node]
    for each in found:  # grows while it is read
        if type(each) is not ast.Name and type(each) is not ast.Constant:
            for name in each._fields:
                value = getattr(each, name, None)
                if isinstance(value, list):
                    found += [child for child in value if isinstance(child, ast.AST)]
                elif isinstance(value, ast.AST):
                    found.append(value)
    return found


def _pattern(text: ast.JoinedStr) -> str:
    return "".join(re.escape(str(each.value)) if isinstance(each, ast.Constant) else ".+" for each in text.values)


def _clauses(nodes: Sequence[ast.AST], constants: Sequence[ast.Constant]) -> dict[tuple[Way, str], list[int]]:
    found: dict[tuple[Way, str], list[int]] = {}
    passed: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and _calls(node, "violated"):
            for text in _texts(_walked(node)):
                found.setdefault((Way.VIOLATED, str(text.value)), []).append(node.lineno)
        elif _describes(node):
            for text in _texts(node.keys if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)):
                passed.add(id(text))
                found.setdefault((Way.DESCRIBED, str(text.value)), []).append(text.lineno)
    for text in constants:
        if id(text) not in passed:
            found.setdefault((Way.GIVEN, str(text.value)), []).append(text.lineno)
    return found


def _texts(nodes: Iterable[ast.AST | None]) -> Iterator[ast.Constant]:
    return (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _describes(node: ast.AST) -> bool:
    """Whether texts in it name clauses that are described, or counted as `check` and `checked[...]` do."""
    match node:
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.lstrip("_") == "checked"
        case ast.Call():
            return _calls(node, "check")
    return isinstance(node, ast.Dict)


def _calls(node: ast.Call, method: str) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == method


def _defined(node: ast.AST) -> tuple[Defined, ...]:
    """Classes and functions, however deep in statements."""
    inside = _statements(node)
    for each in inside:  # grows while it is read
        inside += _statements(each)
    return tuple(Defined(each.name, each.lineno, _defined(each)) for each in inside if isinstance(each, _Definition))


def _statements(node: ast.AST) -> list[ast.AST]:
    """Right below another one; also what holds some, such as a case of a match."""
    return [child for name in _BLOCKS for child in getattr(node, name, ())]


def _docstrings(node: ast.AST, name: str) -> Iterator[Docstring]:
    """Each with the line of what it is about: a definition, or the field or constant in front of it."""
    owner = getattr(node, "lineno", 1)
    before: ast.AST | None = None
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Expr(value=ast.Constant(value=str() as text)):
                yield Docstring(name, owner if before is None else getattr(before, "lineno", 1), text)
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = f"{name}.{child.name}" if isinstance(node, _Definition) else child.name
                yield from _docstrings(child, inner)
        before = child if isinstance(child, ast.stmt) else before
