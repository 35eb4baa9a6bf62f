"""A scaffold: a small folder that runs, from which an author starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Scaffold(Protocol):
    """Brought by a suite (spi.suite) under the name of what is written, such as `state-backend`.

    Attributes:
        languages: in which it can be written; the first one unless another is asked for.
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
