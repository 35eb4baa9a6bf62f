"""A suite: what a package judges by, and the scaffolds that it brings: small folders that run, from which an author
starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

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
        scaffolds: by what is written, such as `state-backend`, what an author starts from (Scaffold).
    """

    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    case_costs: tuple[str, ...] = ()
    histories: tuple[str, ...] = ()
    kits: Mapping[str, str] = {}
    scaffolds: Mapping[str, str] = {}


class Scaffold(Protocol):
    """Brought by a suite (spi.suite) under the name of what is written, such as `state-backend`.

    Attributes:
        languages: in which it can be written; the first one is the default.
    """

    languages: tuple[str, ...]

    def files(self, name: str, language: str) -> Mapping[str, str]:
        """The whole folder: contents by path, with `/` between segments.

        Args:
            name: of what is written, an identifier of Python in lower case.
            language: one of `languages`.
        """

    def commands(self, name: str, language: str) -> Sequence[str]:
        """What to run next, within the folder."""
