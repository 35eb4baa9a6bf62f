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
        self._to_come: dict[tuple[str, Tier], int] = {}
        self._done: Counter[Tier] = Counter()
        self._began_s: dict[Tier, float] = {}

    def expect(self, case: str, tier: Tier, runs: int) -> None:
        """So many runs of a case are to come, whatever was expected before."""
        self._to_come[case, tier] = runs

    def began(self, tier: Tier, now_s: float) -> None:
        """A case begins on a tier, `now_s` after the start of the certification."""
        self._began_s.setdefault(tier, now_s)

    def ran(self, tier: Tier, now_s: float) -> None:
        """A run is over, `now_s` after the start of the certification."""
        self.began(tier, now_s)
        self._done[tier] += 1

    def estimate_s(self, now_s: float) -> float:
        """Seconds from now on.

        Args:
            now_s: since the start of the certification.
        """
        if self._budget_s is not None:
            return max(self._budget_s - now_s, 0.0)
        left: dict[Tier, float] = {}
        for (_, tier), runs in self._to_come.items():
            left[tier] = left.get(tier, 0.0) + runs * self._each_s(tier, now_s)
        return max(left.values(), default=0.0) if self._side_by_side else sum(left.values())

    def _each_s(self, tier: Tier, now_s: float) -> float:
        """What one run costs, where several at a time cost less each."""
        done = self._done[tier]
        return (now_s - self._began_s[tier]) / done if done else TYPICAL_RUN_S[tier]
