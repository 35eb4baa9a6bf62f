"""The attacker: one failure domain per file.

Rules of this package:
- A fault is written once, against one mechanism (`spi.controls`), and works on every system that offers it.
- Its undo is idempotent and needs nothing but the spec, so that another process can run it.
- That it landed is proved by two things: its mechanism recorded an effect as this injection's (a FaultStruck), and
  `landed` finds in the history what such a fault does. That it was triggered proves nothing.
- How it is drawn stands beside it, as `attacks` (spi.attack), and so does a function that builds it for a case.
- It imports `harness.model` and `harness.spi` only.
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from holdfast.harness.spi.fault import FaultFactory


def _faults() -> Iterator[FaultFactory]:
    """The classes of this package that have a kind, by module."""
    for found in iter_modules(__path__, f"{__name__}."):
        for made in vars(import_module(found.name)).values():
            if isinstance(made, type) and made.__module__ == found.name and isinstance(vars(made).get("kind"), str):
                yield made


FAULTS: tuple[FaultFactory, ...] = tuple(_faults())
"""What is registered under `holdfast.faults`."""
