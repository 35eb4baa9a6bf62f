"""A module of the source tree, loaded from another text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType, ModuleType

RUNTIME = ("holdfast.fixtures.reference", "holdfast.fixtures.mutants", "holdfast.fixtures.systems.reference")
"""What must not be loaded yet where a mutant is to be loaded: whoever imported it holds the right one."""


class _MutatedSource(SourceFileLoader):
    """A loader that finds another text in the file, and keeps nothing compiled."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = compile(self.text, self.path, "exec", dont_inherit=True)
        return code


class _Finder(MetaPathFinder):
    def __init__(self, module: str, path: str, text: str) -> None:
        self.module = module
        self.path = path
        self.text = text

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.module:
            return None
        return spec_from_file_location(name, self.path, loader=_MutatedSource(name, self.path, self.text))


def loaded() -> list[str]:
    """Modules of the reference runtime that are loaded already."""
    return [name for name in sys.modules if name.startswith(RUNTIME)]


def substitute(module: str, path: str, text: str) -> None:
    """From now on a module is made of another text. Only for a process that ends soon.

    Raises:
        RuntimeError: some of the runtime is loaded already.
    """
    if names := loaded():
        raise RuntimeError(f"{names[0]} is loaded already: load a mutant in a process that holds none of the runtime.")
    sys.meta_path.insert(0, _Finder(module, path, text))
