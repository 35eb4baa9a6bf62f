"""`report.html` is complete, stands alone, and cannot be turned against its reader."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from holdfast.harness.model.journal import Certificate, Journal, Timeline, Title
from holdfast.harness.model.rule import Part, Place
from holdfast.harness.model.run_details import RunDetails
from holdfast.harness.model.status import STATUS_WORDS
from holdfast.harness.model.units import duration
from holdfast.reports import finding, text, view
from holdfast.reports.html import HtmlReporter, page
from holdfast.suites.selfcheck.reports import journals, sample

VOID = {"meta", "input", "br"}
LOADING = {"src", "srcset", "poster", "data", "background", "action", "formaction", "ping", "manifest"}


class Page(HTMLParser):
    """Elements, ids and links of a page, with its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        """All words, single-spaced."""
        return " ".join(" ".join(self.words).split())


@pytest.mark.parametrize("journal", [journals.partial, journals.refused, journals.large])
def test_every_number_of_the_journal_is_there(journal: Callable[[], Journal]) -> None:
    value = journal()
    shown = Page(page(value)).text
    for status, number in view.status_counts(result.status for result in view.rules(value)).items():
        assert f"{number} {STATUS_WORDS[status]}" in shown
    for area in view.areas(value):
        assert f"{area.title} {area.passed}/{len(area.rules)}" in shown
    for case in value.cases:
        assert f"{case.runs_passed:,} /{case.runs_demanded:,}" in shown
        assert f"{case.runs_failed:,}" in shown
        assert f"{case.runs_inconclusive:,}" in shown
    for window, hits in value.certificate.windows_hit.items():
        assert f"{window} {hits:,}" in shown
    for run in value.runs:
        numbers = f"{run.checkpoints:,} {run.restarts:,} {run.records:,} {run.rows:,} {duration(run.wall_ms)}"
        assert f"{run.id} {run.run_seed} 1 kill, 1 slow {numbers}" in shown
        assert run.replay in shown
        believed = ", ".join(f"{value.oracle_titles[oracle]} ({oracle})" for oracle in run.on_its_word)
        assert f"Rests on reports of the system itself, not seen from outside: {believed}." in shown
    for tier in value.tiers:
        assert (text.plural(tier.runs, "run") if tier.ran else tier.reason) in shown
    assert f"Runs {text.count(view.total_runs(value))}" in shown
    assert str(value.seed) in shown
    assert f"n = {value.certificate.drawn_plans:,}" in shown or value.certificate.failure_bound is None


def test_a_finding_without_a_witness_says_where_it_was_seen() -> None:
    """It had no line for that, and a reader looked for one."""
    value = journals.refused()
    first = msgspec.structs.replace(value.findings[0], cause=None, cases=("BARRIERS/aligned on sim", "CUT/loss on sim"))
    shown = Page(page(msgspec.structs.replace(value, findings=(first,)))).text
    assert "Seen at the end of BARRIERS/aligned on sim, CUT/loss on sim; no single event shows it" in shown


def test_several_findings_are_listed_first_with_what_they_share() -> None:
    value = journals.refused()
    first = next(each for each in value.findings if each.cause is not None)
    alike = [
        msgspec.structs.replace(first, needs=("kill of worker 1",), setting="sum"),
        msgspec.structs.replace(first, needs=("kill of worker 1", "kill of coordinator"), cause=None),
    ]
    shown = Page(page(msgspec.structs.replace(value, findings=tuple(alike))))
    assert "May be one defect: all need kill of worker 1" in shown.text
    assert shown.text.index("May be one defect") < shown.text.index("Why")
    assert "Ran sum" in shown.text
    one = Page(page(msgspec.structs.replace(value, findings=(alike[0],))))
    assert "May be one defect" not in one.text


@pytest.mark.parametrize("journal", [journals.partial, journals.refused])
def test_every_rule_is_there_with_its_law_and_its_cases(journal: Callable[[], Journal]) -> None:
    value = journal()
    found = Page(page(value))
    shown = _plain(found.text)
    links = {attributes["href"] for tag, attributes in found.elements if tag == "a"}
    for result in view.other_rules(value):
        assert f"rule-{result.rule.id}" in found.ids
        assert _plain(result.rule.text) not in shown
    for result in view.rules(value):
        assert f"rule-{result.rule.id}" in found.ids
        titles = [source.words for source in result.rule.sources]
        words_of = (result.rule.text, result.rule.why, result.rule.oracle, result.reason, *titles)
        for words in (*words_of, *result.oracles, *result.mutants):
            assert _plain(words) in shown
        for source in result.rule.sources:
            assert not source.address or source.address in links
    for case in value.cases:
        for words in (case.purpose, case.method, case.passes, case.reason):
            assert _plain(words) in shown


def _plain(words: str) -> str:
    """Without blanks and backticks, because names in backticks become elements of their own."""
    return re.sub(r"[\s`]", "", words)


