"""The compiled wheel: its compiler is the one that the metadata ask for, and takes the modules that setup.py names."""

from __future__ import annotations

import abc
import ast
import importlib
import inspect
import runpy
import tomllib
import typing
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import msgspec
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


CONFIGURATION = Path("fixtures/reference/protocol/configuration/configuration.py")
"""A module whose struct derives from one of another module."""
Value = typing.TypeVar("Value")
VARIANTS = ("fixtures/mutants", "suites/selfcheck", "suites/bench/discarding.py")
"""What stands in for parts of the reference: the compiled wheel is not for it."""


def of_setup(name: str) -> Any:
    """What setup.py defines."""
    if not (ROOT / "setup.py").exists():
        pytest.skip("no checkout")
    return runpy.run_path(str(ROOT / "setup.py"))[name]


def compiled_of(root: Path) -> list[Path]:
    """The modules that are compiled of the packages in a folder, as paths from there."""
    modules: list[Path] = of_setup("modules")(root)
    return [path.relative_to(root) for path in modules]


@pytest.fixture(scope="module")
def compiled() -> list[Path]:
    """The modules of the checkout that are compiled."""
    modules = compiled_of(ROOT)
    assert modules
    return modules


def of_own_body(body: list[ast.stmt]) -> Iterator[str]:
    """Names that a class binds and reads in its body, outside its methods."""
    bound: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
            yield from (name.id for name in names if isinstance(name.ctx, ast.Load) and name.id in bound)
            bound.update(name.id for name in names if isinstance(name.ctx, ast.Store))


def test_no_class_body_of_a_compiled_module_reads_what_it_binds(compiled: list[Path]) -> None:
    """Compiled, such a name is looked for in the module, and the import fails."""
    found = [
        f"{path}:{node.lineno}: {name}"
        for path in compiled
        for node in ast.walk(ast.parse((ROOT / path).read_bytes()))
        if isinstance(node, ast.ClassDef)
        for name in of_own_body(node.body)
    ]
    assert not found


def test_no_function_of_a_compiled_module_decorates_another_one_within_it(compiled: list[Path]) -> None:
    """Compiled, a third function within sees no value of its name."""
    found = [
        f"{path}:{node.lineno}: {node.name}"
        for path in compiled
        for outer in ast.walk(ast.parse((ROOT / path).read_bytes()))
        if isinstance(outer, ast.FunctionDef)
        for node in ast.walk(outer)
        if isinstance(node, ast.FunctionDef) and node is not outer and node.decorator_list
    ]
    assert not found


def name_of(path: Path) -> str:
    """Of a module, by its path from the root."""
    return ".".join(("holdfast", *path.with_suffix("").parts))


def own_classes(module: ModuleType) -> list[type]:
    """Those that a module defines at its top."""
    return [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]


def test_no_compiled_module_has_a_struct(compiled: list[Path]) -> None:
    """Compiled, a struct loses what its class line asks for."""
    for path in compiled:
        for each in own_classes(importlib.import_module(name_of(path))):
            assert not issubclass(each, msgspec.Struct), each


NATIVE = {type, abc.ABCMeta, type(typing.Protocol)}
"""With another metaclass, such as that of Enum, a class stays as it is also in a compiled module."""
WITHOUT_ATTRIBUTES = {typing.Generic, typing.Protocol, abc.ABC}


def interpreted_bases(each: type, compiled: Collection[str]) -> list[type]:
    """Bases of a class that is compiled whose attributes the compiler does not know. What it does not take of the
    built-in ones it refuses by itself."""
    return [
        base
        for base in each.__mro__
        if type(each) in NATIVE
        and base.__module__ not in {*compiled, "builtins"}
        and not getattr(base, "_is_protocol", False)
        and base not in WITHOUT_ATTRIBUTES
    ]


def test_no_compiled_class_has_an_interpreted_base(compiled: list[Path]) -> None:
    """The compiler lays out an object without asking such a base. The thread of a lane released the weak reference by
    which `threading` knew it as if it owned it, and the next garbage collection read freed memory."""
    names = {name_of(path) for path in compiled}
    found = {
        each: bases
        for name in names
        for each in own_classes(importlib.import_module(name))
        if (bases := interpreted_bases(each, names))
    }
    assert not found


