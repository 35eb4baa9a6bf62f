"""The compiled wheel: its compiler is the one that the metadata ask for, and takes the modules that setup.py names."""

from __future__ import annotations

import ast
import importlib
import inspect
import runpy
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


CONFIGURATION = Path("fixtures/reference/protocol/configuration/configuration.py")
"""A module whose struct derives from one of another module."""
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


def test_no_compiled_module_has_a_struct(compiled: list[Path]) -> None:
    """Compiled, a struct loses what its class line asks for."""
    for path in compiled:
        module = importlib.import_module(".".join(("holdfast", *path.with_suffix("").parts)))
        for name, value in vars(module).items():
            own = inspect.isclass(value) and value.__module__ == module.__name__
            assert not (own and issubclass(value, msgspec.Struct)), f"{path}: {name}"


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


def heirs_of_compiled(root: Path, compiled: Collection[Path]) -> Iterator[str]:
    """Interpreted classes with a compiled base. Nobody makes an instance of a protocol."""
    for path in sorted(path.relative_to(root) for top in of_setup("TOP") for path in (root / top).rglob("*.py")):
        if path in compiled or any(path.is_relative_to(each) for each in VARIANTS):
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
