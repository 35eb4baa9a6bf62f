"""How long a certification still takes: an estimate from what its cases cost elsewhere, and from its own pace."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.case import Tier

OTHER_COSTS_COUNT_S = 10.0
"""As long as this the pace that follows from the number of workers counts, before that of this machine is known."""


class TimeLeft:
    """Counts by tier how many seconds runs take alone, and how many of those pass in a second.

    Args:
        budget_s: after which no run starts; None: there is no such limit.

    Attributes:
        widths: how many workers a tier has, one if it is not named; those of all tiers work at the same time.
    """

    def __init__(self, *, budget_s: float | None) -> None:
        self.widths: Mapping[Tier, int] = {}
        self._budget_s = budget_s
        self._run_s: dict[tuple[str, Tier], float] = {}
        self._to_come: dict[tuple[str, Tier], int] = {}
        self._done_s: dict[Tier, float] = {}
        self._began_s: dict[Tier, float] = {}

    def cost(self, case: str, tier: Tier, run_s: float) -> None:
        """A run of that case takes so long, alone on an idle machine."""
        self._run_s[case, tier] = run_s

    def expect(self, case: str, tier: Tier, runs: int) -> None:
        """So many runs of a case are to come, whatever was expected before."""
        self._to_come[case, tier] = runs

    def began(self, tier: Tier, now_s: float) -> None:
        """A case begins on a tier, `now_s` after the start of the certification."""
        self._began_s.setdefault(tier, now_s)

    def ran(self, case: str, tier: Tier) -> None:
        """A run is over."""
        self._done_s[tier] = self._done_s.get(tier, 0.0) + self._run_s.get((case, tier), 0.0)

    def estimate_s(self, now_s: float) -> float:
        """Seconds from now on.

        Args:
            now_s: since the start of the certification.
        """
        if self._budget_s is not None:
            return max(self._budget_s - now_s, 0.0)
        left: dict[Tier, float] = {}
        for (case, tier), runs in tuple(self._to_come.items()):  # Another thread may add some.
            left[tier] = left.get(tier, 0.0) + runs * self._run_s.get((case, tier), 0.0)
        return max((alone_s / self._pace(tier, now_s) for tier, alone_s in left.items()), default=0.0)

    def _pace(self, tier: Tier, now_s: float) -> float:
        """Seconds of runs that pass in a second: as many as there are workers, until it is known better."""
        elapsed_s = now_s - self._began_s.get(tier, now_s)
        expected_s = self.widths.get(tier, 1) * OTHER_COSTS_COUNT_S
        return (self._done_s.get(tier, 0.0) + expected_s) / (elapsed_s + OTHER_COSTS_COUNT_S)
