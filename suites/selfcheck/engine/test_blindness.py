"""The comparison of quick and thorough certificates counts what it says."""

from __future__ import annotations

import pytest

from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.suites.selfcheck import blindness
from holdfast.suites.selfcheck.blindness import Refusal, drawn, refusal, share, variants


def test_variants_are_drawn_by_seed_and_each_once() -> None:
    assert drawn(1, 60) == drawn(1, 60)
    assert drawn(1, 60) != drawn(2, 60)
    assert len(set(drawn(1, 60))) == 60
    assert sorted(drawn(3, 10_000)) == variants()


@pytest.mark.parametrize("variant", ["reference+A3", "reference+H7"])
def test_a_variant_that_a_decision_names_is_refused_by_a_quick_certificate(variant: str) -> None:
    assert refusal(variant).quick


def test_what_the_choice_misses_is_found_by_the_rest_and_counts_as_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    variant = "reference+H7"
    finder = refusal(variant).quick
    cases = [each for each in registry.cases() if each.id in (finder, "barriers/alignment")]

    def blind(pairs: list[tuple[Case, Tier]], costs: object) -> list[tuple[Case, Tier]]:
        return [(case, tier) for case, tier in pairs if case.id != finder]

    monkeypatch.setattr(blindness, "cases_for", lambda system: cases)
    monkeypatch.setattr(blindness, "select", blind)
    missed = refusal(variant)
    assert missed == Refusal(variant, thorough=finder)
    assert share([missed]) == 0.0
    assert share([missed, Refusal("reference+A3", quick="a/case"), Refusal("reference+B1")]) == 0.5
    assert share([Refusal("reference+B1")]) == 1.0
    assert "MISSED" in str(missed)
