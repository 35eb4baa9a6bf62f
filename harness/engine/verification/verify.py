"""The whole verification of one certificate."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.engine.site.versions import versions
from holdfast.harness.engine.verification.kept_runs import judge_again
from holdfast.harness.engine.verification.kits import compare_kit, compare_parts
from holdfast.harness.engine.verification.plans import Plans, cases_of
from holdfast.harness.engine.verification.recount import recount
from holdfast.harness.engine.verification.replays import chosen, replay
from holdfast.harness.engine.verification.sent import Judged, SentCertificate
from holdfast.harness.engine.verification.statements import Kind, Statements
from holdfast.harness.model.journal import Journal

EXIT_CODES = {Kind.CONFIRMED: 0, Kind.SENDERS_WORD: 0, Kind.NOT_CHECKED: 2, Kind.CONTRADICTED: 1}


def verify(folder: Path, replays: int, seed: int, *, trust: bool) -> tuple[Journal, Statements]:
    """Recompute what can be; the certificate, and what is stated about it.

    Args:
        folder: of the certificate.
        replays: how many runs of the simulator are repeated.
        seed: which ones.
        trust: code may be imported that the certificate or a plan names, and no installed package registers.

    Raises:
        UsageError: it is no certificate, or one that is not read.
    """
    sent, statements = SentCertificate(folder), Statements()
    journal = sent.journal
    _compare_versions(journal, statements)
    if sent.checks and not sent.log and not journal.runs and not journal.subjects:
        for kit, checks in sent.checks.items():
            compare_kit(f"{kit.partition(' ')[0]} {journal.system}", kit, journal, checks, statements)
        statements.believe("what the checks of the kit found: certify the part to see it")
        statements.tell_words()
        return journal, statements
    judged = Judged(journal, trust=trust)
    cases = cases_of(sent, judged, statements)
    plans = Plans(sent, judged, cases)
    recount(sent, judged, cases, statements)
    compare_parts(sent, judged.system, statements)
    plans.compare(sent, statements)
    judge_again(sent, judged, plans, cases, statements)
    replay(sent, chosen(sent, replays, seed), plans, statements, trust=trust)
    statements.believe(f"that what ran was {journal.system}, on the machine and at the time that it names")
    if judged.system is None:
        statements.believe(f"which events {journal.system} supplies, and how it records them")
    statements.believe("report.html and the other views: read the title here")
    statements.tell_words()
    return journal, statements


def exit_code(statements: Statements) -> int:
    """1 where the certificate contradicts itself or a replay, else 2 where something was not checked, else 0."""
    kinds = {each.kind for each in statements.all}
    return next((EXIT_CODES[kind] for kind in (Kind.CONTRADICTED, Kind.NOT_CHECKED) if kind in kinds), 0)


def _compare_versions(journal: Journal, statements: Statements) -> None:
    ours, theirs = versions()["holdfast"], journal.versions.get("holdfast", "")
    if ours != theirs:
        statements.leave_open(
            f"it was made by Holdfast {theirs or 'of no known version'}, and this is {ours}: use that"
        )
