"""What counts as offered of an optional protocol: the same on every Python that is here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Protocol, runtime_checkable

import pytest

from holdfast.harness.engine.site import registry
from holdfast.harness.spi import offered
from holdfast.harness.spi.offered import Offered
from holdfast.harness.spi.system import SelfDescribing, SideBySide, Sweeper
from holdfast.suites.selfcheck.source_files import source_files

TABLE = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Protocol, runtime_checkable

spec = spec_from_file_location("offered", sys.argv[1])
offered = module_from_spec(spec)
spec.loader.exec_module(offered)


@runtime_checkable
class Optional(Protocol, metaclass=offered.Offered):
    width: int

    def sweep(self) -> None: ...


class Whole:
    width = 1

    def sweep(self):
        pass


class HandsOn:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class ByProperty(Whole):
    @property
    def width(self):
        raise AttributeError("it would start something")


class InInstance:
    def __init__(self):
        self.width, self.sweep = 1, print


class Declared(Optional):
    width = 1

    def sweep(self):
        pass


print([isinstance(each, Optional) for each in (
    Whole(), HandsOn(Whole()), HandsOn(HandsOn(Whole())), ByProperty(), InInstance(), Declared(), Whole,
    HandsOn(object()), object(), type("Half", (), {"width": 1})(), type("None_", (Whole,), {"sweep": None})(),
)], [isinstance(each, Declared) for each in (Declared(), Whole())])
"""
EXPECTED = "[True, True, True, True, True, True, True, False, False, False, False] [True, False]\n"
PYTHONS = ["python3.11", "python3.12", "python3.13"]


@pytest.mark.parametrize("name", ["this one", *PYTHONS])
def test_the_answer_is_the_same_on_every_python(name: str, tmp_path: Path) -> None:
    program = tmp_path / "table.py"
    program.write_text(TABLE)
    python = sys.executable if name == "this one" else shutil.which(name)
    runs = python and subprocess.run([python, "-I", "-c", ""], check=False, capture_output=True).returncode == 0
    if python is None or not runs:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([python, "-I", str(program), offered.__file__], capture_output=True, text=True, check=False)
    assert done.stdout == EXPECTED, done.stderr


class HandsOn:
    """Around a system, as somebody writes who changes one method of it."""

    def __init__(self, inner: object) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def test_a_system_that_hands_on_offers_what_it_hands_on() -> None:
    reference = registry.system("reference")
    for protocol in (Sweeper, SideBySide, SelfDescribing):
        assert isinstance(HandsOn(reference), protocol) is isinstance(reference, protocol)
        assert not isinstance(HandsOn(object()), protocol)
    assert isinstance(HandsOn(reference), Sweeper)


def test_every_optional_protocol_is_one_of_these() -> None:
    """One that is checked by typing alone would give another answer on another Python."""
    sources = list(source_files("harness", "fixtures", "faults"))
    assert len(sources) > 500
    for path, source in sources:
        for before, line in pairwise(source.splitlines()):
            assert before != "@runtime_checkable" or "metaclass=Offered" in line, f"{path}: {line}"

    @runtime_checkable
    class Another(Protocol, metaclass=Offered):
        def something(self) -> None: ...

    assert not isinstance(object(), Another)
