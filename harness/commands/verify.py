"""`holdfast verify`: somebody else's certificate, recomputed."""

from __future__ import annotations

import secrets
from pathlib import Path

import msgspec
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.verification.statements import Kind
from holdfast.harness.engine.verification.verify import exit_code
from holdfast.harness.engine.verification.verify import verify as verify_certificate
from holdfast.harness.model.rule import Subject

_STYLES = {Kind.CONFIRMED: "green", Kind.SENDERS_WORD: "", Kind.NOT_CHECKED: "yellow", Kind.CONTRADICTED: "bold red"}
_MOST_ALIKE = 10


def verify(folder: Path, replays: int, seed: int | None, *, trust: bool, json: bool) -> int:
    """Print what was confirmed, what rests on the sender, what was not checked and what is contradicted.

    Args:
        folder: of the certificate.
        replays: how many runs of the simulator are repeated.
        seed: which ones; None: nobody can know beforehand.
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
