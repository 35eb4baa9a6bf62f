"""The rule catalogue is complete, and a broken one is refused with a sentence."""

from __future__ import annotations

import pytest

from holdfast.harness.model.rule import Decidability, Level, Subject
from holdfast.suites.spec import area_files, load_rules, parse_rules

RULE = """
[[rule]]
id = "BAR-01"
level = "SHOULD"
subjects = ["RT", "SB"]
decidability = "T"
text = "A barrier never reorders records."
oracle = "sequence numbers."
sources = ["AlignedCheckpointsTest"]
"""
BARRIERS = f"""
area = "BAR"
title = "Barriers and alignment"
{RULE}
"""


def test_the_catalogue_has_every_rule_once_and_in_order() -> None:
    ids = [rule.id for rule in load_rules()]
    assert len(ids) == 158
    assert len(set(ids)) == 158
    assert ids == sorted(ids)


def test_every_area_is_one_file_with_one_title() -> None:
    titles = {(rule.area, rule.title) for rule in load_rules()}
    assert len(titles) == len({area for area, _ in titles}) == len(area_files()) == 20


def test_every_rule_says_how_it_is_decided_and_where_it_comes_from() -> None:
    for rule in load_rules():
        assert rule.sources, rule.id
        assert all(source.strip() == source != "" for source in rule.sources), rule.id
        assert rule.oracle.endswith("."), rule.id
        assert rule.text.endswith("."), rule.id


def test_thirteen_recommendations_bind_the_reference_runtime() -> None:
    raised = [rule for rule in load_rules() if rule.must_for_reference]
    assert len(raised) == 13
    assert {rule.level for rule in raised} == {Level.SHOULD}
    assert {rule.level_for_reference for rule in raised} == {Level.MUST}


def test_a_rule_is_read_with_its_area() -> None:
    (rule,) = parse_rules([("barriers.toml", BARRIERS)])
    assert (rule.id, rule.area, rule.title) == ("BAR-01", "BAR", "Barriers and alignment")
    assert rule.level is rule.level_for_reference is Level.SHOULD
    assert rule.subjects == (Subject.RUNTIME, Subject.STATE_BACKEND)
    assert rule.decidability is Decidability.TRACE


def test_the_order_of_the_files_does_not_matter() -> None:
    triggering = BARRIERS.replace("BAR", "TRG")
    files = [("triggering.toml", triggering), ("barriers.toml", BARRIERS)]
    assert [rule.id for rule in parse_rules(files)] == ["BAR-01", "TRG-01"]
    assert parse_rules(files) == parse_rules(reversed(files))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (BARRIERS + 'colour = "red"\n', "rule BAR-01: Object contains unknown field `colour`"),
        (BARRIERS + 'area = "BAR"\n', "rule BAR-01: 'area' belongs to the file, not to a rule"),
        (BARRIERS + RULE, "rule BAR-01 is already in barriers.toml"),
        (BARRIERS.replace("BAR-01", "TRG-01"), "rule TRG-01: the id 'TRG-01' does not begin with its area 'BAR'"),
        (BARRIERS.replace("BAR-01", "BAR-1"), "given 'BAR-1'"),
        (BARRIERS.replace('id = "BAR-01"', ""), "rule number 1, which has no id"),
        (BARRIERS.replace("SHOULD", "OUGHT"), "rule BAR-01: Invalid enum value 'OUGHT'"),
        (BARRIERS.replace('["RT", "SB"]', "[]"), "rule BAR-01: Expected `array` of length >= 1 - at `$.subjects`"),
        (BARRIERS.replace('["AlignedCheckpointsTest"]', "[]"), "at `$.sources`, given []"),
        (BARRIERS.replace('"sequence numbers."', '""'), "at `$.oracle`, given ''"),
        (BARRIERS.replace("SHOULD", "MUST") + "must_for_reference = true\n", "BAR-01: must_for_reference adds nothing"),
        (BARRIERS.replace('title = "', 'name = "'), "unknown field `name`"),
        (BARRIERS + "[[rule\n", "not valid TOML"),
    ],
)
def test_a_broken_catalogue_is_refused_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_rules([("barriers.toml", text)])
    sentence = str(caught.value)
    assert sentence.startswith("barriers.toml: ")
    assert complaint in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_an_area_is_one_file() -> None:
    with pytest.raises(ValueError, match=r"^more\.toml: area 'BAR' is already that of barriers\.toml;"):
        parse_rules([("more.toml", BARRIERS), ("barriers.toml", BARRIERS)])
