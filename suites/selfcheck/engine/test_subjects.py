"""What a certificate says of a system's parts: their titles, from kits and runs, and their versions by tier."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec
import pytest

from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.commands.certify import exit_code
from holdfast.harness.engine.certification.kit_journal import JudgedPart, kit_journal, subject_reports, why_absent
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.machine import on_tiers
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Certificate, Journal, RuleResult, Status, SubjectReport, Title
from holdfast.harness.model.rule import Level
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.service import Site
from holdfast.harness.spi.system import Part
from holdfast.suites.selfcheck.engine.scripted import ScriptedSystem

SOURCE, OTHER = Part("source", "one:Source"), Part("source", "another:Source")
RULES = tuple(each for each in registry.rules() if "SRC" in each.subjects and each.level is Level.MUST)


def whole(statuses: dict[str, Status] | None = None) -> Journal:
    """Of a system whose runs decided these rules."""
    found = statuses or {}
    return Journal(
        command="", system="s", subject="RT", profile="", claims="", evidence={}, started="", duration_s=0.0,
        interrupted="", versions={}, seed=0, plans_digest="", history_digest="", tiers=(), cases=(),
        rules=tuple(RuleResult(each, found.get(each.id, Status.UNTESTED), "") for each in registry.rules()), runs=(),
        certificate=Certificate(Title.CERTIFIED, (), (), {}, (), None, 0),
    )  # fmt: skip


def judged(part: Part, statuses: dict[str, Status]) -> JudgedPart:
    """A part whose kit said so."""
    checks = [KitCheck(f"{rule}/check", "p", rule, status, "why") for rule, status in statuses.items()]
    journal = kit_journal(checks, command="", factory=part.factory, subject="SRC", started="", duration_s=0.0)
    return JudgedPart(part, journal, report="parts/1/report.html")


def reported(journal: Journal, *parts: JudgedPart) -> SubjectReport:
    (report,) = subject_reports(journal, parts)
    return report


ALL = {each.id: Status.PASS for each in RULES}
FIRST = RULES[0].id
REST = {rule: status for rule, status in ALL.items() if rule != FIRST}


@pytest.mark.parametrize(
    ("runs", "kits", "title", "decided"),
    [
        ({}, (ALL,), Title.CERTIFIED, len(RULES)),
        ({}, (REST,), Title.PARTIAL, len(RULES) - 1),
        ({FIRST: Status.PASS}, (REST,), Title.CERTIFIED, len(RULES)),
        ({}, (REST, ALL), Title.CERTIFIED, len(RULES)),
        ({}, (ALL, ALL | {FIRST: Status.NOT_APPLICABLE}), Title.CERTIFIED, len(RULES)),
        ({}, (ALL, ALL | {FIRST: Status.FAIL}), Title.REFUSED, len(RULES)),
        ({FIRST: Status.FAIL}, (ALL,), Title.REFUSED, len(RULES)),
        ({FIRST: Status.INCONCLUSIVE}, (ALL,), Title.INCONCLUSIVE, len(RULES) - 1),
        ({}, (ALL, ALL | {FIRST: Status.INCONCLUSIVE}), Title.INCONCLUSIVE, len(RULES) - 1),
    ],
)
def test_a_rule_has_the_worst_of_what_decides_it(
    runs: dict[str, Status], kits: tuple[dict[str, Status], ...], title: Title, decided: int
) -> None:
    parts = [judged(part, said) for part, said in zip((SOURCE, OTHER), kits, strict=False)]
    report = reported(whole(runs), *parts)
    assert (report.title, report.decided, report.rules) == (title, decided, len(RULES))


def test_a_part_that_was_not_tried_keeps_the_title_at_partial() -> None:
    report = reported(whole(), judged(SOURCE, ALL), JudgedPart(OTHER, None, "the package x is not installed"))
    assert report.title is Title.PARTIAL
    assert report.missing[0] == "The package x is not installed."
    assert [each.report for each in report.parts] == ["parts/1/report.html", ""]


def test_parts_that_nobody_chose_to_try_leave_nothing_open() -> None:
    part = JudgedPart(SOURCE, None, "kits run on tier sim, which was not chosen")
    report = reported(whole(), part)
    assert (report.title, report.errors) == (Title.PARTIAL, 0)
    assert report.missing[0] == "Kits run on tier sim, which was not chosen."


def test_parts_that_there_was_no_time_for_are_open() -> None:
    journal = msgspec.structs.replace(whole(), interrupted="SIGTERM")
    assert reported(journal, JudgedPart(SOURCE, None, "SIGTERM")).title is Title.INCONCLUSIVE


def test_the_worst_title_decides_the_exit_code() -> None:
    broken = ALL | {FIRST: Status.FAIL}
    for said, plain, strict in ((ALL, 0, 0), (REST, 0, 2), (broken, 1, 1)):
        journal = msgspec.structs.replace(whole(), subjects=(reported(whole(), judged(SOURCE, said)),))
        assert exit_code(journal) == plain
        assert exit_code(journal, require_certified=True) == strict


def test_what_a_part_needs_is_looked_for() -> None:
    assert why_absent(Part("source", "x", requires="json")) == ""
    assert "which is not installed" in why_absent(Part("source", "x", requires="no_such_module"))


class Telling(ScriptedSystem):
    """It has two tiers, each with an engine of its own."""

    def __init__(self, *engines: str) -> None:
        super().__init__()
        self._engines = dict(zip((Tier.SIM, Tier.PROCESS), engines, strict=True))

    def versions(self, tier: Tier) -> Mapping[str, str]:
        return {"engine": self._engines[tier]} if self._engines[tier] else {}


DIFFER = (
    "Tiers differ in engine: 4.3 on tier sim and 4.0 on tier process. What is shown of one version is not shown of the "
    "other."
)


def test_a_difference_is_said_whether_the_other_tier_ran_or_not() -> None:
    system = Telling("4.3", "4.0")
    assert on_tiers(system, {Tier.SIM}) == ("On tier sim: engine 4.3.", DIFFER)
    assert on_tiers(system, set(Tier)) == ("On tier sim: engine 4.3.", "On tier process: engine 4.0.", DIFFER)
    assert on_tiers(system, ()) == ()


def test_where_there_is_none_nothing_is_said_of_it() -> None:
    assert on_tiers(Telling("4.0", "4.0"), {Tier.SIM}) == ("On tier sim: engine 4.0.",)
    assert on_tiers(Telling("4.0", ""), {Tier.SIM, Tier.PROCESS}) == ("On tier sim: engine 4.0.",)
    assert on_tiers(ScriptedSystem(), {Tier.SIM}) == ()


def test_of_a_spark_that_is_given_nobody_knows_the_version() -> None:
    system = StructuredStreaming()
    ours = system.versions(Tier.CONTAINERS)
    assert set(ours) == {"pyspark", "pyarrow", "pandas"}
    for site in (Site(spark_master="spark://host:7077"), Site(images={"spark": "team/spark:3"})):
        system.attach(partial(SiteServices, site))
        assert system.versions(Tier.CONTAINERS) == {}
    system.attach(partial(SiteServices, Site()))
    assert system.versions(Tier.CONTAINERS) == ours
