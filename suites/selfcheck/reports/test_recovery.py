"""Recoveries are shown by fault and tier, the systems side by side, on one scale."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import msgspec
import pytest

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, Recovery
from holdfast.harness.model.verdict import Outcome
from holdfast.reports import recovery, strip
from holdfast.reports.html import page
from holdfast.reports.recovery import Row, Sample
from holdfast.reports.strip import Scale
from holdfast.reports.summary import summary
from holdfast.suites.selfcheck.reports import journals
from holdfast.suites.selfcheck.reports.sample import run


def row(*milliseconds: float, faults: int = 0) -> Row:
    samples = tuple(Sample("a-run", "worker 0", each) for each in milliseconds)
    return Row("kill worker", Tier.PROCESS, "reference", 1, faults or len(samples), samples, ())


def journal_of(*values: float | None, outcome: Outcome = Outcome.PASS, tier: Tier = Tier.PROCESS) -> Journal:
    recoveries = tuple(Recovery(number, "kill worker", "worker 0", None, each) for number, each in enumerate(values))
    journal_of = run("a/case", 0, tier=tier, outcome=outcome, recoveries=recoveries)
    return msgspec.structs.replace(journals.empty(), runs=(journal_of,))


def places(found: Row, scale: Scale, class_: str) -> list[float]:
    drawn = ElementTree.fromstring(str(strip.strip(found, scale)))
    shapes = [each for each in drawn.iter() if each.get("class") == class_]
    return [float((each.get("cx") or each.get("x1") or "").rstrip("%")) for each in shapes]


def test_systems_stand_side_by_side_under_each_fault() -> None:
    groups = recovery.groups(journals.side_by_side())
    assert [[(each.attack, each.system, each.series) for each in group] for group in groups] == [
        [("kill executor", "reference", 1), ("kill executor", "spark", 2)],
        [("outage broker", "reference", 1), ("outage broker", "spark", 2)],
    ]


def test_tiers_are_told_apart() -> None:
    runs = (*journal_of(1.0).runs, *journal_of(2.0, tier=Tier.CONTAINERS).runs)
    groups = recovery.groups(msgspec.structs.replace(journals.empty(), runs=runs))
    assert [group[0].tier for group in groups] == [Tier.PROCESS, Tier.CONTAINERS]


def test_the_fault_that_was_measured_most_comes_first() -> None:
    rare = Recovery(0, "pause worker", "worker 0", None, 10.0)
    [often] = journal_of(1.0, 2.0).runs
    runs = (msgspec.structs.replace(often, recoveries=(rare, *often.recoveries)),)
    groups = recovery.groups(msgspec.structs.replace(journals.empty(), runs=runs))
    assert [group[0].attack for group in groups] == ["kill worker", "pause worker"]


def test_the_figures_of_a_row() -> None:
    found = row(*map(float, range(1, 101)), faults=103)
    assert (found.median, found.p95, found.worst, found.untold) == (50.5, 95.0, 100.0, 3)
    assert (row(4.0).median, row(4.0).p95, row(4.0).untold) == (4.0, 4.0, 0)


def test_a_fault_without_output_is_counted_and_has_no_dot() -> None:
    [[found]] = recovery.groups(journal_of(200.0, None, 300.0))
    assert (found.faults, found.values, found.untold) == (3, [200.0, 300.0], 1)
    [[nothing]] = recovery.groups(journal_of(None, None))
    words = "not measured after 2 faults: no new output before the next one or the end"
    assert (nothing.median, nothing.in_words) == (None, words)
    assert "Not measured after 2 more faults: no new output came" in page(journal_of(None, None))
    assert "Not measured" not in page(journal_of(200.0))


def test_what_a_refuted_run_put_out_is_no_recovery() -> None:
    wrong = journal_of(200.0, outcome=Outcome.FAIL)
    assert recovery.groups(wrong) == []
    assert recovery.refuted(wrong) == 1
    assert 'id="recovery"' not in page(wrong)
    assert "3 faults of refuted runs left out" in page(journals.side_by_side())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 1e300])
def test_a_time_that_is_none_is_no_sample(value: float) -> None:
    [[found]] = recovery.groups(journal_of(value, 5.0))
    assert found.values == [5.0]
    assert "nan" not in page(journal_of(value)).lower()


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((900.0, 1_100.0), ["0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1 s", "1.2 s"]),
        ((90.0,), ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]),
        ((100.0,), ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]),
        ((12_000.0,), ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s"]),
        ((), ["0 ms", "0.02 ms", "0.04 ms", "0.06 ms", "0.08 ms", "0.1 ms"]),
    ],
    ids=range(5),
)
def test_ticks_are_round_few_and_of_one_unit(values: tuple[float, ...], labels: list[str]) -> None:
    assert [label for _, label in strip.scale_of([row(*values)]).ticks()] == labels


def test_what_differs_by_magnitudes_gets_a_logarithmic_scale() -> None:
    scale = strip.scale_of([row(70.0, 110.0), row(60_000.0)])
    assert (scale.low, scale.high) == (50.0, 100_000.0)
    assert [label for _, label in scale.ticks()] == ["100 ms", "1 s", "10 s", "100 s"]
    assert scale.share(50.0) == 0
    assert scale.share(100_000.0) == 1
    assert scale.share(500.0) - scale.share(50.0) == pytest.approx(scale.share(5_000.0) - scale.share(500.0))


def test_dots_lie_where_their_values_are() -> None:
    scale = Scale(0.0, 200.0)
    found = row(50.0, 100.0, 190.0)
    assert places(found, scale, "sample") == [25.0, 50.0, 95.0]
    assert places(found, scale, "median") == [50.0]
    assert places(found, scale, "whisker") == [25.0, 95.0]


def test_dots_that_would_cover_each_other_give_way() -> None:
    drawn = ElementTree.fromstring(str(strip.strip(row(*[100.0] * 3, 190.0), Scale(0.0, 200.0))))
    heights = [each.get("cy") for each in drawn.iter() if each.get("class") == "sample"]
    assert len(set(heights[:3])) == 3
    assert heights[3] == heights[0]


def test_many_dots_stay_few() -> None:
    assert len(places(row(*map(float, range(5_000))), Scale(0.0, 5_000.0), "sample")) <= strip.MOST_DOTS


def test_the_page_names_figures_and_systems() -> None:
    source = page(journals.side_by_side())
    section = source[source.index('<section id="recovery"') : source.index('<section id="rules"')]
    words = " ".join(re.sub("<title>.*?</title>|<[^>]*>", " ", section).split())
    assert "kill executor on tier spark reference" in words
    assert "9 1.27 s 1.55 s 1.55 s 123 ms spark 9 3.94 s 4.81 s 4.81 s –" in words
    assert "reference, kill executor: median 1.27 s, p95 1.55 s (n = 9)" in section
    assert section.count('class="sample"') == 9 + 9 + 8 + 8 + 1 + 4  # with the key and the systems' own dots


def test_the_summary_has_a_table() -> None:
    shown = summary(journals.side_by_side())
    assert "| kill executor | spark | reference | 9 | 1.27 s | 1.55 s | 1.55 s |\n" in shown
    assert "Recovery" not in summary(journals.refused())
