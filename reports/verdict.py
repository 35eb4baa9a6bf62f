"""The certificate in one sentence, and what its titles mean."""

from __future__ import annotations

from holdfast.harness.model.journal import Certificate, Journal, Status, Title
from holdfast.reports import view
from holdfast.reports.text import plural

TITLE_MEANINGS = {
    Title.CERTIFIED: "every MUST rule passed or does not apply",
    Title.PARTIAL: "nothing that ran is refuted or open, and not everything ran",
    Title.INCONCLUSIVE: "nothing is refuted, and something that ran is open",
    Title.REFUSED: "something is refuted",
}


def sentence(journal: Journal) -> str:
    """What the title means for this system, in counts of the rules that bind its subject."""
    rules = view.rules(journal)
    if not rules:
        return "No rule applies to what ran."
    found = {status: sum(each.status is status for each in rules) for status in Status}
    passed = sum(map(view.is_passed, rules))
    total = plural(len(rules), "rule")
    findings = sum(each.status is Status.FAIL for each in journal.findings)
    if journal.certificate.title is Title.CERTIFIED:
        return f"Every MUST rule passed or does not apply; of {total}, {passed} passed."
    if journal.certificate.title is Title.REFUSED:
        causes = f"{plural(findings, 'finding')}: " if findings else ""
        return f"{causes}of {total}, {found[Status.FAIL]} refuted, {passed} passed{_shadowed(journal)}."
    if journal.certificate.title is Title.INCONCLUSIVE:
        undecided = found[Status.INCONCLUSIVE] + found[Status.ERROR]
        cut = "The certification was interrupted" if journal.interrupted else "Nothing was refuted"
        still = f", {undecided} ran and stay open" if undecided else ""
        return f"{cut}: of {total}, {passed} passed{still}."
    open_count = len(rules) - found[Status.PASS] - found[Status.NOT_APPLICABLE]
    absent = f", {found[Status.NOT_APPLICABLE]} do not apply" if found[Status.NOT_APPLICABLE] else ""
    return f"Nothing that ran was refuted: of {total}, {passed} passed{absent}, {open_count} did not run."


def _shadowed(journal: Journal) -> str:
    """Rules that passed in cases that failed."""
    shadowed = sum(bool(each.failed_cases) for each in view.rules(journal))
    return f", {shadowed} passed in cases that failed otherwise" if shadowed else ""


def on_its_word(certificate: Certificate) -> str:
    """How many rules nobody saw kept from outside; empty if runs decided none."""
    if not certificate.decided:
        return ""
    rules = plural(certificate.decided, "decided rule")
    verb = "rests" if certificate.on_its_word == 1 else "rest"
    return f"{certificate.on_its_word} of {rules} {verb} on the word of the system under test alone"
