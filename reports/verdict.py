"""The certificate in one sentence, and what its titles mean."""

from __future__ import annotations

from holdfast.harness.model.certificate import Scope
from holdfast.harness.model.journal import Certificate, Journal, Status, SubjectReport, Title
from holdfast.harness.model.status import ON_ITS_WORD
from holdfast.harness.model.units import duration
from holdfast.reports import view
from holdfast.reports.text import plural, subject_words

TITLE_MEANINGS = {
    Title.CERTIFIED: "every MUST rule passed or does not apply, over the tiers that ran",
    Title.PARTIAL: "nothing that ran is refuted or open, and not every MUST rule is decided",
    Title.INCONCLUSIVE: "nothing is refuted, and something that ran is open, was interrupted or ran out of time",
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
    outside = found[Status.NOT_APPLICABLE]
    absent = f", {outside} {'does' if outside == 1 else 'do'} not apply" if outside else ""
    if journal.certificate.title is Title.REFUSED:
        no_rule = " outside the rules of the catalogue" if not found[Status.FAIL] else ""
        causes = f"{plural(findings, 'finding')}{no_rule}: " if findings else ""
        unrun = f", {found[Status.UNTESTED]} did not run" if found[Status.UNTESTED] else ""
        refuted = f"{found[Status.FAIL]} refuted, {passed} passed{_shadowed(journal)}"
        return f"{causes}of {total}, {refuted}{absent}{unrun}."
    if journal.certificate.title is Title.INCONCLUSIVE:
        if journal.tiers and not any(tier.ran for tier in journal.tiers) and not journal.interrupted:
            return f"The system under test was not run, so nothing is decided: of {total}, {passed} passed{absent}."
        undecided = found[Status.INCONCLUSIVE] + found[Status.ERROR]
        cut = "The certification was interrupted" if journal.interrupted else "Nothing was refuted"
        still = f", {undecided} ran and {'stays' if undecided == 1 else 'stay'} open" if undecided else ""
        if not passed and not undecided and not journal.interrupted:
            cut = "Nothing was refuted, and too little ran to decide a rule"
        return f"{cut}: of {total}, {passed} passed{still}."
    aside = found[Status.WAIVED] or sum(each.status is Status.WAIVED for each in journal.findings)
    open_count = len(rules) - found[Status.PASS] - found[Status.NOT_APPLICABLE] - found[Status.WAIVED]
    nothing = "Nothing was refuted that is not waived" if aside else "Nothing that ran was refuted"
    waived = f", {found[Status.WAIVED]} waived" if found[Status.WAIVED] else ""
    return f"{nothing}: of {total}, {passed} passed{absent}{waived}, {open_count} did not run."


def _shadowed(journal: Journal) -> str:
    """Rules that passed in cases that failed."""
    shadowed = sum(bool(each.failed_cases) for each in view.rules(journal))
    return f", {shadowed} passed in cases that failed otherwise" if shadowed else ""


def scope_sentence(journal: Journal) -> str:
    """Which of the cases ran, where it was not all of them, and what the others are; else empty."""
    certificate = journal.certificate
    if certificate.scope is Scope.NARROWED:
        return "Narrowed to the rules and areas that were named."
    if not certificate.left_out:
        return ""
    cases = plural(sum(each.cases for each in certificate.left_out), "case")
    where = ", ".join(f"{each.cases} on {each.tier}" for each in certificate.left_out)
    alone = duration(sum(each.alone_s for each in certificate.left_out) * 1_000)
    programs = ", and fewer random programs of kits" if journal.subjects else ""
    added = f"{cases} ({where}), {alone} of runs"
    return f"Quick: the cheapest cases that decide every rule{programs}. --thorough adds {added}."


def usage_sentence(journal: Journal) -> str:
    """How long it took and what it needed of the machine; empty where nobody measured it."""
    usage = journal.usage
    if usage is None:
        return ""
    took, processors = duration(journal.duration_s * 1_000), duration(usage.processor_s * 1_000)
    memory = f", at most {usage.peak_memory_mb / 1_024:.1f} GiB of memory" if usage.peak_memory_mb else ""
    return f"It took {took} and {processors} of processor time{memory}."


def on_its_word(certificate: Certificate) -> str:
    """How many rules are decided on the system's own reports alone; empty if runs decided none."""
    if not certificate.decided:
        return ""
    rules = plural(certificate.decided, "decided rule")
    verb = "rests" if 1 in (certificate.on_its_word, certificate.decided) else "rest"
    return f"{certificate.on_its_word} of {rules} {verb} on {ON_ITS_WORD}"


def subject_sentence(subject: SubjectReport) -> str:
    """What a title says of parts of one kind: which, how many are certified, and how many rules are decided."""
    tried = sum(bool(each.report) for each in subject.parts)
    whole = sum(each.title is Title.CERTIFIED for each in subject.parts)
    return (
        f"{subject_words(subject.subject)}: {subject.decided} of {plural(subject.rules, 'MUST rule')} decided, "
        f"{whole} of {plural(tried, 'part')} certified"
    )
