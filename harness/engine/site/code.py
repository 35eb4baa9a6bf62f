"""Where code lies: file and line of what is plugged in, read off its source, so that no list of places can be wrong."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from holdfast.harness.engine.site.sources import RULE, Source
from holdfast.harness.engine.site.sources import source_of as source_of_file
from holdfast.harness.spi.code import Code


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


@cache
def short(file: Path) -> str:
    """A path from the folder in which its top package lies; from that of the file itself if it is in no package."""
    top = file.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return file.relative_to(top.parent if (top / "__init__.py").is_file() else top).as_posix()


def source_of(module: str) -> Source | None:
    """The source of a module; None if it has none."""
    file = _file_of(module)
    return source_of_file(file) if file else None


def lines_at(module: str, numbers: Iterable[int]) -> Iterator[Line]:
    """These lines of a module, each once and in order."""
    if file := _file_of(module):
        yield from (Line(file, number) for number in sorted({*numbers}))


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
            if RULE.search(file.read_text(encoding="utf-8")):
                for name, number, text in source_of_file(file).docstrings:
                    for rule in RULE.findall(text):
                        found.setdefault(rule, {})[Line(file, number, name)] = None
    return {rule: tuple(lines) for rule, lines in found.items()}


@cache
def _defined(module: str, qualified_name: str) -> Line | None:
    file = _file_of(module)
    if file is None:
        return None
    number, inside = 1, source_of_file(file).defined
    for name in qualified_name.replace("<locals>.", "").split("."):
        found = next((each for each in inside if each.name == name), None)
        if found is None:
            return None
        number, inside = found.number, found.inner
    return Line(file, number, qualified_name)


def _imports(module: str, package: str) -> Iterator[str]:
    source = source_of(module)
    for imported in source.imports if source else ():
        if f"{imported.module}.".startswith(f"{package}."):
            named = (f"{imported.module}.{name}" for name in imported.names)
            yield from (each for each in named if _file_of(each))
            if imported.module != package:
                yield imported.module


@cache
def _file_of(module: str) -> Path | None:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    origin = Path(spec.origin) if spec and spec.origin else None
    return origin if origin and origin.suffix == ".py" and origin.is_file() else None
