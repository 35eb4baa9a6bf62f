"""`holdfast verify`: somebody else's certificate, recomputed."""

from __future__ import annotations

import secrets
from pathlib import Path

import msgspec
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.apart import runs_apart
from holdfast.harness.engine.certification.run_store import RUNS, replay_command
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.plans.words import plan_in_words
from holdfast.harness.engine.site.plan_code import code_named_by, third_party_code
from holdfast.harness.engine.verification.sent import SentCertificate
from holdfast.harness.engine.verification.statements import Kind
from holdfast.harness.engine.verification.verify import exit_code
from holdfast.harness.engine.verification.verify import keep as keep_run
from holdfast.harness.engine.verification.verify import verify as verify_certificate
from holdfast.harness.model.rule import Subject

_STYLES = {Kind.CONFIRMED: "green", Kind.SENDERS_WORD: "", Kind.NOT_CHECKED: "yellow", Kind.CONTRADICTED: "bold red"}
_MOST_ALIKE = 10


def verify(folder: Path, replays: int, seed: int | None, *, trust: bool, json: bool) -> int:
    """Print what was confirmed, what rests on the sender, what was not checked and what is contradicted.

    Args:
        folder: of the certificate.
        replays: how many runs of the simulator are repeated.
        seed: which ones; None: one that cannot be known beforehand.
        trust: run the code that it names.
        json: print that as JSON and nothing else.
    """
    chosen = secrets.randbelow(2**31) if seed is None else seed
    with consoles.progress().status("recomputing"):
        journal, statements = verify_certificate(folder, replays, chosen, trust=trust)
    code = exit_code(statements)
    if json:
        content = {
            "subject": journal.subject,
            "title": journal.heading,
            "seed": chosen,
            "exit_code": code,
            "statements": statements.all,
        }
        consoles.print_json(msgspec.json.format(msgspec.json.encode(content)).decode())
        return code
    console = consoles.results()
    subject = "" if journal.subject == Subject.RUNTIME else f" ({journal.subject})"
    console.print(f"{journal.system}{subject}: {journal.heading}")
    for kind in Kind:
        found = statements.of(kind)
        for sentence in found[:_MOST_ALIKE]:
            console.print(Text(f"  {kind:<22}", _STYLES[kind]) + Text(sentence))
        if len(found) > _MOST_ALIKE:
            console.print(Text(f"  {'':<22}{len(found) - _MOST_ALIKE} more"))
    verdict = {0: "It follows from what lies beside it.", 1: "It contradicts itself.", 2: "Not all was checked."}[code]
    console.print(f"{verdict} Runs to replay were chosen with --seed {chosen}.")
    return code


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
    if (code := runs_apart(third_party_code(sent.journal.system), folder, limit_s)) is not None:
        return code
    again, stored = keep_run(sent, run.name, trust=trust)
    plan = again.history.plan
    command = replay_command(stored, again.tier, plan.system, trust=bool(code_named_by(plan)))
    console = consoles.results()
    console.print(plan_in_words(plan))
    console.print(f"{again.outcome.value}, same trace: {again.trace_hash}; kept in {stored}; again: {command}")
    return 0
