"""Where code lies: file and line of what is plugged in, read off its source, so that no list of places can be wrong."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.harness.spi.code import Code

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Line(NamedTuple):
    """A line of a file; `name` is what is defined there, as far as it has a name."""

    file: Path
    number: int
    name: str = ""


def line_of(code: Code) -> Line | None:
    """Where a class, a function, `module:name` or a file begins; None for what was made at run time."""
    if isinstance(code, Path):
        return Line(code, 1, code.name)
    if isinstance(code, str):
        module, _, name = code.partition(":")
        return _defined(module, name)
    if isinstance(code, type):
        return _defined(code.__module__, code.__qualname__)
    compiled = getattr(inspect.unwrap(code), "__code__", None)
    if compiled is None:
        return None
    return Line(Path(compiled.co_filename), compiled.co_firstlineno, getattr(code, "__qualname__", ""))


def short(file: Path) -> str:
    """A path from the folder in which its top package lies; from that of the file itself if it is in no package."""
    top = file.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return file.relative_to(top.parent if (top / "__init__.py").is_file() else top).as_posix()


@cache
def nodes_of(module: str) -> tuple[ast.AST, ...]:
    """Everything in the source of a module; nothing if it has none."""
    file = _file_of(module)
    return tuple(ast.walk(_tree(file))) if file else ()


def lines_at(module: str, nodes: Iterable[ast.AST]) -> Iterator[Line]:
    """Where nodes of a module stand, each line once and in order."""
    if file := _file_of(module):
        yield from (Line(file, number) for number in sorted({getattr(node, "lineno", 1) for node in nodes}))


@cache
def imported_below(module: str, package: str) -> tuple[str, ...]:
    """A module, and what it imports of a package, and so on: nearest first."""
    found = [module]
    for each in found:  # grows while it is read
        found += [name for name in dict.fromkeys(_imports(each, package)) if name not in found]
    return tuple(found)


@cache
def documented(package: str) -> dict[str, tuple[Line, ...]]:
    """By id of a rule, what names it in its docstring, anywhere in a package."""
    found: dict[str, dict[Line, None]] = {}
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file in sorted(Path(folder).rglob("*.py")):
            if _RULE.search(file.read_text(encoding="utf-8")):
                for line, text in _docstrings(file, _tree(file), file.stem):
                    for rule in _RULE.findall(text):
                        found.setdefault(rule, {})[line] = None
    return {rule: tuple(lines) for rule, lines in found.items()}


_RULE = re.compile(r"\b[A-Z][A-Z0-9]{2}-[0-9]{2}\b")


def _docstrings(file: Path, node: ast.AST, name: str) -> Iterator[tuple[Line, str]]:
    """Each docstring with the line of what it is about: a definition, or the field or constant in front of it."""
    owner = Line(file, getattr(node, "lineno", 1), name)
    before: ast.AST | None = None
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Expr(value=ast.Constant(value=str() as text)):
                yield (owner if before is None else Line(file, getattr(before, "lineno", 1), name)), text
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = f"{name}.{child.name}" if isinstance(node, Definition) else child.name
                yield from _docstrings(file, child, inner)
        before = child if isinstance(child, ast.stmt) else before


def _defined(module: str, qualified_name: str) -> Line | None:
    file = _file_of(module)
    if file is None:
        return None
    names = qualified_name.replace("<locals>.", "").split(".")
    node: Any = _tree(file)
    for name in names:
        node = next((each for each in ast.walk(node) if isinstance(each, Definition) and each.name == name), None)
        if node is None:
            return None
    return Line(file, node.lineno, qualified_name)


def _imports(module: str, package: str) -> Iterator[str]:
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{package}."):
            yield from (
                f"{node.module}.{alias.name}" for alias in node.names if _file_of(f"{node.module}.{alias.name}")
            )
            if node.module != package:
                yield str(node.module)


@cache
def _file_of(module: str) -> Path | None:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    origin = Path(spec.origin) if spec and spec.origin else None
    return origin if origin and origin.suffix == ".py" and origin.is_file() else None


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))
