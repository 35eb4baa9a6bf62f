"""A mutant: a system known to be wrong, which shows that the harness can see it."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.plan import Plan


class Mutant(Protocol):
    """Brought by the factory of a system (spi.system.BringsMutants).

    A mutant is killed when one of `oracles` names an anomaly, once on `plan` and once on a plan drawn from the swarm,
    while the system that it was made from passes the same plans, and the mutant's committed output is right while
    nothing exposes it (EXACT and NOLOSS pass).
    """

    @property
    def name(self) -> str:
        """Row of the bug list, such as `A3`."""

    @property
    def source(self) -> str:
        """The real bug, such as `FLINK-17568`."""

    @property
    def mechanism(self) -> str:
        """One sentence: what went wrong."""

    @property
    def oracles(self) -> tuple[str, ...]:
        """Names of the oracles that may kill it; one suffices."""

    @property
    def system(self) -> str:
        """With its variant, such as `reference+A3`; the system that it was made from stands before the plus sign."""

    @property
    def plan(self) -> Plan:
        """The shortest plan known to kill it."""

    @property
    def quiet(self) -> Plan | None:
        """Where nothing exposes it; without one, `plan` without its faults."""

    @property
    def swarm_seeds(self) -> int:
        """How many draw seeds, from 1, may be tried until the swarm kills it; at most 5,000."""
