"""A suite: what a package judges by."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """Registered under `holdfast.suites`. Everything is named as `module:name`, and imported when it is first needed.

    Attributes:
        rules: of catalogues: each an iterable of `Rule`, or a function that returns one.
        cases: each an iterable of `Case`, or a function that returns one.
        case_costs: functions; each returns the recorded seconds of all runs of a case, one after the other, alone on an
            idle machine, by case and tier.
        histories: of mappings: hand-made histories by name, each a function that makes one.
        kits: by contract, such as `state-backend`, who judges it (spi.kit).
        scaffolds: by what is written, such as `state-backend`, what an author starts from (spi.scaffold).
    """

    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    case_costs: tuple[str, ...] = ()
    histories: tuple[str, ...] = ()
    kits: Mapping[str, str] = {}
    scaffolds: Mapping[str, str] = {}
