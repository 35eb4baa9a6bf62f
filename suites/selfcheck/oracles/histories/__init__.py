"""Hand-made histories by oracle. Importing this package fills `builder.HISTORIES`, by which the registry finds them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from holdfast.suites.selfcheck.oracles.builder import HISTORIES

__all__ = ["HISTORIES"]

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
