"""The parts of a certified system: each is judged by its kit, and gets a report of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console

from holdfast.harness.commands.folders import way_back
from holdfast.harness.commands.reports import write_reports
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.subjects import JudgedPart, parts_of, subject_reports, why_absent
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.title import Scope
from holdfast.harness.spi.system import Part

FOLDER = "parts"
QUICK_PROGRAMS = 0.125
"""Of the random programs of each check, how many a quick certificate of a whole system runs."""


class TriedPart(NamedTuple):
    """A part, and the run of its kit.

    Attributes:
        run: None: it is not tried.
        reason: why not, without a full stop.
        broken: the harness itself failed on it.
    """

    part: Part
    run: KitRun | None
    reason: str = ""
    broken: bool = False


def parts_to_try(request: Request) -> list[TriedPart]:
    """Every part of a system, or, where it is narrowed, those whose kits decide a rule that was chosen."""
    parts = parts_of(registry.system(request.system))
    return [_part_to_try(part, request) for part in parts if not request.narrowed or _rules(part, request)]


def with_parts(
    journal: Journal, tried: Sequence[TriedPart], folder: Path, interruption: Interruption, console: Console
) -> Journal:
    """The journal with what the kits say of the parts of its system; their reports lie below its folder.

    Args:
        journal: of the whole system.
        tried: its parts.
        folder: of the report.
        interruption: whether it came to its end.
        console: where a reporter that breaks is named.
    """
    judged = [
        _judged(each, number, journal, folder, interruption, console) for number, each in enumerate(tried, start=1)
    ]
    return msgspec.structs.replace(journal, subjects=subject_reports(journal, judged))


def _part_to_try(part: Part, request: Request) -> TriedPart:
    chosen_tier = not request.tiers or Tier.SIM in request.tiers or part.plugged
    why_not = "" if chosen_tier else f"kits run on tier {Tier.SIM}, which was not chosen"
    if reason := why_not or why_absent(part):
        return TriedPart(part, None, reason)
    try:
        run = KitRun(
            KitRequest(
                part.contract,
                part.factory,
                request.command,
                _rules(part, request) if request.narrowed else frozenset(),
                request.seed,
                part.location,
                part.options,
                frozenset({Tier.SIM}),
                QUICK_PROGRAMS if request.scope is Scope.QUICK else 1.0,
            )
        )
    except UsageError as error:
        return TriedPart(part, None, str(error).rstrip("."), broken=True)
    return TriedPart(part, run)


def _judged(
    tried: TriedPart, number: int, journal: Journal, folder: Path, interruption: Interruption, console: Console
) -> JudgedPart:
    part, run = tried.part, tried.run
    if run is None:
        return JudgedPart(part, None, tried.reason, broken=tried.broken)
    if run.refused:
        return JudgedPart(part, None, run.refused.rstrip("."), broken=True)
    why_not = interruption.reason() or run.why_not
    if not run.checks and why_not:
        return JudgedPart(part, None, why_not)
    ended_by = interruption.signal or (
        "the harness" if interruption.broken else "the time limit" if run.why_not else ""
    )
    place = Path(FOLDER) / f"{number}-{part.contract}"
    if not (folder / place).is_dir():
        make_folder(folder / place)
    own = run.journal(journal.started, ended_by, way_back(folder / place))
    write_reports(own, folder / place, console)
    return JudgedPart(part, own, report=str(place / "report.html"))


def _rules(part: Part, request: Request) -> frozenset[str]:
    """Those of its kit that were chosen."""
    try:
        known = registry.kit(part.contract).rules
    except UsageError:
        return request.rules  # Whoever runs it says what is wrong.
    return frozenset(each for each in known if each in request.rules or each.partition("-")[0] in request.areas)
