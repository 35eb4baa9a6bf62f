"""How long a certification still takes: an estimate from what its runs took so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from holdfast.harness.model.case import Tier

TYPICAL_RUN_S: Mapping[Tier, float] = {Tier.SIM: 0.05, Tier.PROCESS: 8.0, Tier.SPARK: 40.0, Tier.CONTAINERS: 60.0}
"""One run on a tier of which nothing is known yet."""


class TimeLeft:
    """Counts runs by tier.

    Args:
        side_by_side: cases of several tiers run at the same time.
        budget_s: after which no run starts; None: there is no such limit.
    """

    def __init__(self, *, side_by_side: bool, budget_s: float | None) -> None:
        self._side_by_side = side_by_side
        self._budget_s = budget_s
        self._wanted: Counter[Tier] = Counter()
        self._done: Counter[Tier] = Counter()
        self._began_s: dict[Tier, float] = {}

    def expect(self, tier: Tier, runs: int) -> None:
        """So many runs more are to come; fewer if it is negative."""
        self._wanted[tier] += runs

    def ran(self, tier: Tier, now_s: float) -> None:
        """A run is over, `now_s` after the start of the certification."""
        self._began_s.setdefault(tier, now_s)
        self._done[tier] += 1

    def estimate_s(self, now_s: float) -> float:
        """Seconds from now on.

        Args:
            now_s: since the start of the certification.
        """
        left = [self._of(tier, now_s) for tier, runs in self._wanted.items() if runs > self._done[tier]]
        if self._budget_s is not None:
            return max(self._budget_s - now_s, 0.0)
        return max(left, default=0.0) if self._side_by_side else sum(left)

    def _of(self, tier: Tier, now_s: float) -> float:
        left, done = self._wanted[tier] - self._done[tier], self._done[tier]
        spent_s = now_s - self._began_s.get(tier, now_s)
        each_s = spent_s / (done - 1) if done > 1 else TYPICAL_RUN_S[tier]
        return left * each_s
