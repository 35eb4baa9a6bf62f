"""The rule catalogue is complete, and a broken one is refused with a sentence."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from urllib.parse import urlsplit

import pytest

from holdfast.harness.engine.site import registry
from holdfast.harness.model.rule import Decidability, Level, Rule, SourceKind, Subject
from holdfast.suites.conformance.samples import samples
from holdfast.suites.spec import area_files, load_rules, parse_rules, parse_sources
from holdfast.suites.spec.sources import SOURCES

TABLE = parse_sources(SOURCES, resources.files("holdfast.suites.spec").joinpath(SOURCES).read_text(encoding="utf-8"))
HOSTS = {
    SourceKind.DOCUMENTATION: {"nightlies.apache.org", "flink.apache.org", "spark.apache.org", "kafka.apache.org"},
    SourceKind.PROPOSAL: {"cwiki.apache.org"},
    SourceKind.PAPER: {"arxiv.org", "www.vldb.org", "lamport.azurewebsites.net"},
    SourceKind.REPORT: {"github.com"},
    SourceKind.CODE: {"github.com"},
}
"""Where the public pages lie that rules cite."""
AREAS = {
    "ASY", "BAR", "CFG", "CRD", "E2E", "FIN", "INC", "ITR", "LOC", "OBS", "PIP",
    "REC", "RET", "RSC", "RST", "SAV", "SBK", "STO", "TPC", "TRG", "UNA",
}  # fmt: skip
"""What a certificate speaks of; without its file an area would be missing in silence."""
RAISED = {
    "ASY-07", "BAR-08", "CFG-06", "CRD-14", "INC-08", "LOC-04", "OBS-02",
    "OBS-03", "REC-10", "RSC-06", "SBK-08", "SBK-11", "UNA-08",
}  # fmt: skip
"""Recommendations that bind the reference runtime."""
OWN = {"ASY-07", "CFG-09", "CRD-14", "INC-04", "REC-11", "RSC-06"}
"""Rules that the documents of the project alone ask for: no public page does."""
ALIGNED = """
[aligned-checkpoints-test]
kind = "code"
title = "AlignedCheckpointsTest"
address = "https://github.com/apache/flink/blob/release-1.20.3/AlignedCheckpointsTest.java"
"""

RULE = """
[[rule]]
id = "BAR-01"
level = "SHOULD"
subjects = ["RT", "SB"]
decidability = "T"
text = "A barrier never reorders records."
why = "Otherwise old values overwrite newer ones."
oracle = "sequence numbers."
sources = ["aligned-checkpoints-test: testMultiChannel"]
"""
BARRIERS = f"""
area = "BAR"
title = "Barriers and alignment"
{RULE}
"""


def parsed(*files: tuple[str, str]) -> tuple[Rule, ...]:
    return parse_rules(files, parse_sources(SOURCES, ALIGNED))


def test_an_area_numbers_its_rules_from_one_and_leaves_none_out() -> None:
    ids = [rule.id for rule in load_rules()]
    assert ids == sorted(ids)
    areas = Counter(rule.area for rule in load_rules())
    assert ids == [f"{area}-{number:02}" for area, most in areas.items() for number in range(1, most + 1)]


def test_every_area_is_one_file_with_one_title() -> None:
    titles = {(rule.area, rule.title) for rule in load_rules()}
    assert {area for area, _ in titles} == AREAS
    assert len(titles) == len(area_files()) == len(AREAS)


def test_every_rule_says_how_it_is_decided_and_where_it_comes_from() -> None:
    for rule in load_rules():
        assert rule.sources, rule.id
        assert len({source.words for source in rule.sources}) == len(rule.sources), rule.id
        assert rule.oracle.endswith("."), rule.id
        assert rule.text.endswith("."), rule.id


def test_every_rule_but_those_of_the_project_leads_to_a_public_page() -> None:
    own = [rule for rule in load_rules() if not any(source.address for source in rule.sources)]
    assert {rule.id for rule in own} == OWN
    assert {source.kind for rule in own for source in rule.sources} == {SourceKind.DOCUMENT}


def test_a_source_lies_at_one_address_of_a_public_kind() -> None:
    for key, source in TABLE.items():
        if source.kind is not SourceKind.DOCUMENT:
            assert urlsplit(source.address).hostname in HOSTS[source.kind], key
    assert [title for title, count in Counter(source.title for source in TABLE.values()).items() if count > 1] == []
    addresses = Counter(source.address for source in TABLE.values() if source.address)
    assert [address for address, count in addresses.items() if count > 1] == []


def test_every_source_is_cited() -> None:
    cited = {source.title for rule in load_rules() for source in rule.sources}
    assert {source.title for source in TABLE.values()} - cited == set()


def test_every_sample_of_a_configuration_names_the_document_that_it_is_from() -> None:
    assert {TABLE[sample.source].kind for sample in samples()} == {SourceKind.DOCUMENT}


def test_every_rule_says_in_one_plain_line_why_it_matters() -> None:
    lines = [rule.why for rule in load_rules()]
    assert [line for line, count in Counter(lines).items() if count > 1] == []
    for line in lines:
        assert line.endswith("."), line
        assert len(line.split()) <= 25, line
        assert not set(line) & set("`<>{}_"), line


def test_a_case_or_a_kit_decides_each_recommendation_that_binds_the_reference_runtime() -> None:
    raised = {rule.id: (rule.level, rule.level_for_reference) for rule in load_rules() if rule.must_for_reference}
    assert raised.keys() == RAISED
    assert set(raised.values()) == {(Level.SHOULD, Level.MUST)}
    by_cases = {decision.rule for case in registry.cases() for decision in case.decides}
    assert [rule for rule in raised.keys() - by_cases if not registry.kits_deciding(rule)] == []


def test_a_rule_is_read_with_its_area() -> None:
    (rule,) = parsed(("barriers.toml", BARRIERS))
    assert (rule.id, rule.area, rule.title) == ("BAR-01", "BAR", "Barriers and alignment")
    assert rule.level is rule.level_for_reference is Level.SHOULD
    assert rule.subjects == (Subject.RUNTIME, Subject.STATE_BACKEND)
    assert rule.decidability is Decidability.TRACE
    (source,) = rule.sources
    assert source.words == "AlignedCheckpointsTest, testMultiChannel"
    assert source.address.startswith("https://github.com/apache/flink/blob/")


def test_the_order_of_the_files_does_not_matter() -> None:
    triggering = BARRIERS.replace("BAR", "TRG")
    files = [("triggering.toml", triggering), ("barriers.toml", BARRIERS)]
    assert [rule.id for rule in parsed(*files)] == ["BAR-01", "TRG-01"]
    assert parsed(*files) == parsed(*reversed(files))


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
        (BARRIERS.replace('["aligned-checkpoints-test: testMultiChannel"]', "[]"), "at `$.sources`, given []"),
        (
            BARRIERS.replace("aligned-", "alined-"),
            "rule BAR-01: source 'alined-checkpoints-test' is not known; known: ",
        ),
        (
            BARRIERS.replace("testMultiChannel", "000_cc78.txt"),
            "rule BAR-01: '000_cc78.txt' is the name of a file; cite",
        ),
        (BARRIERS.replace('["aligned-checkpoints-test: testMultiChannel"]', "[7]"), "at `$.sources[0]`, given [7]"),
        (BARRIERS.replace("Otherwise old", f"Otherwise {'old ' * 40}"), "BAR-01: Expected `str` of length <= 140"),
        (
            BARRIERS.replace("Otherwise old values overwrite newer ones.", ""),
            "BAR-01: why is empty; say in one",
        ),
        (BARRIERS.replace('"sequence numbers."', '""'), "at `$.oracle`, given ''"),
        (BARRIERS.replace("SHOULD", "MUST") + "must_for_reference = true\n", "BAR-01: must_for_reference adds nothing"),
        (BARRIERS.replace('title = "', 'name = "'), "unknown field `name`"),
        (BARRIERS + "[[rule\n", "not valid TOML"),
    ],
)
def test_a_broken_catalogue_is_refused_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        parsed(("barriers.toml", text))
    sentence = str(caught.value)
    assert sentence.startswith("barriers.toml: ")
    assert complaint in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_an_area_is_one_file() -> None:
    with pytest.raises(ValueError, match=r"^more\.toml: area 'BAR' is already that of barriers\.toml;"):
        parsed(("more.toml", BARRIERS), ("barriers.toml", BARRIERS))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (ALIGNED.replace('kind = "code"', 'kind = "class"'), "Invalid enum value 'class'"),
        (ALIGNED.replace("https:", "http:"), "Expected `str` matching regex"),
        (
            ALIGNED.replace("release-1.20.3", "master"),
            "for kind code it is https://github.com/OWNER/NAME/blob/COMMIT/PATH",
        ),
        (
            ALIGNED.replace('kind = "code"', 'kind = "report"'),
            "for kind report it is https://github.com/OWNER/NAME/issues",
        ),
        (ALIGNED.replace('kind = "code"', 'kind = "document"'), "a document of the project has none"),
        (ALIGNED.replace("address =", "section ="), "'section' belongs to a rule"),
        (
            ALIGNED[: ALIGNED.index("address")],
            "address ''; a document of the project has none, every other",
        ),
        (ALIGNED.replace('AlignedCheckpointsTest"', '002_fb41.txt"'), "'002_fb41.txt' is the name of a file; cite"),
        (ALIGNED.replace("[aligned", "[[aligned"), "not valid TOML"),
    ],
)
def test_a_broken_table_of_sources_is_refused_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_sources(SOURCES, text)
    sentence = str(caught.value)
    assert sentence.startswith(f"{SOURCES}: ")
    assert complaint in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
