"""The parts of a certified system: each is judged by its kit, and gets a report of its own."""

from __future__ import annotations

from pathlib import Path

import msgspec
from rich.console import Console

from holdfast.harness.commands.reports import write_reports
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.certification.kit_run import KitRequest, run_kit
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.subjects import JudgedPart, parts_of, subject_reports, why_absent
from holdfast.harness.engine.errors import ForeignError, UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import in_words
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.plural import plural
from holdfast.harness.spi.system import Part

FOLDER = "parts"


def with_parts(journal: Journal, request: Request, interruption: Interruption, console: Console) -> Journal:
    """The journal with what the kits say of the parts of its system; their reports lie below its folder.

    Args:
        journal: of the whole system.
        request: what is certified.
        interruption: heard between any two checks.
        console: where progress is shown.
    """
    parts = parts_of(registry.system(request.system))
    judged = [
        _judged(part, number, journal, request, interruption, console)
        for number, part in enumerate(parts, start=1)
        if not _narrowed(request) or _rules(part, request)
    ]
    return msgspec.structs.replace(journal, subjects=subject_reports(journal, judged))


def _judged(
    part: Part, number: int, journal: Journal, request: Request, interruption: Interruption, console: Console
) -> JudgedPart:
    why_not = "" if part.plugged else _why_not(journal, request)
    if reason := interruption.reason() or why_not or why_absent(part):
        return JudgedPart(part, None, reason)
    asked = KitRequest(
        part.contract,
        part.factory,
        request.command,
        _rules(part, request) if _narrowed(request) else frozenset(),
        request.seed,
        location=part.location,
        options=part.options,
        tiers=frozenset({Tier.SIM}),
    )
    try:
        run = run_kit(asked, interruption)
    except (UsageError, ForeignError) as error:
        return JudgedPart(part, None, str(error).rstrip("."), broken=True)
    except Exception as error:  # The kit broke; the other parts still say something.
        return JudgedPart(part, None, f"the kit broke: {in_words(error)}", broken=True)
    console.print(
        f"{run.journal.certificate.heading}  {part.contract} {part.factory}, {plural(len(run.checks), 'check')}"
    )
    folder = Path(FOLDER) / f"{number}-{part.contract}"
    make_folder(request.folder / folder)
    write_reports(run.journal, request.folder / folder, console)
    return JudgedPart(part, run.journal, report=str(folder / "report.html"))


def _why_not(journal: Journal, request: Request) -> str:
    """Why no part is judged; empty: each is."""
    if request.tiers and Tier.SIM not in request.tiers:
        return f"kits run on tier {Tier.SIM}, which was not chosen"
    if request.budget_s is not None and journal.duration_s >= request.budget_s:
        return f"the time limit of {request.budget_s:.0f} s was reached"
    return ""


def _narrowed(request: Request) -> bool:
    return bool(request.rules or request.areas)


def _rules(part: Part, request: Request) -> frozenset[str]:
    """Those of its kit that were chosen; empty: all, or none of them."""
    try:
        known = registry.kit(part.contract).rules
    except UsageError:
        return request.rules  # Whoever runs it says what is wrong.
    return frozenset(each for each in known if each in request.rules or each.partition("-")[0] in request.areas)
