"""`holdfast sweep`: undoes, ends and removes what a killed harness left."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.artefacts.sweep import sweep
from holdfast.harness.engine.site.services import sweep_services
from holdfast.harness.lease import sweep as sweep_leases


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
