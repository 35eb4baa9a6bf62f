"""The compiled wheel: its compiler is the one that the metadata ask for, and takes the modules that setup.py names."""

from __future__ import annotations

import ast
import importlib
import inspect
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


CONFIGURATION = Path("fixtures/reference/protocol/configuration/configuration.py")
"""A module whose struct derives from one of another module."""


def compiled_of(root: Path) -> list[Path]:
    """The modules that are compiled of the packages in a folder, as paths from there."""
    if not (ROOT / "setup.py").exists():
        pytest.skip("no checkout")
    modules: list[Path] = runpy.run_path(str(ROOT / "setup.py"))["modules"](root)
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
