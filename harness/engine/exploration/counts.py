"""What many drawn runs add up to, as a value that can be stored and added to others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations

import msgspec

from holdfast.harness.engine.executor.cause import cause_of
from holdfast.harness.engine.plans.words import attack, window
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window
from holdfast.harness.oracles.shared.stated_options import texts

Numbers = dict[str, int]
_QUANTITY = re.compile(r"\d{2,}|\d+ ?[a-z]+", re.IGNORECASE)


class Counts(msgspec.Struct, forbid_unknown_fields=True):
    """Sums over runs.

    Attributes:
        drawn, passed, failed, inconclusive: runs.
        causes: why runs were inconclusive, numbers left out.
        planned, landed: faults by attack.
        aimed, hit: by window, runs of which a fault or the case wanted it, and decided runs that hit it, also if
            nothing wanted it.
        together: by two attacks, runs in which both landed.
        judged: by oracle, decided runs in which it decided something.
        jobs, ends, options: runs by job, by expected end, and by option with its value, unless that is a quantity.
    """

    drawn: int = 0
    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    causes: Numbers = {}
    planned: Numbers = {}
    landed: Numbers = {}
    aimed: Numbers = {}
    hit: Numbers = {}
    together: Numbers = {}
    judged: Numbers = {}
    jobs: Numbers = {}
    ends: Numbers = {}
    options: Numbers = {}

    def add(self, result: RunResult, plan: Plan, demanded: Iterable[Window] = ()) -> None:
        """Count a run; `demanded` are the windows that its case wants."""
        wanted = {*filter(None, map(window, plan.faults)), *(each.value for each in demanded)}
        counts = result.outcome is not Outcome.INCONCLUSIVE
        self.drawn += 1
        self.passed += result.outcome is Outcome.PASS
        self.failed += result.outcome is Outcome.FAIL
        if not counts:
            self.inconclusive += 1
            _count(self.causes, cause_of(result.reason))
        for spec in plan.faults:
            _count(self.planned, attack(spec))
        for name, times in result.landed.items():
            _count(self.landed, name, times)
        for one, other in combinations(sorted(result.landed), 2):
            _count(self.together, f"{one} + {other}")
        for name, hit in result.windows.items():
            _count(self.aimed, name, int(name in wanted))
            _count(self.hit, name, int(hit and counts))
        for verdict in result.verdicts:
            decided = verdict.outcome is not Outcome.INCONCLUSIVE and any(verdict.checked.values())
            _count(self.judged, verdict.oracle, int(counts and decided))
        _count(self.jobs, f"{plan.job.name} x{plan.topology.parallelism}")
        _count(self.ends, plan.expected_end.value)
        for key, text in texts(plan).items():
            _count(self.options, key if _QUANTITY.fullmatch(text) else f"{key}: {text}")

    def plus(self, other: Counts) -> None:
        """Count what somebody else counted."""
        for name in self.__struct_fields__:
            theirs = getattr(other, name)
            if isinstance(theirs, int):
                setattr(self, name, getattr(self, name) + theirs)
            else:
                mine = getattr(self, name)
                for key, times in theirs.items():
                    _count(mine, key, times)


def _count(numbers: Numbers, name: str, times: int = 1) -> None:
    numbers[name] = numbers.get(name, 0) + times
