"""From a rule to its code in one hop: the case, the clause, the wrong variant and the place in the reference.

Each is found in the source of the thing itself, so that no list of places can be wrong. What keeps a rule in the
reference is what its docstrings name it in, and what the wrong variants of its cases replace: the step that breaks the
rule where it is taken wrongly. Each file is read once; its tree, which is large, is not kept.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import loading
from holdfast.harness.engine.site.garbage import rare_collections
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.rule import Part, Place
from holdfast.harness.spi.system import Code, ShowsCode, SystemCode

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
def parsed(file: Path) -> Source:
    """What stands in a file of Python."""
    content = file.read_text(encoding="utf-8")
    with rare_collections():  # Its tree has no circles.
        return _parsed(content, file.stem)


def _parsed(content: str, name: str) -> Source:
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
    named = _docstrings(tree, name) if RULE.search(content) else ()
    docstrings = tuple(each for each in named if RULE.search(each.text))
    return Source(texts, patterns, _clauses(nodes, constants), tuple(imports), _definitions(tree), docstrings)


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


def _definitions(node: ast.AST) -> tuple[Defined, ...]:
    """Classes and functions, however deep in statements."""
    inside = _statements(node)
    for each in inside:  # grows while it is read
        inside += _statements(each)
    return tuple(
        Defined(each.name, each.lineno, _definitions(each)) for each in inside if isinstance(each, _Definition)
    )


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
    return parsed(file) if file else None


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
                for name, number, text in parsed(file).docstrings:
                    for rule in RULE.findall(text):
                        found.setdefault(rule, {})[Line(file, number, name)] = None
    return {rule: tuple(lines) for rule, lines in found.items()}


@cache
def _defined(module: str, qualified_name: str) -> Line | None:
    file = _file_of(module)
    if file is None:
        return None
    number, inside = 1, parsed(file).defined
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


REFERENCE = "reference"
"""The system whose code shows how a rule can be kept."""


class Found(NamedTuple):
    """A place, and the file of this machine that it is in."""

    place: Place
    file: Path


def places_of(rule: str, cases: Iterable[Case]) -> tuple[Found, ...]:
    """Where the parts of a rule are written down, each once; none of a part that the rule does not have.

    Args:
        rule: its id.
        cases: all that exist.
    """
    deciding = [case for case in cases if any(each.rule == rule for each in case.decides)]
    decisions = [each for case in deciding for each in case.decides if each.rule == rule]
    found = [_found(Part.CASE, case.id, _case_line(case)) for case in deciding]
    for clause in dict.fromkeys((each.oracle, name) for each in decisions for name in each.clauses):
        found += [_found(Part.CLAUSE, "/".join(clause), line) for line in _clause_lines(*clause)]
    wrong = {each.mutant: each for each in decisions}
    found += [_found(Part.VARIANT, name, _variant_line(each)) for name, each in wrong.items()]
    found += [_found(Part.REFERENCE, line.name, line) for line in _kept_in(rule, wrong.values())]
    return tuple(dict.fromkeys(each for each in found if each is not None))


def read_places() -> Iterator[tuple[Found, ...]]:
    """The places of each rule, one by one: to iterate parses the sources, so that later look-ups need not wait."""
    return (places_of(rule.id, registry.cases()) for rule in registry.rules())


def _found(part: Part, name: str, line: Line | None) -> Found | None:
    return line and Found(Place(part, name, short(line.file), line.number), line.file)


# --- the case ---


def _case_line(case: Case) -> Line | None:
    """Where its id is written, in full or as a pattern such as `f"coordinator/withheld-{role}"`."""
    module = next((module for module, cases in registry.cases_by_module().items() if case in cases), "")
    source = source_of(module)
    number = source.texts.get(case.id) if source else None
    if source and number is None:
        fitting = [each for each in source.patterns if re.fullmatch(each, case.id)]
        number = source.patterns[max(fitting, key=len)] if fitting else None
    return None if number is None else next(lines_at(module, [number]), None)


# --- the clause ---


@cache
def _clause_lines(oracle: str, clause: str) -> tuple[Line, ...]:
    """Where an oracle finds its clause violated; where it does so by a variable, where that gets its value."""
    modules = [
        module
        for package, oracles in registry.oracles_by_module().items()
        for each in oracles
        if each.name == oracle
        for module in imported_below(type(each).__module__, package)
    ]
    read = {module: source for module in modules if (source := source_of(module))}
    for way in Way:
        numbers = {module: source.clauses.get((way, clause), ()) for module, source in read.items()}
        if any(numbers.values()):
            return tuple(line for module, found in numbers.items() for line in lines_at(module, found))
    return ()


# --- the wrong variant, and what it replaces ---


@cache
def _system_code(name: str) -> SystemCode:
    """The code of a system; of one that cannot be made here, none: a library or a program is missing."""
    try:
        system = registry.system(name)
        with loading(f"the code of system {name!r}", "mend its method code"):
            return system.code() if isinstance(system, ShowsCode) else SystemCode()
    except UsageError:
        return SystemCode()


def _variant_line(decision: Decision) -> Line | None:
    if decision.hand_made:
        made = registry.history(decision.hand_made)
        return line_of(made) if made else None
    return next(_lines(_system_code(decision.wrong_system).variant), None)


def _kept_in(rule: str, decisions: Iterable[Decision]) -> Iterator[Line]:
    for package in _system_code(REFERENCE).packages:
        yield from documented(package).get(rule, ())
    for decision in decisions:
        if decision.wrong_system.partition("+")[0] == REFERENCE:
            yield from _lines(_system_code(decision.wrong_system).replaced)


def _lines(codes: Iterable[Code]) -> Iterator[Line]:
    return (line for each in codes if (line := line_of(each)) is not None)
