"""Our packages in one file are imported by whoever sees nothing else of ours, whatever its Python."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

pytest.importorskip("docker")

from holdfast.fixtures.services.container import Session
from holdfast.fixtures.services.ourselves import archive

MODULE = "holdfast/harness/model/target.py"
IMPORT = """
import sys
sys.path.insert(0, sys.argv[1])
sys.meta_path[:] = [finder for finder in sys.meta_path if "holdfast" not in getattr(finder, "__module__", "")]
from holdfast.harness.model import target
print(target.__file__, target.Target(target.Role.COORDINATOR))
"""


@pytest.fixture(scope="module")
def packages() -> Iterator[Path]:
    with closing(Session({})) as session:
        yield archive(session)


def imported_from(packages: Path) -> str:
    done = subprocess.run([sys.executable, "-c", IMPORT, str(packages)], capture_output=True, text=True, check=True)
    path, target = done.stdout.split(maxsplit=1)
    assert target.strip() == "coordinator[0]", done.stdout
    return path


def test_what_is_compiled_there_is_taken(packages: Path) -> None:
    assert imported_from(packages) == f"{packages}/{MODULE}c"


def test_another_release_takes_the_source(packages: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.zip"
    with zipfile.ZipFile(packages) as ours, zipfile.ZipFile(foreign, "w") as theirs:
        for name in ours.namelist():
            content = ours.read(name)
            compiled_elsewhere = bytes(len(MAGIC_NUMBER)) + content[len(MAGIC_NUMBER) :]
            theirs.writestr(name, compiled_elsewhere if name.endswith(".pyc") else content)
    assert imported_from(foreign) == f"{foreign}/{MODULE}"