def test_the_card_says_what_was_claimed_hit_and_missed() -> None:
    value = journals.refused()
    shown = Page(page(value)).text
    certificate = value.certificate
    for words in (*certificate.guarantees, *certificate.missing, *certificate.windows_missed, value.claims):
        assert _plain(words) in _plain(shown)
    assert "Interrupted by SIGTERM." in shown
    assert "between completion and commit never" in shown
    assert value.plans_digest in shown
    assert value.history_digest in shown
    assert "committed reader" in shown


def test_a_full_certificate_says_so() -> None:
    card = Certificate(Title.CERTIFIED, (), ("output exactly-once: not refuted in 305 runs",), {}, (), 3 / 305, 305)
    shown = Page(page(msgspec.structs.replace(journals.partial(), certificate=card))).text
    assert "Certified" in shown
    assert "0.98 %" in shown


@pytest.mark.parametrize(
    "journal", [journals.partial, journals.refused, journals.hostile, journals.empty, journals.side_by_side]
)
def test_the_page_loads_nothing(journal: Callable[[], Journal]) -> None:
    source = page(journal())
    found = Page(source)
    for tag, attributes in found.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "image", "use", "base"}
        assert not LOADING & set(attributes), (tag, attributes)
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name != "style"
            if name in {"href", "xlink:href"}:
                assert value is not None
                assert value.startswith("#") or (tag == "a" and value.startswith("https://")), value
            if name in {"fill", "stroke"}:
                assert value is not None
                assert "url" not in value.lower(), value
    style = source[source.index("<style>") : source.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style


@pytest.mark.parametrize("journal", [journals.partial, journals.refused, journals.hostile])
def test_the_policy_lets_in_our_script_and_style_and_nothing_else(journal: Callable[[], Journal]) -> None:
    source = page(journal())
    policy = next(
        attributes["content"]
        for tag, attributes in Page(source).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        inside = re.findall(f"<{tag}>(.*?)</{tag}>", source, flags=re.DOTALL)
        assert len(inside) == 1
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_parts_have_titles_of_their_own() -> None:
    words = " ".join(" ".join(Page(page(journals.with_parts())).words).split())
    assert "state backend Certified 24 of 24 MUST rules decided hashmap Certified 67 checks" in words
    assert "sink Refused 16 of 17 MUST rules decided Sink Refused 37 checks Other Not tried" in words


def test_hostile_words_stay_words() -> None:
    source = page(journals.hostile())
    assert "<script>alert" not in source
    assert "<img" not in source
    assert "onerror=alert(1)&gt;" in source
    assert "\x1b" not in source
    assert "\x00" not in source


@pytest.mark.parametrize("journal", [journals.with_parts, journals.refused, journals.hostile, journals.large])
def test_ids_are_unique_and_links_arrive(journal: Callable[[], Journal]) -> None:
    found = Page(page(journal()))
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    for tag, attributes in found.elements:
        if tag == "a":
            target = attributes["href"]
            assert target is not None
            assert target.startswith("https://") or target.removeprefix("#") in found.ids, target


def test_one_cause_is_one_finding_and_shown_once() -> None:
    source = page(journals.refused())
    assert source.count('<article class="finding finding-fail"') == 1
    assert source.count("sum[0] took its snapshot for checkpoint 3") == 1
    assert source.count('<svg class="timeline"') == len([run for run in journals.refused().runs if run.timeline])


def test_a_finding_begins_with_four_lines() -> None:
    shown = Page(page(journals.refused())).text
    start = shown.index("What Wrong output: Key 17 ends with count 312")
    when = shown.index("When 872 ms into the run, 31.5 ms after faults[0] (kill of worker 1), at checkpoint 3")
    why = shown.index("Why CUT/record-after-barrier: what record-after-barrier means.")
    following = shown.index("Next holdfast replay runs/barriers-alignment-sim-0040")
    assert start < when < why < following
    assert "Refutes 4 rules: BAR-03, BAR-05, E2E-02, REC-03" in shown
    assert "1 consequence" in shown


def shown_at_once(source: str) -> str:
    """What of the first finding is read without opening anything."""
    article = re.search(r"<article.*?</article>", source, flags=re.DOTALL)
    assert article is not None
    unfolded = re.sub(r"<summary>.*?</summary>", "", article[0], flags=re.DOTALL)
    while (inner := re.sub(r"<details[^>]*>(?:(?!<details).)*?</details>", "", unfolded, flags=re.DOTALL)) != unfolded:
        unfolded = inner
    return Page(unfolded).text


def test_what_is_not_needed_at_once_is_folded() -> None:
    value = journals.refused()
    first, *_ = value.findings
    assert first.cause is not None
    source = page(value)
    shown = shown_at_once(source)
    assert re.findall(r"\b(What|When|Seen|Why|Rule|Next|Ran)\b", shown) == [
        "What",
        "When",
        "Seen",
        "Why",
        "Rule",
        "Next",
    ]
    assert all(line in shown for line in first.cause.witness)
    rule = next(each.rule for each in value.rules if each.rule.id in first.rules)
    assert rule.why in shown
    assert rule.text not in shown
    for each in first.consequences:
        assert each.name not in shown
        assert each.message in Page(source).text


def test_long_evidence_is_its_first_and_last_lines_first() -> None:
    value = journals.refused()
    first, *others = value.findings
    assert first.cause is not None
    lines = (*(f"worker-0.0 #{number}: event" for number in range(1, 9)), f"worker-0.0 #9: {'file ' * 90}end")
    long = msgspec.structs.replace(
        first, what=f"{first.what} {'and more ' * 90}at last", cause=msgspec.structs.replace(first.cause, witness=lines)
    )
    assert [number for number, _ in finding.seen(long).lines] == [1, 8, 9]
    source = page(msgspec.structs.replace(value, findings=(long, *others)))
    shown = shown_at_once(source)
    assert "6 lines between" in shown
    assert "at last" not in shown
    assert len(shown.split()) < 200
    for words in (*lines, long.what):
        assert words in Page(source).text


def test_the_smallest_witness_is_shown() -> None:
    first, *_ = journals.refused().findings
    assert first.run == "barriers-alignment-sim-0040"
    assert {"BAR-03", "BAR-05", "E2E-02"} <= set(first.rules)
    assert {f"barriers-alignment-sim-{number:04}" for number in (3, 7, 11)} < set(first.runs)


def test_the_timeline_of_a_finding_has_a_red_mark() -> None:
    source = page(journals.refused())
    assert source.count('class="broken-flag"') == len(
        [run for run in journals.refused().runs if run.timeline and run.finding]
    )
    assert 'class="broken-flag"' not in page(msgspec.structs.replace(journals.partial(), runs=journals.large().runs))


def test_rules_of_other_subjects_are_in_no_count() -> None:
    value = journals.refused()
    others = view.other_rules(value)
    assert others
    assert not any("RT" in result.rule.subjects for result in others)
    shown = Page(page(value)).text
    assert f"of {len(value.rules) - len(others)} rules, 4 refuted" in shown
    assert f"{len(others)} rules apply to other subjects than a runtime" in shown


def test_what_lies_beside_a_run_is_read_from_there_alone(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    history = sample.checkpoint_history()
    content = msgspec.json.encode(RunDetails(checkpoint_history=history))
    run = sample.run(journals.ALIGNMENT, 1, drawn=sample.timeline(1))

    def shown(name: str, content: bytes) -> str:
        (tmp_path / "report" / name).write_bytes(content)
        value = msgspec.structs.replace(journals.partial(), runs=(msgspec.structs.replace(run, details=name),))
        return HtmlReporter().render(value, tmp_path / "report").read_text(encoding="utf-8")

    assert 'class="checkpoints"' in shown("details.json", content)
    for name, broken in (("../outside.json", content), ("cut.json", content[:-9]), ("text.json", b"\xff")):
        assert 'class="checkpoints"' not in shown(name, broken)


def test_a_negative_control_is_not_shown_as_a_failure() -> None:
    source = page(journals.partial())
    assert "fail, as expected" in source
    assert 'class="finding' not in source


def test_a_night_fits_in_three_megabytes(tmp_path: Path) -> None:
    value = journals.large()
    assert view.total_runs(value) >= 10_000
    assert len(value.runs) == 400
    assert sum(run.timeline is not None for run in value.runs) == 40
    assert HtmlReporter().render(value, tmp_path).stat().st_size < 3_000_000


def test_a_run_in_which_nothing_came_up_has_no_empty_timeline() -> None:
    value = journals.partial()
    run = next(each for each in value.runs if each.timeline is not None)
    bare = msgspec.structs.replace(run, timeline=Timeline(duration_ms=1.0, lanes=()))
    one, none = (msgspec.structs.replace(value, runs=(each,)) for each in (run, bare))
    assert "Timeline of run" in page(one)
    assert "Timeline of run" not in page(none)


def test_drawn_plans_that_did_not_count_are_not_denied() -> None:
    """Thirty drawn runs that did not count were reported as `No plan was drawn`."""
    value = journals.empty()
    assert "No drawn plan counted, so nothing bounds the failure probability." in page(value)


def test_a_rule_leads_to_its_code() -> None:
    journal = journals.partial()
    place = Place(Part.CLAUSE, "CUT/<b>", "harness/oracles/barriers/cut.py", 193)
    rules = tuple(msgspec.structs.replace(each, places=(place,)) for each in journal.rules)
    assert (
        "clause harness/oracles/barriers/cut.py:193" in Page(page(msgspec.structs.replace(journal, rules=rules))).text
    )
    assert "In the code" not in Page(page(journal)).text
