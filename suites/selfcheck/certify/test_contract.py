"""The contracts of state and storage: every method has one, and every error that it names exists."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

import msgspec
import pytest

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi import errors, state, storage
from holdfast.harness.spi.state import Extent, Manifest, StateDescriptor, StateHandle, StateKind
from holdfast.harness.spi.state.operator_state import OperatorStateManifest
from holdfast.harness.spi.storage import Scope

RAISED = re.compile(r"^ {4,}([A-Z]\w+(?:, [A-Z]\w+)*): ", re.MULTILINE)
ERRORS = {*errors.__all__, "FileExistsError", "FileNotFoundError", "RuntimeError", "ValueError", "Exception"}
"""The last is what a call hands on of what it was given."""


def protocols() -> Iterator[type]:
    for package in (state, storage):
        for found in iter_modules(package.__path__):
            module = import_module(f"{package.__name__}.{found.name}")
            for _, each in inspect.getmembers(module, inspect.isclass):
                if each.__module__ == module.__name__ and getattr(each, "_is_protocol", False):
                    yield each


def methods(protocol: type) -> Iterator[tuple[str, Any]]:
    return ((name, each) for name, each in vars(protocol).items() if isinstance(each, FunctionType) and name[0] != "_")


@pytest.mark.parametrize("protocol", list(protocols()), ids=lambda each: each.__name__)
def test_each_method_has_a_contract(protocol: type) -> None:
    assert protocol.__doc__
    found = dict(methods(protocol))
    assert found
    for name, method in found.items():
        assert method.__doc__, name
        _, _, raises = method.__doc__.partition("Raises:")
        named = {each for group in RAISED.findall(raises) for each in group.split(", ")}
        assert named <= ERRORS, name


def test_errors_are_caught_by_what_python_calls_them() -> None:
    assert {each for each in errors.__all__ if issubclass(getattr(errors, each), OSError)} == {
        "Transient",
        "Full",
        "Fenced",
    }
    assert not any(hasattr(builtins, each) for each in errors.__all__)
    full = errors.Full("max_key_bytes", 3, 4)
    assert (full.limit, full.allowed, full.needed) == ("max_key_bytes", 3, 4)
    assert str(full) == "max_key_bytes is 3, and 4 is needed."


def test_what_goes_into_metadata_survives_it() -> None:
    handle = StateHandle("a", Scope.SHARED, FileReference("shared/a", 3, 7), {2: Extent(0, 3, 7)})
    manifest = Manifest(
        format="f-1",
        checkpoint=1,
        subtask=0,
        first_key_group=0,
        end_key_group=4,
        max_parallelism=8,
        handles=(handle, StateHandle("b", Scope.SHARED, None, {})),
        descriptors=(StateDescriptor(name="s", kind=StateKind.VALUE),),
        opaque=b"\xff",
    )
    operator = OperatorStateManifest(format="f-1", checkpoint=1, descriptors=(), handle=handle, elements={"s": ()})
    for each in (manifest, operator):
        assert msgspec.json.decode(msgspec.json.encode(each), type=type(each)) == each
