"""The same plans on several systems, one run after the other: each with the options of a file of its own, if it has
one, on the tier where it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.cases.case_run import run_and_store
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.plans.validate import fit_to_system
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.engine.views.recovery import checkpoints_ms, read_again, recoveries
from holdfast.harness.model.case import Tier
from holdfast.harness.model.compared_systems import ComparedRun
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.outside_files import WRITTEN_BYTES
from holdfast.harness.spi.system import System

_LONGEST = 80
"""Of a line, what a message shows."""

_ENDINGS = (".yaml", ".yml")
_PREFERRED = (Tier.PROCESS, Tier.SPARK, Tier.CONTAINERS, Tier.SIM)
"""Among real processes of this machine all are compared alike."""


class Setup(msgspec.Struct, frozen=True):
    """A system with what goes before the plans.

    Attributes:
        name: in the table: of the system, and of the file of its options.
        system: as registered.
        tier: where it runs.
        options: that take the place of those of a plan.
    """

    name: str
    system: System
    tier: Tier
    options: Mapping[str, str]


def setup_of(text: str, tier: Tier | None) -> Setup:
    """A system as the command line names it, `SYSTEM` or `SYSTEM=FILE.yaml`.

    Args:
        text: of the command line.
        tier: where it is to run; None: as a process where it can, else on the first tier that it has here.

    Raises:
        UsageError: there is no such system, the file holds no options, or the machine lacks what the tier needs.
    """
    name, file = text, ""
    if text.endswith(_ENDINGS) and "=" in text:
        name, _, file = text.rpartition("=")
    system = registry.system(name)
    chosen = tier or next((each for each in _PREFERRED if each in system.capabilities), Tier.PROCESS)
    if reason := lacking(chosen):
        raise UsageError(f"{name} is to run on tier {chosen}, but it {reason}.")
    if not file:
        return Setup(system.name, system, chosen, {})
    return Setup(f"{system.name} {Path(file).stem}", system, chosen, read_options(Path(file)))


def read_options(file: Path) -> Mapping[str, str]:
    """The options of a file: `KEY: VALUE` on each line, as Flink's configuration has them.

    Raises:
        UsageError: it cannot be read, a line is none, or there is none.
    """
    options: dict[str, str] = {}
    for number, line in enumerate(read_content(file, WRITTEN_BYTES).decode(errors="replace").splitlines(), 1):
        content = line.partition("#")[0].strip()
        key, colon, value = content.partition(": ")
        if content and not (colon and value.strip()):
            raise UsageError(f"{file}:{number} is {content[:_LONGEST]!r}: write KEY: VALUE on each line.")
        if content:
            options[key.strip()] = value.strip()
    if not options:
        raise UsageError(f"{file} holds no option: write KEY: VALUE on each line.")
    return options


def side_by_side(
    plans: Mapping[str, Plan],
    setups: Sequence[Setup],
    folder: Path,
    interruption: Interruption,
    runs: int = 1,
) -> Iterator[ComparedRun]:
    """Run them, system by system, until a signal comes.

    Args:
        plans: by name; each is changed to what a system takes (plans.validate.fit_to_system).
        setups: of systems; each on its own.
        folder: takes a folder for each run.
        interruption: read between any two steps.
        runs: of each plan on each system.
    """
    for setup in setups:
        for name, plan in plans.items():
            try:
                own = fit_to_system(replace(plan, options={**plan.options, **setup.options}), setup.system, setup.tier)
            except (NotApplicable, UsageError) as error:
                yield ComparedRun(name, setup.name, setup.tier, None, str(error))
                continue
            for number in range(runs):
                place = folder / re.sub(r"[\s/]", "-", f"{name}-{setup.name}-{number}")
                run, _ = run_and_store(own, setup.system, registry.toolbox(), setup.tier, place, interruption)
                if interruption.signal:
                    return
                yield compared(run, name, setup)


def compared(run: Run, plan: str, setup: Setup) -> ComparedRun:
    """The figures of a run that are compared."""
    history = run.history
    clauses = {f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies}
    return ComparedRun(
        plan,
        setup.name,
        setup.tier,
        run.outcome,
        run.reason or ", ".join(sorted(clauses)),
        recoveries(history, registry.toolbox().faults),
        read_again(history),
        checkpoints_ms(history),
        os.getloadavg()[0],
    )