def test_an_interpreted_base_is_found_through_a_compiled_one() -> None:
    class Sized(typing.Protocol):
        size: int

    class Compiled(Thread):
        pass

    class Heir(Compiled, Sized, typing.Generic[Value]):
        pass

    Compiled.__module__ = Heir.__module__ = "compiled"
    assert interpreted_bases(Heir, {"compiled"}) == [Thread]


def home(root: Path, module: str, name: str = "") -> Path | None:
    """The file of a module of ours, or of what is named in a package, as a path from the root."""
    parts = [*module.split("."), *name.split(".")][1:]
    there = Path(*filter(None, parts))
    found = (path for path in (Path(f"{there}.py"), there / "__init__.py") if (root / path).is_file())
    return next(found, None)


@cache
def read(path: Path) -> tuple[dict[str, tuple[str, str]], dict[str, list[str]]]:
    """What a module imports, by the name that it uses: module and name there; and the bases of its classes."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    imported = {alias.asname or alias.name: (node.module or "", alias.name) for node in froms for alias in node.names}
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    return imported, {each.name: [ast.unparse(base).partition("[")[0] for base in each.bases] for each in classes}


def has_compiled_base(root: Path, compiled: Collection[Path], path: Path, name: str) -> bool:
    """Whether a class that a module defines or imports is compiled, or has such a base."""
    imported, classes = read(root / path)
    if name in classes:
        return path in compiled or any(has_compiled_base(root, compiled, path, base) for base in classes[name])
    first, _, rest = name.partition(".")
    module, original = imported.get(first, ("", ""))
    if not module.startswith("holdfast"):
        return False
    there = home(root, module, original) if rest else home(root, module)
    return there is not None and has_compiled_base(root, compiled, there, rest or original)


def beside_variants(root: Path) -> list[Path]:
    """All modules of the packages in a folder but for VARIANTS, as paths from there."""
    paths = (path.relative_to(root) for top in of_setup("TOP") for path in (root / top).rglob("*.py"))
    return sorted(path for path in paths if not any(path.is_relative_to(each) for each in VARIANTS))


def heirs_of_compiled(root: Path, compiled: Collection[Path]) -> Iterator[str]:
    """Interpreted classes with a compiled base. Nobody makes an instance of a protocol."""
    for path in beside_variants(root):
        if path in compiled:
            continue
        for name, bases in read(root / path)[1].items():
            if "Protocol" not in bases and has_compiled_base(root, compiled, path, name):
                yield f"{path}: {name}"


def test_no_interpreted_class_has_a_compiled_base(compiled: list[Path]) -> None:
    """Whoever makes an instance of such a class is refused."""
    assert not list(heirs_of_compiled(ROOT, set(compiled)))


def test_an_interpreted_heir_is_found_through_packages_modules_and_protocols(tmp_path: Path) -> None:
    written = {
        "harness/sim/kernel.py": "class Kernel: ...\nclass Channels(Protocol): ...\n",
        "harness/sim/__init__.py": "from holdfast.harness.sim.kernel import Kernel\n",
        "harness/own.py": "from holdfast.harness.sim import Kernel as Base, kernel\n"
        "class Renamed(Base): ...\nclass Dotted(kernel.Kernel): ...\nclass Plain(list[int]): ...\n",
        "harness/wider.py": "from holdfast.harness.sim.kernel import Channels\nclass Wider(Channels, Protocol): ...\n",
        "harness/made.py": "from holdfast.harness.wider import Wider\nclass Made(Wider): ...\n",
        "fixtures/mutants/wrong.py": "from holdfast.harness.sim import Kernel\nclass Wrong(Kernel): ...\n",
    }
    for path, text in written.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert list(heirs_of_compiled(tmp_path, compiled_of(tmp_path))) == [
        "harness/made.py: Made",
        "harness/own.py: Renamed",
        "harness/own.py: Dotted",
    ]


def weak_references(root: Path, compiled: Collection[Path]) -> Iterator[str]:
    """What of `weakref` a module uses for compiled objects, or without an annotation, such as WeakSet[View], that says
    for what."""
    for path in beside_variants(root):
        if "weakref" not in (root / path).read_text():
            continue
        nodes = list(ast.walk(ast.parse((root / path).read_bytes())))
        imports = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        holders = {name for name, (module, _) in read(root / path)[0].items() if module == "weakref"}
        annotated = [node for node in nodes if isinstance(node, ast.Subscript) and ast.unparse(node.value) in holders]
        held = {ast.unparse(node) for each in annotated for node in ast.walk(each.slice) if isinstance(node, ast.expr)}
        found = holders - {ast.unparse(each.value) for each in annotated}
        found |= {name for name in imports if name == "weakref"}
        found |= {name for name in held if has_compiled_base(root, compiled, path, name)}
        yield from (f"{path}: {name}" for name in sorted(found))


def test_nothing_refers_weakly_to_an_object_of_a_compiled_class(compiled: list[Path]) -> None:
    """Most such classes refuse it. Others, of a generic or abstract base, release the reference as if they owned it."""
    assert not list(weak_references(ROOT, set(compiled)))


def test_a_weak_reference_is_found_by_what_it_is_declared_for(tmp_path: Path) -> None:
    written = {
        "harness/sim/kernel.py": "from weakref import WeakSet\nclass Kernel:\n    known: WeakSet[Kernel]\n",
        "harness/sim/disk.py": "from weakref import finalize\n",
        "harness/other.py": "import weakref\n",
        "harness/own.py": "from weakref import WeakKeyDictionary as Weak\nfrom holdfast.harness.sim import kernel\n"
        "class Plain: ...\nkernels: Weak[kernel.Kernel, int]\nplain: Weak[Plain, str] = Weak()\n",
        "fixtures/mutants/wrong.py": "import weakref\n",
    }
    for path, text in written.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert list(weak_references(tmp_path, compiled_of(tmp_path))) == [
        "harness/other.py: weakref",
        "harness/own.py: kernel.Kernel",
        "harness/sim/disk.py: finalize",
        "harness/sim/kernel.py: Kernel",
    ]


def test_no_compiled_class_remembers_a_property(compiled: list[Path]) -> None:
    """Compiled, a cached property is a plain one, which is worked out whenever it is asked for."""
    assert not [path for path in compiled if "cached_property" in (ROOT / path).read_text()]


def bytes_cast(path: Path) -> Iterator[int]:
    """Lines of a module that take something for bytes."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        match node:
            case ast.Call(ast.Name("cast"), [kind, _]) if "bytes" in ast.unparse(kind):
                yield node.lineno


