"""A workload: input whose right answer is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from holdfast.harness.model.records import InputLog


class Workload(Protocol):
    """Registered under `holdfast.workloads`.

    Attributes:
        name: as a plan names it.
        parameters: allowed parameters, name to (default, one-line meaning); others are refused.
    """

    name: str
    parameters: Mapping[str, tuple[int | str, str]]

    def generate(self, parameters: Mapping[str, int | str], seed: int) -> InputLog:
        """The log. Equal arguments give equal logs.

        Raises:
            ValueError: a parameter is unknown or out of range, or a row of the data file is broken; the sentence
                names the parameter, or file and row.
        """
