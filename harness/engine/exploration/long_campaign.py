"""A campaign over many seeds that may be broken off at any time, goes on where it was, and adds up.

Seeds are drawn in chunks; what a chunk came to is in the ledger before the next one is counted. An alarm is a run that
failed, or in which harness or oracle broke: its plan is stored, and as soon as other code is there it is tried again.
An alarm stands until its plan raises none, or somebody withdraws it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.json_files import read_plan_file, write_plan
from holdfast.harness.engine.cases.results import HARNESS_ERROR, run_result
from holdfast.harness.engine.cases.swarm_case import SWARM_ID
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.exploration.drawn_chunk import DrawnChunk, alarm_of, draw_chunk
from holdfast.harness.engine.exploration.fingerprint import fingerprint
from holdfast.harness.engine.exploration.ledger import Chunk, Counts, Ledger, Retrial, Seeds, Withdrawal
from holdfast.harness.engine.exploration.on_spark import drawn_on_spark
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.foreign import raised_by
from holdfast.harness.engine.site.workers import in_order
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import CRASHED

CHUNK = 50
"""Seeds that are lost when the harness is killed."""
LEAST_PASSED = 0.5
"""Of all drawn runs. How many are inconclusive is a figure that the report gives by cause; a campaign of which most are
inconclusive shows nothing."""


class LongCampaign:
    """The swarm of one system on the simulator.

    Args:
        system: name, with variant.
        seeds: wanted.
        folder: of the ledger.

    Attributes:
        system: name, with variant.
        wanted: first and last seed.
        code: fingerprint of what runs now.

    Raises:
        UsageError: the system does not run on the simulator, or the folder cannot serve.
    """

    def __init__(self, system: str, seeds: Seeds, folder: Path) -> None:
        self._system = registry.system(system)
        self.system = self._system.name
        self._tools = registry.toolbox()
        if Tier.SIM not in self._system.capabilities:
            raise UsageError(f"system {system!r} is on no simulator, where campaigns run: choose one that is.")
        self.wanted = seeds
        self.code = fingerprint(self._system, self._tools)
        self.ledger = Ledger(folder, self._system.name)

    def try_again(self) -> Iterator[Retrial]:
        """Try every stored plan that other code found alarming."""
        for seed, (code, alarm) in list(self.ledger.alarms.items()):
            if alarm and code != self.code and seed not in self.ledger.withdrawn:
                retrial = Retrial(code=self.code, seed=seed, alarm=self._alarm_again(seed))
                self.ledger.append(retrial)
                yield retrial

    def _alarm_again(self, seed: int) -> str:
        """Why the stored plan of a seed is an alarm with the present code; empty: it is none."""
        try:
            run = run_plan(read_plan_file(self.ledger.plan_of(seed)), self._system, self._tools)
        except Exception as error:  # As in a campaign: it is counted, and the others are tried.
            sentence = raised_by(registry.strangers_of(self._system), error)
            return f"system {sentence}" if sentence else f"{HARNESS_ERROR}{type(error).__name__}: {error}"
        return alarm_of(run_result(run, SWARM_ID, seed, 0.0))

    def withdraw(self, seed: int, reason: str) -> None:
        """Withdraw an alarm, because its plan demands what no rule requires.

        Raises:
            UsageError: the seed raised none.
        """
        if seed not in self.ledger.alarms:
            raise entry_points.unknown("alarm of seed", str(seed), map(str, self.ledger.alarms))
        self.ledger.append(Withdrawal(seed=seed, reason=reason))

    def draw(self, jobs: int, interrupted: Callable[[], str], master: str = "") -> Iterator[Chunk]:
        """Draw what is missing, chunk by chunk.

        Args:
            jobs: processes; 1: this one.
            interrupted: the reason to stop after the run in hand, or an empty text.
            master: of Spark, whose executors draw; empty: this machine does.

        Raises:
            UsageError: Spark is not there, or its workers cannot run our code.
        """
        missing = [
            (start, min(start + CHUNK - 1, last))
            for first, last in self.ledger.missing(self.wanted)
            for start in range(first, last + 1, CHUNK)
        ]
        calls = ((self._system.name, self.code, *seeds) for seeds in missing)
        drawn: Iterator[bytes]
        if master:
            drawn = drawn_on_spark(master, self._system, self._tools, self.code, missing, interrupted)
        elif jobs < 2:
            drawn = (draw_chunk(*call, interrupted) for call in calls)
        else:
            drawn = in_order(draw_chunk, calls, jobs, interrupted)
        for encoded in drawn:
            yield self._keep(msgspec.json.decode(encoded, type=DrawnChunk))
            if interrupted():
                return

    def _keep(self, drawn: DrawnChunk) -> Chunk:
        """The plans of alarms are on disk before the ledger names them."""
        for seed, plan in drawn.plans.items():
            write_plan(self.ledger.plan_of(seed), plan)
        self.ledger.append(drawn.chunk)
        return drawn.chunk

    def total(self) -> Counts:
        """The counts over all chunks that were ever drawn into this folder."""
        total = Counts()
        for chunk in self.ledger.chunks:
            total.plus(chunk.counts)
        return total

    def open_alarms(self) -> dict[int, str]:
        """By seed, the alarms that stand."""
        known, withdrawn = sorted(self.ledger.alarms.items()), self.ledger.withdrawn
        return {seed: alarm for seed, (_, alarm) in known if alarm and seed not in withdrawn}

    def exit_code(self) -> int:
        """0 no alarm stands, 1 a run failed, 4 harness or oracle broke, 2 seeds are missing or too few runs passed."""
        alarms = self.open_alarms().values()
        if any(not each.startswith(HARNESS_ERROR) and CRASHED not in each for each in alarms):
            return 1
        if alarms:
            return 4
        total = self.total()
        enough = not list(self.ledger.missing(self.wanted)) and total.passed >= LEAST_PASSED * total.drawn
        return 0 if enough else 2