def test_no_compiled_module_takes_lent_memory_for_bytes(compiled: list[Path]) -> None:
    """Compiled, a cast to a type that is built in is looked at, and a view of memory is refused (medium.TakesLent)."""
    assert not {path: lines for path in compiled if (lines := [*bytes_cast(path)])}


def test_a_struct_of_an_imported_base_is_one(compiled: list[Path], tmp_path: Path) -> None:
    assert CONFIGURATION not in compiled
    options = tmp_path / "harness/model/options.py"
    plain = Path("fixtures/reference/protocol/plain.py")
    for folder in (options.parent, (tmp_path / CONFIGURATION).parent):
        folder.mkdir(parents=True)
    options.write_text("class Options(msgspec.Struct): ...\nclass Wider(Options): ...\nclass Plain: ...\n")
    (tmp_path / CONFIGURATION).write_text(
        "from holdfast.harness.model.options import Wider\nclass Configuration(Wider, frozen=True): ...\n"
    )
    (tmp_path / plain).write_text("from holdfast.harness.model.options import Plain\nclass Own(Plain): ...\n")
    assert compiled_of(tmp_path) == [plain]


def test_the_metadata_ask_for_the_compiler_that_setup_takes() -> None:
    setup, project = ROOT / "setup.py", ROOT / "pyproject.toml"
    if not setup.exists():
        pytest.skip("no checkout")
    lines = setup.read_text().splitlines()
    [taken] = [line.split('"')[1] for line in lines if line.startswith("MYPY =")]
    major, minor = taken.rstrip(".").split(".")
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    [asked] = [each for extra in extras.values() for each in map(Requirement, extra) if each.name == "mypy"]
    assert f"{taken}0" in asked.specifier
    assert f"{taken}99" in asked.specifier
    assert f"{major}.{int(minor) + 1}.0" not in asked.specifier
    assert f"{major}.{int(minor) - 1}.9" not in asked.specifier
