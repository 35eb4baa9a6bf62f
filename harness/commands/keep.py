"""`holdfast keep`: a run of which a certificate has only a line, kept whole."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.apart import runs_apart
from holdfast.harness.engine.certification.run_store import RUNS, replay_command
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.plans.words import plan_in_words
from holdfast.harness.engine.site.plan_code import code_named_by, strangers
from holdfast.harness.engine.verification.keep import keep as keep_run
from holdfast.harness.engine.verification.sent import SentCertificate


def keep(run: Path, folder: Path, *, trust: bool, limit_s: float | None = None) -> int:
    """Make it again, keep it, and say where.

    Args:
        run: as the user named it.
        folder: of the certificate.
        trust: run the code that it names.
        limit_s: how long the run may take if it runs what does not ship with Holdfast.
    """
    if run.parent.name != RUNS:
        raise UsageError(f"{run} names no run of a certificate: write it as DIR/{RUNS}/ID, as reports do.")
    sent = SentCertificate(folder)
    if (code := runs_apart(strangers(sent.journal.system), folder, limit_s)) is not None:
        return code
    again, stored = keep_run(sent, run.name, trust=trust)
    plan = again.history.plan
    command = replay_command(stored, again.tier, plan.system, trust=bool(code_named_by(plan)))
    console = consoles.results()
    console.print(plan_in_words(plan))
    console.print(f"{again.outcome.value}, same trace: {again.trace_hash}; kept in {stored}; again: {command}")
    return 0
