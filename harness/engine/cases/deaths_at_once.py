"""When a case gives up: the system under test ends by itself at once, run after run, in the same way."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.harness.model.plural import plural

RUNS_ALIKE = 3
"""So many runs in a row that end so are enough; a fourth would show nothing else."""


class DeathsAtOnce:
    """The last runs of one case, as far as they ended so."""

    def __init__(self) -> None:
        self._runs = 0
        self._deaths: OwnDeaths | None = None

    def add(self, result: RunResult) -> None:
        """Take the next run."""
        died, before = result.died_at_once, self._deaths
        if died is None:
            self._runs, self._deaths = 0, None
        elif before is None or not before.alike(died):
            self._runs, self._deaths = 1, died
        else:
            self._runs += 1
            self._deaths = msgspec.structs.replace(died, times=before.times + died.times)

    @property
    def reason(self) -> str:
        """Why no further run begins, in words; empty: one may."""
        if self._deaths is None or self._runs < RUNS_ALIKE:
            return ""
        return (
            f"the system under test died by itself {self._deaths.times} times in {plural(self._runs, 'run')} before it "
            f"did anything, each time with {self._deaths.cause}; no further run was begun"
        )
