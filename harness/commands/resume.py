"""Behind an interruption. `holdfast certify --resume` and `holdfast report`: a certification goes on, or is reported.
`holdfast sweep`: undoes, ends and removes what a killed harness left."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.certify import certify
from holdfast.harness.commands.kits import certify_part
from holdfast.harness.engine.artefacts.sweep import sweep
from holdfast.harness.engine.certification.begun import begun_in, named_by
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.site.services import settle_named, sweep_services
from holdfast.harness.engine.site.surroundings import pass_on
from holdfast.harness.lease import sweep as sweep_leases
from holdfast.harness.model.command_line import command_line


def go_on(
    folder: Path,
    *,
    trust: bool,
    json: bool,
    verbose: bool = False,
    require_certified: bool = False,
    finished_alone: bool = False,
) -> int:
    """Go on as it was begun, with its waivers, services and variables; keys come from the environment again.

    Args:
        folder: of the certification.
        trust: the user allows whatever code, services, places, variables and waivers it names.
        json, verbose: how the result is printed.
        require_certified: less than that title is no success.
        finished_alone: run nothing; report what is finished.

    Raises:
        UsageError: nothing can go on there; one sentence.
    """
    begun, request = begun_in(folder, trust=trust)
    if isinstance(request, Request) and isinstance(begun.request, Request) and request.jobs < begun.request.jobs:
        consoles.progress().print(
            f"{folder}: it was begun with --jobs {begun.request.jobs}, and this machine has {request.jobs} for it; "
            "so many are used."
        )
    if not finished_alone:
        settle_named(begun.sites)
        pass_on(begun.environment)
    again = command_line("certify", "--resume", folder, *(["--trust"] if named_by(begun) else []))
    why_not = f"it did not run; {again} goes on" if finished_alone else ""
    if isinstance(request, Request):
        return certify(
            request,
            json=json,
            verbose=verbose,
            require_certified=require_certified,
            waivers=Path(begun.waivers) if begun.waivers else None,
            begun=begun,
            trust=trust,
            why_not=why_not,
        )
    return certify_part(request, folder, json=json, require_certified=require_certified, begun=begun, why_not=why_not)


def sweep_folder(root: Path, *, trust: bool) -> int:
    """Sweep below an output folder and say what was done.

    Raises:
        UsageError: the system of a run may not be run without the user's permission; all others were swept.
    """
    console = consoles.results()
    done = False
    try:
        for sentence in sweep(root, trust=trust):
            console.print(sentence)
            done = True
        if not done:
            console.print(f"{root}: nothing to sweep.")
    finally:
        for sentence in (*sweep_leases(), *sweep_services()):
            console.print(sentence)
    return 0
